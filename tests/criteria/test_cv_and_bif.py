"""Criteria on a Gram matrix, against really retraining."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

from onefit import LSSVC, LSSVR, KernelSearchCV, criteria, cross_val_decision

ESTIMATORS = [KernelRidge(kernel="precomputed", alpha=0.3), LSSVR(kernel="precomputed", alpha=0.3)]


def retrained_losses(K, y, estimator, cv):
    """The loss of every tested row, fold by fold."""
    for train, test in cv.split(K, y):
        model = clone(estimator).fit(K[np.ix_(train, train)], y[train])
        predicted = model.predict(K[np.ix_(test, train)])
        yield (predicted - y[test]) ** 2 if y.dtype.kind == "f" else (predicted != y[test]).astype(float)


@pytest.mark.parametrize("cv", [KFold(7), LeaveOneOut()], ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_cv_pools_points_or_averages_folds(regression, estimator, cv):
    X, y = regression
    K = rbf_kernel(X, gamma=0.2)
    losses = list(retrained_losses(K, y, estimator, cv))
    assert criteria.CV()(K, y, estimator, cv=cv) == pytest.approx(np.concatenate(losses).mean(), rel=1e-9)
    folds = np.mean([loss.mean() for loss in losses])
    assert criteria.CV(aggregate="folds")(K, y, estimator, cv=cv) == pytest.approx(folds, rel=1e-9)


def test_cv_counts_wrong_labels(three_classes):
    X, y = three_classes
    K = rbf_kernel(X, gamma=0.2)
    cv, estimator = StratifiedKFold(4), LSSVC(kernel="precomputed", class_weight="balanced")
    losses = np.concatenate(list(retrained_losses(K, y, estimator, cv)))
    assert criteria.CV()(K, y, estimator, cv=cv) == losses.mean()


def test_bif_is_the_loss_of_the_series(regression):
    X, y = regression
    K = rbf_kernel(X, gamma=0.2)
    for estimator in ESTIMATORS:
        for scale_penalty in (False, True):
            values = cross_val_decision(estimator, K, y, cv=6, method="bif", order=3, scale_penalty=scale_penalty)
            loss = criteria.BIF(order=3, scale_penalty=scale_penalty)(K, y, estimator, cv=6)
            assert loss == pytest.approx(((values - y) ** 2).mean(), rel=1e-12)


def test_bif_of_infinite_order_is_cv(regression):
    X, y = regression
    K = rbf_kernel(X, gamma=0.2)
    for estimator in ESTIMATORS:
        exact, limit = (c(K, y, estimator, cv=6) for c in (criteria.CV(), criteria.BIF(order=np.inf)))
        assert exact == pytest.approx(limit, rel=1e-12)


def test_search_by_bif(regression):
    X, y = regression
    grid = {"alpha": [0.1, 1.0], "gamma": [0.1]}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, criterion=criteria.BIF(order=4), cv=5)
    search.set_params(scoring="neg_mean_squared_error").fit(X, y)
    K = rbf_kernel(X, gamma=0.1)
    for row, alpha in enumerate(grid["alpha"]):
        model = KernelRidge(kernel="precomputed", alpha=alpha)
        expected = criteria.BIF(order=4, aggregate="folds")(K, y, model, cv=5)
        assert search.cv_results_["mean_test_score"][row] == pytest.approx(-expected, rel=1e-9)
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    exact = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(X, y)
    assert (exact.cv_results_["error_bound"] < 1e-8).all()
    assert (search.cv_results_["error_bound"] > 1e-8).all()


def test_the_bound_of_a_bif_search_holds(regression):
    X, y = regression
    for alpha in (0.3, 3.0, 30.0):
        model = KernelRidge(kernel="rbf", gamma=0.1, alpha=alpha)
        search = KernelSearchCV(model, [{}], criterion="bif", cv=5).fit(X, y)
        exact = cross_val_decision(model, X, y, cv=5)
        assert np.abs(search.oof_decision_ - exact).max() <= search.cv_results_["error_bound"][0]


def test_criteria_are_frozen_values_with_names():
    assert criteria.CV() == criteria.CV()
    assert hash(criteria.BIF(3)) == hash(criteria.BIF(3))
    for name, kind in criteria.REGISTRY.items():
        assert criteria.resolve(name) == kind()
        assert kind().name == name
    with pytest.raises(AttributeError):
        criteria.CV().aggregate = "folds"
