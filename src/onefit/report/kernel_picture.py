"""The chosen kernel on the rows of the search: its Gram matrix, spectrum and stability."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from .. import bounds
from .._exceptions import NotUnderstoodError
from ..criteria import kernel_stability
from ..data.views import checked_rows
from ..kernels import Precomputed
from ..kernels.parameters import variance_of
from ..machines.contract import Machine
from ..machines.registry import read_model
from .text import plain

ROWS = 1500
"""Larger data are looked at through so many rows, drawn at random: an eigendecomposition costs the cube."""

PIXELS = 200
"""The Gram picture is at most so many pixels wide and high."""


@dataclass(frozen=True)
class Bound:
    """A number of the papers, what it bounds, and what to make of it."""

    name: str
    value: float
    meaning: str


@dataclass(frozen=True)
class KernelPicture:
    """A kernel's matrix, sorted by target and averaged to at most 200 x 200, and what its eigenvalues say."""

    kernel: str
    n: int
    sampled: bool
    pixels: np.ndarray
    blocks: list[tuple[str, float]]  # classes and their shares of the rows, in order
    sorting: str
    eigenvalues: np.ndarray  # largest first
    ridge: float | None
    stability: float
    bounds: list[Bound] = field(default_factory=list)

    @property
    def effective_rank(self) -> float:
        """``(Σ s)² / Σ s²``: how many equal eigenvalues would spread as much."""
        return float(self.eigenvalues.sum() ** 2 / (self.eigenvalues**2).sum())

    @property
    def for_most(self) -> int:
        """How many eigenvalues make up 95 % of the sum of their magnitudes."""
        shares = np.cumsum(np.sort(np.abs(self.eigenvalues))[::-1])
        return int(np.searchsorted(shares, 0.95 * shares[-1]) + 1)

    @property
    def degrees_of_freedom(self) -> float | None:
        """``Σ s / (s + ridge)`` of least squares."""
        if self.ridge is None:
            return None
        return float((self.eigenvalues / (self.eigenvalues + self.ridge)).sum())


def kernel_picture(search: Any, X: Any, y: Any) -> tuple[KernelPicture | None, str]:
    """(the picture, why there is none)."""
    if X is None:
        return None, "Give the data to see them: write(search, path, X=X, y=y)."
    params = search.cv_results_["params"][search.best_index_] if hasattr(search, "best_index_") else None
    if params is None:
        return None, "No candidate was chosen."
    try:
        machine, rows = _machine_and_rows(search, params, X, y)
    except NotUnderstoodError as reason:
        return None, f"The chosen model has no kernel that is known: {reason}."
    n = rows.shape[0]
    if y is not None and len(y) != n:
        raise ValueError(f"X has {n} rows, y has {len(y)}.")
    picked = np.arange(n) if n <= ROWS else np.sort(np.random.default_rng(0).choice(n, ROWS, replace=False))
    machine = replace(machine, kernel=machine.kernel.bound(rows.shape[1], variance_of(rows)))
    if isinstance(machine.kernel, Precomputed):
        K = np.asarray(rows, dtype=float)[np.ix_(picked, picked)]
    else:
        K = machine.kernel(rows[picked])
    target = None if y is None else np.asarray(y)[picked]
    labels = target if target is not None and target.ndim == 1 else None
    return _picture_of(K, labels, is_classifier(search.estimator), machine, n), ""


def _machine_and_rows(search: Any, params: dict, X: Any, y: Any) -> tuple[Machine, Any]:
    """The chosen candidate as the fast path reads it, and the rows as its kernel sees them."""
    model = clone(search.estimator).set_params(**clone(params, safe=False))
    parts = read_model(model)
    machine = parts.machine()
    if parts.resamples:
        raise NotUnderstoodError("samplers make rows of their own")
    if parts.transformers is not None and parts.plain and hasattr(search, "best_estimator_"):
        return machine, checked_rows(_after_transformers(search.best_estimator_, X))
    return machine, checked_rows(parts.transformed(X, y))


def _after_transformers(model: Any, X: Any) -> Any:
    """Rows as the last step of fitted Pipelines inside one another sees them."""
    while isinstance(model, Pipeline):
        X, model = (model[:-1].transform(X) if len(model) > 1 else X), model[-1]
    return X


def _picture_of(K: np.ndarray, y: np.ndarray | None, classes: bool, machine: Machine, n: int) -> KernelPicture:
    """Everything that a Gram matrix of some of n rows tells; y may be missing."""
    K = (K + K.T) / 2.0
    eigenvalues, vectors = np.linalg.eigh(K)
    leading = vectors[:, -1]
    keys = (leading,) if y is None else (leading, y)  # the last key is the first to sort by
    order = np.lexsort(keys)
    blocks = []
    if classes and y is not None:
        names, counts = np.unique(y, return_counts=True)
        blocks = [(plain(name), float(count / len(y))) for name, count in zip(names, counts)]
    sorting = "the leading eigenvector" if y is None else "class" if classes else "target"
    ridge = machine.penalties[0] if "smoother" in machine.learner.offers else None
    beta = kernel_stability(K)
    return KernelPicture(
        plain(machine.kernel), n, len(K) < n, averaged(K[np.ix_(order, order)]), blocks, sorting,
        eigenvalues[::-1], ridge, beta, [] if len(K) < n else _bounds(K, y, classes, machine, beta),
    )  # fmt: skip


def averaged(K: np.ndarray) -> np.ndarray:
    """K in at most ``PIXELS`` x ``PIXELS`` blocks of nearly equal size, each with the mean of its entries."""
    size = min(len(K), PIXELS)
    starts = np.linspace(0, len(K), size, endpoint=False).astype(int)
    counts = np.diff(np.append(starts, len(K)))
    sums = np.add.reduceat(np.add.reduceat(K, starts, axis=0), starts, axis=1)
    return np.asarray(sums / np.outer(counts, counts))


def _bounds(K: np.ndarray, y: np.ndarray | None, classes: bool, machine: Machine, beta: float) -> list[Bound]:
    """The papers' bounds for this kernel and this regularisation."""
    n, kappa, penalty = len(K), float(np.diag(K).max()), machine.penalties[0]
    if kappa <= 0 or penalty <= 0 or n < 2:
        return []
    if "smoother" in machine.learner.offers and y is not None:
        largest = 1.0 if classes else float(np.abs(y).max())
        if largest == 0:
            return []
        facts: dict[str, Any] = {"kappa": kappa, "M": largest, "lam": penalty / n, "n": n}
        change = "How much leaving out one row changes a prediction, at most"
        return [
            Bound("krr_change", bounds.krr_change(beta, **facts), f"{change}, by kernel stability."),
            Bound(
                "krr_change_without_stability",
                bounds.krr_change_without_stability(**facts),
                f"{change}, without any property of the kernel; never larger than the one before.",
            ),
        ]
    if {"margin", "box"} <= machine.learner.offers:
        value = bounds.svm_change(beta, kappa=kappa, lam=1.0 / (2.0 * n * penalty))
        return [Bound("svm_change", value, "How much leaving out one row changes a prediction, at most; vacuous.")]
    return []
