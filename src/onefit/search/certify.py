"""Scores of searches that are certified instead of computed to the last digit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.coding import CodedTargets, PairCoding
from ..resources import Ledger
from .referee import Incumbent, LabelReferee, Referee, ValueReferee
from .scoring import ScoredRows, Scoring
from .twins import TWINS


@dataclass(frozen=True)
class Certify:
    """How well held-out values have to be known: see ``criteria.CV``; ``proved`` is the best score so far."""

    tolerance: float
    prune: bool = False
    proved: float = -np.inf

    def after(self, scores: list[float]) -> Certify:
        """Take more proved scores into account."""
        return replace(self, proved=max([self.proved, *scores]))

    def referee(self, coded: CodedTargets, settings: Any, penalties: int, ledger: Ledger) -> Referee | None:
        """The judge of a path; None where a split cannot be trained on, which no score survives."""
        if any(classes is not None and len(classes) < 2 for classes in settings.present):
            return None
        tested = [fold.test for fold in settings.folds]
        ends = np.cumsum([len(rows) for rows in tested])
        rest = {
            "splits": [slice(end - len(rows), end) for rows, end in zip(tested, ends)],
            "penalties": penalties,
            "columns": coded.Y.shape[1],
            "incumbent": Incumbent(self.proved) if self.prune else None,
            "ledger": ledger,
        }
        rows = np.concatenate(tested)
        pooled = settings.folds.leave_one_out
        if isinstance(coded.coding, PairCoding):
            weights = _shares(settings.scoring, rows, rest["splits"], len(coded.labels), pooled)
            return LabelReferee(coded.coding, settings.present, coded.labels[rows], weights, **rest)
        score = _score_of(settings.scoring, coded.Y[rows], rows, pooled)
        return ValueReferee(coded.Y[rows], self.tolerance * float(coded.Y.std()), score, pooled, **rest)


def _shares(scoring: Scoring, rows, splits, n: int, pooled: bool) -> np.ndarray:
    """Share of each tested row in the mean accuracy, which it adds if it is right."""
    given = None if pooled else next(iter(scoring.metrics.values())).params.get("sample_weight")
    weights = np.ones(len(rows)) if given is None else np.asarray(given, dtype=float)[rows]
    for split in splits:
        total = weights[split].sum() * len(splits)
        weights[split] = weights[split] / total if total > 0 else np.nan
    return weights


def _score_of(scoring: Scoring, y: np.ndarray, rows, pooled: bool):
    """The score of a split, from its place among all tested rows and its predictions (L, l, 1)."""
    metric = next(iter(scoring.metrics.values()))
    given = None if pooled else metric.params.get("sample_weight")
    weights = None if given is None else np.asarray(given, dtype=float)[rows]

    def score(split: slice, predicted: np.ndarray) -> np.ndarray:
        if weights is not None and not (weights[split] > 0).any():
            return np.full(len(predicted), np.nan)  # rows without weight have no score
        return np.asarray(metric.twin(y[split], predicted, None if weights is None else weights[split]))

    return score


def check_certifiable(request: Any, scoring: Scoring, tested: ScoredRows) -> None:
    """Refuse requests that cannot be certified, before any work."""
    metrics = scoring.metrics
    if request.return_train_score:
        raise ValueError("return_train_score=True needs exact solutions: use criteria.CV() without certify.")
    if request.single:
        raise ValueError('certify=True needs gram_dtype="float64": rounding is part of what is proved.')
    if not request.classifier:
        missing = [name for name, metric in metrics.items() if metric.twin is None]
        if missing:
            known = ", ".join(name for name in TWINS if name != "accuracy")
            raise ValueError(f"certify=True can bound these scores of a regression: {known}; not {missing[0]!r}.")
    else:
        name = scoring.wanting_values(tested, np.unique(tested.labels))
        if name is not None:
            raise ValueError(
                f"certify=True proves labels, but the metric {name!r} reads decision values: use criteria.CV() "
                "without certify, or a metric of predicted labels."
            )
    if request.criterion.prune:
        if len(metrics) > 1 or any(metric.twin is None for metric in metrics.values()):
            raise ValueError(f"prune=True needs one metric out of {', '.join(TWINS)}: others have no bound.")
        if callable(request.refit):
            raise ValueError("prune=True needs refit to take the best score: other rules read all scores.")
