"""LIBSVM text against a dictionary per line, and files that are not quite LIBSVM text."""

import bz2
import gzip
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from onefit.datasets.libsvm import read_libsvm


def naive(text, features):
    """The dense rows and labels, read word by word."""
    X, y = [], []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            row = [0.0] * features
            for word in words[1:]:
                if not word.startswith("qid"):
                    index, value = word.split(":")
                    row[int(index) - 1] = float(value)
            X.append(row)
            y.append(float(words[0]))
    return np.array(X), np.array(y)


VALUES = st.integers(-(10**6), 10**6).map(lambda numerator: numerator / 1024)  # exact in the 16 digits that are written


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=1, max_size=8), label=VALUES)
def test_round_trip(tmp_path_factory, rows, label):
    X = np.array(rows)
    y = label + np.arange(len(rows))
    contents = BytesIO()
    dump_svmlight_file(X, y, contents, zero_based=False)
    path = tmp_path_factory.mktemp("round") / "trip"
    path.write_bytes(contents.getvalue())
    table = read_libsvm(path, n_features=3)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)
    assert table.feature_names == ("x1", "x2", "x3")


@pytest.mark.parametrize(
    "text",
    [
        "1 1:0.5 3:2\n-1 2:1e-3\n",
        "# a comment\n\n+1 1:1 # another\n   \n2 3:4\n",
        "1\t1:2\t2:3\r\n-1 3:4\r\n",
        "1 qid:4 1:2 3:1\n2 qid:4 2:1\n",
        "1 3:1 1:2\n-1 2:5 1:4\n",
        "-1\n1 3:7\n",
        "1 1:1 2:-.5 3:+2.",
    ],
)
def test_same_as_word_by_word(write, text):
    table = read_libsvm(write(text))
    X, y = naive(text, 3)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)


@pytest.mark.parametrize(("name", "compress"), [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a", gzip.compress)])
def test_compressed(write, name, compress):
    rng = np.random.default_rng(0)
    text = "".join(f"{i} 1:{rng.normal()} 2:{rng.normal()}\n" for i in range(500))
    table = read_libsvm(write(compress(text.encode()), name))
    X, y = naive(text, 2)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_cut_off_or_damaged_archives(write, compress):
    whole = compress("".join(f"{i} 1:{i / 7}\n" for i in range(50000)).encode())
    cut = write(whole[: len(whole) // 2], "cut")
    with pytest.raises(ValueError, match=r"cut, line \d+: the compressed data are cut off or damaged"):
        read_libsvm(cut)
    damaged = write(whole[:-12] + bytes(12), "damaged")
    with pytest.raises(ValueError, match=r"damaged, line \d+: the compressed data are cut off or damaged"):
        read_libsvm(damaged)


def test_what_remarks_say(write):
    assert read_libsvm(write("1 0:1 2:3\n")).remarks == ("indices start at 0 in this file",)
    np.testing.assert_array_equal(read_libsvm(write("1 0:1 2:3\n")).X, [[1, 0, 3]])
    assert "not in increasing order" in read_libsvm(write("1 2:1 1:3\n")).remarks[0]
    assert "qid" in read_libsvm(write("1 qid:2 1:3\n")).remarks[0]
    table = read_libsvm(write("1 1:nan 2:3\n2 2:NaN\n"))
    np.testing.assert_array_equal(table.X, [[np.nan, 3], [0, np.nan]])
    assert table.remarks == ("2 missing values (nan)",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 1:2\n1 1:3 garbage\n", 2, "'garbage' is not of the form index:value"),
        ("1 1:2\n\n# c\n1 1:abc\n", 4, "'1:abc' is not a number"),
        ("1 1:2\n-1 1:0.5 2:", 2, "'2:' is not a number"),
        ("1 1:2\n-1 1:0.5 2", 2, "'2' is not of the form"),
        ("1:0.5 2:3\n", 1, "label is missing"),
        ("1 1:2\nyes 1:2\n", 2, "'yes' is not a number"),
        ("1,2 1:2\n", 1, "several labels"),
        ("1 1:2\n1 2:1 2:3\n", 2, "index 2 occurs twice"),
        ("1 -1:3\n", 1, "index of '-1:3'"),
        ("1 1.5:3\n", 1, "index of '1.5:3'"),
        ("1 99999999999:3\n", 1, "too large"),
        ("1 1:2\nnan 1:1\n", 2, "'nan' is not a finite number"),
        ("1 1:2\ninf 1:1\n", 2, "'inf' is not a finite number"),
        ("1 1:1_0\n", 1, "'1:1_0' is not a number"),
        ("1 1:2\n\0\0\0\n", 2, "binary"),
        ("1 1:2\n2 1:\xe9\n", 2, "not a number"),
    ],
)
def test_errors_name_file_and_line(write, text, line, message):
    path = write(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_libsvm(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_number_of_features(write):
    path = write("1 2:3\n")
    assert read_libsvm(path, n_features=5).X.tolist() == [[0, 3, 0, 0, 0]]
    with pytest.raises(ValueError, match="2 features, more than n_features=1"):
        read_libsvm(path, n_features=1)
    assert read_libsvm(path, zero_based=True).X.tolist() == [[0, 0, 3]]
    with pytest.raises(ValueError, match="index 0"):
        read_libsvm(write("1 0:3\n"), zero_based=False)


def test_hopeless_or_empty(write):
    with pytest.raises(ValueError, match="do not fit in memory"):
        read_libsvm(write("1 2000000000:1\n" * 10000))
    with pytest.raises(ValueError, match="no data line"):
        read_libsvm(write("# nothing\n\n"))
    with pytest.raises(ValueError, match="no feature"):
        read_libsvm(write("1\n-1\n"))
    with pytest.raises(ValueError, match="empty"):
        read_libsvm(write(""))
    with pytest.raises(ValueError, match="does not hold such compressed data"):
        read_libsvm(write("1 1:2\n", "plain.gz"))
    with pytest.raises(ValueError, match="compressed file is empty"):
        read_libsvm(write(gzip.compress(b"")))
