"""Searches that are interrupted and resumed give what uninterrupted ones give."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVR

import onefit.search.executors
import onefit.search.journal
import onefit.search.retraining
from onefit import LSSVC, KernelSearchCV, TimeBudgetWarning, criteria
from onefit.search.journal import Journal

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")

GRID = {"gamma": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0], "alpha": [1e-3, 0.1, 10.0]}
BOXES = {"gamma": [0.01, 0.1, 1.0, 3.0, 10.0, 30.0], "C": [0.1, 1.0, 10.0]}
RIDGE, PIPELINE = KernelRidge(kernel="rbf"), make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))


def two_metrics(model, X, y):
    error = np.abs(model.predict(X) - y)
    return {"mean": -float(error.mean()), "max": -float(error.max())}


SEARCHES = {
    "ridge": (RIDGE, GRID, {}),
    "train scores": (RIDGE, GRID, {"return_train_score": True}),
    "pipeline": (PIPELINE, {f"kernelridge__{name}": values for name, values in GRID.items()}, {}),
    "leave-one-out": (RIDGE, GRID, {"cv": LeaveOneOut()}),
    "tubes": (SVR(), {"gamma": [0.1, 1.0], "C": [1.0, 10.0], "epsilon": [0.01, 0.1]}, {}),
    "pruned": (SVR(), BOXES, {"criterion": criteria.CV(certify=True, prune=True, tolerance=1e-3)}),
    "series": (SVR(), BOXES, {"criterion": "bif"}),
    "criterion": (RIDGE, GRID, {"criterion": "gcv"}),
    "columns": (RIDGE, GRID, {"criterion": ["cv", "gcv", "ckta"]}),
    "screened": (RIDGE, GRID, {"screen": ("ckta", 4)}),
    "callable metrics": (RIDGE, GRID, {"scoring": two_metrics, "refit": "max"}),
    "repeated": (RIDGE, {**GRID, "degree": [2, 3]}, {}),
    "auto": (RIDGE, "auto", {}),
}


def assert_same_results(search, other):
    assert list(search.cv_results_) == list(other.cv_results_)
    for key, column in other.cv_results_.items():
        if "time" not in key and key != "seconds":
            np.testing.assert_array_equal(search.cv_results_[key], column, err_msg=key)
    assert search.best_params_ == other.best_params_
    assert search.best_index_ == other.best_index_
    if hasattr(other, "oof_decision_"):
        np.testing.assert_array_equal(search.oof_decision_, other.oof_decision_)


class Interrupter:
    """Counts the kernels that are evaluated, and interrupts before one of them."""

    def __init__(self, monkeypatch, at=None):
        self.count, self.at = 0, at
        evaluate = onefit.search.executors.evaluate

        def counted(*args, **options):
            if self.count == self.at:
                raise KeyboardInterrupt
            self.count += 1
            return evaluate(*args, **options)

        monkeypatch.setattr(onefit.search.executors, "evaluate", counted)


def number_of_kernels(monkeypatch, fit):
    with monkeypatch.context() as patch:
        counter = Interrupter(patch)
        fit()
    return counter.count


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.quick(4)
def test_an_interrupted_search_goes_on(regression, monkeypatch, tmp_path, name):
    estimator, grid, options = SEARCHES[name]
    options = {"cv": 4, **options}
    plain = KernelSearchCV(estimator, grid, **options)
    total = number_of_kernels(monkeypatch, lambda: plain.fit(*regression))
    search = KernelSearchCV(estimator, grid, journal=tmp_path / "journal.sqlite", **options)
    done = 0
    for step in (1, 2):  # interrupted twice, further on each time
        with monkeypatch.context() as patch:
            interrupter = Interrupter(patch, at=step)
            if done + step >= total:
                break
            with pytest.raises(KeyboardInterrupt):
                search.fit(*regression)
            done += interrupter.count
    rest = number_of_kernels(monkeypatch, lambda: search.fit(*regression))
    assert rest == total - done
    assert_same_results(search, plain)
    again = number_of_kernels(monkeypatch, lambda: search.fit(*regression))
    assert again == isinstance(estimator, SVR)  # the exact solution on all rows, with which the refit is compared
    assert_same_results(search, plain)


def test_retrained_candidates_go_on(regression, tmp_path, monkeypatch):
    options = {"estimator": NuSVR(), "param_grid": {"nu": [0.2, 0.4, 0.6, 0.8]}, "cv": 3}
    with pytest.warns(match="retrained"):
        plain = KernelSearchCV(**options).fit(*regression)
    retrained, fit_and_score = [], onefit.search.retraining._fit_and_score

    def limited(how, training, *rest):
        if len(retrained) == 7:  # two candidates, and one fold of the third
            raise KeyboardInterrupt
        retrained.append(training.params["nu"])
        return fit_and_score(how, training, *rest)

    monkeypatch.setattr(onefit.search.retraining, "_fit_and_score", limited)
    search = KernelSearchCV(**options, journal=tmp_path / "journal.sqlite")
    with pytest.raises(KeyboardInterrupt), pytest.warns(match="retrained"):
        search.fit(*regression)
    assert len(search.cv_results_["params"]) == 2
    retrained.clear()
    with pytest.warns(match="retrained"):
        search.fit(*regression)
    assert retrained == [0.6] * 3 + [0.8] * 3
    assert_same_results(search, plain)


@pytest.mark.parametrize("criterion", ["cv", criteria.CV(certify=True)], ids=["exact", "certified"])
def test_classes_with_names_go_on(three_classes, tmp_path, monkeypatch, criterion):
    plain = KernelSearchCV(SVC(), BOXES, cv=3, criterion=criterion).fit(*three_classes)
    search = KernelSearchCV(SVC(), BOXES, cv=3, criterion=criterion, journal=str(tmp_path / "journal.sqlite"))
    with monkeypatch.context() as patch:
        Interrupter(patch, at=3)
        with pytest.raises(KeyboardInterrupt):
            search.fit(*three_classes)
    assert len(search.cv_results_["params"]) == 9
    search.fit(*three_classes)
    assert_same_results(search, plain)
    np.testing.assert_array_equal(search.oof_prediction_, plain.oof_prediction_)


def test_searches_out_of_time_go_on_a_kernel_at_a_time(regression, tmp_path):
    plain = KernelSearchCV(RIDGE, GRID, cv=4).fit(*regression)
    search = KernelSearchCV(RIDGE, GRID, cv=4, time_budget=1e-9, journal=tmp_path / "journal.sqlite")
    for kernels in range(1, 6):
        with pytest.warns(TimeBudgetWarning, match=f"{3 * kernels} of 18"):
            search.fit(*regression)
    search.fit(*regression)
    assert_same_results(search, plain)


def test_what_failed_is_tried_again(regression, tmp_path, monkeypatch):
    """What a user's transformer or kernel lacked need not be lacking the next time."""
    options = {"estimator": RIDGE, "param_grid": GRID, "cv": 4}
    plain = KernelSearchCV(**options).fit(*regression)
    search = KernelSearchCV(**options, journal=tmp_path / "journal.sqlite")
    with monkeypatch.context() as patch:

        def fails(method):
            def failing(self, *args, **kwargs):
                if self.gamma == 0.1:
                    raise OSError
                return method(self, *args, **kwargs)

            return failing

        for kind, name in ((onefit.kernels.Gaussian, "map"), (type(RIDGE), "fit")):  # the fast path and retraining
            patch.setattr(kind, name, fails(getattr(kind, name)))
        with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"):
            search.fit(*regression)
    assert "failed" in search.cv_results_["exactness"]
    search.fit(*regression)
    assert_same_results(search, plain)


