"""Files made to exhaust memory, time or a terminal: refused by name, early, while honest ones are read."""

import bz2
import gzip
import time
from contextlib import suppress

import numpy as np
import pytest

from onefit import datasets
from onefit.datasets.reading import format_of

READ = """
try:
    datasets.read(sys.argv[1])
except ValueError as error:
    print(error)
"""
MUCH = 150
"""MiB that a refusal may take: 16 MiB in the forms that a reader holds them in."""


def repeated(path, compress, block, times):
    """Write a file of many compressed parts, which expands to the block so many times."""
    path.write_bytes(times * compress(block))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "compress"), [(".bz2", bz2.compress), (".gz", gzip.compress)])
@pytest.mark.parametrize(
    "block", [b"1,2,3,4\n" * (1 << 17), b"1" * (1 << 20), b"1 1:2\n" * (1 << 17)], ids=["csv", "one line", "libsvm"]
)
def test_compressed_bombs(tmp_path, run_measured, suffix, compress, block):
    path = repeated(tmp_path / f"bomb{suffix}", compress, block, 24)
    assert path.stat().st_size < (16 << 20) / 200
    output, growth = run_measured(READ, path)
    assert f"{path}: expands to more than 16,777,216 bytes, 200 times its size" in output
    assert growth < 2 * MUCH  # most of it for the lists and fields of 16 MiB of short lines


@pytest.mark.slow
def test_242_bytes(tmp_path, run_measured):
    """A single stream of bzip2, which has parts of 900 kB: 45 bytes each, and all of them zeros."""
    path = tmp_path / "zeros.csv.bz2"
    path.write_bytes(bz2.compress(bytes(100 << 20)))
    output, growth = run_measured(READ, path)
    assert path.stat().st_size < 242
    assert f"{path}, line 1: holds binary data" in output
    assert growth < 20


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_honest_files_that_compress_well(tmp_path, compress):
    """5 MB, of which a constant column is most: 20- to 200-fold."""
    rng = np.random.default_rng(0)
    rows = "".join(f"{100 * '0'},{y}\n" for y in rng.integers(2, size=50_000))
    path = tmp_path / "constant.csv.z"
    path.write_bytes(compress(f"a,y\n{rows}".encode()))
    assert len(rows) > 40 * path.stat().st_size
    assert datasets.read(path).X.shape == (50_000, 1)


@pytest.mark.slow
def test_the_first_16_mib_are_free(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + (100 * b"0" + b",1\n") * 150_000))
    assert 220 * path.stat().st_size < 15e6
    assert datasets.read(path).X.shape == (150_000, 1)


@pytest.mark.slow
def test_the_format_is_told_by_the_beginning(tmp_path, run_measured):
    path = tmp_path / "large"
    path.write_bytes(b"1 1:2 2:3\n" * 10**7)  # 100 MB
    code = (
        "from onefit.datasets.reading import format_of; from pathlib import Path; print(format_of(Path(sys.argv[1])))"
    )
    output, growth = run_measured(code, path)
    assert output == "LIBSVM"
    assert growth < 5


