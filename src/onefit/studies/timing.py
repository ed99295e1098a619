"""CPU seconds of a selection by each method alone, without the final training."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from .. import GridEdgeWarning
from .machines import estimator_of, with_share
from .part import Part
from .sampling import Rows, seed_of
from .selection import Record
from .spec import MEAN_LOSS, Method
from .values import search_of

SAMPLED = 2
"""How many penalties of each kernel are trained when retraining is timed; the sum stands for all of them."""


def seconds(part: Part) -> list[Record]:
    """The CPU seconds of every method, each by itself, for all candidates."""
    _clock(_first_candidates(part))  # so that loading compiled code is not a method's cost
    return [("", name, value) for name, value in _clock(part).items()]


def _clock(part: Part) -> dict[str, float]:
    return {
        method.name: _retraining(part, method) if method.retrain else _search(part, method)
        for method in part.protocol.methods
    }


def _first_candidates(part: Part) -> Part:
    """A part with all rows, but one kernel of each grid and one penalty: the first run, which is not timed."""
    grids = tuple({name: values[:1] for name, values in grid.items()} for grid in part.protocol.grids)
    protocol = replace(part.protocol, grids=grids, penalties=part.protocol.penalties[:1])
    return Part(protocol, part.name, part.X, part.y, part.X_test, part.y_test)


def _search(part: Part, method: Method) -> float:
    cv = part.draw(method.folds) if method.folds else None
    search = search_of(part.protocol, method.machine or part.protocol.machine, [method.criterion], cv, part.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        start = time.process_time()
        search.fit(part.X, part.y)
        return time.process_time() - start


def _retraining(part: Part, method: Method) -> float:
    """Training every fold of every candidate, each kernel's Gram matrix computed once.

    Of each kernel ``SAMPLED`` penalties are drawn at random and trained in all folds; their time stands for that of
    all penalties of the kernel.
    """
    assert method.folds is not None
    folds, total = part.draw(method.folds), 0.0
    generator = np.random.default_rng(seed_of("timing", part.name))
    for kernel, paths in _by_kernel(part.candidates).items():
        start = time.process_time()
        K = pairwise_kernels(part.X, metric=kernel[0], **dict(kernel[1]))
        total += time.process_time() - start
        drawn = generator.choice(len(paths), size=min(SAMPLED, len(paths)), replace=False)
        start = time.process_time()
        for k in drawn:
            _train(part, paths[k], K, folds)
        total += (time.process_time() - start) * len(paths) / len(drawn)
    return total


def _by_kernel(candidates: list[dict[str, Any]]) -> dict[tuple[str, tuple[tuple[str, Any], ...]], list[dict[str, Any]]]:
    """Penalties of each kernel."""
    kernels: dict[tuple[str, tuple[tuple[str, Any], ...]], list[dict[str, Any]]] = {}
    for candidate in candidates:
        penalty = {name: value for name, value in candidate.items() if name in ("alpha", "C")}
        rest = tuple((name, value) for name, value in candidate.items() if name not in (*penalty, "kernel"))
        kernels.setdefault((candidate["kernel"], rest), []).append(penalty)
    return kernels


def _train(part: Part, penalty: dict[str, float], K: NDArray[np.float64], folds: list[tuple[Rows, Rows]]) -> None:
    for train, test in folds:
        share = len(train) / len(part.y) if part.protocol.loss == MEAN_LOSS else 1.0
        model = clone(estimator_of(part.protocol.machine, part.y))
        model.set_params(kernel="precomputed", **with_share(penalty, share))
        model.fit(K[np.ix_(train, train)], part.y[train]).predict(K[np.ix_(test, train)])
