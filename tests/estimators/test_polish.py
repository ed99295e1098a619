"""KernelSearchCV(polish=True): from the best cell of a grid to the optimum."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import LSSVC, LSSVR, KernelLogisticRegression, KernelSearchCV, criteria
from onefit.kernels import Gaussian

from ..oracles.problems import points, smooth_targets

COARSE = {"gamma": np.logspace(-3, 1, 5), "alpha": np.logspace(-4, 1, 6)}


def problem(n=60):
    X = points(0, n)
    return X, smooth_targets(0, X)[:, 0]


def test_a_polished_coarse_grid_beats_a_fine_one():
    X, y = problem()
    fine = {"gamma": np.logspace(-3, 1, 41), "alpha": np.logspace(-4, 1, 41)}
    options = {"scoring": "neg_mean_squared_error", "cv": 5}
    best = -KernelSearchCV(KernelRidge(kernel="rbf"), fine, **options).fit(X, y).best_score_
    search = KernelSearchCV(KernelRidge(kernel="rbf"), COARSE, polish=True, **options).fit(X, y)
    assert -search.best_score_ <= 1.0005 * best
    results = search.cv_results_
    assert len(results["params"]) == 31
    assert results["round"][-1] == 1
    assert results["exactness"][-1] == "exact"
    assert search.best_index_ == 30
    assert search.best_estimator_.gamma == search.best_params_["gamma"]


@pytest.mark.parametrize(
    ("estimator", "grid", "options"),
    [
        (LSSVR(), COARSE, {"scoring": "r2"}),
        (LSSVR(), COARSE, {"scoring": "neg_mean_absolute_error"}),
        (LSSVR(), COARSE, {"criterion": "loo"}),
        (LSSVR(), {"alpha": COARSE["alpha"]}, {}),
        (LSSVR(), {"kernel": [Gaussian(0.01), Gaussian(0.1)], "alpha": [0.1, 1.0]}, {}),
        (SVR(), {"gamma": [0.03, 0.3], "C": [1.0, 10.0], "epsilon": [0.05, 0.2]}, {}),
        (make_pipeline(StandardScaler(), LSSVR()), {"lssvr__gamma": COARSE["gamma"], "lssvr__alpha": [0.1, 1]}, {}),
    ],
    ids=str,
)
def test_polishing_never_makes_it_worse_and_moves_what_is_searched_over(estimator, grid, options):
    X, y = problem()
    plain = KernelSearchCV(estimator, grid, **options).fit(X, y)
    search = KernelSearchCV(estimator, grid, polish=True, **options).fit(X, y)
    assert search.best_score_ > plain.best_score_
    assert len(search.cv_results_["params"]) == len(plain.cv_results_["params"]) + 1
    assert set(search.best_params_) == set(grid)


@pytest.mark.parametrize("estimator", [LSSVC(), KernelLogisticRegression()], ids=str)
def test_losses_of_classes_are_polished_and_accuracy_is_refined(estimator):
    X, y = make_classification(60, 4, random_state=0)
    name = "alpha" if hasattr(estimator, "alpha") else "C"
    grid = {"gamma": [0.01, 0.1, 1.0], name: [0.1, 1.0, 10.0]}
    loss = criteria.CV(loss="squared")
    plain = KernelSearchCV(estimator, grid, criterion=loss).fit(X, y)
    smooth = KernelSearchCV(estimator, grid, criterion=loss, polish=True).fit(X, y)
    assert smooth.best_score_ > plain.best_score_
    assert len(smooth.cv_results_["params"]) == 10
    refined = KernelSearchCV(estimator, grid, polish=True).fit(X, y)
    assert len(refined.cv_results_["params"]) > 10
    assert refined.best_score_ >= KernelSearchCV(estimator, grid).fit(X, y).best_score_


def test_what_has_no_descent_is_refined():
    X, y = make_classification(50, 4, random_state=0)
    search = KernelSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, scoring="roc_auc", polish=True).fit(X, y)
    tried = sorted(search.cv_results_["param_C"].compressed())
    assert set(tried) > {0.1, 1.0, 10.0}
    with pytest.raises(ValueError, match="polish"):
        KernelSearchCV(SVC(), {"C": [1.0]}, polish="yes").fit(X, y)


def test_a_journal_takes_polished_searches_up_again(tmp_path):
    X, y = problem()
    options = {"polish": True, "journal": tmp_path / "searches.sqlite"}
    first, second = (KernelSearchCV(LSSVR(), COARSE, **options).fit(X, y) for _ in range(2))
    assert first.best_params_ == second.best_params_
    assert second.ledger_["heldout"] == 0


@pytest.mark.slow
def test_an_automatic_grid_is_polished_too():
    X, y = load_diabetes(return_X_y=True)
    options = {"scoring": "neg_mean_squared_error"}
    plain = KernelSearchCV(LSSVR(), "auto", **options).fit(X[:150], y[:150])
    search = KernelSearchCV(LSSVR(), "auto", polish=True, **options).fit(X[:150], y[:150])
    assert search.best_score_ >= plain.best_score_
    assert len(search.cv_results_["params"]) < len(plain.cv_results_["params"])
