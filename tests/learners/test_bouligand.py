"""The influence-function series of support vector machines against dense matrices in extended precision."""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV, criteria, cross_val_decision
from onefit.core import Targets
from onefit.core.machine import Series
from onefit.kernels import Gaussian, Precomputed
from onefit.learners.epsilon_insensitive import EpsilonInsensitive
from onefit.learners.hinge import Hinge
from onefit.learners.squared_hinge import SquaredHinge

from ..oracles import bouligand as oracle
from ..oracles.bouligand import Convention, Loss
from ..oracles.problems import partition, points, row_weights, seeds, two_seeds
from ..oracles.support_vector import GRAMS, curve, gaussian, labels
from .running import Reports, workspace

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


@two_seeds
@every_case
@every_split
@biases
@conventions
def test_the_series_is_that_of_dense_matrices(seed, name, splits, bias, mean_loss):
    K, y = problem(name, seed)
    orders = (1, np.inf) if seed == 3 else (2, 5)
    assert_same_series(CASES[name], K, y, SPLITS[splits](seed), orders=orders, bias=bias, mean_loss=mean_loss)


@seeds
@some_cases
@biases
@conventions
def test_leave_one_out(seed, name, bias, mean_loss):
    """The splits in another order than the rows."""
    K, y = problem(name, seed)
    splits = [list(LeaveOneOut().split(K))[row] for row in np.random.default_rng(seed).permutation(N)]
    assert_same_series(CASES[name], K, y, splits, (1.0,), (1, 5, np.inf), bias=bias, mean_loss=mean_loss)


@seeds
@some_cases
def test_rows_tested_that_are_trained_on(seed, name):
    K, y = problem(name, seed)
    rng = np.random.default_rng(seed)
    splits = [(rng.permutation(N)[:18], rng.permutation(N)[:9]) for _ in range(3)]
    assert_same_series(CASES[name], K, y, splits, (1.0,), (2, np.inf))


@two_seeds
@some_cases
@biases
@pytest.mark.parametrize("gram", GRAMS)
def test_every_kind_of_gram_matrix(seed, name, bias, gram):
    K, y = problem(name, seed, gram)
    splits, penalties = SPLITS["unequal folds"](seed)[1:], (1e-2, 0.3, 10.0, 1e2)
    assert_same_series(CASES[name], K, y, splits, penalties, (2,), bias=bias)
    assert_same_series(CASES[name], K, y, splits, penalties, (5, np.inf), bias=bias, mean_loss=True)


@two_seeds
@every_case
@biases
def test_a_kernel_so_narrow_that_no_two_rows_know_of_each_other(seed, name, bias):
    """The Gram matrix is the identity to machine precision, and never formed."""
    case, X = CASES[name], np.round(points(seed, N) * 64) / 64
    y, splits = case.targets(seed, X), SPLITS["unequal folds"](seed)
    space = workspace(X, splits, Gaussian(1e6))
    assert space.identity() is not None
    for mean_loss in (False, True):
        for order in (5, np.inf):
            series = Series(order, case.h)
            targets = Targets(y[:, None], row_weights(seed, N))
            options = {"bias": bias, "mean_loss": mean_loss, "weights": row_weights(seed, N), "orders": (order,)}
            wanted = np.array([expected_values(case, np.eye(N), y, splits, C, **options)[0] for C in PENALTIES])
            penalties = np.array(PENALTIES)
            held = case.make(bias).heldout(space, targets, penalties, series=series, scale_penalty=mean_loss)
            assert_tested(held, splits, wanted)


@seeds
@some_cases
@biases
@pytest.mark.parametrize("kind", ["some zero", "per fold", "per fold, zero where it is not trained on"])
def test_weights(seed, name, bias, kind):
    """Of the losses. Those that differ between splits are, on all rows, as they are on average where they count."""
    K, y = problem(name, seed)
    splits = SPLITS["unequal folds"](seed)[1:]
    weights = row_weights(seed, N)
    if kind == "some zero":
        weights[np.random.default_rng(seed).permutation(N)[:6]] = 0.0
    if kind.startswith("per fold"):
        weights = [row_weights(seed + k, N) for k in range(len(splits))]
    if kind.endswith("trained on"):
        weights = [np.where(np.isin(np.arange(N), train), w, 0.0) for w, (train, _) in zip(weights, splits)]
    for order, mean_loss in [(2, False), (2, True), (np.inf, True)]:
        options = {"bias": bias, "weights": weights, "mean_loss": mean_loss}
        assert_same_series(CASES[name], K, y, splits, (0.1, 20.0), (order,), **options)


