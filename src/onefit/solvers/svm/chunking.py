r"""Chunking: dual problems solved on a working set of rows, which grows until no other row violates optimality.

Rows outside the working set W have no coefficient; whether they would gain one is seen from ``K_{:W} beta``. Where few
rows are support vectors, that takes n |W| entries of K instead of n² (Vapnik, Estimation of Dependences Based on
Empirical Data, 1982; Osuna, Freund & Girosi, 1997). The first W are the likely support vectors: those of a machine
trained on a sample, with a penalty that grows as the sample shrinks. Cost: O(n |W|) entries of K, and a path on W for
each of a few rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._arrays import Array, Indices
from .dual import Dual
from .solver import PathSolution, Solver

Entries = Callable[[Indices, Indices], Array]
"""Entries of K for some rows and columns."""

SAMPLED = 8
"""Rows for each one of the sample."""
SPARSE = 0.3
"""Share of the rows in the working set above which all entries of K at once cost less."""
ROUNDS = 8
"""Working sets that are tried."""


@dataclass(frozen=True)
class Chunk:
    """The working set, the solver on its rows, and the path of solutions on all rows."""

    working: Indices
    solver: Solver
    path: PathSolution


def chunked_path(entries: Entries, unit: Dual, penalties: Array) -> Chunk | None:
    """The path of a problem, ``unit`` for a penalty of one, or None if too many rows are support vectors."""
    n = len(unit.target)
    everything, working = np.arange(n), _likely_support(entries, unit, penalties)
    known, columns = np.empty(0, dtype=np.intp), np.empty((n, 0))
    for _ in range(ROUNDS):
        if len(working) > SPARSE * n:
            return None
        new = np.setdiff1d(working, known)
        columns = np.hstack([columns, entries(everything, new)]) if len(known) else entries(everything, new)
        known = np.concatenate([known, new])
        solver = Solver(columns[known])
        path = solver.path(_part(unit, known), penalties)
        images = path.betas @ columns.T
        tolerance = np.maximum(unit.tolerance, solver.rounding_of(path.betas))
        excess = _excess(unit, images + path.biases[:, None])
        excess[:, known] = 0.0
        violators = np.flatnonzero((excess > tolerance[:, None]).any(axis=0))
        if not len(violators):
            return Chunk(known, solver, _on_all_rows(unit, penalties, known, path, images, excess.max(axis=1)))
        working = np.union1d(known, violators)
    return None


def _part(dual: Dual, rows: Indices) -> Dual:
    """The problem on some rows."""
    target, lower, upper, ridge = (part[rows] for part in (dual.target, dual.lower, dual.upper, dual.ridge))
    return Dual(target, lower, upper, ridge, dual.epsilon, dual.bias, dual.moving)


def _excess(dual: Dual, values: Array) -> Array:
    """By how much rows without a coefficient violate optimality, from the machine's values (L, n)."""
    slopes = values - dual.target
    growing = np.where(dual.upper > 0, -slopes - dual.epsilon, 0.0)
    falling = np.where(dual.lower < 0, slopes - dual.epsilon, 0.0)
    return np.maximum(np.maximum(growing, falling), 0.0)


def _likely_support(entries: Entries, unit: Dual, penalties: Array) -> Indices:
    """Rows that, as a sample sees it, would gain a coefficient for some penalty; all rows if they are many."""
    n = len(unit.target)
    sample = np.sort(np.argsort(unit.target, kind="stable")[::SAMPLED])  # of all classes, or of all targets
    solver = Solver(entries(sample, sample))
    path = solver.path(_part(unit, sample), penalties * (n / len(sample)))
    support = np.flatnonzero(path.betas.any(axis=0))
    if len(support) > SPARSE * len(sample):
        return np.arange(n)
    values = path.betas[:, support] @ entries(np.arange(n), sample[support]).T + path.biases[:, None]
    likely = np.flatnonzero((_excess(unit, values) > 0).any(axis=0))
    return np.union1d(likely, sample[support])


def _on_all_rows(
    unit: Dual, penalties: Array, known: Indices, path: PathSolution, images: Array, excess: Array
) -> PathSolution:
    """The path of a working set as one of all rows."""
    betas = np.zeros_like(images)
    betas[:, known] = path.betas
    gaps = [unit.at(float(C)).gap(*parts) for C, *parts in zip(penalties, betas, images, path.biases)]
    violations = np.maximum(path.violations, excess)
    return replace(path, betas=betas, images=images, violations=violations, gaps=np.array(gaps))
