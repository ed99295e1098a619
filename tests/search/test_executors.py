"""A search gives the same table, bit for bit, wherever its tasks are run."""

import pickle
from contextlib import redirect_stdout

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import is_regressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, KernelSearchCV, criteria
from onefit.data import Folds
from onefit.search.executors import Executor
from onefit.search.plan import plan
from onefit.search.request import Request
from onefit.search.scoring import Scoring
from onefit.search.tasks import divide

pytestmark = pytest.mark.filterwarnings("ignore:The best parameters lie at the edge")


def scaled_classifier():
    """A Pipeline, three classes, several metrics and train scores: inputs of their own for every fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=120), [-0.4, 0.4])]
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.01, 0.1, 1.0, "scale"]}
    scoring = ["accuracy", "balanced_accuracy"]
    return KernelSearchCV(
        make_pipeline(StandardScaler(), SVC()), grid, scoring=scoring, refit="accuracy", cv=4, return_train_score=True
    ), (X, y)


def wide_regression():
    """An array that joblib maps into the memory of processes, two base matrices, and a criterion beside the score."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 1000)) / 30
    y = X[:, 0] + 0.1 * rng.normal(size=150)
    grid = [
        {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0], "alpha": [0.01, 1.0]},
        {"kernel": ["poly"], "degree": [2, 3], "alpha": [0.01, 1.0]},
    ]
    return KernelSearchCV(KernelRidge(), grid, criterion=["cv", "gcv"], cv=5), (X, y)


def screened_and_certified():
    """Stages that follow each other: screening, then waves of kernels that are pruned by what is proved."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] * X[:, 1] > 0
    grid = {"gamma": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0], "C": [0.1, 1.0, 10.0]}

    return KernelSearchCV(L2SVC(), grid, criterion=criteria.CV(certify=True, prune=True), screen=("ckta", 6), cv=4), (
        X,
        y,
    )


SEARCHES = [scaled_classifier, wide_regression, screened_and_certified]


def assert_same_tables(found, expected):
    assert found.keys() == expected.keys()
    for column, values in expected.items():
        if "time" not in column and column != "seconds":
            np.testing.assert_array_equal(found[column], values, err_msg=column, strict=True)


def assert_same_searches(n_jobs):
    for make in SEARCHES:
        search, data = make()
        expected = make()[0].fit(*data)
        found = search.set_params(n_jobs=n_jobs).fit(*data)
        assert_same_tables(found.cv_results_, expected.cv_results_)
        assert found.best_params_ == expected.best_params_
        assert found.ledger_["gram"] == expected.ledger_["gram"]
        np.testing.assert_array_equal(found.oof_decision_, expected.oof_decision_)


@pytest.mark.parametrize("estimator", [SVC(), SVR(), L2SVC(), KernelRidge(kernel="rbf"), LSSVC(), LSSVR()], ids=str)
@pytest.mark.parametrize("scaled", [False, True])
def test_a_task_is_a_value_that_can_be_sent(estimator, scaled):
    """Tasks and settings survive pickling, which neither locks nor lambdas do, and give the same rows afterwards."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] if is_regressor(estimator) else X[:, 0] > 0
    model = make_pipeline(StandardScaler(), estimator) if scaled else estimator
    name = f"{type(estimator).__name__.lower()}__gamma" if scaled else "gamma"
    folds = Folds.from_splits(KFold(3).split(X), len(X))
    scoring = Scoring.build(model, None, np.nan)
    planned = plan(Request(model, X, y, folds, scoring=scoring), [{name: gamma} for gamma in (0.1, 1.0, 10.0)])
    sent = pickle.loads(pickle.dumps(planned))
    here, there = (dict(Executor(p.resources).run(p.tasks, p.settings)) for p in (planned, sent))
    assert len(here) == 3
    for number, outcome in here.items():
        assert there[number].ledger.counts == outcome.ledger.counts
        for row, other in zip(outcome.rows, there[number].rows, strict=True):
            np.testing.assert_array_equal(row.test["score"], other.test["score"])
            assert (row.candidate, row.exactness, row.status) == (other.candidate, other.exactness, other.status)


def test_threads():
    assert_same_searches(n_jobs=2)


@pytest.mark.slow
def test_more_threads_than_kernels():
    assert_same_searches(n_jobs=16)


@pytest.mark.slow
def test_processes():
    with parallel_config(backend="loky"):
        assert_same_searches(n_jobs=2)


@pytest.mark.slow
def test_dask():
    distributed = pytest.importorskip("distributed", reason="a cluster needs onefit[cluster]")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), parallel_config(backend="dask"):
        assert_same_searches(n_jobs=2)


@pytest.mark.slow
def test_a_time_budget_ends_a_search_in_processes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    grid = {"gamma": np.logspace(-3, 3, 60), "C": [0.1, 1.0, 10.0, 100.0]}
    search = KernelSearchCV(SVR(), grid, cv=5, n_jobs=2, time_budget="1ms", refit=False)
    with parallel_config(backend="loky"), pytest.warns(match="time budget"):
        search.fit(X, X[:, 0] + 0.3 * rng.normal(size=300))
    reached = search.cv_results_["exactness"] != "not reached"
    assert 0 < reached.sum() <= 8 * len(grid["C"])  # a path for each part
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("workers", [1, 2, 5, 100])
def test_parts_are_of_one_group_and_hold_every_task_once(workers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    folds = Folds.from_splits(KFold(2).split(X), len(X))
    candidates = [{"kernel": "rbf", "gamma": gamma} for gamma in range(1, 22)]
    candidates += [{"kernel": "poly", "degree": degree} for degree in (2, 3, 4)]
    tasks = plan(Request(SVC(), X, X[:, 0] > 0, folds), candidates).tasks
    parts = divide(tasks, workers)
    assert sorted(number for part in parts for number in part) == list(range(24))
    assert all(len({tasks[number].group for number in part}) == 1 for part in parts)
    assert max(map(len, parts)) <= 8
    assert len(parts) == {1: 4, 2: 5, 5: 8, 100: 24}[workers]  # of 21 kernels on distances, and 3 on inner products


@pytest.mark.slow
def test_an_interruption_keeps_what_processes_have_finished():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    seen = []

    class Interrupter:
        """A verbose stream that interrupts once a few candidates are told."""

        def write(self, text):
            seen.append(text)
            if sum("END" in line for line in seen) == 5:
                raise KeyboardInterrupt

        def flush(self):
            pass

    search = KernelSearchCV(LSSVR(), {"gamma": np.logspace(-3, 3, 40)}, cv=3, n_jobs=2, verbose=2)
    with parallel_config(backend="loky"), redirect_stdout(Interrupter()), pytest.raises(KeyboardInterrupt):
        search.fit(X, X[:, 0])
    assert 2 <= len(search.cv_results_["params"]) < 40  # three lines for each
    assert not hasattr(search, "best_index_")


@pytest.mark.slow
def test_what_fails_in_a_process_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    search = KernelSearchCV(SVC(), {"gamma": [0.1, 1.0]}, scoring=_impossible, error_score="raise", n_jobs=2)
    with parallel_config(backend="loky"), pytest.raises(ZeroDivisionError, match="by design"):
        search.fit(X, X[:, 0] > 0)


def _impossible(estimator, X, y):
    raise ZeroDivisionError("by design")
