"""Held-out values of all candidates and splits of a search, seen from outside, and the same by independent solvers."""

import warnings

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import make_scorer
from sklearn.metrics.pairwise import rbf_kernel

from onefit import EpsilonSVR, HingeSVC, KernelSearchCV

from ..oracles.decisions import svm_oracle


def summed(y, values):
    """A mean of the values with weights of which no two are equal or opposite: a wrong value shows."""
    values = np.asarray(values, dtype=float).ravel()
    return float(np.cos(1.0 + np.arange(values.size)) @ values / np.sqrt(values.size))


VALUES = make_scorer(summed, response_method=("decision_function", "predict"))
"""A scorer that tells what a model's decision values are, or the predictions of a regression."""


def search_values(machine, grid, X, y, cv, sample_weight=None, **options):
    """(sums of values, shape (candidates, splits), fitted search) of a search whose scores are ``VALUES``."""
    fit_params = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the best candidate means nothing
        search = KernelSearchCV(machine, grid, cv=cv, scoring=VALUES, refit=False, **options).fit(X, y, **fit_params)
    columns = [search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)]
    return np.column_stack(columns), search


def trained_value(machine, params, X, y, train, test, sample_weight=None, growth=1.0):
    """(sum of values, its error) of one split by an interior-point or Newton method.

    The error is that of the conditions of optimality, infinite where more than one bias is optimal. ``growth``
    multiplies C. A precomputed kernel is cut.
    """
    machine = clone(machine).set_params(**params)
    oracle = svm_oracle(machine)
    oracle.set_params(C=oracle.C * growth)
    rows = (X[np.ix_(train, train)], X[np.ix_(test, train)]) if machine.kernel == "precomputed" else (X[train], X[test])
    weights = np.ones(len(train)) if sample_weight is None else sample_weight[train]
    if isinstance(machine, HingeSVC | EpsilonSVR) and not machine.fit_intercept:
        return summed(y[test], _without_bias(oracle, *rows, y[train], weights)), oracle.violation_
    value = summed(y[test], _values(oracle.fit(rows[0], y[train], weights), rows[1]))
    return value, oracle.violation_ if oracle.bias_interval_ <= 1e-8 else np.inf


def _values(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def _without_bias(oracle, X, tested, y, weights):
    """Values of a machine without bias, by one with: every row has a mirror image of the opposite target.

    Turning the sign of the bias changes nothing then, so a bias of zero is best; the penalty is shared by the two.
    """
    K, k = X, tested
    if oracle.kernel != "precomputed":
        K, k = rbf_kernel(X, gamma=oracle.gamma), rbf_kernel(tested, X, gamma=oracle.gamma)
    mirrored = oracle.set_params(C=oracle.C / 2, kernel="precomputed")
    mirrored.fit(np.block([[K, -K], [-K, K]]), np.r_[y, -y], np.tile(weights, 2))
    return (_values(mirrored, np.hstack([k, -k])) - _values(mirrored, np.hstack([-k, k]))) / 2


def assert_values_are_trained(machine, grid, X, y, splits, sample_weight=None, most=4, atol=1e-7, **options):
    """Values of a search are those of training: for up to ``most`` candidates, each on another split.

    Returns the search.
    """
    found, search = search_values(machine, grid, X, y, splits, sample_weight, **options)
    candidates = search.cv_results_["params"]
    assert set(search.cv_results_["exactness"]) == {"exact"}
    for turn, k in enumerate(np.unique(np.linspace(0, len(candidates) - 1, most).astype(int))):
        train, test = splits[turn % len(splits)]
        growth = len(y) / len(train) if options.get("scale_penalty") else 1.0
        expected, error = trained_value(machine, candidates[k], X, y, train, test, sample_weight, growth)
        difference = abs(found[k, turn % len(splits)] - expected)
        assert difference <= atol * max(1.0, abs(expected)) + error, (candidates[k], turn)
    return search
