"""Stability of learning algorithms: literal recomputation, and inequalities that must hold."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from onefit import LSSVC, bounds, criteria
from onefit.bounds._retraining import draws

from ..oracles.least_squares import predict
from ..oracles.problems import points, seeds

N = 14


def problem(seed, gamma=0.5):
    X = points(seed, N)
    return rbf_kernel(X, gamma=gamma), np.sign(X[:, 0] + 0.3 * X[:, 1])


def ridge_losses(K, y, train, tested, ridge):
    """Squared losses by a dense solve."""
    return (predict(K, y[:, None], np.asarray(train), np.asarray(tested), ridge)[:, 0] - y[tested]) ** 2


def removal_changes(K, y, ridge, scaled):
    """``|ℓ(f_S, z_j) - ℓ(f_{S^i}, z_j)|`` of all pairs, row i for the row that is left out."""
    n, everything = len(K), list(range(len(K)))
    full = ridge_losses(K, y, everything, everything, ridge)
    changes = np.empty((n, n))
    for i in everything:
        rest = [j for j in everything if j != i]
        changes[i] = np.abs(full - ridge_losses(K, y, rest, everything, ridge * (n - 1) / n if scaled else ridge))
    return changes


@seeds
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("ridge", [0.1, 2.0])
def test_removing_a_row_of_kernel_ridge_regression(seed, scaled, ridge):
    K, y = problem(seed)
    expected = removal_changes(K, y, ridge, scaled)
    options = {"scale_penalty": scaled}
    for model in (
        KernelRidge(alpha=ridge, kernel="precomputed"),
        LSSVC(ridge, kernel="precomputed", fit_intercept=False),
    ):
        uniform = bounds.empirical_uniform_stability(K, y, model, **options)
        pointwise = bounds.pointwise_hypothesis_stability(K, y, model, **options)
        assert uniform == pytest.approx(expected.max(), rel=1e-9)
        assert pointwise == pytest.approx(np.diag(expected).mean(), rel=1e-9)
        assert pointwise <= uniform


@seeds
@pytest.mark.parametrize("scaled", [False, True])
def test_draws_of_training_rows(seed, scaled):
    K, y = problem(seed)
    ridge, removed, replaced = 0.3, [], []
    for draw in draws(N, 6, 5, seed):
        kept = [j for j in draw.train if j != draw.removed]
        swapped = [*kept, draw.replacement]
        outside = [j for j in range(N) if j not in draw.train]
        rest = [j for j in outside if j != draw.replacement]
        of_six, of_five = (ridge * m / N if scaled else ridge for m in (6, 5))
        full = ridge_losses(K, y, draw.train, outside, of_six)
        removed.append(np.abs(full - ridge_losses(K, y, kept, outside, of_five)).mean())
        change = ridge_losses(K, y, draw.train, rest, of_six) - ridge_losses(K, y, swapped, rest, of_six)
        replaced.append(((change - change.mean()) ** 2).sum() / (len(rest) - 1))
    model = KernelRidge(alpha=ridge, kernel="precomputed")
    options = {"train_size": 6, "repeats": 5, "random_state": seed, "scale_penalty": scaled}
    assert bounds.hypothesis_stability(K, y, model, **options) == pytest.approx(np.mean(removed), rel=1e-9)
    assert bounds.loss_stability(K, y, model, **options) == pytest.approx(np.mean(replaced), rel=1e-9)


@seeds
@pytest.mark.parametrize("lam", [0.01, 0.3])
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_kernel_stability_bounds_every_stability_of_kernel_ridge_regression(seed, lam, gamma):
    K, y = problem(seed, gamma)
    beta, model = criteria.kernel_stability(K), KernelRidge(alpha=N * lam, kernel="precomputed")
    known = {"kappa": 1.0, "M": 1.0, "lam": lam}
    options = {"train_size": 8, "repeats": 4, "random_state": seed, "scale_penalty": True}
    uniform = bounds.empirical_uniform_stability(K, y, model, scale_penalty=True)
    assert 0 < uniform <= bounds.krr_uniform_stability(beta, **known, n=N)
    assert 0 < bounds.hypothesis_stability(K, y, model, **options) <= bounds.krr_uniform_stability(beta, **known, n=8)
    assert 0 < bounds.loss_stability(K, y, model, **options) <= bounds.krr_loss_stability(beta, **known, n=8)


@pytest.mark.parametrize("ridge", [0.01, 0.4, 100.0])
def test_loss_stability_bounds_the_covariance_of_centred_losses_of_two_folds(ridge):
    """Over all samples of a distribution on three points, and all draws: no sampling error."""
    K, y = rbf_kernel([[0.0], [0.7], [2.0]]), np.array([1.0, -1.0, 0.5])
    support = range(3)
    losses = {T: ridge_losses(K, y, T, list(support), ridge) for T in itertools.product(support, repeat=2)}
    centred = {T: loss - loss.mean() for T, loss in losses.items()}
    stability = np.mean(
        [
            ((centred[T] - centred[tuple(z if j == i else row for j, row in enumerate(T))]) ** 2).mean()
            for T in centred
            for i in range(2)
            for z in support
        ]
    )
    pairs = list(itertools.product(centred, repeat=2))  # first fold, second fold
    folds = np.array(
        [[centred[second][list(first)].mean(), centred[first][list(second)].mean()] for first, second in pairs]
    )
    np.testing.assert_allclose(folds.mean(axis=0), 0.0, atol=1e-15)
    assert abs((folds[:, 0] * folds[:, 1]).mean()) <= stability
    if ridge == 100.0:  # the variance of one fold is not bounded: Theorem 5 of the paper is false
        assert (folds[:, 0] ** 2).mean() > 100 * stability


def test_the_loss_of_the_machine_is_the_default():
    K, y = problem(0)
    for model, loss in (
        (SVC(kernel="precomputed"), lambda y, f: np.maximum(0.0, 1.0 - y * f)),
        (SVR(kernel="precomputed", epsilon=0.2), lambda y, f: np.maximum(0.0, np.abs(y - f) - 0.2)),
        (KernelRidge(kernel="precomputed"), lambda y, f: (y - f) ** 2),
    ):
        value = bounds.empirical_uniform_stability(K, y, model)
        assert value == bounds.empirical_uniform_stability(K, y, model, loss=loss)
    labels = np.where(y > 0, "yes", "no")
    value = bounds.empirical_uniform_stability(K, labels, SVC(kernel="precomputed"))
    assert value == bounds.empirical_uniform_stability(K, y, SVC(kernel="precomputed"))


def test_bounds_of_a_risk_literally():
    options = {"Q": 3.0, "n": 40, "delta": 0.1}
    expected = 0.2 + 2 * 0.05 + (4 * 40 * 0.05 + 3.0) * math.sqrt(math.log(10) / 80)
    assert bounds.uniform_stability_bound(0.2, 0.05, **options) == pytest.approx(expected, rel=1e-12)
    expected = 0.2 + math.sqrt((9 + 6 * 3 * 40 * 0.05) / (2 * 40 * 0.1))
    assert bounds.hypothesis_stability_bound(0.2, 0.05, **options) == pytest.approx(expected, rel=1e-12)
    expected = 0.2 + math.sqrt((9 + 12 * 3 * 40 * 0.05) / (2 * 40 * 0.1))
    assert bounds.pointwise_hypothesis_stability_bound(0.2, 0.05, **options) == pytest.approx(expected, rel=1e-12)
    gamma = 2**0.75 / (math.sqrt(2) * 0.5) * 7**0.25 * (1 + (7 / 8) ** 0.25)
    expected = 0.1 + math.sqrt((9 + 12 * 3 * 101 * gamma) / (202 * 0.05))
    assert bounds.sps_svm_risk_bound(0.1, 7.0, kappa=2.0, lam=0.5, n=101, delta=0.05) == pytest.approx(expected)
    change = (2.0 * 3.0 / 0.25 * 7.0 + 2 * 2.0 * 3.0 / 0.5) / 100 * (6 + 2 * 2.0 * 3.0 / 0.5)
    assert bounds.krr_loss_stability(7.0, kappa=2.0, M=3.0, lam=0.5, n=101) == pytest.approx(4 * change**2)


@pytest.mark.parametrize("n", [4, 9])
def test_bounds_of_a_risk_hold_for_the_mean(n):
    """Squared loss of the mean of n coins: the risk is above a bound in no more than a share delta of samples."""
    delta, shares = 0.2, np.arange(n + 1) / n
    chances = np.array([math.comb(n, k) for k in range(n + 1)]) / 2**n
    risks, empirical = 0.25 + (shares - 0.5) ** 2, shares * (1 - shares)
    stability = 2 / n  # the mean moves by at most 1/n without a row, and each square by twice that
    limits = [bounds.uniform_stability_bound(r, stability, Q=1.0, n=n, delta=delta) for r in empirical]
    assert chances[risks > limits].sum() <= delta
    limits = [bounds.pointwise_hypothesis_stability_bound(r, stability, Q=1.0, n=n, delta=delta) for r in empirical]
    assert chances[risks > limits].sum() <= delta


def without_bias(K, y, C):
    """Dual coefficients of the L1-SVM without bias: a quadratic program in a box."""
    Q = K * np.outer(y, y)
    found = minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1),
        np.full(len(y), C / 2),
        jac=True,
        bounds=[(0, C)] * len(y),
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return found.x


@seeds
@pytest.mark.parametrize("ridge", [0.05, 0.5, 20.0])
@pytest.mark.filterwarnings("ignore:The spectral measure of degree")
def test_margins_of_support_vector_machines(seed, ridge):
    K, y = problem(seed)
    measure = criteria.SM(degree=1, weighted=False)(K, y)
    limit = bounds.svm_margin_lower_bound(measure, K.sum(), ridge=ridge, n=N)
    literal = K.sum() * (measure + min(-1, 1 - 1 / (2 * ridge)) / N)
    assert limit == pytest.approx(literal, rel=1e-12)
    C = 1 / (2 * ridge)
    coefficients = [without_bias(K, y, C), *np.random.default_rng(seed).uniform(0, C, size=(50, N))]
    corners = np.random.default_rng(seed + 1).integers(0, 2, size=(50, N)) * C
    for alpha in (*coefficients, *corners):
        assert (y * (K @ (alpha * y))).mean() >= limit - 1e-12
    assert limit <= 0


@seeds
@pytest.mark.parametrize("lam", [0.02, 0.5])
def test_changes_of_support_vector_machines_without_bias(seed, lam):
    """With beta = kappa the change holds for any coefficients in the box."""
    K, y = problem(seed)
    full = K @ (without_bias(K, y, 1 / (2 * N * lam)) * y)
    for i in range(0, N, 3):
        rest = np.delete(np.arange(N), i)
        alpha = without_bias(K[np.ix_(rest, rest)], y[rest], 1 / (2 * (N - 1) * lam))
        change = np.abs(full - K[:, rest] @ (alpha * y[rest])).max()
        assert change <= 1 / lam <= bounds.svm_change(1.0, kappa=1.0, lam=lam)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda K, y: bounds.empirical_uniform_stability(K[:3], y, SVC(kernel="precomputed")), "square"),
        (lambda K, y: bounds.empirical_uniform_stability(K, y, SVC()), "precomputed"),
        (lambda K, y: bounds.empirical_uniform_stability(K, np.arange(N), SVC(kernel="precomputed")), "two classes"),
        (lambda K, y: bounds.loss_stability(K, y, SVR(kernel="precomputed"), loss="cubic"), "squared, hinge, absolute"),
        (lambda K, y: bounds.loss_stability(K, y, SVR(kernel="precomputed"), train_size=N - 2), "train_size"),
        (lambda K, y: bounds.hypothesis_stability(K, y, SVR(kernel="precomputed"), repeats=0), "repeats"),
        (lambda K, y: bounds.uniform_stability_bound(0.0, -1.0, Q=1.0, n=5, delta=0.1), "stability"),
        (lambda K, y: bounds.hypothesis_stability_bound(0.0, 0.1, Q=0.0, n=5, delta=0.1), "Q must"),
        (lambda K, y: bounds.pointwise_hypothesis_stability_bound(0.0, 0.1, Q=1.0, n=5, delta=2.0), "delta"),
        (lambda K, y: bounds.svm_margin_lower_bound(0.1, 1.0, ridge=0.0, n=5), "ridge"),
    ],
)
def test_arguments_that_make_no_sense(call, message):
    with pytest.raises(ValueError, match=message):
        call(*problem(0))
