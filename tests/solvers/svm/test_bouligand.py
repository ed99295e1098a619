"""The influence-function series of support vector machines against dense matrices in extended precision."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, ShuffleSplit

from onefit.data import Targets
from onefit.kernels import Gaussian
from onefit.machines.contract import Series

from ...oracles.problems import partition, points, row_weights, seeds, two_seeds
from ...oracles.support_vector import GRAMS
from ..running import Reports, workspace
from .bouligand_cases import (
    CASES,
    ORDERS,
    PENALTIES,
    SPLITS,
    N,
    assert_close,
    assert_same_series,
    assert_tested,
    biases,
    conventions,
    every_case,
    every_split,
    expected_values,
    problem,
    run,
    some_cases,
)

pytestmark = pytest.mark.slow  # tests/public/test_influence_series.py is quicker


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


@two_seeds
@some_cases
@biases
@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_by_newton_steps_from_one_inverse(seed, name, bias, gram, weighted):
    """Curved rows, rows at a bound and rows without a coefficient, for every kind of Gram matrix."""
    K, y = problem(name, seed, gram)
    weights = row_weights(seed, N) if weighted else None
    splits = list(LeaveOneOut().split(K))
    assert_same_series(CASES[name], K, y, splits, (1e-2, 0.3, 10.0, 1e2), (np.inf,), bias=bias, weights=weights)


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
@pytest.mark.parametrize("kind", ["unequal folds", "leave-one-out"])
def test_a_kernel_so_narrow_that_no_two_rows_know_of_each_other(seed, name, bias, kind):
    """The Gram matrix is the identity to machine precision, and never formed."""
    case, X = CASES[name], np.round(points(seed, N) * 64) / 64
    y, splits = case.targets(seed, X), SPLITS[kind](seed) if kind in SPLITS else list(LeaveOneOut().split(X))
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
