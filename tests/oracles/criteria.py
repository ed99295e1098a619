"""Criteria as they are defined: dense matrices, explicit features, loops over rows and eigenpairs."""

import numpy as np
from scipy.stats import multivariate_normal

from .influence import hat_matrix
from .least_squares import predict


def without_row(K, i):
    """K with row and column i set to zero."""
    K = K.copy()
    K[i] = K[:, i] = 0.0
    return K


def stability(K, norm="spectral"):
    """The largest norm of K less K without a row."""
    order = {"spectral": 2, "trace": "nuc", "frobenius": "fro"}[norm]
    return max(np.linalg.norm(K - without_row(K, i), order) for i in range(len(K)))


def one_vs_rest(y):
    """Columns of ±1: one for two classes."""
    classes = np.unique(y)
    if len(classes) == 2:
        return [np.where(y == classes[1], 1.0, -1.0)]
    return [np.where(y == k, 1.0, -1.0) for k in classes]


def balanced(y):
    """n/n₊ and -n/n₋ in place of ±1."""
    return np.where(y > 0, len(y) / (y > 0).sum(), -len(y) / (y < 0).sum())


def spectral_measure(K, y, weighted, phi, absolute=False):
    """``(1/n) Σ phi(λ_i) (yᵀv_i)²`` over the eigenpairs of the normalised matrix, averaged one-vs-rest."""
    eigenvalues, vectors = np.linalg.eigh(K / (np.abs(K).sum() if absolute else K.sum()))
    parts = []
    for column in one_vs_rest(y):
        z = balanced(column) if weighted else column
        parts.append(sum(phi(t) * (z @ v) ** 2 for t, v in zip(eigenvalues, vectors.T)) / len(y))
    return np.mean(parts)


def alignment(K, y):
    """Cosine of the angle between K and the outer product of the labels, averaged one-vs-rest."""
    parts = []
    for z in one_vs_rest(y):
        target = np.outer(z, z)
        parts.append((K * target).sum() / np.linalg.norm(K) / np.linalg.norm(target))
    return np.mean(parts)


def centred_alignment(K, targets):
    """The same of centred matrices; ``targets`` are columns."""
    C = np.eye(len(K)) - 1.0 / len(K)
    parts = []
    for z in targets:
        Kc, target = C @ K @ C, C @ np.outer(z, z) @ C
        parts.append((Kc * target).sum() / np.linalg.norm(Kc) / np.linalg.norm(target))
    return np.mean(parts)


def features(K):
    """Rows whose inner products are K."""
    eigenvalues, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


def feature_space_measure(K, y):
    """Spread along the line between the class means, over their distance, averaged one-vs-rest."""
    X, parts = features(K), []
    for z in one_vs_rest(y):
        plus, minus = X[z > 0], X[z < 0]
        line = plus.mean(axis=0) - minus.mean(axis=0)
        distance = np.linalg.norm(line)
        spread = sum((part @ (line / distance)).std(ddof=1) for part in (plus, minus))
        parts.append(spread / distance)
    return np.mean(parts)


def eigenvalue_changes(K):
    """``Σ_ij |s_j(K) - s_j(K^i)|``."""
    full = np.linalg.eigvalsh(K)
    return sum(np.abs(full - np.linalg.eigvalsh(without_row(K, i))).sum() for i in range(len(K)))


def first_order_changes(K):
    """``Σ_ij |2 q_ji q_jᵀk_i - q_ji² K_ii|``, eigenpair by eigenpair and row by row."""
    _, Q = np.linalg.eigh(K)
    n = len(K)
    return sum(abs(2 * Q[i, j] * (Q[:, j] @ K[:, i]) - Q[i, j] ** 2 * K[i, i]) for i in range(n) for j in range(n))


def leading_eigenvalues(K, t):
    """Sums of the t largest eigenvalues and of the others."""
    eigenvalues = np.sort(np.linalg.eigvalsh(K))[::-1]
    return eigenvalues[:t].sum(), eigenvalues[t:].sum()


def fitted(K, Y, ridge, weights=None, bias=False):
    """Values of all rows, trained on all rows."""
    everything = np.arange(len(K))
    return predict(K, Y, everything, everything, ridge, weights, bias)


def left_out(K, Y, ridge, weights=None, bias=False):
    """Values of every row, trained on all others: n fits."""
    n = len(K)
    rows = [predict(K, Y, np.delete(np.arange(n), i), [i], ridge, weights, bias)[0] for i in range(n)]
    return np.array(rows)


def generalised_cross_validation(K, Y, ridge, weights=None, bias=False):
    """Residuals over the trace of a dense hat matrix, the mean over the columns."""
    H = hat_matrix(K, ridge, weights, bias)
    residuals = Y - H @ Y
    return ((residuals**2).mean(axis=0) / (np.trace(np.eye(len(K)) - H) / len(K)) ** 2).mean()


def marginal_likelihood(K, Y, ridge, weights=None):
    """Log density of independent normal columns."""
    noise = ridge / (np.ones(len(K)) if weights is None else weights)
    return sum(multivariate_normal.logpdf(y, cov=K + np.diag(noise)) for y in Y.T)


def squared_spans(K, y, alpha, upper, ridge=0.0, bias=True):
    """``S_p²`` of every row by the bordered matrix of the free support vectors."""
    free = np.flatnonzero((alpha > 1e-9 * alpha.max()) & (alpha < upper * (1 - 1e-9)))
    spans = np.zeros(len(K))
    m = len(free)
    system = np.zeros((m + bias, m + bias))
    system[:m, :m] = K[np.ix_(free, free)] + ridge * np.eye(m)
    system[m:, :m] = system[:m, m:] = 1.0
    inverse = np.linalg.inv(system)
    for place, p in enumerate(free):
        spans[p] = 1.0 / inverse[place, place]
    for p in np.flatnonzero(alpha >= upper * (1 - 1e-9)):
        v = np.append(K[free, p], [1.0] * bias)
        spans[p] = K[p, p] - v @ inverse @ v
    return spans


def smallest_ball(K, rounds=200_000):
    """(squared radius, weights of its centre) by Frank-Wolfe steps with line search, then a polished active set."""
    n = len(K)
    b = np.full(n, 1.0 / n)
    for _ in range(rounds):
        distances = np.diag(K) - 2 * K @ b + b @ K @ b
        far = int(distances.argmax())
        near = int(np.where(b > 0, distances, np.inf).argmin())
        direction = np.zeros(n)
        direction[far], direction[near] = 1.0, -1.0
        slope = distances[far] - distances[near]
        if slope <= 1e-13 * distances.max():
            break
        step = min(slope / 2 / (direction @ K @ direction), b[near])
        b += step * direction
    return float((np.diag(K) - 2 * K @ b + b @ K @ b).max()), b
