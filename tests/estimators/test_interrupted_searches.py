"""Ctrl-C, wherever it comes: cv_results_ has what the journal has, and a resumed search is the whole one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.svm import NuSVR

from onefit import KernelSearchCV
from onefit.search.journal import Journal, Record

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning", "ignore::onefit.RetrainingWarning")

GAMMAS, ALPHAS = [0.01, 0.03, 0.1, 0.3, 1.0], [1e-3, 0.1]


class Countdown:
    """Counts calls, and is interrupted at one of them."""

    def __init__(self):
        self.count, self.at, self.lock = 0, None, threading.Lock()

    def __call__(self):
        with self.lock:
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt


CALLS = Countdown()


@pytest.fixture(autouse=True)
def calls():
    CALLS.count, CALLS.at = 0, None
    return CALLS


def counted_error(y, prediction):
    CALLS()
    return mean_absolute_error(y, prediction)


class CountedTransformer(TransformerMixin, BaseEstimator):
    """Multiplies; every fit counts."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        CALLS()
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return self.factor * X


class CountedCallback:
    """A callback of scikit-learn that counts the ends of tasks."""

    max_propagation_depth = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        CALLS()


def interrupting_scorer(**options):
    grid = {"gamma": GAMMAS, "alpha": ALPHAS, "degree": [2, 3]}  # the degree has no effect
    return KernelSearchCV(KernelRidge(kernel="rbf"), grid, scoring=make_scorer(counted_error), cv=3, **options)


def interrupting_transformer(**options):
    model = make_pipeline(CountedTransformer(), KernelRidge(kernel="rbf"))
    grid = {"countedtransformer__factor": GAMMAS, "kernelridge__alpha": ALPHAS}
    return KernelSearchCV(model, grid, cv=3, **options)


def interrupting_callback(**options):
    search = KernelSearchCV(KernelRidge(kernel="rbf"), {"gamma": GAMMAS, "alpha": ALPHAS}, cv=3, **options)
    search.set_callbacks(CountedCallback())
    return search


def interrupting_retraining(**options):
    model = make_pipeline(CountedTransformer(), NuSVR())
    return KernelSearchCV(model, {"nusvr__nu": [0.2, 0.4, 0.6]}, cv=3, **options)


MAKERS = [interrupting_scorer, interrupting_transformer, interrupting_callback, interrupting_retraining]


def known_to(path):
    """{parameters: scores of the splits} in a journal."""
    with Journal(path) as journal:
        (search,) = journal.searches()
        found = {
            json.dumps(params): row.test["score"].tolist() for params, row in journal.finished(search["fingerprint"])
        }
        assert search["finished"] == len(found)
        return found


def shown_by(results):
    """The same of a results table."""
    if results is None:
        return {}
    scores = np.column_stack([results[f"split{number}_test_score"] for number in range(3)])
    return {json.dumps(params): row.tolist() for params, row in zip(results["params"], scores)}


def assert_same(search, whole):
    for key, column in whole.cv_results_.items():
        if "time" not in key and key != "seconds":
            np.testing.assert_array_equal(search.cv_results_[key], column, err_msg=key)
    np.testing.assert_array_equal(search.oof_decision_, whole.oof_decision_)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("make", MAKERS)
def test_anywhere(regression, calls, tmp_path, make, n_jobs):
    if make is interrupting_retraining and n_jobs == 2:
        pytest.skip("processes have counters of their own")
    whole = make().fit(*regression)
    total, interrupted = calls.count, 0
    for at in range(1, total + 1, max(1, total // 6)):
        calls.count, calls.at = 0, at
        path = tmp_path / f"{at}.sqlite"
        search = make(journal=path, n_jobs=n_jobs)
        try:
            search.fit(*regression)
        except KeyboardInterrupt:
            interrupted += 1
        assert shown_by(getattr(search, "cv_results_", None)) == known_to(path)
        calls.count, calls.at = 0, None
        assert_same(search.fit(*regression), whole)
    assert interrupted


@pytest.mark.parametrize("committed", [True, False])
def test_around_a_commit(regression, tmp_path, monkeypatch, committed):
    add = Record.add

    def interrupted(self, stage, rows, params):
        if committed:
            add(self, stage, rows, params)
        raise KeyboardInterrupt

    monkeypatch.setattr(Record, "add", interrupted)
    search = KernelSearchCV(KernelRidge(), {"alpha": ALPHAS}, cv=3, journal=tmp_path / "journal.sqlite")
    with pytest.raises(KeyboardInterrupt):
        search.fit(*regression)
    shown = shown_by(getattr(search, "cv_results_", None))
    assert shown == known_to(tmp_path / "journal.sqlite")
    assert len(shown) == (2 if committed else 0)


def test_failed_candidates_are_not_among_the_finished(regression, tmp_path, calls):
    """They are tried again next time, so that the journal does not have them."""
    grid = {"countedtransformer__factor": ["no number", *GAMMAS], "kernelridge__alpha": ALPHAS}
    search = interrupting_transformer(journal=tmp_path / "journal.sqlite").set_params(param_grid=grid)
    calls.at = 8
    with pytest.raises(KeyboardInterrupt):
        search.fit(*regression)
    assert set(search.cv_results_["exactness"]) == {"exact"}
    assert shown_by(search.cv_results_) == known_to(tmp_path / "journal.sqlite")


SCRIPT = """
import json, sys, time
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from onefit import KernelSearchCV

def error(model, X, y):
    time.sleep(5e-3)
    return -float(np.abs(model.predict(X) - y).mean())

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
grid = {"gamma": np.logspace(-3, 1, 60).tolist(), "alpha": [1e-3, 0.1, 10.0]}
options = {"cv": 3, "scoring": error, "journal": sys.argv[1], "n_jobs": int(sys.argv[2])}
search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, **options)
try:
    search.fit(X, np.sin(X[:, 0]))
except KeyboardInterrupt:
    scores = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
    print(json.dumps({json.dumps(p): row.tolist() for p, row in zip(search.cv_results_["params"], scores)}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal(tmp_path, n_jobs):
    """Ctrl-C of a terminal, at whatever moment it comes."""
    path = tmp_path / "journal.sqlite"
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, str(path), str(n_jobs)]
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not path.exists() or not finished(path):
        assert worker.poll() is None, worker.stderr.read()
        time.sleep(0.05)
    worker.send_signal(signal.SIGINT)
    output, errors = worker.communicate(timeout=120)
    assert worker.returncode == 0, errors
    shown = json.loads(output)
    assert 0 < len(shown) < 180
    assert shown == known_to(path)


def finished(path):
    with Journal(path) as journal:
        return any(search["finished"] for search in journal.searches())
