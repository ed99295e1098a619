"""Held-out values along paths of penalties, of sizes at which folds are solved together, against training each fold."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.svm import SVC, SVR

from onefit import L2SVC, EpsilonSVR, HingeSVC

from ..oracles.problems import row_weights
from .held_out import assert_values_are_trained, search_values

MACHINES = {
    "SVC": SVC(),
    "SVC, three classes": SVC(decision_function_shape="ovo"),
    "L2SVC": L2SVC(),
    "L2SVC without bias": L2SVC(fit_intercept=False),
    "L2SVC, three classes": L2SVC(),
    "SVR": SVR(epsilon=0.1),
    "SVR of absolute errors": SVR(epsilon=0.0),
    "HingeSVC without bias": HingeSVC(fit_intercept=False),
    "EpsilonSVR without bias": EpsilonSVR(epsilon=0.3, fit_intercept=False),
}
PATHS = {
    "coarse": 4.0 ** np.arange(-2, 7),
    "nearly equal": [0.25, 1.0, 2.0, 2.0 * (1 + 1e-13), 64.0],
    "close": [0.25, 1.0, 2.0, 2.0 * (1 + 1e-6), 64.0, 65.0],
    "neighbouring doubles": [1.0, 4.0, 7.0, np.nextafter(7.0, 8.0), 30.0],
    "uneven": [1.0, 1.4, 1.7, 1e3, 1.1e3, 1e4],
    "unsorted": [64.0, 16.0, 16.0, 4.0, 1.0, 64.0],
    "many": list(np.geomspace(1, 100, 30)),
    "one": [3.0],
}
QUICK = ("coarse", "neighbouring doubles", "unsorted", "many")
SPLITTERS = {"folds": KFold(7), "two folds": KFold(2), "shuffled": ShuffleSplit(5, test_size=0.3, random_state=0)}
machines = pytest.mark.parametrize("machine", MACHINES)
widths = pytest.mark.parametrize("gamma", [0.02, 0.1, 0.4])


def problem(machine, n, d=8, seed=0):
    """Rows and targets for a machine of ``MACHINES``."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n)
    if "three" in machine:
        return X, np.array(["ant", "bee", "cat"])[np.digitize(f, [-0.5, 0.4])]
    return X, f if "SVR" in machine else np.where(f > 0, 1, -1)


def splits_of(cv, X):
    return list(cv.split(X))


@machines
@widths
@pytest.mark.parametrize(
    "path", [path if path in QUICK else pytest.param(path, marks=pytest.mark.slow) for path in PATHS]
)
@pytest.mark.quick(12)
def test_any_path(machine, gamma, path):
    X, y = problem(machine, 160 if "SVR" in machine or "Hinge" in machine else 300)
    widths = [gamma] if len(PATHS[path]) > 1 else [gamma, gamma / 2]  # a single candidate is left to scikit-learn
    grid = {"C": PATHS[path], "gamma": widths}
    assert_values_are_trained(MACHINES[machine], grid, X, y, splits_of(KFold(7), X), most=3)


@machines
@pytest.mark.parametrize("gamma", [0.005, 0.3])
@pytest.mark.parametrize("cv", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale_penalty", [False, True])
@pytest.mark.parametrize("n", [40, 180])
@pytest.mark.quick(9)
def test_splits_weights_and_penalties_that_grow(machine, gamma, cv, weighted, scale_penalty, n):
    X, y = problem(machine, n, d=6, seed=2)
    weights = row_weights(0, n) if weighted else None
    if weighted:
        weights[::9] = 0.0
    grid = {"C": [0.05, 1.0, 50.0], "gamma": [gamma]}
    assert_values_are_trained(
        MACHINES[machine], grid, X, y, splits_of(SPLITTERS[cv], X), weights, most=3, scale_penalty=scale_penalty
    )


@machines
@pytest.mark.quick(4)
def test_a_path_gives_what_its_penalties_give_alone(machine):
    """Starting from other solutions changes nothing that can be seen; the smallest penalty starts from none."""
    X, y = problem(machine, 400)
    splits = splits_of(KFold(10), X)
    penalties = 2.0 ** np.arange(-1, 7)
    together, _ = search_values(MACHINES[machine], {"C": penalties, "gamma": [0.1]}, X, y, splits)
    for k in (1, 4):
        first, _ = search_values(MACHINES[machine], {"C": penalties[k:], "gamma": [0.1]}, X, y, splits)
        np.testing.assert_allclose(together[k], first[0], atol=1e-8)


@pytest.mark.parametrize("machine", ["SVC", "L2SVC", "SVR"])
def test_folds_are_solved_once_for_each_penalty(machine):
    """The ledger counts them."""
    X, y = problem(machine, 330)
    grid = {"C": [0.5, 1.0, 2.0], "gamma": [0.1, 0.4]}
    _, search = search_values(MACHINES[machine], grid, X, y, splits_of(KFold(7), X))
    assert search.ledger_["fold solution"] == 2 * 3 * 7
    assert search.ledger_["full solution"] <= 2 * 3
    assert search.ledger_["gram"] == 2
    assert search.ledger_["base"] == 1
