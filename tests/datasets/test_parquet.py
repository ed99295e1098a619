"""Parquet files against the columns that were written."""

import builtins
import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from onefit.datasets.parquet import read_parquet

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.parquet"


def test_columns_of_all_kinds(path):
    columns = {
        "double": [1.5, None, float("nan")],
        "whole": arrow.array([1, 2, None], arrow.int32()),
        "decimal": [Decimal("0.25"), Decimal("1.50"), None],
        "flag": [True, False, None],
        "text": ["a", None, "c, d"],
        "category": arrow.array(["p", "q", "p"]).dictionary_encode(),
        "nothing": arrow.nulls(3),
        "target": [1, 0, 1],
    }
    parquet.write_table(arrow.table(columns), path)
    table = read_parquet(path)
    assert table.categorical == (4, 5)
    assert table.X[:, 4].tolist() == ["a", None, "c, d"]
    assert table.X[:, 5].tolist() == ["p", "q", "p"]
    nan = np.nan
    expected = [[1.5, 1, 0.25, 1, nan], [nan, 2, 1.5, 0, nan], [nan, nan, nan, nan, nan]]
    np.testing.assert_array_equal(table.X[:, [0, 1, 2, 3, 6]].astype(float), expected)
    np.testing.assert_array_equal(table.y, [1, 0, 1])
    assert "2 missing values in column 'double'" in table.remarks


def test_as_pandas_writes_it(path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "c"])
    frame["class"] = pd.Categorical(rng.choice(["yes", "no"], size=50))
    frame.to_parquet(path)
    table = read_parquet(path)
    np.testing.assert_array_equal(table.X, frame[["a", "b", "c"]])
    assert table.X.dtype == float
    assert table.y.tolist() == frame["class"].tolist()
    frame.set_index(pd.Index(rng.permutation(50))).to_parquet(path)  # stored as a column, behind all others
    table = read_parquet(path)
    assert table.y.tolist() == frame["class"].tolist()
    assert table.remarks[0] == "the index that pandas stored was left out"


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}], [b"bytes"]])
def test_refused_types_are_named(path, values):
    parquet.write_table(arrow.table({"when": values, "y": [1]}), path)
    with pytest.raises(ValueError, match="column 'when' is of type") as caught:
        read_parquet(path)
    assert str(path) in str(caught.value)


def test_dates_are_text(path):
    moments = [datetime.datetime(2020, 1, 2, 3, 4, 5), None]
    days = [datetime.date(2020, 1, 2), datetime.date(1969, 12, 31)]
    zoned = arrow.array(moments, arrow.timestamp("ns", tz="Europe/Berlin"))
    parquet.write_table(arrow.table({"at": moments, "on": days, "zoned": zoned, "y": [1, 2]}), path)
    table = read_parquet(path)
    assert table.categorical == (0, 1, 2)
    assert table.X[0, 0].startswith("2020-01-02 03:04:05")
    assert [cell[:10] for cell in table.X[:, 1]] == ["2020-01-02", "1969-12-31"]
    assert table.X[0, 2].startswith("2020-01-02 03:04:05")  # pyarrow takes naive times as UTC
    assert table.X[1, 0] is None


def test_damaged_files(path):
    parquet.write_table(arrow.table({"a": list(range(1000)), "y": [0.5] * 1000}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged or cut off") as caught:
        read_parquet(path)
    assert str(path) in str(caught.value)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        read_parquet(path)
    parquet.write_table(arrow.table({"a": arrow.array([], arrow.float64())}), path)
    with pytest.raises(ValueError, match="holds no rows"):
        read_parquet(path)
    parquet.write_table(arrow.table({"a": [1, 2], "y": [1, None]}), path)
    with pytest.raises(ValueError, match="'y' is the target but row 2 has no value"):
        read_parquet(path)


def test_without_pyarrow(path, monkeypatch):
    path.write_bytes(b"PAR1")
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match=r"pip install 'onefit\[data\]'"):
        read_parquet(path)