@seeds
@some_cases
@biases
def test_values_of_training_rows(seed, name, bias):
    K, y = problem(name, seed)
    for kind in ("unequal folds", "rows trained on twice"):
        splits = SPLITS[kind](seed)
        for order in (1, 5, np.inf):
            options = {"bias": bias, "mean_loss": True}
            expected = np.array([expected_values(CASES[name], K, y, splits, C, **options) for C in (0.3, 10.0)])
            reports = Reports(splits, 2, 1)
            held = run(CASES[name], K, y, splits, (0.3, 10.0), order, on_train=reports, **options)
            assert reports.last == [1] * len(splits)
            assert_tested(held, splits, expected[:, ORDERS.index(order)])
            for number, (train, _) in enumerate(splits):
                assert_close(reports.values[number][..., 0], expected[:, ORDERS.index(order), number, train])


@two_seeds
@some_cases
@biases
def test_more_splits_than_are_treated_side_by_side(seed, name, bias):
    K, y = problem(name, seed)
    splits = list(ShuffleSplit(70, test_size=4, random_state=seed).split(K))
    for mean_loss in (False, True):
        assert_same_series(CASES[name], K, y, splits, (1.0,), (2, np.inf), bias=bias, mean_loss=mean_loss)


@two_seeds
@some_cases
@biases
def test_few_and_many_tested_rows(seed, name, bias):
    """Values come from rows of K, or from a product with all of it."""
    K, y = problem(name, seed, n=60)
    for splits in (partition(seed, 60, [1] * 20 + [40])[:20], partition(seed, 60, [30, 20, 10])):
        assert_same_series(CASES[name], K, y, splits, (1.0,), (5, np.inf), bias=bias)


@seeds
@some_cases
@biases
def test_several_penalties_are_single_ones(seed, name, bias):
    K, y = problem(name, seed)
    splits, penalties = SPLITS["unequal folds"](seed), (1e-2, 0.2, 3.0, 40.0, 1e3)
    for order in (5, np.inf):
        path = run(CASES[name], K, y, splits, penalties, order, bias=bias)
        for k, C in enumerate(penalties):
            alone = run(CASES[name], K, y, splits, (C,), order, bias=bias)
            for together, single in zip(path.test, alone.test, strict=True):
                assert_close(together[k], single[0])


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.01", "hinge 0.1", "squared hinge", "tube 0.2, 0.002", "tube 0.2, 0.05"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_plug_in_series_is_that_of_the_paper(seed, name, C):
    """Equal folds, a mean of losses, no bias; from the values of the machine itself."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = SPLITS["equal folds"](seed)
    if name == "squared hinge":
        beta, _ = start_of(K, y, case.loss, np.full(N, C), False)
    else:
        beta, _ = oracle.sharp_machine(K, y, np.full(N, C), False, case.epsilon)
    lam = 1 / (2 * N * C)
    for order in (1, 2, 5):
        held = run(case, K, y, splits, (C,), order, bias=False, mean_loss=True, start="plug-in")
        wanted = [oracle.series_as_printed(K, y, case.loss, beta, lam, test, 4, order) for _, test in splits]
        assert_tested(held, splits, np.array(wanted)[None])


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "tube 0.2, 0.05"])
@biases
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_the_plug_in_series_of_a_sum_of_losses(seed, name, bias, C):
    """Nothing but the losses changes: the terms are those of the smoothed loss at other values."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = SPLITS["unequal folds"](seed)[1:]
    start = oracle.sharp_machine(K, y, np.full(N, C), bias, case.epsilon)
    _, _, terms = conventions_of(N, splits, C, None, False)
    wanted = oracle.series(K, y, case.loss, start, terms, ORDERS, bias, case.epsilon)
    for k, order in enumerate(ORDERS):
        held = run(case, K, y, splits, (C,), order, bias=bias, start="plug-in")
        assert_tested(held, splits, wanted[None, k])


