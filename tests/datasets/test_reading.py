"""Which reader a file gets."""

import bz2
import gzip

import numpy as np
import pytest

from onefit import datasets

LIBSVM = "1 1:0.5 2:2\n-1 2:1\n"
CSV = "a,b,y\n0.5,2,1\n0,1,-1\n"
ARFF = "% c\n@relation r\n@attribute a real\n@attribute b real\n@attribute y real\n@data\n0.5,2,1\n0,1,-1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.libsvm", LIBSVM),
        ("d.svm", LIBSVM),
        ("d.SVM", LIBSVM),
        ("d", LIBSVM),
        ("d.t", LIBSVM),
        ("d.txt", "# c\n\n" + LIBSVM),
        ("d.csv", CSV),
        ("d", CSV),
        ("d.data", CSV.replace(",", ";")),
        ("d.tsv", CSV.replace(",", "\t")),
        ("d.arff", ARFF),
        ("d", ARFF),
        ("some.numer", LIBSVM),
    ],
)
@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
def test_the_same_table_in_every_format(write, name, text, suffix, compress):
    table = datasets.read(str(write(compress(text.encode()), name + suffix)))
    np.testing.assert_array_equal(table.X, [[0.5, 2], [0, 1]])
    np.testing.assert_array_equal(table.y, [1, -1])
    assert table.X.dtype == float
    assert len(table.feature_names) == 2


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("d.parquet", "d.pq", "d"):
        parquet.write_table(arrow.table({"a": [0.5, 0], "y": ["p", "q"]}), tmp_path / name)
        table = datasets.read(tmp_path / name)
        assert table.X.tolist() == [[0.5], [0]]
        assert table.target_names == ("p", "q")


def test_rows_without_features_may_come_first(write):
    assert datasets.read(write("-1\n-1\n1 2:3\n")).X.tolist() == [[0, 0], [0, 0], [0, 3]]


@pytest.mark.parametrize(
    ("name", "contents", "held"),
    [
        ("d.csv", LIBSVM, "LIBSVM"),
        ("d.csv", ARFF, "ARFF"),
        ("d.arff", LIBSVM, "LIBSVM"),
        ("d.libsvm", b"PAR1", "Parquet"),
    ],
)
def test_contents_that_contradict_the_name(write, name, contents, held):
    path = write(contents, name)
    with pytest.raises(ValueError, match=f"but holds {held} data") as caught:
        datasets.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["d.libsvm", "d.arff", "d.parquet"])
def test_delimited_text_under_another_name(write, name):
    with pytest.raises(ValueError, match=f"{name}"):
        datasets.read(write(CSV, name))


@pytest.mark.parametrize("name", ["d", "d.csv", "d.arff", "d.libsvm"])
def test_binary_and_empty_files(write, name):
    with pytest.raises(ValueError, match=r"line 2: holds binary data"):
        datasets.read(write(b"\x89PNG\n\x00\x01\x02", name))
    with pytest.raises(ValueError, match="empty"):
        datasets.read(write("", name))


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv does not exist"):
        datasets.read(tmp_path / "nowhere.csv")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        datasets.read(tmp_path)


def test_options_of_other_formats(write):
    with pytest.raises(ValueError, match="the target of LIBSVM text is its label"):
        datasets.read(write(LIBSVM), target="a")
    with pytest.raises(ValueError, match="n_features is for LIBSVM text"):
        datasets.read(write(CSV), n_features=3)
    assert datasets.read(write(LIBSVM), n_features=3).X.shape == (2, 3)
    assert datasets.read(write(LIBSVM), target=False).y is None
    assert datasets.read(write(CSV), target="a").y.tolist() == [0.5, 0]
