"""Support vector machines by name: the learner, suitable targets, the loss, and a machine that really is trained."""

import numpy as np

from onefit.data import Targets
from onefit.kernels import Precomputed
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge
from onefit.solvers.svm.solver import Solver, indefiniteness

from ...oracles.support_vector import classified, curve, labels, regressed, squared_hinge_newton, without_bias
from ..running import workspace

EPSILONS = {"regression 0": 0.0, "regression 0.05": 0.05, "regression 0.3": 0.3}
CLASSIFIERS = ("hinge", "squared hinge")
MACHINES = (*CLASSIFIERS, *EPSILONS)


def learner(machine, bias=True):
    """The learner under test."""
    if machine in EPSILONS:
        return EpsilonInsensitive(bias, EPSILONS[machine])
    return Hinge(bias) if machine == "hinge" else SquaredHinge(bias)


def target(machine, seed, X, share=0.4):
    """Labels or values of the rows."""
    return curve(seed, X) if machine in EPSILONS else labels(seed, X, share)


def losses(machine, y, f, C, weights=1.0):
    """The loss of each row, with its penalty, as the primal problem has it."""
    if machine in EPSILONS:
        return C * weights * np.maximum(0.0, np.abs(y - f) - EPSILONS[machine])
    return C * weights * np.maximum(0.0, 1 - y * f) ** (1 if machine == "hinge" else 2)


def trained(machine, K, y, C, bias=True, train=None, weights=None):
    """Values of all rows by a machine trained on some; None if the reference did not converge.

    Without a bias the weights have to be None for machines that LIBSVM trains.
    """
    if machine == "squared hinge":
        train = np.arange(len(K)) if train is None else train
        kept = None if weights is None else weights[train]
        beta, b = squared_hinge_newton(K[np.ix_(train, train)], y[train], C, kept, bias)
        return K[:, train] @ beta + b
    oracle, options = (regressed, (EPSILONS[machine],)) if machine in EPSILONS else (classified, ())
    if bias:
        return oracle(K, y, C, *options, train=train, weights=weights)
    assert train is None
    assert weights is None
    return without_bias(oracle, K, y, C, *options)


def solver(K):
    """A solver that knows how far K is from positive semi-definite, as a learner would make it."""
    return Solver(K, indefiniteness(K))


def cold(K, dual):
    """The solution from nothing."""
    return solver(K).solve(dual, np.zeros(len(K)), warm=False)


def random_start(dual, seed):
    """Coefficients within the bounds, some of them at one."""
    rng = np.random.default_rng(seed + 5000)
    n = len(dual.target)
    low, high = np.maximum(dual.lower, -3.0), np.minimum(dual.upper, 3.0)
    start = low + (high - low) * rng.uniform(size=n)
    choice = rng.integers(4, size=n)
    return np.where(choice == 0, low, np.where(choice == 1, high, start))


def assert_optimal(K, dual, solution):
    """The conditions of optimality, row by row, from the coefficients alone; and what ``u`` is."""
    beta, b, epsilon = solution.beta, solution.b, dual.epsilon
    assert solution.converged
    assert (dual.lower <= beta).all()
    assert (beta <= dual.upper).all()
    size = np.abs(beta).sum()
    largest = float(np.abs(K).max())
    np.testing.assert_allclose(solution.u, K @ beta, atol=1e-13 * largest * size, rtol=0)
    if dual.bias:
        assert abs(beta.sum()) <= 1e-12 * size
    else:
        assert b == 0.0
    tolerance = 2e-10 * max(np.abs(dual.target).max(), epsilon) + 2e-14 * largest * size
    slope = K @ beta + dual.ridge * beta - dual.target + b
    for i in np.flatnonzero(dual.lower < dual.upper):
        rising = slope[i] + (epsilon if beta[i] >= 0 else -epsilon)
        falling = slope[i] + (epsilon if beta[i] > 0 else -epsilon)
        if beta[i] < dual.upper[i]:
            assert rising >= -tolerance, f"row {i} would gain by growing"
        if beta[i] > dual.lower[i]:
            assert falling <= tolerance, f"row {i} would gain by falling"


def heldout(K, y, splits, machine, penalties, *, bias=True, weights=None, **options):
    """What a learner says of a precomputed Gram matrix; ``weights`` may be a list with one array per split."""
    weights = tuple(weights) if isinstance(weights, list) else weights
    targets = Targets(y if y.ndim == 2 else y[:, None], weights)
    space = workspace(K, splits, Precomputed())
    return learner(machine, bias).heldout(space, targets, np.asarray(penalties, dtype=float), **options)
