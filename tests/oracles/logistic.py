"""Kernel logistic regression by general optimisers, and the path from all rows to a split in many digits."""

from decimal import Decimal, localcontext

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from .decimals import exact, inverse


def minimiser(K, y, u, bias):
    """Values of all rows at the minimum of ``½‖f‖² + Σ u log(1 + exp(-y f))``, in coordinates of eigenvectors of K."""
    rows = np.flatnonzero(u)
    s, Q = np.linalg.eigh(K[np.ix_(rows, rows)])
    kept = s > 1e-13 * s[-1]
    Z = np.column_stack([Q[:, kept] * np.sqrt(s[kept]), np.ones((len(rows), int(bias)))])
    penalised = np.append(np.ones(kept.sum()), np.zeros(int(bias)))
    y, u = y[rows], u[rows]

    def objective(v):
        return 0.5 * (penalised * v) @ v + u @ np.logaddexp(0, -y * (Z @ v))

    def gradient(v):
        return penalised * v - Z.T @ (u * y * expit(-y * (Z @ v)))

    def hessian(v):
        return np.diag(penalised) + (Z.T * (u * expit(Z @ v) * expit(-(Z @ v)))) @ Z

    v = minimize(objective, np.zeros(Z.shape[1]), jac=gradient, hess=hessian, method="trust-exact",
                 options={"gtol": 1e-7}).x  # fmt: skip
    v -= np.linalg.solve(hessian(v), gradient(v))
    w = v[: kept.sum()]
    a = Q[:, kept] @ (w / np.sqrt(s[kept]))
    return K[:, rows] @ a + (v[-1] if bias else 0.0)


def taylor_terms(K, y, u, v, bias, order):
    """Taylor coefficients (order + 1, n) at zero of ``ε -> f`` for the weights ``u - ε (u - v)``.

    The path is solved in 80 digits at points 1e-9 apart, through which a polynomial is put.
    """
    with localcontext() as context:
        context.prec = 80
        step, reach = Decimal("1e-9"), (order + 3) // 2 + 1
        K, y, u, v = (exact(values) for values in (K, y, u, v))
        places = [Decimal(j) for j in range(-reach, reach + 1)]
        values = np.array([_solved(K, y, u - j * step * (u - v), bias) for j in places])
        powers = np.array([[j**k if k else Decimal(1) for k in range(len(places))] for j in places])
        terms = inverse(powers)[: order + 1] @ values
        return (terms / np.array([step**k for k in range(order + 1)])[:, None]).astype(float)


def _solved(K, y, u, bias):
    """Values of all rows by Newton's method in many digits, from zero."""
    n = len(y)
    one, z = exact(np.ones(n)), exact(np.zeros(n + 1))
    for _ in range(60):
        f = K @ z[:n] + z[n]
        p = np.array([1 / (1 + (-value).exp()) for value in f])
        D, system = u * p * (1 - p), exact(np.eye(n + 1))
        system[:n, :n] += D[:, None] * K
        if bias:
            system[:n, n], system[n, :n], system[n, n] = D, one, Decimal(0)
        right = np.append(u * ((y + 1) / 2 - p) - z[:n], -z[:n].sum() if bias else Decimal(0))
        change = inverse(system) @ right
        z = z + change
        if np.abs(change).max() < Decimal("1e-65"):
            return K @ z[:n] + z[n]
    raise ArithmeticError("Newton's method did not converge")