class TestFingerprints:
    """Any ingredient that changes starts a search of its own; what has no influence does not."""

    @pytest.fixture
    def fit(self, regression, tmp_path):
        path = tmp_path / "journal.sqlite"

        def fit(X=regression[0], y=regression[1], estimator=RIDGE, grid=GRID, weight=None, **options):
            options = {"cv": 3, "journal": path, "refit": False, **options}
            fit_params = {} if weight is None else {"sample_weight": weight}
            KernelSearchCV(estimator, grid, **options).fit(X, y, **fit_params)
            with Journal(path) as journal:
                return len(journal.searches())

        assert fit() == 1
        return fit

    @pytest.mark.slow
    def test_ingredients(self, fit, regression):
        X, y = regression
        nudged = X.copy()
        nudged[5, 1] = np.nextafter(nudged[5, 1], np.inf)
        weight = np.ones(len(y))
        heavier = np.r_[np.nextafter(1.0, 2.0), np.ones(len(y) - 1)]
        shuffled = KFold(3, shuffle=True, random_state=0)
        changes = [
            {"X": nudged}, {"y": y + 1e-15}, {"weight": weight}, {"weight": heavier}, {"cv": 4}, {"cv": shuffled},
            {"estimator": KernelRidge(kernel="laplacian")}, {"estimator": LSSVC(), "y": (y > 0).astype(int)},
            {"grid": {**GRID, "alpha": [1e-3, 0.1, 11.0]}}, {"grid": {**GRID, "alpha": [1e-3, 0.1]}}, {"grid": "auto"},
            {"criterion": "bif"}, {"criterion": criteria.BIF(order=3)}, {"criterion": ["cv", "gcv"]},
            {"scoring": "neg_mean_squared_error"}, {"scoring": two_metrics}, {"scale_penalty": True},
            {"screen": ("ckta", 2)}, {"screen": ("ckta", 3)}, {"return_train_score": True}, {"error_score": 0.0},
            {"estimator": PIPELINE, "grid": {"kernelridge__alpha": [0.1, 1.0]}},
            {"estimator": PIPELINE, "grid": {"kernelridge__alpha": [0.1, 1.0]}, "preprocessing": "shared"},
        ]  # fmt: skip
        for number, change in enumerate(changes, 2):
            assert fit(**change) == number, change
        for change in changes:
            assert fit(**change) == len(changes) + 1, change

    def test_what_has_no_influence(self, fit, regression):
        X, _ = regression
        same = [
            {"X": np.asfortranarray(X)}, {"n_jobs": 2}, {"refit": True}, {"verbose": 0}, {"time_budget": "1h"},
            {"memory_budget": "1GB"}, {"cv": KFold(3)}, {"cv": list(KFold(3).split(X))}, {"pre_dispatch": "all"},
        ]  # fmt: skip
        for change in same:
            assert fit(**change) == 1, change

    def test_another_version_starts_anew(self, fit, monkeypatch):
        monkeypatch.setattr(onefit.search.journal, "__version__", "0.0.0")
        assert fit() == 2


