"""Measurements of one cell, a data set and a split: selections, criteria over the kernels, or seconds."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from threadpoolctl import threadpool_limits

from .. import GridEdgeWarning, cross_val_decision
from ..criteria import CV, Criterion
from .machines import estimator_of, with_share
from .part import Part, in_units
from .sampling import Rows, load, seed_of, split
from .spec import MEAN_LOSS, NO_SETTING, Method, Protocol
from .values import Wish, search_of, values_of

INNER = 3
"""Folds by which a method chooses parameters of its criterion."""

Record = tuple[str, str, float]
"""(setting, method, score)."""


def select(part: Part) -> list[Record]:
    """The test error of the model that each method selects."""
    settled = _settle(part)
    wishes = [_wish(part, method, criterion) for method, _, criterion in settled]
    values = values_of(part.protocol, wishes, part.X, part.y, part.draw)
    return [
        (method.setting or setting, method.name, part.score(part.best(values[wish], setting)))
        for (method, setting, _), wish in zip(settled, wishes)
    ]


def _wish(part: Part, method: Method, criterion: Criterion) -> Wish:
    return method.machine or part.protocol.machine, criterion, method.folds


def _settle(part: Part) -> list[tuple[Method, str, Criterion]]:
    """(method, setting, its criterion), where parameters to choose from are chosen for each setting.

    As the papers do by threefold cross-validation of the selection: every choice selects on two thirds of the
    training rows, the selected models are tested on the remaining third, and the best choice is kept.
    """
    protocol = part.protocol
    settings = protocol.settings
    losses: dict[tuple[Method, str, Criterion], float] = {}
    choosing = [method for method in protocol.methods if len(method.criterion.choices()) > 1]
    for third in part.inner(INNER) if choosing else ():
        wishes = {(m, choice): _wish(part, m, choice) for m in choosing for choice in m.criterion.choices()}
        values = values_of(protocol, list(wishes.values()), third.X, third.y, third.draw)
        for (method, choice), wish in wishes.items():
            for setting in settings:
                loss = third.loss(third.best(values[wish], setting))
                losses[method, setting, choice] = losses.get((method, setting, choice), 0.0) + loss

    def best(method: Method, setting: str) -> Criterion:
        return min(method.criterion.choices(), key=lambda choice: losses.get((method, setting, choice), 0.0))

    return [(method, setting, best(method, setting)) for method in protocol.methods for setting in settings]


ORDERS = tuple(range(1, 11))


def curve(part: Part) -> list[Record]:
    """The value of every method's criterion for each kernel, in the protocol's unit; the setting is the kernel's width.

    The width is the papers' σ = 1 / (2 gamma).
    """
    methods = part.protocol.methods
    wishes = [(part.protocol.machine, method.criterion, method.folds) for method in methods]
    values = values_of(part.protocol, wishes, part.X, part.y, part.draw)
    return [
        (f"{0.5 / candidate['gamma']:g}", method.name, in_units(float(values[wish][k]), part.protocol))
        for method, wish in zip(methods, wishes)
        for k, candidate in enumerate(part.candidates)
    ]


def discrepancy(part: Part) -> list[Record]:
    """The mean squared difference of exact and approximate held-out values by the order of the series.

    For the candidate that exact cross-validation selects. The setting is the order.
    """
    protocol, records = part.protocol, []
    wishes: list[Wish] = [(protocol.machine, CV(), method.folds) for method in protocol.methods]
    values = values_of(protocol, wishes, part.X, part.y, part.draw)
    for method, wish in zip(protocol.methods, wishes):
        assert method.folds is not None
        chosen = part.candidates[part.best(values[wish], NO_SETTING)]
        model = clone(estimator_of(protocol.machine, part.y)).set_params(**chosen)
        keywords = {"cv": part.draw(method.folds), "scale_penalty": protocol.loss == MEAN_LOSS}
        exact = cross_val_decision(model, part.X, part.y, **keywords)
        for order in ORDERS:
            series = cross_val_decision(model, part.X, part.y, method="bif", order=order, **keywords)
            records.append((str(order), method.name, float(np.mean((exact - series) ** 2))))
    return records


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


_KINDS = {"selection": select, "seconds": seconds, "curve": curve, "discrepancy": discrepancy}


def measure(protocol: Protocol, dataset: str, number: int) -> tuple[list[Record], float]:
    """(what a cell finds, its CPU seconds), on one thread, so that nothing depends on the number of workers."""
    start = time.process_time()
    with threadpool_limits(1):
        X, y = load(protocol, dataset)
        train, test = split(protocol, dataset, number, y)
        name = f"{dataset}/{protocol.train_share}/{number}"
        records = _KINDS[protocol.kind](Part(protocol, name, X[train], y[train], X[test], y[test]))
    return records, time.process_time() - start
