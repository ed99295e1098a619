"""Delimited text against the csv module, float and pandas, and files with something wrong in them."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onefit.datasets.delimited import read_delimited


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_infinity=False), st.integers(-9, 9), st.floats(-1, 1)), min_size=1, max_size=9
    ),
    delimiter=st.sampled_from(",;\t"),
)
def test_numbers_as_float_reads_them(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("numbers") / "data.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("a", "b", "c"), *rows])
    table = read_delimited(path)
    assert table.X.dtype == float
    np.testing.assert_array_equal(table.X, [row[:2] for row in rows])
    np.testing.assert_array_equal(table.y, [row[2] for row in rows])
    assert table.feature_names == ("a", "b")


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=8).map(
    lambda text: f"t{text.strip()}"
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(TEXTS, st.floats(-1e3, 1e3)), min_size=1, max_size=9), end=st.sampled_from(["\n", "\r\n"])
)
def test_quoted_texts_as_the_csv_module_reads_them(tmp_path_factory, rows, end):
    path = tmp_path_factory.mktemp("texts") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end).writerows([("a", "b"), *rows])
    table = read_delimited(path)
    assert table.X[:, 0].tolist() == [text for text, _ in rows]
    assert table.categorical == (0,)
    np.testing.assert_array_equal(table.y, [number for _, number in rows])


def test_mixed_columns_as_pandas_reads_them(write):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
            "colour": rng.choice(["red", "light, blue", 'so "called" green', None], size=200),
            "two\nlines": rng.choice(["a\nb", "c"], size=200),
            "count": rng.integers(5, size=200),
            "class": rng.choice(["yes", "no"], size=200),
        }
    )
    path = write(frame.to_csv(index=False))
    table, expected = read_delimited(path), pd.read_csv(path)
    assert table.feature_names == tuple(expected.columns[:-1])
    assert table.categorical == (1, 2)
    for index, name in enumerate(table.feature_names):
        column = expected[name].astype(object).where(expected[name].notna(), None)
        ours = [None if value != value else value for value in table.X[:, index]]
        assert ours == column.tolist()
    assert table.y.tolist() == expected["class"].tolist()
    assert table.target_names == ("no", "yes")
    assert f"{frame['size'].isna().sum()} missing values in column 'size'" in table.remarks
    assert f"{frame['colour'].isna().sum()} missing values in column 'colour'" in table.remarks


@pytest.mark.parametrize("marker", ["", "?", "NA", "nan", "NaN", "N/A", "null", " ? "])
def test_missing_values(write, marker):
    table = read_delimited(write(f"a,b,y\n1,x,3\n{marker},{marker},4\n"))
    assert np.isnan(table.X[1, 0])
    assert table.X[1, 1] is None
    assert table.remarks[1:] == ("1 missing value in column 'a'", "1 missing value in column 'b'")


@pytest.mark.parametrize(
    "contents",
    [
        "a,b\n1,2\n3,4\n".encode("utf-8-sig"),
        b"a;b\n1;2\n3;4\n",
        b"a\tb\r\n1\t2\r\n3\t4\r\n",
        b'"a","b"\n"1","2"\n\n3,4',
        b"a , b\n 1, 2\n3 ,4\n",
        "a\tb\n1\t2\n3\t4\n".encode("utf-16"),
        gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0),
    ],
)
def test_the_same_table_written_differently(write, contents):
    table = read_delimited(write(contents))
    assert table.X.tolist() == [[1], [3]]
    assert table.y.tolist() == [2, 4]
    assert table.feature_names == ("a",)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("1,2,3\n4,5,6\n", ("column 1", "column 2"), 2),  # numbers only
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n", ("column 1", "column 2"), 3),  # a class met again
        ("x,o,win\no,o,win\nx,x,loss\n", ("column 1", "column 2"), 3),
        ("0,1,class\n5.1,3.5,setosa\n4.9,3.0,setosa\n", ("0", "1"), 2),  # numbers as names
        ("a,b,class\na,1,yes\nb,2,no\n", ("a", "b"), 2),  # a name that is also a value
        ("?,2,3\n4,5,6\n", ("column 1", "column 2"), 2),
    ],
)
def test_header_or_not(write, text, names, rows):
    table = read_delimited(write(text))
    assert table.feature_names == names
    assert len(table.X) == rows
    assert any("no header" in remark for remark in table.remarks) == (names[0] == "column 1")


def test_empty_and_repeated_names(write):
    table = read_delimited(write(",a,b,a,y\n1,2,3,4,5\n"))
    assert table.feature_names == ("column 1", "a.1", "b", "a.2")
    assert table.remarks[:2] == (
        "column 1 has no name: it is called 'column 1' here",
        "2 columns are called 'a': they are numbered here",
    )
    with pytest.raises(ValueError, match=r"no column is called 'a'.*'a.1'"):
        read_delimited(write("a,a,y\n1,2,3\n"), target="a")
    assert read_delimited(write("a,a,a.1,,column 4\n1,2,3,4,5\n")).feature_names == ("a.2", "a.3", "a.1", "column 5")


def test_target(write):
    path = write("age,height,weight\n1,2,3\n4,5,6\n")
    assert read_delimited(path).remarks == ("target: the last column 'weight'",)
    assert read_delimited(path, target="age").y.tolist() == [1, 4]
    assert read_delimited(path, target="age").feature_names == ("height", "weight")
    assert read_delimited(path, target=1).y.tolist() == [2, 5]
    assert read_delimited(path, target=-3).y.tolist() == [1, 4]
    assert read_delimited(path, target=-3).feature_names == ("height", "weight")
    table = read_delimited(path, target=False)
    assert table.y is None
    assert table.X.shape == (2, 3)
    with pytest.raises(
        ValueError, match=r"no column is called 'hight'. Did you mean 'height'.*'age', 'height', 'weight'"
    ):
        read_delimited(path, target="hight")
    with pytest.raises(ValueError, match=r"no column 3 .* 3 columns"):
        read_delimited(path, target=3)
    with pytest.raises(ValueError, match="target must be"):
        read_delimited(path, target=True)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a,b,c\n1,2,3\n4,5\n", 3, "2 fields, where line 1 has 3"),
        ("a,b,c\n1,2,3\n\n4,5,6,7\n", 4, "4 fields"),
        ('a,b\n"two\nlines",2\n1\n', 4, "1 fields"),
        ('a,b\n1,2\n"never closed,3\n4,5\n', 3, "quoted field that begins here"),
        ("a,y\n1,2\n3,\n", 3, "'y' is the target but row 2 has no value"),
        ("a,y\n1,no\n3,?\n", 3, "'y' is the target"),
        ("a,y\n1,2\n3,4\xff\n", 3, "not UTF-8"),
        ("a,y\n1,2\n\0,4\n", 3, "binary"),
        ("a;y\n1,500;2\n2;3\n", 2, "is the comma of '1,500' one before decimals"),
        ("a;y\n1,5;2\n2.5;3\n", 2, "decimal points"),
        ('a,y\n"1,5",2\n"2,5",3\n', 2, "decimal points"),
    ],
)
def test_errors_name_file_and_line(write, text, line, message):
    path = write(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message) as caught:
        read_delimited(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_commas_as_pandas_reads_them(write, delimiter, header):
    rows = [["1,5", "2", "-0,250", "x"], ["3", "4", "1,125", "y"], ["", "6", "1e-3", "x"], ["+7,25", "8", "2,5e2", "y"]]
    lines = [["a", "b", "c", "d"]] * header + rows
    path = write("\n".join(delimiter.join(line) for line in lines))
    table = read_delimited(path, target=1)
    frame = pd.read_csv(path, sep=delimiter, decimal=",", header=0 if header else None)
    np.testing.assert_array_equal(table.X[:, :2].astype(float), frame.iloc[:, [0, 2]].to_numpy())
    assert table.X[:, 2].tolist() == ["x", "y", "x", "y"]
    np.testing.assert_array_equal(table.y, [2, 4, 6, 8])
    named = "a" if header else "column 1"
    assert f"numbers with decimal commas in column {named!r}" in table.remarks


def test_a_text_among_measurements_is_an_error_among_codes_a_remark(write):
    numbers = [f"{value / 7},1" for value in range(30)]
    path = write("\n".join(["age,y", *numbers[:20], "unknown,1", *numbers[20:]]))
    with pytest.raises(ValueError, match="line 22: column 'age' holds numbers but for 'unknown'"):
        read_delimited(path)
    codes = [f"{value % 5},1" for value in range(60)]
    table = read_delimited(write("\n".join(["age,y", *codes, "U,1", "U,1"])))
    assert table.categorical == (0,)
    assert table.remarks[0].startswith("column 'age' is text because of 'U' in line 62")
    assert read_delimited(write("a,y\n1_0,1\n2_0,2\n")).X.tolist() == [["1_0"], ["2_0"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "a header but no data"),
        ("\n \n", "no line with text"),
        ("", "empty"),
        ("a\n1\n2\n", "one column only"),
    ],
)
def test_nothing_to_read(write, text, message):
    path = write(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_delimited(path)
    assert str(path) in str(caught.value)
