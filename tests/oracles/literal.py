"""Every criterion as its source prints it: loops, eigenvalues of every reduced matrix, real retraining.

``LITERAL`` has one function of (criterion, ``Retraining``) for each name of the registry, and ``DEFINED`` the machines
and targets that it is defined for. KS stands for Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in
kernel-based algorithms; SPS for Liu & Liao, Kernel selection with spectral perturbation stability of kernel matrix; SM
for Li, Liu, Lin, Yue & Wang, Efficient kernel selection via spectral analysis; BIF for Liu, Liao, Jiang, Ding, Lin &
Wang, Fast cross-validation for kernel-based algorithms.
"""

import math

import numpy as np

from onefit import L2SVC

from . import criteria as oracle

LITERAL, DEFINED = {}, {}


def literal(name, defined=lambda problem: True):
    """Put a function into the table."""

    def register(function):
        LITERAL[name], DEFINED[name] = function, defined
        return function

    return register


def least_squares(problem):
    return problem.least_squares


def margin_of_two(problem):
    return not problem.least_squares and problem.epsilon is None and len(problem.classes) == 2


def hinge_of_two(problem):
    return margin_of_two(problem) and not isinstance(problem.machine, L2SVC)


def has_classes(problem):
    return problem.classes is not None


# Criteria that average losses


def aggregated(parts, aggregate):
    """The mean over all tested rows (BIF, Section 2), or of the folds' means (KS, Section V)."""
    if aggregate == "points":
        return sum(part.sum() for part in parts) / sum(len(part) for part in parts)
    return sum(part.sum() / len(part) for part in parts) / len(parts)


def risk(problem, loss):
    """R_emp, the mean loss of the machine trained on all rows (KS, Section II; SPS, Section 2)."""
    losses = problem.losses(problem.fitted, range(problem.n), problem.own_loss if loss is None else loss)
    return sum(losses) / problem.n


@literal("cv")
def cross_validation(criterion, problem):
    """t-CV of BIF, Section 2, or the loss of f_kcv of KS, Section V; neither is numbered."""
    return aggregated(problem.held_out(criterion.loss), criterion.aggregate)


@literal("bif")
def influence_series(criterion, problem):
    """BIF, equation 5, by equations 7 to 10 with each fold's own weight in place of -1/(t-1)."""
    values = problem.series(criterion.order, criterion.h, criterion.scale_penalty)
    return aggregated(problem.held_out(criterion.loss, values), criterion.aggregate)


@literal("loo", least_squares)
def leave_one_out(criterion, problem):
    """n retrainings (ELOO of SM, Section 5)."""
    total = 0.0
    for i in range(problem.n):
        values = problem.values(tuple(j for j in range(problem.n) if j != i))
        total += problem.losses(values, [i], criterion.loss)[0]
    return total / problem.n


@literal("alo")
def approximate_leave_one_out(criterion, problem):
    """One Newton step without each row (Rad & Maleki; Wang et al.); for the square loss a step is a fit."""
    if problem.least_squares:
        return leave_one_out(criterion, problem)
    values = problem.left_out_by_newton(criterion.h)
    return problem.losses(values, range(problem.n), criterion.loss).sum() / problem.n


@literal("cv_variance")
def cross_validation_and_variance(criterion, problem):
    """KS, Section V (not numbered): the error plus eta times its variance, folds correlated by 1/k."""
    means = [part.sum() / len(part) for part in problem.held_out(criterion.loss)]
    k, mean = len(means), sum(means) / len(means)
    sample = sum((one - mean) ** 2 for one in means) / (k - 1)
    correlation = sum(len(test) for _, test in problem.folds) / k / problem.n
    variance = sample / (1 - correlation)
    return mean + criterion.eta * (variance / k + (1 - 1 / k) * correlation * variance)


@literal("rks")
def risk_and_stability(criterion, problem):
    """KS, equation 5, with the largest norm of K - K^i (Definition 2, equation 4; other norms in Remark 2)."""
    return risk(problem, criterion.loss) + criterion.eta / problem.n * oracle.stability(problem.K, criterion.norm)


