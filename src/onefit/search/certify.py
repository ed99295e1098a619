"""Scores of searches that are certified instead of computed to the last digit.

A referee keeps intervals of all held-out values and says when they are known well enough for the scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Mask
from ..data.coding import CodedTargets, PairCoding
from ..machines import Exactness
from ..resources import Ledger
from .scorers import TWINS
from .scoring import ScoredRows, Scoring

LATER = 3
"""From this round on, rounds are counted together."""


def _event(round_: int | None) -> str:
    """The ledger's name of a proof; None is a solution whose rounds were not counted."""
    if round_ is None:
        return "proved by solving"
    return "proved later" if round_ >= LATER else f"proved in round {round_}"


class _Incumbent:
    """The best mean score that has been proved so far."""

    def __init__(self, score: float = -np.inf) -> None:
        self.score = score

    def beats(self, score: float) -> bool:
        """Whether a score is below the best one, by more than the rounding of equal ones."""
        return bool(score < self.score - (1e-12 * abs(self.score) + 1e-15))


class Referee(ABC):
    """The judge of one path: keeps intervals of all held-out values, says which splits need another round.

    ``splits`` are the positions of each split's tested rows among all of them. With an ``incumbent`` a candidate is
    pruned, and all its splits are closed, as soon as its best possible mean score is below that of the incumbent.
    """

    def __init__(
        self, splits: list[slice], penalties: int, columns: int, incumbent: _Incumbent | None, ledger: Ledger
    ) -> None:
        self.splits, self.columns, self.incumbent, self.ledger = splits, columns, incumbent, ledger
        shape = penalties, splits[-1].stop, columns
        self.lower, self.upper = np.full(shape, -np.inf), np.full(shape, np.inf)
        self.known = np.zeros(shape[:2], dtype=bool)
        self.early = np.zeros(penalties, dtype=bool)  # some split was closed before it was solved
        self.pruned = np.zeros(penalties, dtype=bool)

    def still_open(
        self, k: int, column: int, splits: list[int], intervals: Sequence[tuple[Array, Array] | None], round_: int
    ) -> list[bool]:
        """Which of some splits need another round."""
        new = 0
        for split, interval in zip(splits, intervals):
            if interval is not None:
                new += self._learn(k, split, column, *interval)
        self.ledger.add(_event(round_), new, 0.0)
        if self.pruned[k] or (self.incumbent is not None and self.incumbent.beats(self.bounds(k)[1])):
            self.pruned[k] = self.early[k] = True
            return [False] * len(splits)
        answer = [self._open(k, split, column) for split in splits]
        self.early[k] |= not all(answer)
        return answer

    def settle(self, k: int, column: int, split: int, values: Array, round_: int | None = None) -> None:
        """Exact values leave nothing open."""
        self.ledger.add(_event(round_), self._learn(k, split, column, values, values), 0.0)

    def finish(self, k: int, column: int) -> None:
        """A candidate that is known in all columns may be the new incumbent."""
        if self.incumbent is not None and column == self.columns - 1 and not self.pruned[k]:
            self.incumbent.score = max(self.incumbent.score, self.bounds(k)[0])

    def outcome(self, k: int) -> tuple[Exactness, float]:
        """How the scores of a penalty relate to retraining, and how much their mean may differ from it."""
        if not self.early[k]:
            return Exactness.EXACT, 0.0
        worst, best = self.bounds(k)
        return (Exactness.PRUNED if self.pruned[k] else Exactness.CERTIFIED), best - worst

    def promising(self, k: int, split: int) -> bool:
        """Whether half of a split is known, or nearly."""
        return bool(self.pruned[k] or self._nearly_known(k, split).mean() >= 0.5)

    def _learn(self, k: int, split: int, column: int, lower: Array, upper: Array) -> int:
        """Keep new intervals; how many rows of the split are known by them that were not before?"""
        rows = self.splits[split]
        self.lower[k, rows, column], self.upper[k, rows, column] = lower, upper
        before, after = self.known[k, rows], self._judge(k, split)
        new = int(np.count_nonzero(after & ~before))
        self.known[k, rows] = after
        return new

    @abstractmethod
    def bounds(self, k: int) -> tuple[float, float]:
        """(least, most) that the mean score of a penalty can be."""

    @abstractmethod
    def _judge(self, k: int, split: int) -> Mask:
        """Take new intervals of a split into account: of which of its rows is enough known?"""

    def _nearly_known(self, k: int, split: int) -> Mask:
        return np.asarray(self.known[k, self.splits[split]])

    def _open(self, k: int, split: int, column: int) -> bool:
        """Whether more has to be known of a split in this column."""
        return not self.known[k, self.splits[split]].all()


