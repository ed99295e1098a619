"""Laws that out-of-fold values of least squares obey whatever the data are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from onefit.kernels import Gaussian, Precomputed

from ..oracles.problems import partition, points, row_weights, smooth_targets
from ..solvers.running import heldout, heldout_of_gram, workspace

few = settings(max_examples=25, deadline=None, derandomize=True)
many_seeds = st.integers(0, 10_000)
coins = st.booleans()
factors = st.floats(1e-3, 1e3)
orders = st.sampled_from([1, 4, np.inf])
PATHS = st.sampled_from([[0.2], [0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]])


class Case:
    """A random problem with unequal folds, and its out-of-fold values (L, n, c)."""

    def __init__(self, seed, bias, scale_penalty, weighted, ridges, order=np.inf, n=24):
        self.splits = partition(seed, n, [2, 5, 7, 10])
        self.X = points(seed, n)
        self.Y = smooth_targets(seed, self.X, 2)
        self.weights = row_weights(seed, n) if weighted else None
        self.kernel, self.ridges = Gaussian(0.4), np.array(ridges)
        self.options = {"bias": bias, "scale_penalty": scale_penalty, "order": order}

    def values(self, *, X=None, Y=None, splits=None, weights=None, kernel=None, ridges=None):
        """Out-of-fold values, in the order of the rows, of the problem with some parts replaced."""
        X, Y = self.X if X is None else X, self.Y if Y is None else Y
        splits = self.splits if splits is None else splits
        gram = workspace(X, splits, self.kernel if kernel is None else kernel)
        weights = self.weights if weights is None else weights
        held = heldout(gram, Y, self.ridges if ridges is None else ridges, weights=weights, **self.options)
        values = np.full((len(self.ridges), *Y.shape), np.nan)
        for (_, test), part in zip(splits, held.test):
            values[:, test] = part
        return values


cases = st.builds(Case, many_seeds, coins, coins, coins, PATHS, orders)


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


@few
@given(cases, st.one_of(factors, factors.map(lambda factor: -factor)))
def test_scaling_the_targets_scales_the_values(case, factor):
    assert_close(case.values(Y=factor * case.Y), factor * case.values())


@few
@given(cases, many_seeds)
def test_values_are_linear_in_the_targets(case, seed):
    other = np.random.default_rng(seed).normal(size=case.Y.shape)
    assert_close(case.values(Y=case.Y + other), case.values() + case.values(Y=other))


@few
@given(st.builds(Case, many_seeds, st.just(True), coins, coins, PATHS, orders), st.floats(-100, 100))
def test_a_constant_added_to_the_targets_shifts_the_values_if_there_is_a_bias(case, constant):
    assert_close(case.values(Y=case.Y + constant), case.values() + constant)


@few
@given(cases, many_seeds)
def test_permuting_rows_permutes_values(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.X))
    place = np.argsort(order)  # where each row went
    splits = [(place[train], place[test]) for train, test in case.splits]
    weights = None if case.weights is None else case.weights[order]
    permuted = case.values(X=case.X[order], Y=case.Y[order], splits=splits, weights=weights)
    assert_close(permuted, case.values()[:, order])


@few
@given(cases, factors)
def test_kernel_and_ridge_multiplied_alike_leave_the_values(case, factor):
    assert_close(case.values(kernel=factor * case.kernel, ridges=factor * case.ridges), case.values())


@few
@given(cases, factors)
def test_weights_and_ridge_multiplied_alike_leave_the_values(case, factor):
    weights = np.full(len(case.X), factor) if case.weights is None else factor * case.weights
    assert_close(case.values(weights=weights, ridges=factor * case.ridges), case.values())


@few
@given(cases, st.floats(-50, 50))
def test_moving_the_data_leaves_the_values_of_a_gaussian_kernel(case, shift):
    assert_close(case.values(X=case.X + shift), case.values())


@few
@given(cases)
def test_targets_do_not_see_each_other(case):
    one_by_one = [case.values(Y=case.Y[:, [column]]) for column in range(case.Y.shape[1])]
    assert_close(case.values(), np.concatenate(one_by_one, axis=2))


@few
@given(st.builds(Case, many_seeds, coins, coins, coins, PATHS))
def test_held_out_targets_are_never_read(case):
    """Changing the targets of a fold changes nothing of what is said about that fold."""
    values = case.values()
    for _, test in case.splits:
        changed = case.Y.copy()
        changed[test] += 10.0
        assert_close(case.values(Y=changed)[:, test], values[:, test])


@few
@given(st.builds(Case, many_seeds, st.just(True), coins, coins, st.just([1e12])))
def test_a_huge_ridge_leaves_the_weighted_mean_of_the_training_rows(case):
    values = case.values()
    weights = np.ones(len(case.X)) if case.weights is None else case.weights
    for train, test in case.splits:
        mean = np.average(case.Y[train], axis=0, weights=weights[train])
        np.testing.assert_allclose(values[0, test], np.broadcast_to(mean, (len(test), 2)), atol=1e-9)


@few
@given(many_seeds, coins, coins, PATHS)
def test_a_gram_matrix_says_the_same_as_its_data(seed, bias, scale_penalty, ridges):
    case = Case(seed, bias, scale_penalty, False, ridges)
    held = heldout_of_gram(case.kernel(case.X), case.Y, case.splits, case.ridges, **case.options)
    values = case.values()
    for (_, test), part in zip(case.splits, held.test):
        assert_close(part, values[:, test])


@few
@given(many_seeds, coins, st.floats(0.01, 10.0))
def test_a_constant_added_to_the_kernel_changes_nothing_if_there_is_a_bias(seed, scale_penalty, constant):
    """An unpenalised bias absorbs a constant function that costs something."""
    case = Case(seed, True, scale_penalty, False, [0.1, 1.0])
    K, values = case.kernel(case.X), case.values()
    held = heldout(workspace(K + constant, case.splits, Precomputed()), case.Y, case.ridges, **case.options)
    for (_, test), part in zip(case.splits, held.test):
        assert_close(part, values[:, test])