@literal("cvks")
def cross_validation_and_stability(criterion, problem):
    """KS, equation 6; with an order, Section VI."""
    values = None if criterion.order is None else problem.series(criterion.order, None, criterion.scale_penalty)
    parts = problem.held_out(problem.own_loss if criterion.loss is None else criterion.loss, values)
    stability = oracle.stability(problem.K, criterion.norm)
    return aggregated(parts, criterion.aggregate) + criterion.eta / problem.n * stability


@literal("sps")
def spectral_perturbation(criterion, problem):
    """SPS, equation 2 by the eigenvalues of every K^i; first order by Theorem 3, equation 6, a loop over all pairs."""
    changes = oracle.eigenvalue_changes if criterion.exact else oracle.first_order_changes
    return risk(problem, criterion.loss) + criterion.delta * changes(problem.K) / problem.n**2


# Criteria of least squares


@literal("gcv", least_squares)
def generalised_cross_validation(criterion, problem):
    """Golub, Heath & Wahba (1979), equation 1.4 with their I - A(lambda), from a dense hat matrix."""
    Y = np.column_stack([target for _, target, _ in problem.columns])
    return oracle.generalised_cross_validation(problem.K, Y, problem.machine.alpha, None, problem.bias)


@literal("er", least_squares)
def eigenvalue_ratio(criterion, problem):
    """Liu & Liao (AAAI 2015): the risk and the tail of the eigenvalues over their head (SM compares with it)."""
    head, tail = oracle.leading_eigenvalues(problem.K, components(criterion, problem))
    return risk(problem, None) + criterion.eta * tail / head


@literal("br", least_squares)
def bayesian_regularisation(criterion, problem):
    """Cawley & Talbot (2007) without parameters of a kernel: (n c / 2) log of half the squares of n retrainings."""
    squares, count = 0.0, 0
    for i in range(problem.n):
        values = problem.values(tuple(j for j in range(problem.n) if j != i))
        for k, (_, target, _) in enumerate(problem.columns):
            squares, count = squares + (target[i] - values[i, k]) ** 2, count + 1
    return count / 2 * math.log(squares / 2)


@literal("lml", lambda problem: problem.least_squares and not problem.bias)
def marginal_likelihood(criterion, problem):
    """Rasmussen & Williams (2006), equation 2.30: the density of a normal distribution."""
    Y = np.column_stack([target for _, target, _ in problem.columns])
    return oracle.marginal_likelihood(problem.K, Y, problem.machine.alpha)


def components(criterion, problem):
    """t, of which "sqrt" is the largest number whose square is not above n."""
    if criterion.components == "sqrt":
        return max(t for t in range(problem.n + 1) if t * t <= problem.n)
    return criterion.components


# Criteria of support vector machines


def solution(problem):
    """(alpha, y f, D) of two classes: the coefficients, the margins, and what is added to the diagonal of K."""
    beta, b = problem.coefficients(np.arange(problem.n))
    y, ridge = problem.columns[0][1], 1 / (2 * problem.machine.C) if isinstance(problem.machine, L2SVC) else 0.0
    upper = np.inf if ridge else problem.machine.C
    alpha = np.where(np.abs(beta) < 1e-10, 0.0, np.where(np.abs(beta) > upper * (1 - 1e-10), upper, np.abs(beta)))
    return alpha, y * (problem.K @ beta + b), ridge


def surely(numbers, threshold):
    """``numbers`` that are compared with a threshold must not be at it."""
    assert (np.abs(numbers - threshold) > 1e-7).all(), "a row is at the threshold: take another problem"
    return numbers


