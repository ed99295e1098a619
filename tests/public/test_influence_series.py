"""Held-out values by the influence-function series of support vector machines, against dense matrices."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import SVC, SVR

from onefit import L2SVC, EpsilonSVR, HingeSVC, criteria

from ..oracles.bouligand import Convention, huber, minimise, series, smoothed_hinge, smoothed_tube, squared_hinge
from ..oracles.problems import partition, points, row_weights
from ..oracles.support_vector import GRAMS, curve, labels
from .held_out import search_values, summed

N = 24
CASES = {
    "SVC 0.01": (SVC(), 0.01, smoothed_hinge(0.01), None),
    "SVC 0.5": (SVC(), 0.5, smoothed_hinge(0.5), None),
    "L2SVC": (L2SVC(), None, squared_hinge(), None),
    "L2SVC without bias": (L2SVC(fit_intercept=False), None, squared_hinge(), None),
    "SVR 0.05": (SVR(epsilon=0.2), 0.05, smoothed_tube(0.2, 0.05), 0.2),
    "HingeSVC without bias": (HingeSVC(fit_intercept=False), 0.1, smoothed_hinge(0.1), None),
    "EpsilonSVR without bias": (EpsilonSVR(epsilon=0.2, fit_intercept=False), 0.05, smoothed_tube(0.2, 0.05), 0.2),
    "SVR of absolute errors": (SVR(epsilon=0.0), 0.2, huber(0.2), 0.0),
}
SPLITS = {
    "unequal folds": lambda seed: partition(seed, N, [3, 8, 13]),
    "unused rows": lambda seed: list(ShuffleSplit(3, test_size=0.2, train_size=0.6, random_state=seed).split(range(N))),
    "many": lambda seed: list(ShuffleSplit(70, test_size=4, random_state=seed).split(range(N))),
}
cases = pytest.mark.parametrize("name", CASES)
orders = pytest.mark.parametrize("order", [1, 2, 5, np.inf])


def by_dense_matrices(name, K, y, splits, C, order, weights, mean_loss):
    """Sums of held-out values of each split."""
    machine, _, loss, epsilon = CASES[name]
    bias, weights = getattr(machine, "fit_intercept", True), np.ones(len(y)) if weights is None else weights
    start = minimise(K, y, loss, C * weights, bias)
    counted = [np.bincount(train, minlength=len(y)) * weights for train, _ in splits]
    terms = [Convention.of(C, weights, now, len(t), mean_loss) for now, (t, _) in zip(counted, splits)]
    (values,) = series(K, y, loss, start, terms, (order,), bias, epsilon)
    return [summed(y[test], row[test]) for row, (_, test) in zip(values, splits)]


def assert_same_series(name, gram, seed, splits, penalties, order, weights=None, mean_loss=False, n=N):
    machine, h, _, epsilon = CASES[name]
    X = points(seed, n)
    K, y = GRAMS[gram](X), labels(seed, X, 0.4) if epsilon is None else curve(seed, X)
    found, search = search_values(
        clone(machine).set_params(kernel="precomputed"), {"C": penalties}, K, y, splits, weights,
        criterion=criteria.BIF(order=order, h=h), scale_penalty=mean_loss,
    )  # fmt: skip
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    for k, C in enumerate(penalties):
        expected = by_dense_matrices(name, K, y, splits, C, order, weights, mean_loss)
        np.testing.assert_allclose(found[k], expected, atol=1e-7, rtol=1e-7)


@cases
@orders
@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mean_loss", [False, True])
@pytest.mark.quick(9)
def test_splits_weights_and_conventions(name, order, splits, weighted, mean_loss):
    weights = row_weights(0, N) if weighted else None
    assert_same_series(name, "medium", 0, SPLITS[splits](0), [0.1, 1e3], order, weights, mean_loss)


@cases
@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("order", [2, np.inf])
def test_every_kind_of_gram_matrix(name, gram, order):
    """Seed 3: with others (1) any constant of an interval minimises the loss where K is constant."""
    assert_same_series(name, gram, 3, SPLITS["unequal folds"](3), [1e-2, 1e2], order)


@cases
@pytest.mark.parametrize("order", [1, 5])
@pytest.mark.parametrize("gram", ["medium", "narrow"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(6)
def test_penalties_at_which_the_same_rows_are_curved(name, order, gram, weighted):
    """Narrow kernels and large penalties: no row is at a bound."""
    weights = row_weights(2, 40) if weighted else None
    splits = partition(2, 40, [10] * 4)
    assert_same_series(name, gram, 2, splits, [64.0, 256.0, 1024.0, 4096.0], order, weights, n=40)
