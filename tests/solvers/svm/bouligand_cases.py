"""Losses, splits and expected values of the influence-function series of support vector machines."""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from onefit.data import Targets
from onefit.kernels import Precomputed
from onefit.machines.contract import Series
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge

from ...oracles import bouligand as oracle
from ...oracles.bouligand import Convention, Loss
from ...oracles.problems import partition, points
from ...oracles.support_vector import GRAMS, curve, labels
from ..running import workspace

N = 24
ORDERS = (1, 2, 5, np.inf)
PENALTIES = (1e-2, 1.0, 1e3)


@dataclass(frozen=True)
class Case:
    """A learner, the half-width that it is told, and the loss that it then has to follow."""

    learner: type
    loss: Loss
    h: float | None = None
    epsilon: float | None = None

    def make(self, bias):
        """The learner under test."""
        return self.learner(bias) if self.epsilon is None else self.learner(bias, self.epsilon)

    def targets(self, seed, X):
        """Labels or values."""
        return labels(seed, X, 0.4) if self.epsilon is None else curve(seed, X)

    def trainable(self, y, weights):
        """Whether the rows that count are enough."""
        return self.epsilon is not None or len(np.unique(y[weights > 0])) == 2


CASES = {
    **{f"hinge {h}": Case(Hinge, oracle.smoothed_hinge(h), h) for h in (0.01, 0.1, 0.5)},
    "squared hinge": Case(SquaredHinge, oracle.squared_hinge()),
    **{f"tube 0.2, {h}": Case(EpsilonInsensitive, oracle.smoothed_tube(0.2, h), h, 0.2) for h in (0.002, 0.05, 0.2)},
    **{f"tube 0, {h}": Case(EpsilonInsensitive, oracle.huber(h), h, 0.0) for h in (0.01, 0.2)},
}
SOME = ("hinge 0.1", "squared hinge", "tube 0.2, 0.05", "tube 0, 0.2")

every_case = pytest.mark.parametrize("name", CASES)
some_cases = pytest.mark.parametrize("name", SOME)
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
conventions = pytest.mark.parametrize("mean_loss", [False, True], ids=["sum", "mean"])


def _bootstrap(seed):
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(N, size=size) for size in (N, N, 15)]
    return [(train, np.setdiff1d(np.arange(N), train)) for train in drawn]


SPLITS = {
    "equal folds": lambda seed: partition(seed, N, [6] * 4),
    "unequal folds": lambda seed: partition(seed, N, [1, 3, 7, 13]),
    "unused rows": lambda seed: list(ShuffleSplit(3, test_size=0.2, train_size=0.6, random_state=seed).split(range(N))),
    "rows trained on twice": _bootstrap,
}
every_split = pytest.mark.parametrize("splits", SPLITS)


@cache
def problem(name, seed, gram="medium", n=N):
    """(Gram matrix, targets) of n rows."""
    X = points(seed, n)
    return GRAMS[gram](X), CASES[name].targets(seed, X)


def start_of(K, y, loss, cost, bias):
    """The minimiser of the smoothed problem, computed once."""
    return _start(K.tobytes(), y.tobytes(), loss, cost.tobytes(), bias)


@lru_cache(maxsize=2000)
def _start(K, y, loss, cost, bias):
    K, y, cost = (np.frombuffer(part) for part in (K, y, cost))
    return oracle.minimise(K.reshape(len(y), -1), y, loss, cost, bias)


def conventions_of(n, splits, C, weights, mean_loss):
    """(weights of all rows, those in each split, ``Convention`` of each split)."""
    per_split = weights if isinstance(weights, list) else [np.ones(n) if weights is None else weights] * len(splits)
    stacked = np.array(per_split)
    full = stacked.sum(axis=0) / np.maximum((stacked > 0).sum(axis=0), 1)
    counted = [np.bincount(train, minlength=n) * given for (train, _), given in zip(splits, per_split)]
    sizes = [len(train) for train, _ in splits]
    return full, counted, [Convention.of(C, full, now, size, mean_loss) for now, size in zip(counted, sizes)]


def expected_values(case, K, y, splits, C, *, orders=ORDERS, bias=True, weights=None, mean_loss=False):
    """Values of all rows, (orders, splits, n); NaN for splits that cannot be trained on."""
    full, counted, terms = conventions_of(len(K), splits, C, weights, mean_loss)
    start = start_of(K, y, case.loss, C * full, bias)
    values = oracle.series(K, y, case.loss, start, terms, orders, bias, case.epsilon)
    values[:, [not case.trainable(y, now) for now in counted]] = np.nan
    return values


def run(case, K, y, splits, penalties, order, *, bias=True, weights=None, mean_loss=False, start="smoothed", **options):
    """What the learner under test says."""
    weights = tuple(weights) if isinstance(weights, list) else weights
    targets = Targets(y if y.ndim == 2 else y[:, None], weights)
    series = Series(order, case.h, start)
    penalties = np.asarray(penalties, dtype=float)
    space = workspace(K, splits, Precomputed())
    return case.make(bias).heldout(space, targets, penalties, series=series, scale_penalty=mean_loss, **options)


def assert_close(actual, expected):
    """To 1e-8, relative to values above one."""
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    error = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
    assert not (error > 1e-8).any(), f"error {np.nanmax(error)}"


def assert_tested(held, splits, expected):
    """Values (L, tested rows, 1) of each split against (L, splits, n)."""
    assert not held.failed.any()
    assert not held.exact
    assert np.isnan(held.error).all()
    if len(splits) == expected.shape[2]:
        left_out = [test[0] for _, test in splits]
        pooled = np.empty_like(expected[:, 0])
        pooled[:, left_out] = expected[:, np.arange(len(splits)), left_out]
        assert len(held.test) == 1
        assert_close(held.test[0][..., 0], pooled)
        return
    assert len(held.test) == len(splits)
    for number, (_, test) in enumerate(splits):
        assert_close(held.test[number][..., 0], expected[:, number, test])


def assert_same_series(case, K, y, splits, penalties=PENALTIES, orders=ORDERS, **options):
    """Tested rows for every order and penalty."""
    wanted = np.array([expected_values(case, K, y, splits, C, orders=orders, **options) for C in penalties])
    for k, order in enumerate(orders):
        assert_tested(run(case, K, y, splits, penalties, order, **options), splits, wanted[:, k])
