"""The values of all criteria for all candidates of a training set, from as few searches as they allow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import GridEdgeWarning, KernelSearchCV
from ..criteria import Criterion
from .machines import estimator_of, penalty_grid, scorer_of
from .spec import MEAN_LOSS, Protocol

Array = NDArray[np.float64]
Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Wish = tuple[str, Criterion, int | None]
"""(machine, criterion with settled parameters, folds)."""


def candidate_grid(protocol: Protocol, machine: str, n: int) -> list[dict[str, Any]]:
    """All kernels with all penalties, for n training rows."""
    ridges = [penalty * float(n) ** protocol.power_of_rows for penalty in protocol.penalties]
    return [{**kernels, **penalty_grid(machine, ridges)} for kernels in protocol.grids]


def values_of(
    protocol: Protocol, wishes: list[Wish], X: Array, y: NDArray[Any], draw: Callable[[int], Splits]
) -> dict[Wish, Array]:
    """The value of each wish for every candidate in the order of ``candidates``, smaller is better.

    ``draw(t)`` gives t folds. Scores of out-of-fold values for several numbers of folds come from one search over all
    these splits; criteria that read no folds join one of the searches of their machine.
    """
    found: dict[Wish, Array] = {}
    for group in _groups(wishes):
        found |= _search(protocol, group, X, y, draw)
    return found


def _groups(wishes: list[Wish]) -> list[list[Wish]]:
    """Wishes that one search can fulfil: one machine, folds of one kind, at most one criterion that is scored.

    A criterion with a loss of its own needs no scores: it shares out-of-fold values with others of its folds.
    """
    groups: dict[tuple[object, ...], list[Wish]] = {}
    for wish in wishes:
        machine, criterion, t = wish
        if _takes_scores(criterion):
            groups.setdefault((machine, "score", criterion), []).append(wish)
        elif "heldout" in criterion.reads:
            groups.setdefault((machine, "folds", t), []).append(wish)
    for wish in wishes:
        machine, criterion, _ = wish
        if "heldout" not in criterion.reads:
            host = next((key for key in groups if key[0] == machine), (machine, "whole"))
            groups.setdefault(host, []).append(wish)
    return list(groups.values())


def _takes_scores(criterion: Criterion) -> bool:
    """Whether a criterion averages the scores of a search; others have columns of their own."""
    return criterion.scores and criterion.loss is None


def search_of(protocol: Protocol, machine: str, criteria: list[Criterion], cv: Any, y: NDArray[Any]) -> KernelSearchCV:
    """The search by which criteria are evaluated on a training set with target y."""
    return KernelSearchCV(
        estimator_of(machine, y),
        candidate_grid(protocol, machine, len(y)),
        criterion=criteria,
        cv=cv,
        scoring=scorer_of(machine, protocol.validation) if _takes_scores(criteria[0]) else None,
        refit=False,
        scale_penalty=protocol.loss == MEAN_LOSS,
    )


def _search(
    protocol: Protocol, group: list[Wish], X: Array, y: NDArray[Any], draw: Callable[[int], Splits]
) -> dict[Wish, Array]:
    machine = group[0][0]
    parts = {t: draw(t) for t in dict.fromkeys(t for _, _, t in group if t is not None)}
    criteria = sorted(dict.fromkeys(criterion for _, criterion, _ in group), key=lambda one: not one.scores)
    cv = [fold for splits in parts.values() for fold in splits] or None
    search = search_of(protocol, machine, criteria, cv, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        search.fit(X, y)
    results = search.cv_results_
    scored = criteria[0] if criteria[0].scores else None
    columns = [name for name in results if name.startswith("criterion_")]  # in the order of the criteria
    columns_of = dict(zip((one for one in criteria if one != scored), columns))
    starts = dict(zip(parts, np.cumsum([0, *(len(splits) for splits in parts.values())])))
    found: dict[Wish, Array] = {}
    for wish in group:
        _, criterion, t = wish
        if criterion == scored and t is not None:
            numbers = range(starts[t], starts[t] + len(parts[t]))
            found[wish] = -_mean([results[f"split{k}_test_score"] for k in numbers])
        else:
            sign = -1.0 if criterion.greater_is_better else 1.0
            found[wish] = sign * np.asarray(results[columns_of[criterion]], dtype=float)
    return found


def _mean(scores: list[Array]) -> Array:
    """The mean over the folds that have a score: in very small sets some lack a class to train on."""
    scored = ~np.isnan(scores)
    counts = scored.sum(axis=0)
    totals = np.where(scored, scores, 0.0).sum(axis=0)
    return np.divide(totals, counts, out=np.full(len(totals), np.nan), where=counts > 0)
