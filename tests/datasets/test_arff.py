"""ARFF files against scipy's reader and files with something wrong in them."""

import numpy as np
import pytest
from scipy.io import arff

from onefit.datasets.arff import read_arff

HEADER = "@relation r\n@attribute a real\n@attribute c {x, 'y z', \"it's\"}\n@data\n"  # data begin in line 5


def as_scipy_reads(path):
    """Columns of floats and str, '?' where missing."""
    records, meta = arff.loadarff(path)
    columns = []
    for name, kind in zip(meta.names(), meta.types()):
        values = records[name]
        columns.append(values if kind == "numeric" else [None if v == b"?" else v.decode() for v in values])
    return meta.names(), columns


@pytest.mark.parametrize("name", ["autos", "colic", "heart.statlog", "hepatitis", "labor", "tic-tac-toe", "vote"])
def test_weka_files_as_scipy_reads_them(folder, name):
    path = folder / "arff" / f"{name}.arff"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    names, columns = as_scipy_reads(path)
    table = read_arff(path)
    assert list(table.feature_names) == names[:-1]
    assert table.y.tolist() == columns[-1]
    assert table.target_names == tuple(sorted(set(columns[-1])))
    for index, expected in enumerate(columns[:-1]):
        if index in table.categorical:
            assert table.X[:, index].tolist() == list(expected)
        else:
            np.testing.assert_array_equal(table.X[:, index].astype(float), expected)


def test_random_tables_as_scipy_reads_them(write):
    rng = np.random.default_rng(0)
    for rows in (1, 7, 60):
        numbers = [str(value) if keep else "?" for value, keep in zip(rng.normal(size=rows), rng.random(rows) < 0.8)]
        levels = rng.choice(["red", "?", "dark-blue"], size=rows)
        lines = [f"{a},{b},{c}" for a, b, c in zip(numbers, levels, rng.integers(9, size=rows))]
        header = "% c\n@RELATION t\n\n@Attribute n NUMERIC\n@attribute 'c d' {red, dark-blue}\n@attribute k INTEGER\n"
        path = write(header + "@DATA\n" + "\n".join(lines) + "\n")
        _, (first, second, third) = as_scipy_reads(path)
        table = read_arff(path)
        np.testing.assert_array_equal(table.X[:, 0].astype(float), first)
        assert table.X[:, 1].tolist() == second
        np.testing.assert_array_equal(table.y, third)
        assert table.feature_names == ("n", "c d")


def test_quotes_comments_and_missing_values(write):
    table = read_arff(write(HEADER + "% comment\n\n1, x\r\n ?,'y z'\n-2e3 ,\"it's\"\n'4', 'it\\'s'\n"))
    np.testing.assert_array_equal(table.X[:, 0], [1, np.nan, -2000, 4])
    assert table.y.tolist() == ["x", "y z", "it's", "it's"]
    assert table.remarks == ("target: the last column 'c'", "1 missing value in column 'a'")


def test_an_attribute_called_class_is_the_target_only_where_it_is_last(write):
    table = read_arff(write("@relation r\n@attribute class {p,q}\n@attribute a real\n@data\np,1\nq,2\n"))
    assert table.y.tolist() == [1, 2]
    assert table.feature_names == ("class",)
    assert read_arff(write("@relation r\n@attribute class{p,q}\n@attribute a real\n@data\np,1\n"), target=0).y == "p"


def test_strings_become_text(write):
    table = read_arff(write("@relation r\n@attribute s string\n@attribute a real % why\n@data\n'free, text',1\n?,2\n"))
    assert table.X.tolist() == [["free, text"], [None]]


def test_sparse_rows_mean_zero_or_the_first_value(write):
    header = "@relation r\n@attribute a real\n@attribute b {p, 'q, r'}\n@attribute c real\n@data\n"
    table = read_arff(write(header + "{0 1.5, 2 3}\n{1 'q, r', 2 4}\n{}\n{0 ?}\n7, p, 8\n"))
    assert table.X[:, 1].tolist() == ["p", "q, r", "p", "p", "p"]
    np.testing.assert_array_equal(table.X[:, 0].astype(float), [1.5, 0, 0, np.nan, 7])
    np.testing.assert_array_equal(table.y, [3, 4, 0, 0, 8])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER + "1,x\n2,w\n", 6, r"'w' is not among the values of attribute 'c': x, y z, it's"),
        (HEADER + "1,x\n\none,x\n", 7, "'one' is not a number, as attribute 'a' is"),
        (HEADER + "1,x\n1\n", 6, "1 values for 2 attributes"),
        (HEADER + "1,x,{5}\n", 5, "3 values for 2 attributes"),
        (HEADER + "1,'x\n", 5, "quotes do not match"),
        (HEADER + "1,?\n", 5, "'c' is the target"),
        (HEADER + "{0 1, 2 x}\n", 5, "position 2 is not below 2"),
        (HEADER + "{0 1, 0 2}\n", 5, "position 0 occurs twice"),
        (HEADER + "{0 1\n", 5, "does not end with a brace"),
        (HEADER + "{x}\n", 5, "not a position and a value"),
        ("@relation r\n@attribute d date 'yyyy-MM-dd'\n@data\n", 2, "'d' is of type date, which is not read"),
        ("@relation r\n@attribute d relational\n", 2, "type relational"),
        ("@relation r\n@attribute d colour\n", 2, "unknown type 'colour'"),
        ("@relation r\n@attribute d {a, b\n", 2, "do not end with a brace"),
        ("@relation r\n@attribute\n", 2, "does not declare"),
        ("@relation r\n@attribute a real\n@attribute 'a' real\n", 3, "a second attribute is called 'a'"),
        ("@relation r\n\n1,2\n", 3, "neither a comment nor"),
        ("@relation r\n@data\n1\n", 2, "no attribute was declared"),
        ("@relation r\n@attribute a real", 2, "ends without a line @data"),
        ("@relation r\n@attribute s string\n@attribute a real\n@data\n{1 2}\n", 5, "sparse rows with string"),
    ],
)
def test_errors_name_file_and_line(write, text, line, message):
    path = write(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_arff(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_no_data(write):
    with pytest.raises(ValueError, match="a header but no data"):
        read_arff(write(HEADER + "% nothing\n"))
