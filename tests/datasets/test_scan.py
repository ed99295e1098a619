"""Files that are read a block at a time: the rows of ``read``, whatever the format, and refusals that name the file."""

import os
import pickle
import resource

import numpy as np
import pytest

from onefit import datasets

parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("pyarrow")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 4)).round(3)


def write(folder, table, form):
    """The table in a file: the last column is the target, of LIBSVM text the first."""
    if form == "npy":
        np.save(folder / "t.npy", table)
        return folder / "t.npy"
    names = ["a", "b", "c", "y"]
    if form == "parquet":
        columns = arrow.table({name: table[:, k] for k, name in enumerate(names)})
        parquet.write_table(columns, folder / "t.parquet", row_group_size=90)
        return folder / "t.parquet"
    if form == "csv":
        np.savetxt(folder / "t.csv", table, delimiter=",", header=",".join(names), comments="", fmt="%.3f")
        return folder / "t.csv"
    lines = [f"{row[-1]:.3f} " + " ".join(f"{k + 1}:{value:.3f}" for k, value in enumerate(row[:-1])) for row in table]
    (folder / "t.libsvm").write_text("\n".join(lines) + "\n")
    return folder / "t.libsvm"


FORMATS = ["npy", "parquet", "csv", "libsvm"]


@pytest.mark.parametrize("form", FORMATS)
def test_rows_are_those_of_the_file(tmp_path, table, form):
    X, y = datasets.scan(write(tmp_path, table, form))
    assert X.shape == (500, 3)
    assert len(X) == 500
    np.testing.assert_array_equal(y, table[:, -1])
    np.testing.assert_array_equal(X[:], table[:, :-1])
    for start, stop in ((0, 1), (85, 95), (89, 91), (170, 460), (499, 500), (7, 7)):
        np.testing.assert_array_equal(X[start:stop], table[start:stop, :-1])
    rows = np.random.default_rng(1).integers(0, 500, size=80)
    np.testing.assert_array_equal(X[rows], table[rows, :-1])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(X))[3:200], table[3:200, :-1])


@pytest.mark.parametrize("form", ["npy", "parquet", "csv"])
def test_any_column_may_be_the_target_or_none(tmp_path, table, form):
    path = write(tmp_path, table, form)
    X, y = datasets.scan(path, target=1)
    np.testing.assert_array_equal(y, table[:, 1])
    np.testing.assert_array_equal(X[10:20], table[10:20][:, [0, 2, 3]])
    X, y = datasets.scan(path, target=False)
    assert y is None
    np.testing.assert_array_equal(X[10:20], table[10:20])


def test_several_files_follow_each_other(tmp_path, table):
    np.save(tmp_path / "1.npy", table[:200])
    np.save(tmp_path / "2.npy", table[200:201])
    np.save(tmp_path / "3.npy", table[201:].astype(np.float32))
    X, y = datasets.scan([tmp_path / f"{k}.npy" for k in (1, 2, 3)])
    expected = np.vstack([table[:201], table[201:].astype(np.float32)])
    np.testing.assert_array_equal(X[150:400], expected[150:400, :-1])
    np.testing.assert_array_equal(y, expected[:, -1])
    np.save(tmp_path / "4.npy", table[:, :3])
    with pytest.raises(ValueError, match=r"4\.npy: has other columns"):
        datasets.scan([tmp_path / "1.npy", tmp_path / "4.npy"])


def test_a_target_of_text_keeps_its_labels(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"x": [1.0, None, 3.0], "y": ["no", "yes", "no"]}), path)
    X, y = datasets.scan(path)
    assert y.tolist() == ["no", "yes", "no"]
    assert np.isnan(X[1:2]).all()


def test_what_cannot_be_scanned_is_refused(tmp_path, table):
    path = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"list": [["a"], ["b"]], "y": [1.0, 2.0]}), path)
    with pytest.raises(ValueError, match="column 'list' is of type list"):
        datasets.scan(path)
    parquet.write_table(arrow.table({"word": ["a", "b"], "y": [1.0, 2.0]}), path)
    parquet.write_table(arrow.table({"word": [1.0, 3.0], "y": [1.0, 2.0]}), tmp_path / "u.parquet")
    with pytest.raises(ValueError, match=r"u\.parquet: has other columns"):
        datasets.scan([path, tmp_path / "u.parquet"])
    (tmp_path / "u.parquet").unlink()
    with pytest.raises(ValueError, match="no column is called"):
        datasets.scan(path, target="z")
    np.save(tmp_path / "v.npy", table[:, 0])
    with pytest.raises(ValueError, match="must hold a table of numbers"):
        datasets.scan(tmp_path / "v.npy")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match="is not read as CSV"):
        datasets.scan(tmp_path / "bad.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bad.csv", "t.parquet", "v.npy"]
    with pytest.raises(ValueError, match="needs a path"):
        datasets.scan([])
    with pytest.raises(FileNotFoundError):
        datasets.scan(tmp_path / "missing.npy")


@pytest.mark.parametrize("form", ["csv", "libsvm"])
def test_text_is_converted_once_and_anew_when_it_changes(tmp_path, table, form):
    path = write(tmp_path, table, form)
    datasets.scan(path)
    converted = next(file for file in tmp_path.iterdir() if ".onefit." in file.name and file.suffix != ".json")
    before = converted.stat().st_mtime_ns
    datasets.scan(path)
    assert converted.stat().st_mtime_ns == before
    write(tmp_path, table[::-1], form)
    os.utime(path, ns=(before + 10**9, before + 10**9))
    X, _ = datasets.scan(path)
    np.testing.assert_array_equal(X[:5], table[::-1][:5, :-1])


@pytest.mark.parametrize("form", ["csv", "libsvm"])
def test_a_disk_that_is_full_while_converting_leaves_nothing_behind(tmp_path, table, form):
    path = write(tmp_path, table, form)
    before = [file.name for file in tmp_path.iterdir()]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))  # bytes that a file may have
    try:
        with pytest.raises(OSError, match=r"could not be converted to t\.(csv|libsvm)\.onefit"):
            datasets.scan(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [file.name for file in tmp_path.iterdir()] == before
    X, _ = datasets.scan(path)
    np.testing.assert_allclose(X[:], table[:, :-1])


def test_a_file_that_changes_is_noticed(tmp_path, table):
    path = write(tmp_path, table, "npy")
    X, _ = datasets.scan(path)
    X.check_unchanged()
    table[0, 0] += 1
    np.save(path, table)
    with pytest.raises(ValueError, match=r"t\.npy has changed"):
        X.check_unchanged()
    path.unlink()
    with pytest.raises(ValueError, match="not there any more"):
        X.check_unchanged()


def test_a_scan_does_not_become_an_array_by_accident(tmp_path, table):
    X, _ = datasets.scan(write(tmp_path, table, "npy"))
    with pytest.raises(TypeError, match="a block at a time"):
        np.asarray(X)