class TestRefusedBeforeWork:
    def test_foreign_files(self, regression, tmp_path, monkeypatch):
        counter = Interrupter(monkeypatch)
        (tmp_path / "notes.txt").write_text("dear diary, " * 100)
        with pytest.raises(ValueError, match="not a database"):
            KernelSearchCV(RIDGE, GRID, journal=tmp_path / "notes.txt").fit(*regression)
        with pytest.raises(ValueError, match="unable to open"):
            KernelSearchCV(RIDGE, GRID, journal=tmp_path / "no" / "folder.sqlite").fit(*regression)
        assert counter.count == 0

    def test_what_has_no_fingerprint(self, regression, tmp_path):
        class Scorer:
            __slots__ = ()

            def __call__(self, model, X, y):
                return 0.0

        with pytest.raises(ValueError, match="cannot be told apart"):
            KernelSearchCV(RIDGE, GRID, scoring=Scorer(), journal=tmp_path / "j.sqlite").fit(*regression)


SCRIPT = """
import sys, time
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from onefit import KernelSearchCV

def error(model, X, y):
    time.sleep(5e-3)
    return -float(np.abs(model.predict(X) - y).mean())

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
grid = {"gamma": np.logspace(-3, 1, 40), "alpha": [1e-3, 0.1, 10.0]}
search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=3, scoring=error, journal=sys.argv[1])
print("ready", flush=True)
search.fit(X, y)
np.savez(sys.argv[2], **{key: search.cv_results_[key] for key in search.cv_results_ if key.startswith("split")})
print("done", flush=True)
"""


def start(journal, results):
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, str(journal), str(results)]
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert worker.stdout.readline() == "ready\n"
    return worker


def uninterrupted():
    """The scores of the script's search, without a journal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    grid = {"gamma": np.logspace(-3, 1, 40), "alpha": [1e-3, 0.1, 10.0]}
    return KernelSearchCV(RIDGE, grid, cv=3, scoring="neg_mean_absolute_error").fit(X, y).cv_results_


def finished(journal):
    with Journal(journal) as opened:
        return sum(search["finished"] for search in opened.searches())


@pytest.mark.slow
def test_killed_processes_lose_nothing(tmp_path):
    journal, results = tmp_path / "journal.sqlite", tmp_path / "results.npz"
    moments, known = random.Random(os.getpid()), [0]
    for _ in range(3):
        worker = start(journal, results)
        while not journal.exists() or finished(journal) == known[-1]:  # until it has done something new
            assert worker.poll() is None
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.03))
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        known.append(finished(journal))
    assert all(earlier < later < 120 for earlier, later in pairwise(known))
    assert all(count % 3 == 0 for count in known)  # whole kernels
    worker = start(journal, results)
    assert worker.wait(timeout=120) == 0
    expected = uninterrupted()
    for key, column in np.load(results).items():
        np.testing.assert_allclose(column, expected[key], rtol=1e-12)
    assert finished(journal) == 120


@pytest.mark.slow
def test_two_processes_share_a_journal(tmp_path):
    journal = tmp_path / "journal.sqlite"
    workers = [start(journal, tmp_path / f"{number}.npz") for number in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    assert finished(journal) == 120
    with Journal(journal) as opened:
        assert len(opened.searches()) == 1
    expected = uninterrupted()
    for number in range(2):
        for key, column in np.load(tmp_path / f"{number}.npz").items():
            np.testing.assert_allclose(column, expected[key], rtol=1e-12)