@literal("span", margin_of_two)
def span(criterion, problem):
    """Vapnik & Chapelle (2000): rows nearer to the hyperplane than alpha times their squared span.

    The span is the distance, in the space of K + D, to the affine hull of the other free support vectors; without a
    bias to the space that they span.
    """
    alpha, margins, ridge = solution(problem)
    X = oracle.features(problem.K + ridge * np.eye(problem.n))
    upper = np.inf if ridge else problem.machine.C
    free = [i for i in range(problem.n) if 0 < alpha[i] < upper]
    left_out = margins + ridge * alpha
    for p in np.flatnonzero(alpha):
        others = [i for i in free if i != p]
        origin = X[others[0]] if problem.bias else np.zeros(len(X))
        directions = (X[others[1:] if problem.bias else others] - origin).T
        towards = X[p] - origin
        rest = towards - directions @ np.linalg.lstsq(directions, towards, rcond=None)[0]
        left_out[p] -= alpha[p] * (rest @ rest)
    return sum(surely(left_out, 0.0) < 0) / problem.n


@literal("radius_margin", lambda problem: margin_of_two(problem) and isinstance(problem.machine, L2SVC))
def radius_margin(criterion, problem):
    """Vapnik (1998); Chapelle et al. (2002): the squared radius of all rows times the squared norm of the weights."""
    beta, _ = problem.coefficients(np.arange(problem.n))
    ridged = problem.K + np.eye(problem.n) / (2 * problem.machine.C)
    squared_radius, _ = oracle.smallest_ball(ridged)
    return squared_radius * (beta @ ridged @ beta) / problem.n


@literal("xi_alpha", hinge_of_two)
def xi_alpha(criterion, problem):
    """Joachims (2000): rows with rho alpha R² + xi >= 1."""
    alpha, margins, _ = solution(problem)
    K, n = problem.K, problem.n
    radius = max(K[i, i] - (K[i, j] if problem.bias else 0.0) for i in range(n) for j in range(n))
    numbers = criterion.rho * alpha * radius + np.maximum(0.0, 1.0 - margins)
    return sum(surely(numbers, 1.0) >= 1) / n


@literal("gacv", hinge_of_two)
def generalised_approximate_cross_validation(criterion, problem):
    """Wahba, Lin & Zhang (2000): slacks, and alpha K_ii once within the margin, twice beyond it."""
    alpha, margins, _ = solution(problem)
    total = 0.0
    for i in range(problem.n):
        times = 2 if margins[i] < -1 else 1 if alpha[i] > 0 else 0
        total += max(0.0, 1 - margins[i]) + times * alpha[i] * problem.K[i, i]
    return total / problem.n


# Criteria of a kernel alone


def targets(problem):
    """Columns of ±1, one class against the rest, or the target of a regression."""
    return [problem.y] if problem.classes is None else oracle.one_vs_rest(problem.y)


@literal("sm", has_classes)
def spectral_measure(criterion, problem):
    """SM, Definition 1 over all eigenpairs, with the labels of equation 1 if weighted."""

    def phi(t):
        if criterion.threshold is not None:
            return t if t > criterion.threshold else 0.0
        return t**criterion.degree

    return oracle.spectral_measure(problem.K, problem.y, criterion.weighted, phi)


@literal("kta")
def alignment(criterion, problem):
    """Cristianini et al. (2002), Definition 1: a cosine in the space of matrices."""
    parts = [cosine(problem.K, np.outer(z, z)) for z in targets(problem)]
    return sum(parts) / len(parts)


@literal("ckta")
def centred_alignment(criterion, problem):
    """Cortes, Mohri & Rostamizadeh (2012), Definition 4: the cosine of centred matrices."""
    C = np.eye(problem.n) - 1.0 / problem.n
    parts = [cosine(C @ problem.K @ C, C @ np.outer(z, z) @ C) for z in targets(problem)]
    return sum(parts) / len(parts)


def cosine(A, B):
    return np.trace(A @ B.T) / math.sqrt(np.trace(A @ A.T) * np.trace(B @ B.T))


@literal("fsm", has_classes)
def feature_space_measure(criterion, problem):
    """Nguyen & Ho (2008), from explicit features."""
    return oracle.feature_space_measure(problem.K, problem.y)


@literal("pep")
def principal_eigenvalue_proportion(criterion, problem):
    """Liu et al. (AAAI 2017): the share of the leading eigenvalues."""
    head, tail = oracle.leading_eigenvalues(problem.K, components(criterion, problem))
    return head / (head + tail)
