"""MLflow's autologging records a KernelSearchCV as it records a GridSearchCV."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from onefit import KernelSearchCV

mlflow = pytest.importorskip("mlflow")

GRID = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A function that fits a search under autologging and returns (parent run, its child runs)."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # which needs no database
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.sklearn.autolog(log_models=False, log_datasets=False, max_tuning_runs=None, silent=True)

    def fitted(search, X, y):
        name = type(search).__name__
        experiment = mlflow.set_experiment(name).experiment_id
        search.fit(X, y)
        found = mlflow.MlflowClient().search_runs([experiment])
        (parent,) = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
        return parent, [run for run in found if run is not parent]

    yield fitted
    mlflow.sklearn.autolog(disable=True)


@pytest.fixture
def logged(runs, two_classes):
    """The runs of KernelSearchCV and of GridSearchCV."""
    X, y = two_classes
    return [runs(kind(SVC(), GRID, cv=3), X, y) for kind in (KernelSearchCV, GridSearchCV)]


def test_the_search(logged):
    (ours, _), (theirs, _) = logged
    assert ours.data.metrics["best_cv_score"] == pytest.approx(theirs.data.metrics["best_cv_score"])
    best = [{k: v for k, v in run.data.params.items() if k.startswith("best_")} for run in (ours, theirs)]
    assert best[0] == best[1]
    assert set(best[0]) == {"best_C", "best_gamma"}
    assert set(theirs.data.metrics) <= set(ours.data.metrics)
    assert ours.data.tags["estimator_name"] == "KernelSearchCV"


def test_its_candidates(logged):
    (_, ours), (_, theirs) = logged
    assert len(ours) == len(theirs) == 4
    scores = [
        {(run.data.params["C"], run.data.params["gamma"]): run.data.metrics["mean_test_score"] for run in runs}
        for runs in (ours, theirs)
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_an_end_of_autologging(runs, two_classes):
    runs(KernelSearchCV(SVC(), GRID, cv=3), *two_classes)
    mlflow.sklearn.autolog(disable=True)
    experiment = mlflow.set_experiment("none").experiment_id
    search = KernelSearchCV(SVC(), GRID, cv=3).fit(*two_classes)
    assert not mlflow.MlflowClient().search_runs([experiment])
    assert np.isfinite(search.best_score_)
