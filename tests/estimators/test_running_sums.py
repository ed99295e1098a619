"""Sums over the rows in a journal: passes that are interrupted go on from them, and nobody believes damaged ones."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import onefit.gram.cluster
import onefit.gram.streamed
import onefit.search.kept_sums
from onefit import (
    LSSVC,
    LSSVR,
    GridEdgeWarning,
    JournalError,
    JournalWarning,
    KernelSearchCV,
    Landmarks,
    LandmarksWarning,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GRID = {"gamma": [0.02, 0.3], "alpha": [1e-2, 1.0]}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 60 rows, after each of which sums are written."""
    monkeypatch.setattr(onefit.gram.streamed, "BLOCK", 1)
    monkeypatch.setattr(onefit.gram.streamed, "SMALLEST_BLOCK", 60)
    monkeypatch.setattr(onefit.search.kept_sums, "INTERVAL", 0.0)


@pytest.fixture
def rows(tmp_path):
    """(X, y, a memory map of X)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) + 1
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * rng.normal(size=700)
    np.save(tmp_path / "t.npy", X)
    return X, y, np.load(tmp_path / "t.npy", mmap_mode="r")


def fitted(X, y, model=None, **options):
    options = {"cv": 4, "approximation": Landmarks(30, random_state=0), "error_score": "raise", **options}
    return KernelSearchCV(LSSVR() if model is None else model, GRID, **options).fit(X, y)


def assert_same(search, other):
    for i in range(search.n_splits_):
        column = f"split{i}_test_score"
        np.testing.assert_array_equal(search.cv_results_[column], other.cv_results_[column])
    np.testing.assert_array_equal(search.best_estimator_[-1].coef_, other.best_estimator_[-1].coef_)


class Reader:
    """Counts the blocks that are read from memory maps, and interrupts before one of them."""

    def __init__(self, monkeypatch, at=None):
        self.count, read = 0, onefit.data.blocks.SlicedRows.read

        def counted(scan, start, stop):
            if stop - start <= 60:
                if self.count == at:
                    raise KeyboardInterrupt
                self.count += 1
            return read(scan, start, stop)

        monkeypatch.setattr(onefit.data.blocks.SlicedRows, "read", counted)


def entries(path, where="lane >= 0"):
    with sqlite3.connect(path) as db:
        return db.execute(f"SELECT count(*) FROM sums WHERE {where}").fetchone()[0]


@pytest.mark.parametrize(
    "options",
    [{}, {"scoring": "neg_mean_absolute_error"}, {"model": LSSVC(), "scoring": "balanced_accuracy"}],
    ids=["squares", "values", "classes"],
)
@pytest.mark.parametrize("at", [5, 17])
@pytest.mark.quick(2)
def test_an_interrupted_pass_goes_on_from_its_last_block(rows, small_blocks, monkeypatch, tmp_path, options, at):
    _, y, scan = rows
    if isinstance(options.get("model"), LSSVC):
        y = np.where(y > y.mean(), "high", "low")
    plain = fitted(scan, y, **options)
    journal = tmp_path / "journal.sqlite"
    with monkeypatch.context() as patch:
        before = Reader(patch, at)
        with pytest.raises(KeyboardInterrupt):
            fitted(scan, y, journal=journal, **options)
    assert entries(journal, "1") > 0
    with monkeypatch.context() as patch:
        whole = Reader(patch)
        fitted(scan, y, journal=tmp_path / "other.sqlite", **options)
    with monkeypatch.context() as patch:
        rest = Reader(patch)
        search = fitted(scan, y, journal=journal, **options)
    repeated = rest.count + before.count - whole.count
    assert repeated == (5 if at == 17 and options else 0)  # in a pass for values, which has no sums
    assert_same(search, plain)
    assert entries(journal) == 0  # those of finished passes took their place


def test_sums_are_written_at_most_once_a_minute(rows, monkeypatch, tmp_path):
    monkeypatch.setattr(onefit.gram.streamed, "SMALLEST_BLOCK", 60)
    monkeypatch.setattr(onefit.gram.streamed, "BLOCK", 1)
    _, y, scan = rows
    written, write = [], onefit.search.kept_sums.KeptSums.write
    monkeypatch.setattr(
        onefit.search.kept_sums.KeptSums, "write", lambda self, *args: (written.append(args[:2]), write(self, *args))
    )
    fitted(scan, y, journal=tmp_path / "journal.sqlite")
    assert written == [(f"{candidate}/0/0", -1) for candidate in range(2)]


@pytest.mark.parametrize("lane", [0, -1])
@pytest.mark.quick(1)
def test_damaged_sums_are_refused(rows, small_blocks, monkeypatch, tmp_path, lane):
    _, y, scan = rows
    journal = tmp_path / "journal.sqlite"
    with monkeypatch.context() as patch:
        Reader(patch, 17)
        with pytest.raises(KeyboardInterrupt):
            fitted(scan, y, journal=journal)
    with sqlite3.connect(journal) as db:
        db.execute("DELETE FROM outcomes")
        (numbers,) = db.execute("SELECT numbers FROM sums WHERE lane = ?", (lane,)).fetchone()
        spoiled = numbers[:800] + bytes([numbers[800] ^ 1]) + numbers[801:]
        db.execute("UPDATE sums SET numbers = ? WHERE lane = ?", (spoiled, lane))
    with pytest.raises(JournalError, match=r"journal\.sqlite' is damaged: the sums of kernel ./0/0"):
        fitted(scan, y, journal=journal)


def test_sums_of_another_search_are_not_used(rows, small_blocks, monkeypatch, tmp_path):
    _, y, scan = rows
    journal = tmp_path / "journal.sqlite"
    with monkeypatch.context() as patch:
        Reader(patch, 17)
        with pytest.raises(KeyboardInterrupt):
            fitted(scan, y, journal=journal)
    assert_same(fitted(scan, 2 * y, journal=journal), fitted(scan, 2 * y))
    with sqlite3.connect(journal) as db:  # as if they were of this search
        (mark,) = db.execute("SELECT fingerprint FROM searches ORDER BY id").fetchone()
        db.execute("DELETE FROM outcomes")
        db.execute("DELETE FROM sums WHERE search = ?", (mark,))
        db.execute("UPDATE sums SET search = ?", (mark,))
    with pytest.raises(JournalError, match="damaged"):
        fitted(scan, y, journal=journal)


def test_sums_of_other_cells_are_not_used(rows, small_blocks, monkeypatch, tmp_path):
    """A smaller memory budget sums the folds in several passes, and is no part of what a search is known by."""
    _, y, scan = rows
    journal, budget = tmp_path / "journal.sqlite", 8.0 * 30**2 * 3 * 2 * 3
    with monkeypatch.context() as patch:
        Reader(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            fitted(scan, y, journal=journal)
    found = fitted(scan, y, journal=journal, memory_budget=budget)
    assert_same(found, fitted(scan, y, memory_budget=budget))


def test_a_full_disk_is_no_reason_to_lose_a_search(rows, tmp_path):
    _, y, scan = rows
    plain = fitted(scan, y, approximation=Landmarks(150, random_state=0))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))  # bytes that a file may have; sums need 360,000
    try:
        with pytest.warns(JournalWarning, match="Sums are not kept"):
            found = fitted(scan, y, approximation=Landmarks(150, random_state=0), journal=tmp_path / "journal.sqlite")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_same(found, plain)
    again = fitted(scan, y, approximation=Landmarks(150, random_state=0), journal=tmp_path / "journal.sqlite")
    assert_same(again, plain)
    with pytest.raises(JournalError, match="has no sums of kernel"):
        again.update(scan, y)


PROGRAM = """
import sys, warnings
import numpy as np
import onefit.search.kept_sums
from onefit import LSSVR, KernelSearchCV, Landmarks, datasets
warnings.simplefilter("ignore")
onefit.search.kept_sums.INTERVAL = 0.2
X, y = datasets.scan(sys.argv[1])
grid = {"gamma": [0.02, 0.3], "alpha": [1e-2, 1.0]}
search = KernelSearchCV(LSSVR(), grid, cv=4, approximation=Landmarks(300, random_state=0), journal=sys.argv[2])
search.fit(X, y)
np.save(sys.argv[3], [search.cv_results_[f"split{i}_test_score"] for i in range(4)])
"""


@pytest.mark.slow
def test_a_killed_process_resumes_with_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 4))
    np.save(tmp_path / "t.npy", np.column_stack([X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))]))
    journal = tmp_path / "journal.sqlite"

    def start(journal, scores):
        command = [sys.executable, "-c", PROGRAM, tmp_path / "t.npy", journal, tmp_path / scores]
        return subprocess.Popen(list(map(str, command)))

    assert start(tmp_path / "other.sqlite", "expected.npy").wait(300) == 0
    killed = start(journal, "never.npy")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and killed.poll() is None:
        try:
            if entries(journal):
                break
        except sqlite3.Error:  # not there yet
            pass
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "never.npy").exists()
    assert entries(journal) > 0
    assert start(journal, "found.npy").wait(300) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), np.load(tmp_path / "expected.npy"))


class Chunks:
    """Chunks of rows that a task reads, counted, until one of them fails."""

    def __init__(self, X, size=50):
        self.X, self.size, self.read, self.failing = X, size, 0, None

    def array(self):
        import dask.array as da
        from dask import delayed

        X, size = self.X, self.size

        def read(start):
            self.read += 1
            if start == self.failing:
                raise OSError("the disk is gone")
            return X[start : start + size]

        parts = [delayed(read)(start, dask_key_name=f"chunk-{start}") for start in range(0, len(X), size)]
        rows = [da.from_delayed(part, (size, X.shape[1]), X.dtype, name=str(k)) for k, part in enumerate(parts)]
        return da.concatenate(rows)


def test_an_interrupted_pass_over_chunks_goes_on_from_its_last_group(rows, monkeypatch, tmp_path):
    pytest.importorskip("dask.array")
    monkeypatch.setattr(onefit.gram.cluster, "BATCH", 1.0)  # one chunk each
    monkeypatch.setattr(onefit.gram.cluster, "GROUP", 2)
    monkeypatch.setattr(onefit.search.kept_sums, "INTERVAL", 0.0)
    X, y, _ = rows
    X, y = X[:600], y[:600]
    chunks = Chunks(X)
    options = {"approximation": Landmarks(method=X[:30]), "error_score": "raise", "journal": tmp_path / "j.sqlite"}
    expected = fitted(chunks.array(), y, **{**options, "journal": None})
    whole, chunks.read = chunks.read, 0
    chunks.failing = 450
    with pytest.raises(OSError, match="the disk is gone"):
        fitted(chunks.array(), y, **options)
    chunks.read, chunks.failing = 0, None
    found = fitted(chunks.array(), y, **options)
    assert chunks.read == whole - 8  # the ninth and tenth chunk are a group
    assert_same(found, expected)


CLIENT = """
import sys, warnings
import dask.array as da
import numpy as np
import onefit.gram.cluster, onefit.search.kept_sums
from distributed import Client, LocalCluster
from onefit import LSSVR, KernelSearchCV, Landmarks

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    onefit.search.kept_sums.INTERVAL, onefit.gram.cluster.BATCH = 0.1, 1e8
    X = np.load(sys.argv[1])
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        search = KernelSearchCV(
            LSSVR(), {"gamma": [0.1, 0.5], "alpha": [0.01, 1.0]}, cv=4, journal=sys.argv[2],
            approximation=Landmarks(300, random_state=0),
        ).fit(da.from_array(X[:, :3], chunks=(1500, 3)), X[:, 3])
        np.save(sys.argv[3], [search.cv_results_[f"split{i}_test_score"] for i in range(4)])
"""


@pytest.mark.slow
def test_a_client_that_is_killed_resumes_with_the_same_bits(tmp_path):
    pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    table = np.column_stack([X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))])
    np.save(tmp_path / "t.npy", table)
    (tmp_path / "client.py").write_text(CLIENT)

    def start(journal, scores):
        files = [tmp_path / "client.py", tmp_path / "t.npy", tmp_path / journal, tmp_path / scores]
        return subprocess.Popen([sys.executable, *map(str, files)], start_new_session=True)

    def running_sums():
        try:
            with sqlite3.connect(tmp_path / "killed.sqlite") as db:
                return db.execute("SELECT count(*) FROM sums WHERE lane >= 0").fetchone()[0]
        except sqlite3.Error:  # not there yet
            return 0

    assert start("whole.sqlite", "expected.npy").wait(300) == 0
    killed, deadline = start("killed.sqlite", "never.npy"), time.monotonic() + 200
    while not running_sums() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)  # the scheduler is in its process, the workers are its children
    killed.wait()
    assert running_sums() > 0
    assert not (tmp_path / "never.npy").exists()
    assert start("killed.sqlite", "found.npy").wait(300) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), np.load(tmp_path / "expected.npy"))