class LabelReferee(Referee):
    """For scores that depend on labels alone: what has to be proved is every label.

    ``weights`` are what each tested row contributes to the mean score if it is right.
    """

    def __init__(self, coding: PairCoding, present: Sequence[Any], labels: NDArray[Any], weights: Array, **rest: Any):
        super().__init__(**rest)
        self.coding, self.present, self.weights = coding, present, weights
        classes = np.asarray(coding.classes)
        self.own = np.arange(len(labels)), np.searchsorted(classes, labels)
        self.trained = [np.ones(len(classes), bool) if found is None else np.isin(classes, found) for found in present]
        self.possible = np.zeros((*self.known.shape, len(classes)), dtype=bool)
        for rows, trained in zip(self.splits, self.trained):
            self.possible[:, rows] = trained

    def bounds(self, k: int) -> tuple[float, float]:
        right, several = self.possible[k][self.own], self.possible[k].sum(axis=1) > 1
        return float(self.weights @ (right & ~several)), float(self.weights @ right)

    def _judge(self, k: int, split: int) -> Mask:
        rows = self.splits[split]
        possible = self._possible(k, rows, self.present[split])
        self.possible[k, rows][:, self.trained[split]] = possible
        return np.asarray(possible.sum(axis=1) == 1)

    def _open(self, k: int, split: int, column: int) -> bool:
        """Only the sign of a pair counts, unless values break ties."""
        rows = self.splits[split]
        known = self.known[k, rows]
        if not self.coding.break_ties:
            known = known | (self.lower[k, rows, column] >= 0) | (self.upper[k, rows, column] < 0)
        return not known.all()

    def _possible(self, k: int, rows: slice, classes: Any) -> Mask:
        lower, upper = self.lower[k, rows], self.upper[k, rows]
        if self.columns == 1:
            return np.column_stack([lower[:, 0] < 0, upper[:, 0] >= 0])
        return self.coding.can_win(lower, upper, classes)


class ValueReferee(Referee):
    """For scores of values: each has to be known up to ``tolerance``, and the score is known as well as they are.

    ``score`` maps rows and predictions (L, rows, 1) of a split, or of all of them if they are ``pooled``, to L scores.
    """

    def __init__(self, y: Array, tolerance: float, score: Callable[[slice, Array], Array], pooled: bool, **rest: Any):
        super().__init__(**rest)
        self.y, self.tolerance, self.score = y, tolerance, score
        self.parts = [slice(0, len(y))] if pooled else self.splits
        self.ends = np.full((2, len(self.lower), len(self.parts)), -np.inf)
        self.stale = np.ones(self.ends.shape[1:], dtype=bool)

    def bounds(self, k: int) -> tuple[float, float]:
        for part in np.flatnonzero(self.stale[k]).tolist():
            self._score(k, part)
        least, most = self.ends[:, k].mean(axis=1)
        return float(least), float(most)

    def _score(self, k: int, part: int) -> None:
        rows = self.parts[part]
        y, lower, upper = self.y[rows], self.lower[k, rows], self.upper[k, rows]
        best, worst = np.clip(y, lower, upper), np.where(y - lower > upper - y, lower, upper)
        if np.isfinite(worst).all():
            self.ends[:, k, part] = self.score(rows, np.stack([worst, best]))
        else:
            self.ends[1, k, part] = self.score(rows, best[None])[0]
        self.stale[k, part] = False

    def _judge(self, k: int, split: int) -> Mask:
        self.stale[k, 0 if len(self.parts) == 1 else split] = True
        return self._width(k, split) <= 2 * self.tolerance

    def _nearly_known(self, k: int, split: int) -> Mask:
        return self._width(k, split) <= 20 * self.tolerance

    def _width(self, k: int, split: int) -> Array:
        rows = self.splits[split]
        return np.asarray(self.upper[k, rows, 0] - self.lower[k, rows, 0])


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
            "incumbent": _Incumbent(self.proved) if self.prune else None,
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
