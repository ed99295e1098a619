"""Systems from the inverse at another penalty, against dense matrices."""

import numpy as np
import pytest

from onefit.learners.bordered import BorderedDense
from onefit.learners.dual_solver import DualSolver
from onefit.learners.nearby import BorderedNear, Kept, Known

from ..oracles.problems import points, row_weights, seeds
from ..oracles.support_vector import gaussian

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])


def system(seed, bias, n=30, scale=0.02):
    """(K, ridge, rows, system): a narrow kernel on two rows in three."""
    K = gaussian(points(seed, n), 5.0)
    ridge, rows = scale * row_weights(seed, n), np.random.default_rng(seed).permutation(n)[: 2 * n // 3]
    return K, ridge, rows, BorderedDense(DualSolver(K).inverse_of(ridge, rows, bias), bias)


def dense(K, ridge, rows, bias):
    """The inverse of the bordered matrix, or of the matrix without a bias."""
    M = K[np.ix_(rows, rows)] + np.diag(ridge[rows])
    if bias:
        M = np.block([[M, np.ones((len(M), 1))], [np.ones((1, len(M))), np.zeros((1, 1))]])
    return np.linalg.inv(M)


@seeds
@biases
@pytest.mark.parametrize("c", [-0.9, -0.3, 0.0, 0.5])
def test_solutions_are_those_of_the_other_ridge_but_for_a_few_digits(seed, bias, c):
    K, ridge, rows, known = system(seed, bias)
    near = BorderedNear(Known(known, ridge[rows]), c)
    rng = np.random.default_rng(seed)
    right, sums = rng.normal(size=(len(rows), 3)), rng.normal(size=3) * bias
    full = dense(K, (1 + c) * ridge, rows, bias) @ (np.vstack([right, sums]) if bias else right)
    x, b = near.solve(right, sums)
    # the bias knows the first change of the inverse only
    np.testing.assert_allclose(x, full[: len(rows)], atol=1e-2 * c**2 + 1e-6)
    np.testing.assert_allclose(b, full[len(rows)] if bias else np.zeros(3), atol=1e-2 * c**2 + 1e-6)
    assert not near.exact


@seeds
@biases
def test_parts_lack_what_is_of_second_order(seed, bias):
    K, ridge, rows, known = system(seed, bias)
    part, errors = np.random.default_rng(seed).permutation(len(rows))[:7], []
    for c in (-0.4, -0.2, -0.1):
        block = BorderedNear(Known(known, ridge[rows]), c).block(part)
        exact = dense(K, (1 + c) * ridge, rows, bias)[np.ix_(part, part)]
        errors.append(np.abs(block - exact).max())
    assert errors[0] < 0.02
    np.testing.assert_allclose(np.array(errors[:2]) / errors[1:], 4.0, rtol=0.3)


@seeds
def test_the_second_change_of_the_inverse(seed):
    K, ridge, rows, known = system(seed, False)
    v = np.random.default_rng(seed).normal(size=len(rows))
    P = dense(K, ridge, rows, False)
    D = np.diag(ridge[rows])
    np.testing.assert_allclose(Known(known, ridge[rows]).second(v), P @ D @ P @ D @ P @ v, atol=1e-10)


def test_fewer_rows_need_the_inverse_itself():
    _, ridge, rows, known = system(0, True)
    with pytest.raises(NotImplementedError, match="inverse itself"):
        BorderedNear(Known(known, ridge[rows]), 0.0).without(
            np.ones((30, 1)), np.ones((30, 1), dtype=bool), np.zeros(1)
        )


def kept(scale, seed=0):
    K, ridge, rows, known = system(seed, True, scale=scale)
    curved = np.zeros(len(K), dtype=bool)
    curved[rows] = True
    found = Kept()
    found.put(known, ridge, np.ones(len(K)), np.ones(len(K)))
    return found, ridge, curved


def test_what_is_near_enough():
    assert Kept().near(np.ones(3), np.ones(3, dtype=bool), 5) is None
    found, ridge, curved = kept(1e-3)
    assert found.near(0.25 * ridge, curved, 5) is not None
    assert found.near(0.25 * ridge, curved, 500) is None  # errors add up
    assert found.near(0.25 * ridge, curved, np.inf) is None  # rows are taken out, which needs the inverse itself
    assert found.near(ridge, curved, np.inf) is None
    assert found.near(1e3 * ridge, curved, 1) is None  # the series might diverge
    assert found.near(ridge**2, curved, 1) is None  # not a multiple
    fewer = curved.copy()
    fewer[np.flatnonzero(curved)[0]] = False
    others = np.roll(curved, 1)
    assert others.sum() == curved.sum()
    assert found.near(ridge, fewer, 1) is None
    assert found.near(ridge, others, 1) is None
    found, ridge, curved = kept(0.5)
    assert found.near(0.5 * ridge, curved, 5) is None  # more than two terms would be needed
