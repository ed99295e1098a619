"""What learners tell criteria, against dense systems and other solvers."""

import numpy as np
import pytest

from onefit.data import Folds, Problem, Targets
from onefit.gram import DenseGram
from onefit.kernels import Gaussian, Precomputed
from onefit.solvers.least_squares.learner import SquareLoss
from onefit.solvers.svm.learner import Hinge, SquaredHinge

from ..oracles.criteria import left_out, smallest_ball
from ..oracles.influence import hat_matrix
from ..oracles.problems import points, random_symmetric, row_weights, seeds, smooth_targets
from ..oracles.support_vector import classified, gaussian, gram, labels, squared_hinge_newton

N = 25


def space(K):
    return DenseGram(Problem(K, Folds(len(K), ())), Precomputed())


@seeds
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spectral", [False, True])
def test_smoothers(seed, bias, weighted, spectral):
    X = points(seed, N)
    K, Y, ridges = gaussian(X, 0.4), smooth_targets(seed, X, 2), np.array([0.05, 2.0])
    weights = row_weights(seed, N) if weighted else None
    gram = space(K)
    smoother = SquareLoss(bias).smoother(gram, Targets(Y, weights), ridges, spectral=spectral)
    assert gram.problem.ledger["eigendecomposition"] == int(spectral)
    for k, ridge in enumerate(ridges):
        H = hat_matrix(K, ridge, weights, bias)
        np.testing.assert_allclose(smoother.residuals[k], Y - H @ Y, atol=1e-9)
        np.testing.assert_allclose(ridge * smoother.unit_slacks[k, :, 0], 1 - np.diag(H), atol=1e-9)
        expected = Y - left_out(K, Y, ridge, weights, bias)
        np.testing.assert_allclose(smoother.left_out[k], expected, atol=1e-8)
    assert not smoother.failed.any()


def test_smoothers_of_indefinite_and_singular_systems():
    K, y = random_symmetric(0, N), points(0, N)[:, :1]
    s = np.linalg.eigvalsh(K)
    smoother = SquareLoss().smoother(space(K), Targets(y), np.array([-s[0] * 3, 1e-3]), spectral=False)
    H = hat_matrix(K, -s[0] * 3)
    np.testing.assert_allclose(smoother.residuals[0], y - H @ y, atol=1e-8)
    singular = SquareLoss().smoother(space(np.ones((N, N))), Targets(y), np.array([0.0, 1.0]), spectral=True)
    assert singular.failed.tolist() == [True, False]


@seeds
@pytest.mark.parametrize("name", ["wide", "medium", "narrow", "identity"])
def test_margins_of_the_hinge_loss(seed, name):
    K, X = gram(name, seed, N)
    y, penalties = labels(seed, X, 0.4), np.array([0.2, 1.0, 20.0])
    found = Hinge().margins(space(K), Targets(y[:, None]), penalties)
    for (margin,), C in zip(found, penalties):
        f = classified(K, y, C)
        np.testing.assert_allclose(margin.values, K @ margin.beta + margin.intercept, atol=1e-9)
        assert (y * margin.beta >= 0).all()
        assert (np.abs(margin.beta) <= C).all()
        assert abs(margin.beta.sum()) <= 1e-9 * C * N
        at = np.abs(margin.beta)
        inside = y * margin.values
        tolerance = 1e-8
        assert (inside[at == 0] >= 1 - tolerance).all()
        assert (inside[at == C] <= 1 + tolerance).all()
        np.testing.assert_allclose(inside[margin.free], 1.0, atol=tolerance)
        if len(margin.free):
            np.testing.assert_allclose(margin.values, f, atol=1e-6)
        np.testing.assert_allclose(margin.slacks, np.maximum(0, 1 - inside))


@seeds
def test_margins_of_pairs_of_classes_speak_of_all_rows(seed):
    X = points(seed, N)
    K = gaussian(X, 0.5)
    classes = np.arange(N) % 3
    Y = np.column_stack([np.where(classes == j, 1.0, np.where(classes == i, -1.0, 0)) for i, j in ((0, 1), (0, 2))])
    (found,) = SquaredHinge().margins(space(K), Targets(Y), np.array([2.0]))
    for column, margin in enumerate(found):
        members = np.flatnonzero(Y[:, column])
        beta, b = squared_hinge_newton(K[np.ix_(members, members)], Y[members, column], 2.0)
        np.testing.assert_allclose(margin.values, K[:, members] @ beta + b, atol=1e-8)
        assert (margin.beta[Y[:, column] == 0] == 0).all()


def test_margins_of_a_kernel_that_is_the_identity_need_no_gram_matrix():
    X = points(0, N)
    y = labels(0, X, 0.4)
    gram = DenseGram(Problem(X, Folds(N, ())), Gaussian(1e6))
    ((margin,),) = Hinge().margins(gram, Targets(y[:, None]), np.array([0.5]))
    f = classified(np.eye(N), y, 0.5)
    np.testing.assert_allclose(margin.values, f, atol=1e-6)
    assert gram.problem.ledger["gram"] == 0


@seeds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [0, 9])
def test_smallest_balls(seed, weighted, left_out):
    """Around the rows that count."""
    K = gaussian(points(seed, N), 0.3) * np.linspace(1, 2, N)[:, None] * np.linspace(1, 2, N)
    weights = row_weights(seed, N) if weighted else np.ones(N)
    weights[:left_out] = 0.0
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    penalties = np.array([0.1, 1.0, 100.0])
    given = weights if weighted or left_out else None
    radii = [ball.squared_radius for ball in SquaredHinge().balls(space(K), Targets(y[:, None], given), penalties)]
    for C, squared in zip(penalties, radii):
        A = K[left_out:, left_out:] + np.diag(1 / (2 * C * weights[left_out:]))
        assert squared == pytest.approx(smallest_ball(A)[0], rel=1e-8)