@seeds
@every_case
@biases
@conventions
def test_the_whole_series_is_one_newton_step(seed, name, bias, mean_loss):
    """Of the split's problem, from the solution of the full one; gradient and Hessian of the primal are formed."""
    case, n, C = CASES[name], 30, 5.0
    K, y = problem(name, seed, "narrow", n)
    splits = partition(seed, n, [14, 10, 6])
    start = start_of(K, y, case.loss, np.full(n, C), bias)
    wanted = []
    for train, _ in splits:
        cost = np.where(np.isin(np.arange(n), train), C * n / len(train) if mean_loss else C, 0.0)
        assert (cost * case.loss.second(y, K @ start[0] + start[1])).any()
        wanted.append(oracle.newton_step(K, y, case.loss, cost, start, bias))
    assert_tested(run(case, K, y, splits, (C,), np.inf, bias=bias, mean_loss=mean_loss), splits, np.array([wanted]))


@seeds
@every_case
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_leave_one_out_by_the_jackknife_and_by_alo(seed, name, C):
    """``f + h g`` and ``f + h g / (1 - w h)``, h the diagonal of ``K (2 gam I + W K)^{-1}``: orders 1 and infinity."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = list(LeaveOneOut().split(K))
    beta, _ = start_of(K, y, case.loss, np.full(N, C), False)
    f = (K @ beta).astype(float)
    g, w = case.loss.first(y, f), case.loss.second(y, f)
    h = np.diagonal(K @ np.linalg.inv(np.eye(N) / C + w[:, None] * K))
    for order, wanted in [(1, f + h * g), (np.inf, f + h * g / (1 - w * h))]:
        (values,) = run(case, K, y, splits, (C,), order, bias=False).test
        assert_close(values[0, :, 0], wanted)


@two_seeds
@every_case
@biases
def test_the_whole_series_is_retraining_where_no_row_changes_its_piece(seed, name, bias):
    """Rows of little weight are left out: found by retraining, the pieces are asserted to be the same."""
    case, C = CASES[name], 1.0
    K, y = problem(name, seed)
    splits = [(np.delete(np.arange(N), row), np.array([row])) for row in range(6)]
    weights = np.where(np.arange(N) < N // 2, 1e-4, 1.0)
    beta, b = start_of(K, y, case.loss, C * weights, bias)
    pieces = case.loss.second(y, K @ beta + b), case.loss.first(y, K @ beta + b)
    held = run(case, K, y, splits, (C,), np.inf, bias=bias, weights=weights)
    unchanged = 0
    for number, (train, test) in enumerate(splits):
        cost = np.where(np.isin(np.arange(N), train), C * weights, 0.0)
        beta, b = start_of(K, y, case.loss, cost, bias)
        f = (K @ beta + b).astype(float)
        same = (case.loss.second(y, f)[train] == pieces[0][train]).all()
        straight = pieces[0][train] == 0
        same &= (case.loss.first(y, f)[train][straight] == pieces[1][train][straight]).all()
        if same:
            unchanged += 1
            assert_close(held.test[number][0, :, 0], f[test])
    assert unchanged >= 3


@seeds
@pytest.mark.parametrize("name", ["hinge 0.01", "hinge 0.1"])
@pytest.mark.parametrize("order", ORDERS)
def test_no_curved_row_at_all(seed, name, order):
    """As many rows of each class, all at their bound: the bias is the middle of its interval."""
    K, _ = problem(name, seed)
    y = np.where(np.random.default_rng(seed).permutation(N) % 2 == 0, 1.0, -1.0)
    C = 2.0**-12
    splits = list(StratifiedKFold(3).split(K, y))
    for mean_loss in (False, True):
        held = run(CASES[name], K, y, splits, (C,), order, mean_loss=mean_loss)
        for part, (train, test) in zip(held.test, splits, strict=True):
            u = K[:, train] @ (C * (N / len(train) if mean_loss else 1.0) * y[train])
            kinks = (y - u)[train]  # the bias may be anywhere between those of the two classes
            middle = (kinks[y[train] < 0].max() + kinks[y[train] > 0].min()) / 2
            assert_close(part[0, :, 0], (u + middle)[test])
    lopsided = partition(seed, N, [5, 8, 11])
    assert_same_series(CASES[name], K, y, lopsided, (C,), (order,))


@seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "squared hinge"])
def test_a_split_that_lacks_a_class(seed, name):
    K, y = problem(name, seed)
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    splits = [(positive, negative), *SPLITS["equal folds"](seed)]
    assert_same_series(CASES[name], K, y, splits, (1.0,))


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "squared hinge"])
@conventions
def test_three_classes_in_pairs(seed, name, mean_loss):
    """Each pair is a machine of its own on its rows, which speaks of all tested rows."""
    case, n, C = CASES[name], 36, 2.0
    X = points(seed, n)
    K, classes = gaussian(X, 0.5), np.random.default_rng(seed).integers(3, size=n)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(K, classes))
    model = SVC(C=C, kernel="precomputed", decision_function_shape="ovo") if name == "hinge 0.1" else None
    Y = np.zeros((n, 3))
    for order in (1, 5, np.inf):
        values = np.empty((n, 3))
        for column, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
            rows = np.flatnonzero((classes == first) | (classes == second))
            Y[rows, column] = y = np.where(classes[rows] == second, 1.0, -1.0)
            start = start_of(np.ascontiguousarray(K[np.ix_(rows, rows)]), y, case.loss, np.full(len(rows), C), True)
            for train, test in splits:
                values[test, column] = _pair_values(case, K, y, rows, start, train, C, order, mean_loss)[test]
        if model is not None:
            options = {"cv": splits, "method": "bif", "order": order, "h": case.h, "scale_penalty": mean_loss}
            assert_close(-cross_val_decision(model, K, classes, **options), values)
            criterion = criteria.BIF(order, case.h, scale_penalty=mean_loss)
            search = KernelSearchCV(model, {"C": [C]}, criterion=criterion, cv=splits).fit(K, classes)
            assert_close(-search.oof_decision_, values)
        held = run(case, K, Y, splits, (C,), order, mean_loss=mean_loss)
        for part, (_, test) in zip(held.test, splits, strict=True):
            assert_close(part[0], values[test])


def _pair_values(case, K, y, rows, start, train, C, order, mean_loss):
    """Values of all rows from the series on the rows of a pair; penalties follow the number of all rows."""
    n, kept = len(K), np.isin(rows, train).astype(float)
    beta, b = start
    inner = K[np.ix_(rows, rows)]
    f = inner @ beta + b
    scale = n / len(train) if mean_loss else 1.0
    now, then = np.full(len(rows), C), C * scale * kept
    g, w = case.loss.first(y, f), case.loss.second(y, f)
    if order == np.inf:
        system, right = oracle.bordered(inner, then * w, 1.0, True), (now - then) * g
        step = np.linalg.solve(system.astype(float), np.append(right, 0.0).astype(float))
    else:
        system = oracle.bordered(inner, now * w, 1.0, True).astype(float)
        step, term = np.zeros(len(rows) + 1), None
        for _ in range(order):
            right = (now - then) * (g if term is None else w * term)
            part = np.linalg.solve(system, np.append(right, 0.0).astype(float))
            term = inner @ part[:-1] + part[-1]
            step += part
    return (K[:, rows] @ (beta + step[:-1]) + b + step[-1]).astype(float)


@seeds
@pytest.mark.parametrize("order", [1, 5, np.inf])
@conventions
def test_the_criterion_is_the_mean_loss_of_the_series(seed, order, mean_loss):
    splits = SPLITS["unequal folds"](seed)
    for name, model in [
        ("hinge 0.1", SVC(C=3.0, kernel="precomputed")),
        ("squared hinge", L2SVC(C=3.0, kernel="precomputed")),
        ("tube 0.2, 0.05", SVR(C=3.0, epsilon=0.2, kernel="precomputed")),
    ]:
        K, y = problem(name, seed)
        values = expected_values(CASES[name], K, y, splits, 3.0, orders=(order,), mean_loss=mean_loss)[0]
        if name.startswith("tube"):
            losses = [(values[k, test] - y[test]) ** 2 for k, (_, test) in enumerate(splits)]
        else:
            assert np.abs(values).min() > 1e-7
            losses = [np.sign(values[k, test]) != y[test] for k, (_, test) in enumerate(splits)]
        criterion = criteria.BIF(order=order, h=CASES[name].h, scale_penalty=mean_loss)
        assert criterion(K, y, model, cv=splits) == pytest.approx(np.concatenate(losses).mean(), rel=1e-8)
        by_folds = criteria.BIF(order=order, h=CASES[name].h, scale_penalty=mean_loss, aggregate="folds")
        assert by_folds(K, y, model, cv=splits) == pytest.approx(np.mean([loss.mean() for loss in losses]), rel=1e-8)


@seeds
def test_the_default_widths(seed):
    """0.01 for the hinge, a hundredth of epsilon, and without one a hundredth of the mean residual of the machine.

    With K = I and no bias, the machine of epsilon = 0 has the values ``clip(y, -C, C)``.
    """
    K, y = problem("hinge 0.01", seed)
    splits, C = SPLITS["equal folds"](seed), 0.5
    values = curve(seed, points(seed, N))
    residual = np.abs(values - np.clip(values, -C, C)).mean()
    for case, gram, target in [
        (Case(Hinge, oracle.smoothed_hinge(0.01)), K, y),
        (Case(EpsilonInsensitive, oracle.smoothed_tube(0.3, 0.003), None, 0.3), K, values),
        (Case(EpsilonInsensitive, oracle.huber(0.01 * residual), None, 0.0), np.eye(N), values),
    ]:
        assert_same_series(case, gram, target, splits, (C,), bias=False)


@pytest.mark.parametrize("order", [0, 1.5, np.nan, -1, "5", -np.inf, None])
def test_a_bad_order_is_an_error(order):
    with pytest.raises(ValueError, match="order must be"):
        criteria.BIF(order=order)


@pytest.mark.parametrize("h", [0, -1, np.nan, np.inf, "1"])
def test_a_bad_width_is_an_error(h):
    with pytest.raises(ValueError, match="h must be"):
        criteria.BIF(h=h)


@pytest.mark.parametrize("start", ["x", None, 1])
def test_a_bad_start_is_an_error(start):
    with pytest.raises(ValueError, match="start must be"):
        criteria.BIF(start=start)


def test_a_width_above_epsilon_is_an_error():
    K, y = problem("tube 0.2, 0.05", 0)
    with pytest.raises(ValueError, match="h must not be larger than epsilon"):
        criteria.BIF(h=0.3)(K, y, SVR(kernel="precomputed", epsilon=0.2), cv=3)


@seeds
@every_case
def test_derivatives_of_the_oracle(seed, name):
    """By finite differences, away from the kinks of the derivative."""
    loss, rng = CASES[name].loss, np.random.default_rng(seed)
    y = np.where(rng.uniform(size=300) < 0.5, 1.0, -1.0)
    f, step = rng.uniform(-2.5, 2.5, size=300), 1e-6
    smooth = loss.second(y, f - 2 * step) == loss.second(y, f + 2 * step)
    assert smooth.sum() > 280
    first = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.first(y, f), first, atol=1e-6 * loss.second(y, f).max() + 1e-8)
    second = (loss.first(y, f + step) - loss.first(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.second(y, f)[smooth], second[smooth], atol=1e-6, rtol=1e-7)


@seeds
@some_cases
@biases
def test_the_minimiser_of_the_oracle(seed, name, bias):
    """L-BFGS finds none that is better, and the same values."""
    case = CASES[name]
    K, y = problem(name, seed, "narrow")
    cost = 2.0 * row_weights(seed, N)

    def value(z):
        f = K @ z[:N] + z[N] * bias
        slope = cost * case.loss.first(y, f)
        gradient = np.append(K @ (z[:N] + slope), bias * slope.sum())
        return oracle.objective(K, y, case.loss, cost, z[:N], z[N] * bias), gradient

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10}
    found = minimize(value, np.zeros(N + 1), jac=True, method="L-BFGS-B", options=options)
    beta, b = oracle.minimise(K, y, case.loss, cost, bias)
    assert oracle.objective(K, y, case.loss, cost, beta, b) <= found.fun * (1 + 1e-14)
    values = (K @ beta + b).astype(float)
    np.testing.assert_allclose(K @ found.x[:N] + found.x[N] * bias, values, atol=1e-5)
