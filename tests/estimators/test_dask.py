"""Searches over dask arrays and frames: bit-identical whoever computes, and equal to arrays in memory."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import (
    L2SVC,
    LSSVR,
    GridEdgeWarning,
    KernelLogisticRegression,
    KernelSearchCV,
    Landmarks,
    LandmarksWarning,
    datasets,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GRID = {"gamma": [0.02, 0.3], "alpha": [1e-2, 1.0]}


def problem(n=1500):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) * [1.0, 4.0, 0.2] + 1
    return X, np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * rng.normal(size=n)


def split_scores(search):
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)])


def fitted(X, y, model=None, grid=None, **options):
    model, grid = LSSVR() if model is None else model, GRID if grid is None else grid
    options = {"cv": KFold(4), "approximation": Landmarks(40, random_state=0), **options}
    return KernelSearchCV(model, grid, **options).fit(X, y)


@pytest.mark.parametrize("scoring", [None, "neg_median_absolute_error"])
@pytest.mark.parametrize("chunk", [100, 700])
def test_chunks_give_the_scores_of_an_array(scoring, chunk):
    X, y = problem()
    array = fitted(X, y, scoring=scoring)
    chunked = fitted(da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk), scoring=scoring)
    np.testing.assert_allclose(split_scores(chunked), split_scores(array), rtol=1e-10)
    np.testing.assert_allclose(chunked.predict(X), array.predict(X), rtol=1e-9)
    np.testing.assert_allclose(chunked.oof_decision_, array.oof_decision_, rtol=1e-8)


def test_transformers_and_frames():
    frame = pytest.importorskip("dask.dataframe")
    import pandas as pd

    X, y = problem()
    model = make_pipeline(StandardScaler(), LSSVR())
    grid = {f"lssvr__{name}": values for name, values in GRID.items()}
    array = fitted(X, y, model, grid)
    table = frame.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=5)
    np.testing.assert_allclose(split_scores(fitted(table, y, model, grid)), split_scores(array), rtol=1e-8)


MARGINS = [L2SVC(), SVC(), SVR(epsilon=0.1), KernelLogisticRegression()]


@pytest.mark.parametrize("model", MARGINS, ids=lambda model: type(model).__name__)
def test_losses_other_than_squares(model):
    X, y = problem(900)
    labels = y if isinstance(model, SVR) else np.where(y > 1, "high", np.where(y > 0, "middle", "low"))
    grid = {"gamma": [0.3], "C": [0.1, 10.0]}
    array = fitted(X, labels, model, grid)
    chunked = fitted(da.from_array(X, chunks=(190, 3)), labels, model, grid)
    np.testing.assert_allclose(split_scores(chunked), split_scores(array), rtol=1e-9)
    np.testing.assert_allclose(chunked.oof_decision_, array.oof_decision_, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("model", [L2SVC(), SVR(epsilon=0.3)], ids=["L2SVC", "SVR"])
def test_sums_of_other_losses_are_computed_by_workers(model):
    distributed = pytest.importorskip("distributed")
    X, y = problem(20_000)
    labels, chunked = y if isinstance(model, SVR) else y > 1, da.from_array(X, chunks=(10_000, 3))
    options = {"grid": {"gamma": [0.3], "C": [0.01]}, "approximation": Landmarks(250, random_state=0), "cv": KFold(2)}
    here = fitted(chunked, labels, model, **options)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster) as client:
        there = fitted(chunked, labels, model, **options)
        tasks = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.task_prefixes["limited"].state_counts)
    np.testing.assert_array_equal(split_scores(there), split_scores(here))
    np.testing.assert_array_equal(there.oof_decision_, here.oof_decision_)
    assert tasks["memory"] > there.ledger_["pass"]


def test_an_empty_chunk_at_the_beginning():
    X, y = problem()
    chunked = da.concatenate([da.zeros((0, 3)), da.from_array(X, chunks=(700, 3))])
    np.testing.assert_allclose(split_scores(fitted(chunked, y)), split_scores(fitted(X, y)), rtol=1e-10)


def test_a_missing_value_is_an_error():
    X, y = problem()
    X[1234, 1] = np.nan
    chunked = da.from_array(X, chunks=(500, 3))
    with pytest.raises(ValueError, match="Row 1234 of X"):
        fitted(chunked, y, error_score="raise", approximation=Landmarks(method=X[:30]))


@pytest.mark.slow
def test_the_number_of_workers_does_not_change_a_bit():
    distributed = pytest.importorskip("distributed")
    X, y = problem(6000)
    chunked, found = da.from_array(X, chunks=(500, 3)), []
    for workers in (1, 2, 4):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster),
        ):
            found.append(split_scores(fitted(chunked, y)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_rows_are_added_on_a_cluster(tmp_path):
    X, y = problem()
    options = {"approximation": Landmarks(method=X[:30]), "journal": tmp_path / "j.sqlite"}
    here = fitted(X[:900], y[:900], **options).update(X[900:], y[900:])
    options["journal"] = tmp_path / "k.sqlite"
    there = fitted(da.from_array(X[:900], chunks=(200, 3)), y[:900], **options)
    there.update(da.from_array(X[900:], chunks=(100, 3)), da.from_array(y[900:]))
    np.testing.assert_allclose(split_scores(there), split_scores(here), rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [0, 3], ids=["each death is one too many", "some deaths are allowed"])
@pytest.mark.parametrize("model", [LSSVR(), L2SVC()], ids=["one pass", "labels that stay with the workers"])
def test_workers_that_are_killed_cost_time_and_no_bit(allowed, model):
    distributed = pytest.importorskip("distributed")
    X, y = problem(60_000)
    chunked, deaths = da.from_array(X, chunks=(2000, 3)), []
    given = (chunked, y, model) if isinstance(model, LSSVR) else (chunked, y > 1, model, {"gamma": [0.3], "C": [0.1]})
    expected = split_scores(fitted(*given, approximation=Landmarks(300, random_state=0)))
    stop = threading.Event()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": allowed}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):

        def kill():
            while len(deaths) < 2 and not stop.wait(1.0):
                pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
                if pids:
                    os.kill(pids[len(deaths) % len(pids)], signal.SIGKILL)
                    deaths.append(pids)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        found = split_scores(fitted(*given, approximation=Landmarks(300, random_state=0)))
        stop.set()
        killer.join()
    assert deaths
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("model", [LSSVR(), make_pipeline(StandardScaler(), LSSVR())], ids=["bare", "behind a scaler"])
def test_workers_read_files_by_themselves(model, tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y = problem(150_000)
    np.save(tmp_path / "rows.npy", X)
    scanned, _ = datasets.scan(tmp_path / "rows.npy", target=False)
    grid = {f"{'lssvr__' if hasattr(model, 'steps') else ''}{name}": values for name, values in GRID.items()}
    options = {"scoring": ["r2", "neg_median_absolute_error"], "refit": "r2", "preprocessing": "shared"}
    options["approximation"] = Landmarks(method=X[:20])

    def scores(found):
        return np.array([found.cv_results_[f"split{i}_test_{name}"] for i in range(4) for name in options["scoring"]])

    here = fitted(scanned, y, model, grid, **options)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster) as client:
        there = fitted(scanned, y, model, grid, **options)
        done = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    np.testing.assert_allclose(scores(there), scores(here), rtol=1e-10)
    np.testing.assert_allclose(there.predict(X[:50]), here.predict(X[:50]), rtol=1e-8)
    assert "read" in done


@contextmanager
def remote_cluster(port):
    """Processes of a scheduler and a worker, as they would run on other computers."""
    module, address = "distributed.cli.dask_{}", f"tcp://127.0.0.1:{port}"
    commands = [
        [module.format("scheduler"), "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        [module.format("worker"), address, "--nthreads", "1", "--no-dashboard"],
    ]
    processes = [
        subprocess.Popen([sys.executable, "-m", *own], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for own in commands
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("event", ["restarted by its client", "replaced by another", "gone"])
def test_a_cluster_that_is_lost_fails_no_candidate(event, tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y = problem(20_000)
    options = {"approximation": Landmarks(method=X[:300])}
    expected = split_scores(fitted(da.from_array(X, chunks=(1000, 3)), y, **options))
    marker, port = tmp_path / "under way", free_port()

    def pass_on(rows):
        marker.touch()
        return rows

    chunked = da.from_array(X, chunks=(1000, 3)).map_blocks(pass_on, dtype=X.dtype, meta=X[:0])
    options["journal"] = tmp_path / "j.sqlite"
    with remote_cluster(port) as first, distributed.Client(f"127.0.0.1:{port}", timeout=10) as client:
        finished = threading.Event()

        def disturb():
            while not marker.exists():
                if finished.wait(0.01):
                    return
            if event == "restarted by its client":
                client.restart(wait_for_workers=False)
                return
            for process in first:
                process.kill()
                process.wait()
            if event == "replaced by another":
                with remote_cluster(port):
                    finished.wait(100)

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            found = split_scores(fitted(chunked, y, **options))
        except ConnectionError:
            assert event == "gone"
            found = None
        finally:
            finished.set()
            thread.join()
    assert marker.exists()
    if event == "gone":
        assert found is None
        found = split_scores(fitted(chunked, y, **options))  # goes on from the journal, without a cluster
    np.testing.assert_array_equal(found, expected)
