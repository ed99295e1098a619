"""Out-of-fold values of support vector machines are those of machines really trained on each split."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold

from onefit._exceptions import NotUnderstoodError
from onefit.data import Targets
from onefit.data.coding import code_pairs
from onefit.kernels import Gaussian, Precomputed

from ...oracles.least_squares import pool_leave_one_out
from ...oracles.problems import partition, points, row_weights, seeds
from ...oracles.support_vector import gaussian, gram, single_precision
from ..running import Reports, workspace
from .machines import EPSILONS, MACHINES, heldout, learner, target, trained

machines = pytest.mark.parametrize("machine", MACHINES)
PENALTIES = (0.02, 0.5, 10.0, 300.0)


def retrained(K, y, splits, machine, penalties, weights=None, scale_penalty=False):
    """(values of the tested rows, values of the training rows) of each split, arrays (L, rows, 1)."""
    tested, fitted = [], []
    for number, (train, test) in enumerate(splits):
        factor = len(K) / len(train) if scale_penalty else 1.0
        w = weights[number] if isinstance(weights, list) else weights
        values = np.array([trained(machine, K, y, C * factor, train=train, weights=w) for C in penalties])
        tested.append(values[:, test, None])
        fitted.append(values[:, train, None])
    return tested, fitted


def assert_same_as_retraining(K, y, splits, machine, penalties=PENALTIES, weights=None, scale_penalty=False):
    """Values to 1e-6, labels where they are clear, of tested and of training rows."""
    splits = list(splits)
    tested, fitted = retrained(K, y, splits, machine, penalties, weights, scale_penalty)
    options = {"weights": weights, "scale_penalty": scale_penalty}
    reports = Reports(splits, len(penalties), 1)
    held = heldout(K, y, splits, machine, penalties, on_train=reports, **options)
    plain = heldout(K, y, splits, machine, penalties, **options)
    if len(splits) == len(K) and all(len(test) == 1 for _, test in splits):
        tested = [pool_leave_one_out(splits, tested)]
    assert held.exact
    assert not held.failed.any()
    assert len(held.test) == len(tested)
    for mine, again, expected in zip(held.test, plain.test, tested):
        np.testing.assert_allclose(mine, expected, atol=1e-6, rtol=0)
        np.testing.assert_allclose(again, mine, atol=1e-9, rtol=0)
        clear = np.abs(expected) > 1e-5
        np.testing.assert_array_equal((mine > 0)[clear], (expected > 0)[clear])
    assert reports.last == [len(penalties) - 1] * len(splits)
    for mine, expected in zip(reports.values, fitted):
        np.testing.assert_allclose(mine, expected, atol=1e-6, rtol=0)


def problem(machine, seed, n=40, name="medium", share=0.4):
    """(Gram matrix, targets) of n rows."""
    K, X = gram(name, seed, n)
    return K, target(machine, seed, X, share)


@seeds
@machines
@pytest.mark.parametrize("name", ["wide", "linear", "duplicated", "identity"])
def test_unequal_folds(seed, machine, name):
    K, y = problem(machine, seed, name=name)
    assert_same_as_retraining(K, y, partition(seed, 40, [17, 12, 8, 3]), machine, PENALTIES[:3])


@seeds
@machines
def test_small_penalties_leave_no_row_free(seed, machine):
    """Folds with as many rows of each class: every coefficient is at its bound, before and after leaving rows out."""
    K, X = gram("medium", seed, 40)
    y = target(machine, seed, X)
    if machine not in EPSILONS:
        y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    splits = StratifiedKFold(4).split(K, np.arange(40) % 2)
    assert_same_as_retraining(K, y, splits, machine, (2.0**-16, 2.0**-12, 2.0**-8, 2.0**-4))


@seeds
@pytest.mark.parametrize("name", ["wide", "medium", "narrow", "linear"])
def test_splits_without_a_free_row_though_the_full_data_have_some(seed, name):
    """As many training rows of each class from unequal classes: the bias is the middle of its interval."""
    K, _ = gram(name, seed, 42)
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(42) < 20, 1.0, -1.0)
    splits = []
    for _ in range(5):
        train = [rng.choice(np.flatnonzero(y == sign), 15, replace=False) for sign in (-1.0, 1.0)]
        splits.append((np.sort(np.concatenate(train)), np.setdiff1d(np.arange(42), np.concatenate(train))))
    assert_same_as_retraining(K, y, splits, "hinge", (2.0**-14, 2.0**-9))


@seeds
@machines
def test_random_splits(seed, machine):
    """Rows of some splits are neither tested nor trained on."""
    K, y = problem(machine, seed)
    splits = ShuffleSplit(4, train_size=0.6, test_size=0.2, random_state=seed).split(K)
    assert_same_as_retraining(K, y, splits, machine)


@seeds
@machines
def test_rows_trained_on_more_than_once(seed, machine):
    """Bootstrap samples, in their order."""
    K, y = problem(machine, seed, share=0.5)
    rng = np.random.default_rng(seed)
    splits = []
    for _ in range(3):
        train = rng.integers(40, size=40)
        splits.append((train, np.setdiff1d(np.arange(40), train)))
    assert_same_as_retraining(K, y, splits, machine, PENALTIES[:3])


@seeds
@machines
def test_rows_tested_that_are_trained_on(seed, machine):
    K, y = problem(machine, seed)
    rng = np.random.default_rng(seed)
    splits = [(rng.permutation(40)[:30], rng.permutation(40)[:15]) for _ in range(3)]
    assert_same_as_retraining(K, y, splits, machine)


@seeds
@machines
def test_leave_one_out(seed, machine):
    K, y = problem(machine, seed, n=15)
    splits = [list(LeaveOneOut().split(K))[i] for i in np.random.default_rng(seed).permutation(15)]
    assert_same_as_retraining(K, y, splits, machine, PENALTIES[:2])


@seeds
@machines
def test_a_single_split(seed, machine):
    K, y = problem(machine, seed)
    assert_same_as_retraining(K, y, [(np.arange(30), np.arange(30, 40))], machine)


@seeds
@machines
@pytest.mark.parametrize("kind", ["positive", "some zero", "per fold"])
def test_weights(seed, machine, kind):
    K, y = problem(machine, seed, share=0.5)
    splits = partition(seed, 40, [16, 14, 10])
    weights = row_weights(seed, 40)
    if kind == "some zero":
        weights[np.random.default_rng(seed).permutation(40)[:8]] = 0.0
    if kind == "per fold":
        weights = [row_weights(seed + k, 40) for k in range(3)]
    assert_same_as_retraining(K, y, splits, machine, (0.02, 0.5, 5.0), weights=weights)


@seeds
@machines
def test_penalties_that_follow_the_number_of_rows(seed, machine):
    """``C n / m`` on m training rows: the mean of the losses counts the same."""
    K, y = problem(machine, seed)
    splits = partition(seed, 40, [20, 12, 8])
    assert_same_as_retraining(K, y, splits, machine, scale_penalty=True)
    same = heldout(K, y, splits, machine, [0.5])
    scaled = heldout(K, y, splits, machine, [0.5], scale_penalty=True)
    assert np.abs(same.test[0] - scaled.test[0]).max() > 1e-3


@seeds
@pytest.mark.parametrize("machine", ["hinge", "squared hinge"])
def test_four_classes_in_pairs(seed, machine):
    """Every column is a machine trained on two classes, which speaks of all tested rows."""
    K, _ = gram("medium", seed, 60)
    labels = np.random.default_rng(seed).integers(4, size=60)
    Y = code_pairs(labels, np.arange(4))
    splits = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(K, labels))
    penalties = (0.1, 3.0)
    reports = Reports(splits, 2, 6)
    held = heldout(K, Y, splits, machine, penalties, on_train=reports)
    for number, (train, test) in enumerate(splits):
        for column in range(6):
            members = train[Y[train, column] != 0]
            for k, C in enumerate(penalties):
                expected = trained(machine, K, Y[:, column], C, train=members)
                np.testing.assert_allclose(held.test[number][k, :, column], expected[test], atol=1e-6)
                np.testing.assert_allclose(reports.values[number][k, :, column], expected[train], atol=1e-6)


@seeds
@pytest.mark.parametrize("machine", ["hinge", "squared hinge"])
def test_a_fold_that_lacks_a_class(seed, machine):
    """The columns of its pairs are NaN there, in tested and in training rows; all others are not touched."""
    K, _ = gram("medium", seed, 36)
    labels = np.r_[np.zeros(12, int), np.ones(12, int), np.full(12, 2)]
    Y = code_pairs(labels, np.arange(3))  # columns 01, 02, 12
    order = np.random.default_rng(seed).permutation(24)
    splits = [
        (np.arange(24), np.arange(24, 36)),
        (np.r_[order[:12], np.arange(24, 30)], np.r_[order[12:], np.arange(30, 36)]),
    ]
    reports = Reports(splits, 1, 3)
    held = heldout(K, Y, splits, machine, [1.0], on_train=reports)
    assert np.isnan(held.test[0][..., 1:]).all()
    assert np.isnan(reports.values[0][..., 1:]).all()
    assert not np.isnan(held.test[0][..., 0]).any()
    assert not np.isnan(held.test[1]).any()
    assert not held.failed.any()
    for number, (train, test) in enumerate(splits):
        for column in range(3 if number else 1):
            members = train[Y[train, column] != 0]
            expected = trained(machine, K, Y[:, column], 1.0, train=members)
            np.testing.assert_allclose(held.test[number][0, :, column], expected[test], atol=1e-6)


def test_a_class_of_weight_zero_is_absent():
    K, _ = gram("medium", 0, 20)
    y = np.where(np.arange(20) < 10, 1.0, -1.0)
    splits = partition(0, 20, [10, 10])
    held = heldout(K, y, splits, "hinge", [1.0], weights=np.where(y > 0, 1.0, 0.0))
    assert all(np.isnan(part).all() for part in held.test)


@seeds
@machines
def test_a_kernel_so_narrow_that_no_two_rows_know_of_each_other(seed, machine):
    """The Gram matrix is the identity to machine precision, and never formed."""
    X = np.round(points(seed, 30) * 64) / 64
    y = target(machine, seed, X)
    splits = partition(seed, 30, [14, 10, 6])
    space = workspace(X, splits, Gaussian(1e6))
    assert space.identity() is not None
    penalties = (0.02, 0.5, 10.0)
    held = learner(machine).heldout(space, Targets(y[:, None]), np.array(penalties))
    assert space.problem.ledger["gram"] == 0
    tested, _ = retrained(np.eye(30), y, splits, machine, penalties)
    for mine, expected in zip(held.test, tested):
        np.testing.assert_allclose(mine, expected, atol=1e-6, rtol=0)


@seeds
@machines
def test_a_kernel_and_its_gram_matrix(seed, machine):
    """Computed from data or given: the same values, with and without a bias."""
    X = points(seed, 35)
    y = target(machine, seed, X)
    splits = partition(seed, 35, [15, 12, 8])
    penalties = np.array([0.1, 2.0, 50.0])
    for bias in (True, False):
        machine_ = learner(machine, bias)
        given = machine_.heldout(workspace(gaussian(X, 0.3), splits, Precomputed()), Targets(y[:, None]), penalties)
        computed = machine_.heldout(workspace(X, splits, Gaussian(0.3)), Targets(y[:, None]), penalties)
        for one, other in zip(given.test, computed.test):
            np.testing.assert_allclose(one, other, atol=1e-7, rtol=0)


@seeds
@machines
def test_one_penalty_at_a_time(seed, machine):
    """A path is its penalties: what one leaves behind for the next is only where to start."""
    K, y = problem(machine, seed, name="narrow")
    splits = partition(seed, 40, [15, 15, 10])
    penalties = [1e-3, 0.05, 1.0, 30.0, 1e3, 1e5]  # beyond the point where no bound is felt
    path = heldout(K, y, splits, machine, penalties)
    for k, C in enumerate(penalties):
        alone = heldout(K, y, splits, machine, [C])
        for one, other in zip(path.test, alone.test):
            np.testing.assert_allclose(one[k], other[0], atol=1e-7, rtol=0)


@seeds
@machines
def test_without_bias(seed, machine):
    K, y = problem(machine, seed)
    splits = partition(seed, 40, [15, 15, 10])
    held = heldout(K, y, splits, machine, [0.1, 2.0], bias=False)
    for part, (train, test) in zip(held.test, splits):
        for k, C in enumerate((0.1, 2.0)):
            block = K[np.ix_(train, train)]
            inner = trained(machine, block, y[train], C, bias=False)
            coefficients = np.linalg.solve(block, inner)
            np.testing.assert_allclose(part[k, :, 0], K[np.ix_(test, train)] @ coefficients, atol=1e-5)


@seeds
def test_the_stated_error_covers_the_actual_one(seed):
    """Without a bias, where the ball around the solution bounds all values."""
    K, y = problem("squared hinge", seed)
    splits = partition(seed, 40, [20, 20])
    held = heldout(K, y, splits, "squared hinge", [0.5, 5.0], bias=False)
    for part, (train, test) in zip(held.test, splits):
        for k, C in enumerate((0.5, 5.0)):
            expected = trained("squared hinge", K, y, C, bias=False, train=train)[test]
            assert np.abs(part[k, :, 0] - expected).max() <= held.error[k] + 1e-12
    assert (held.error < 1e-4).all()


def test_an_indefinite_kernel_is_not_understood():
    X = points(0, 30)
    with pytest.raises(NotUnderstoodError, match="positive semi-definite"):
        heldout(np.tanh(X @ X.T - 1.0), np.sign(X[:, 0]), partition(0, 30, [15, 15]), "hinge", [1.0])


@machines
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_constant_features(machine, C):
    """Nothing to tell the rows apart: every split predicts one value."""
    K = np.full((24, 24), 0.75)
    y = target(machine, 1, points(1, 24))
    assert_same_as_retraining(K, y, partition(1, 24, [10, 8, 6]), machine, (C,))


@seeds
@machines
def test_a_smooth_gram_in_single_precision(seed, machine):
    """It has negative eigenvalues, as those have that scientists store."""
    X = points(seed, 40, 2)
    K = single_precision(gaussian(X, 0.1))
    assert np.linalg.eigvalsh(K)[0] < 0
    y = target(machine, seed, points(seed, 40))
    assert_same_as_retraining(K, y, partition(seed, 40, [16, 14, 10]), machine, (0.05, 2.0))