def test_damage_behind_the_beginning_does_not_matter_to_the_format(tmp_path):
    path = tmp_path / "cut.gz"
    whole = gzip.compress("".join(f"1 1:{k}\n" for k in np.random.default_rng(0).random(20_000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert format_of(path) == "LIBSVM"
    with pytest.raises(ValueError, match=r"cut\.gz, line \d+: the compressed data are cut off"):
        datasets.read(path)


ROWS = {
    "d.csv": ("a,y\n", "{k},{k}\n", '"never closed'),
    "no header.csv": ("", "{k},{k}\n", '"never closed'),
    "d.libsvm": ("# c\n\n", "{k} 1:{k}\n", "no number"),
    "d.arff": ("@relation r\n@attribute a real\n@attribute y real\n@data\n", "{k},{k}\n", "no number,,,"),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_rows_are_counted_while_reading(tmp_path, name, compress):
    start, row, damage = ROWS[name]
    rows = "".join(row.format(k=k) for k in range(1, 11))
    path = tmp_path / name
    path.write_bytes(compress(f"{start}{rows}".encode()))
    assert len(datasets.read(path, max_rows=10).y) == 10
    with pytest.raises(ValueError, match="has more than 9 rows") as caught:
        datasets.read(path, max_rows=9)
    assert str(path) in str(caught.value)
    path.write_bytes(compress(f"{start}{rows}{damage}\n".encode()))  # never seen by who stops early
    with pytest.raises(ValueError, match="has more than 5 rows"):
        datasets.read(path, max_rows=5)


def test_rows_of_parquet_are_counted_before_reading(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    parquet.write_table(arrow.table({"a": range(10), "y": range(10)}), path)
    assert len(datasets.read(path, max_rows=10).y) == 10
    with pytest.raises(ValueError, match=r"d\.parquet has more than 9 rows"):
        datasets.read(path, max_rows=9)


SPARSE = {
    "wide.libsvm": "1 500000000:1\n-1 1:2\n",
    "wide.arff": "@relation r\n"
    + "".join(f"@attribute a{k} real\n" for k in range(20_000))
    + "@data\n"
    + "{}\n" * 200_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_that_are_huge_if_dense(tmp_path, run_measured, name):
    path = tmp_path / name
    path.write_text(SPARSE[name])
    output, growth = run_measured(READ, path)
    assert str(path) in output
    assert "times the size of the file" in output or "do not fit in memory" in output
    assert growth < 2 * MUCH


@pytest.mark.slow
def test_one_long_label_does_not_make_all_long(tmp_path, run_measured):
    path = tmp_path / "labels.csv"
    path.write_text("a,y\n" + "1,b\n" * 100_000 + f"2,{100_000 * 'x'}\n")
    output, growth = run_measured(READ, path)
    assert f"{path}: the labels of the last column 'y' would take" in output
    assert growth < MUCH


class TestParquet:
    """Pages are compressed, and equal values stored once."""

    @pytest.fixture
    def write(self, tmp_path):
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")

        def writer(columns, times=1):
            path = tmp_path / "d.parquet"
            table = arrow.table(columns)
            with parquet.ParquetWriter(path, table.schema, compression="zstd") as file:
                for _ in range(times):
                    file.write_table(table)
            return path

        return writer

    @pytest.mark.slow
    def test_numbers(self, write, run_measured):
        path = write({"a": np.zeros(1_000_000), "y": np.zeros(1_000_000)}, times=50)
        output, growth = run_measured(READ, path)
        assert f"{path}: its 50,000,000 rows would take" in output
        assert growth < MUCH

    @pytest.mark.slow
    def test_equal_texts_are_held_once(self, write, run_measured):
        path = write({"a": [100_000 * "x"] * 200, "y": np.arange(200.0)}, times=25)
        output, growth = run_measured("print(datasets.read(sys.argv[1]).X.shape)", path)  # 500 MB of text
        assert output == "(5000, 1)"
        assert growth < MUCH

    def test_text_that_is_not_utf_8(self, write):
        arrow = pytest.importorskip("pyarrow")
        text = arrow.StringArray.from_buffers(
            2, arrow.py_buffer(np.array([0, 1, 3], "i4")), arrow.py_buffer(b"a\xff\xfe")
        )
        for columns in ({"when": text, "y": [1, 2]}, {"a": [1, 2], "when": text}):
            path = write(columns)
            with pytest.raises(ValueError, match=r"d\.parquet: column 'when' holds text that is not UTF-8"):
                datasets.read(path)

    @pytest.mark.parametrize("kind", ["string", "large_string"])
    def test_texts_of_all_kinds(self, write, kind):
        arrow = pytest.importorskip("pyarrow")
        text = arrow.array(["p", None, "q"], getattr(arrow, kind)())
        table = datasets.read(write({"a": text, "b": text.dictionary_encode(), "y": [1, 2, 3]}, times=2))
        assert table.X.tolist() == [["p", "p"], [None, None], ["q", "q"]] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("spaces.arff", "@relation r\n@attribute a string\n@attribute y real\n@data\n" + "a," + 20_000 * " " + "b'\n"),
        ("digits.csv", f"a,y\n1,2\n{100_000 * '1'}x,3\n"),
        ("names.csv", ",".join(["a"] * 30_000) + "\n" + ",".join(["1"] * 30_000) + "\n"),
        (
            "nameless.csv",
            "," * 30_000 + ",".join(f"column {k}" for k in range(1, 30_000)) + "\n" + "1," * 59_998 + "1\n",
        ),
        (
            "attributes.arff",
            "@relation r\n" + "".join(f"@attribute a{k} real\n" for k in range(30_000)) + "@data\n{}\n",
        ),
        ("position.arff", "@relation r\n@attribute a real\n@attribute y real\n@data\n{" + 9999 * "1" + " 2}\n"),
        ("index.libsvm", f"1 {9999 * '1'}:2\n"),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_nothing_takes_a_power_of_its_length(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    start = time.process_time()
    with suppress(ValueError):
        datasets.read(tmp_path / name)
    assert time.process_time() - start < 10  # a square takes minutes


EVIL = "\x1b]0;title\x07\u202e\x9b31m"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.csv", f"{EVIL},y\n" + "".join(f"{k},{k}\n" for k in range(30)) + f"{EVIL},1\n"),
        ("d.csv", f'a,y\n1,2\n"{EVIL}'),
        ("d.arff", f"@relation r\n@attribute a {{{EVIL}}}\n@attribute y real\n@data\nother,1\n"),
        ("d.arff", f"@relation r\n@attribute a {EVIL}\n"),
        ("d.libsvm", f"1 1:{EVIL}\n"),
        ("d.libsvm", f"{EVIL} 1:2\n"),
        (f"{EVIL}.csv", ""),
    ],
)
def test_messages_hold_no_control_characters(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError) as caught:
        datasets.read(tmp_path / name)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("target", [1.5, [0], True, b"y", ("y",)])
@pytest.mark.parametrize("name", ["d.csv", "d.libsvm"])
def test_targets_of_other_types(tmp_path, target, name):
    (tmp_path / name).write_text("a,y\n1,2\n" if name == "d.csv" else "1 1:2\n")
    with pytest.raises(ValueError, match=r"target must be a column's name or position.*got ") as caught:
        datasets.read(tmp_path / name, target=target)
    assert name in str(caught.value)
    assert repr(target) in str(caught.value)


SOUND = {
    "d.csv": 'a,b,"c ""d""",y\n'
    + "".join(f"{k / 7:.2f},{k % 5},{'pq'[k % 2]},{'?' if k == 3 else k}\n" for k in range(20)),
    "d.arff": "@relation r\n@attribute 'a b' {x, 'y z'}\n@attribute y real\n@data\n" + "'y z', 1.5\n{1 3}\nx, ?\n" * 5,
    "d.libsvm": "".join(f"{k % 2} qid:{k} 1:{k} 3:1e-{k} # c\n" for k in range(20)),
}
INSERTED = [*'",;:\t\r\n\0{}#%?', "nan", "1e400", "1_0", "\u202e", "9" * 5000, "@data\n", "2147483645:1"]


def changed(contents, rng):
    """The contents with a few bytes replaced, inserted, repeated or left out."""
    data = bytearray(contents)
    for _ in range(rng.integers(1, 4)):
        here, size = rng.integers(len(data)), rng.integers(1, 20)
        inserted = rng.choice(INSERTED).encode()
        parts = [inserted, data[here : here + size] * 2, b"", bytes([rng.integers(256)])]
        data[here : here + int(size * rng.integers(2))] = parts[rng.integers(len(parts))]
        data = data or bytearray(b"1")
    return bytes(data)


def read_or_refuse(path):
    """Read; whatever is wrong has to be a ValueError that names the file and is safe to print."""
    try:
        datasets.read(path)
    except ValueError as error:
        return str(path) in str(error) and str(error).isprintable() and len(str(error)) < 5000
    return True


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("seed", range(5))
def test_damaged_text_is_read_or_refused_by_name(tmp_path, name, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path / name
    path.write_text(SOUND[name])
    assert len(datasets.read(path, target=False).X) >= 15
    for _ in range(200):
        path.write_bytes(changed(SOUND[name].encode(), rng))
        assert read_or_refuse(path)


@pytest.mark.slow
def test_damaged_parquet_is_read_or_refused_by_name(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    columns = {"a": [0.5, None, 2.0] * 4, "s": ["u", "v", "w"] * 4, "y": ["yes", "no"] * 6}
    parquet.write_table(arrow.table(columns), path, compression="none", store_schema=False)
    whole = path.read_bytes()
    for position in range(len(whole)):
        for flipped in (1, 0x80, 0xFF):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ flipped]) + whole[position + 1 :])
            assert read_or_refuse(path)
