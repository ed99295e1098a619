"""A study's numbers compared: with the printed ones, method with method, and with what the paper claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .outcome import Cell, Outcome, Printed
from .spec import Claim
from .statistics import (
    ROUNDING,
    PairedTest,
    Ranking,
    corrected_resampled_t_test,
    in_standard_errors,
    paired_t_test,
    ranking,
    wilcoxon_holm,
)

BEST, NOT_WORSE, WORSE, UNMARKED = "best", "not-worse", "worse", ""
HOLDS, MIXED, FAILS, UNTESTED = "holds", "mixed", "does not hold", "not tested"
FAR = 3.0
"""A cell further than this many standard errors from print needs an explanation."""


@dataclass(frozen=True)
class CellSummary:
    """One number of a table: ours over the finished splits, the printed one, and how they compare.

    ``difference`` is in standard errors of the difference; ``mark`` is "best", "not-worse" (than the best, by the
    papers' test), "worse", or empty where that cannot be said: one method, one split, or a figure's own quantities.
    """

    dataset: str
    setting: str
    method: str
    splits: int
    mean: float | None
    std: float | None
    printed: Printed | None
    difference: float | None
    mark: str

    @property
    def is_far(self) -> bool:
        return self.difference is not None and abs(self.difference) > FAR


@dataclass(frozen=True)
class Tally:
    """On how many data sets one method is significantly better than another, neither, or worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


@dataclass(frozen=True)
class MethodPair:
    """Two methods over all data sets of a setting: tallies of the first, and the signed-rank test."""

    first: str
    second: str
    papers: Tally
    corrected: Tally
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class SettingSummary:
    """The methods of one setting over all data sets on which each of them has a number."""

    setting: str
    methods: tuple[str, ...]
    ranking: Ranking
    pairs: tuple[MethodPair, ...]


@dataclass(frozen=True)
class Encounter:
    """Two methods on one row: ``test`` of the first against the second, over the splits that both have.

    ``advantage`` is how much better the first is on average, in the study's unit, ``relative`` the same as a share of
    the second's mean; ``ratio`` is the second's mean over the first's.
    """

    dataset: str
    setting: str
    test: PairedTest
    corrected: PairedTest
    relative: float
    ratio: float

    @property
    def advantage(self) -> float:
        return self.test.mean


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds on our numbers: the rows where its first method wins, neither does, and it loses.

    ``status`` is by the papers' test (about seconds: by means), ``corrected_status`` by the corrected one.
    """

    claim: Claim
    status: str
    corrected_status: str
    wins: tuple[Encounter, ...]
    ties: tuple[Encounter, ...]
    losses: tuple[Encounter, ...]
    corrected: Tally

    @property
    def encounters(self) -> tuple[Encounter, ...]:
        return self.wins + self.ties + self.losses

    @property
    def papers(self) -> Tally:
        return Tally(len(self.wins), len(self.ties), len(self.losses))


def summarise(outcome: Outcome) -> tuple[CellSummary, ...]:
    """Every cell with a number of ours or a printed one, setting by setting, in the order of the paper."""
    return tuple(
        _summary(outcome, (dataset, setting, method), marks.get(method, UNMARKED))
        for setting in outcome.settings
        for dataset in outcome.datasets
        for marks in [_row_marks(outcome, dataset, setting)]
        for method in outcome.methods
        if finite_scores(outcome, (dataset, setting, method)) or (dataset, setting, method) in outcome.printed
    )


def finite_scores(outcome: Outcome, cell: Cell) -> dict[int, float]:
    """The scores of a cell by split, without those that are not finite."""
    return {split: value for split, value in sorted(outcome.scores.get(cell, {}).items()) if np.isfinite(value)}


def _summary(outcome: Outcome, cell: Cell, mark: str) -> CellSummary:
    values = np.array(list(finite_scores(outcome, cell).values()))
    mean = float(values.mean()) if len(values) else None
    std = float(values.std(ddof=1)) if len(values) > 1 else None
    printed, difference = outcome.printed.get(cell), None
    comparable = outcome.study.protocol.kind != "seconds"  # theirs were measured on another machine
    if printed is not None and mean is not None and comparable:
        paper_splits = outcome.study.splits_in_print
        difference = in_standard_errors(mean, std, len(values), printed.mean, printed.std, paper_splits)
    return CellSummary(*cell, len(values), mean, std, printed, difference, mark)


def _row_marks(outcome: Outcome, dataset: str, setting: str) -> dict[str, str]:
    """The mark of each method on one row: best means the lowest mean loss, also of several that tie for it.

    Others are compared with the first of these, in the order of methods: rounding shall not choose.
    """
    if outcome.study.protocol.kind != "selection":
        return {}
    sign = _sign(outcome)
    means = {}
    for method in outcome.methods:
        values = list(finite_scores(outcome, (dataset, setting, method)).values())
        if values:
            means[method] = sign * float(np.mean(values))
    if len(means) < 2:
        return {}
    lowest = min(means.values())
    tied = [method for method, mean in means.items() if abs(mean - lowest) <= ROUNDING * abs(mean)]
    best, marks = tied[0], {}
    for method in means:
        if method in tied:
            marks[method] = BEST
            continue
        test = paired_t_test(*_paired_losses(outcome, dataset, setting, best, method))
        marks[method] = UNMARKED if not test.tested else WORSE if test.first_is_better else NOT_WORSE
    return marks


def _sign(outcome: Outcome) -> float:
    """Scores times this are losses; seconds always are."""
    study = outcome.study
    return -1.0 if study.greater_is_better and study.protocol.kind == "selection" else 1.0


def _paired_losses(
    outcome: Outcome, dataset: str, setting: str, first: str, second: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scores = _sign(outcome) * outcome.paired(dataset, setting, (first, second))
    finite = np.isfinite(scores).all(axis=1)
    return scores[finite, 0], scores[finite, 1]


def summarise_setting(outcome: Outcome, setting: str) -> SettingSummary:
    """Ranks and pairwise tests of the methods that have numbers in this setting."""
    means = {cell: _mean_loss(outcome, cell) for cell in _cells(outcome, setting)}
    methods = tuple(m for m in outcome.methods if any(np.isfinite(means[d, setting, m]) for d in outcome.datasets))
    table = np.array([[means[d, setting, m] for m in methods] for d in outcome.datasets])
    table = table.reshape(len(outcome.datasets), len(methods))
    pairs = []
    for (first, second), signed_rank in zip(combinations(methods, 2), wilcoxon_holm(table)):
        met = [e for e in encounters(outcome, first, second, setting) if e.test.tested]
        papers, corrected = _tally([e.test for e in met]), _tally([e.corrected for e in met])
        pairs.append(MethodPair(first, second, papers, corrected, signed_rank.p_value, signed_rank.adjusted))
    return SettingSummary(setting, methods, ranking(table), tuple(pairs))


def _cells(outcome: Outcome, setting: str) -> Iterator[Cell]:
    return ((dataset, setting, method) for dataset in outcome.datasets for method in outcome.methods)


def _mean_loss(outcome: Outcome, cell: Cell) -> float:
    values = list(finite_scores(outcome, cell).values())
    return _sign(outcome) * float(np.mean(values)) if values else np.nan


def _tally(tests: list[PairedTest]) -> Tally:
    wins, losses = sum(t.first_is_better for t in tests), sum(t.second_is_better for t in tests)
    return Tally(wins, len(tests) - wins - losses, losses)


def encounters(outcome: Outcome, first: str, second: str, setting: str | None = None) -> tuple[Encounter, ...]:
    """Two methods on every row where they share a split; ``setting`` limits the rows to one."""
    found = []
    for chosen in outcome.settings if setting is None else (setting,):
        for dataset in outcome.datasets:
            a, b = _paired_losses(outcome, dataset, chosen, first, second)
            if len(a):
                found.append(_encounter(outcome, dataset, chosen, a, b))
    return tuple(found)


def _encounter(
    outcome: Outcome, dataset: str, setting: str, a: NDArray[np.float64], b: NDArray[np.float64]
) -> Encounter:
    test = paired_t_test(a, b)
    corrected = corrected_resampled_t_test(a, b, outcome.study.protocol.train_share)
    first, second = float(a.mean()), float(b.mean())
    relative = test.mean / abs(second) if second else 0.0 if test.mean == 0 else float(np.copysign(np.inf, test.mean))
    ratio = second / first if first else np.nan
    return Encounter(dataset, setting, test, corrected, relative, ratio)


def _at_best_settings(outcome: Outcome, claim: Claim) -> tuple[Encounter, ...]:
    """The two sides of a claim about settings on every data set, each at its best setting, or at its worst."""
    within = claim.within or outcome.settings
    others = tuple(setting for setting in outcome.settings if setting not in claim.within)
    if not claim.within:
        first, second, choose = within, within, min
    elif claim.verb == "does not differ from":
        first, second, choose = within, within, max
    else:
        first, second, choose = within, others, min
    found = []
    for dataset in outcome.datasets:
        one = _extreme(outcome, dataset, first, claim.first, min)
        other = _extreme(outcome, dataset, second, claim.second, choose)
        if one is not None and other is not None:
            common = sorted(set(one[1]) & set(other[1]))
            losses = (np.array([_sign(outcome) * scores[split] for split in common]) for _, scores in (one, other))
            found.append(_encounter(outcome, dataset, one[0], *losses))
    return tuple(found)


def _extreme(
    outcome: Outcome, dataset: str, settings: Iterable[str], method: str, choose: Callable[..., str]
) -> tuple[str, dict[int, float]] | None:
    """(setting, scores by split) of a method with the smallest or largest mean loss; None without numbers."""
    known = {setting: finite_scores(outcome, (dataset, setting, method)) for setting in settings}
    known = {setting: scores for setting, scores in known.items() if scores}
    if not known:
        return None
    best = choose(known, key=lambda setting: _sign(outcome) * float(np.mean(list(known[setting].values()))))
    return best, known[best]


def judge(outcome: Outcome, claim: Claim) -> Verdict:
    """Compare a claim of the paper with our numbers.

    "is not worse than" and "does not differ from" hold if no row speaks against them, are mixed if less than half of
    the rows do, and do not hold otherwise. "is better than" and "is faster than" hold if half of the rows or more speak
    for them and fewer against, are mixed if some do and not more against, and do not hold otherwise. Rows with a single
    split cannot speak, except about seconds, which are compared by their means.
    """
    if claim.verb not in _STATUS:
        raise ValueError(f"A claim cannot be judged by {claim.verb!r}; known are {', '.join(map(repr, _STATUS))}.")
    if claim.within or claim.best_settings:
        met = _at_best_settings(outcome, claim)
    else:
        met = encounters(outcome, claim.first, claim.second, claim.setting)
    if claim.verb == "is faster than":
        wins, losses = [e for e in met if e.ratio > 1], [e for e in met if e.ratio < 1]
    else:
        met = tuple(e for e in met if e.test.tested)
        wins, losses = [e for e in met if e.test.first_is_better], [e for e in met if e.test.second_is_better]
    ties = [e for e in met if e not in wins and e not in losses]
    corrected = _tally([e.corrected for e in met])
    by_papers, by_corrected = (
        _STATUS[claim.verb](*counts) if met else UNTESTED
        for counts in ((len(wins), len(ties), len(losses)), (corrected.wins, corrected.ties, corrected.losses))
    )
    return Verdict(claim, by_papers, by_corrected, tuple(wins), tuple(ties), tuple(losses), corrected)


def _no_objection(against: int, rows: int) -> str:
    return HOLDS if not against else MIXED if 2 * against < rows else FAILS


def _majority(wins: int, ties: int, losses: int) -> str:
    if wins > losses and 2 * wins >= wins + ties + losses:
        return HOLDS
    return MIXED if wins >= losses and wins else FAILS


_STATUS = {
    "is not worse than": lambda wins, ties, losses: _no_objection(losses, wins + ties + losses),
    "does not differ from": lambda wins, ties, losses: _no_objection(wins + losses, wins + ties + losses),
    "is better than": _majority,
    "is faster than": lambda wins, ties, losses: _majority(wins, 0, ties + losses),
}


RETRAINING = "CV"


@dataclass(frozen=True)
class Ratio:
    """Seconds of ``slow`` over those of ``fast`` on one data set, ours and the paper's; None where not measured."""

    dataset: str
    setting: str
    slow: str
    fast: str
    splits: int
    ours: float | None
    printed: float | None


def compared(methods: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each method with the retraining of as many folds: (5-CV, 5-BIF), (5-CV, 5-exact), or (CV, SM) without a number.

    >>> compared(["5-CV", "5-BIF", "10-CV", "10-BIF"])
    (('5-CV', '5-BIF'), ('10-CV', '10-BIF'))
    """
    pairs = []
    for method in methods:
        folds, dash, _ = method.partition("-")
        slow = folds + dash + RETRAINING if dash and folds.isdigit() else RETRAINING
        if slow in methods and method != slow:
            pairs.append((slow, method))
    return tuple(pairs)


def ratios(outcome: Outcome) -> tuple[Ratio, ...]:
    """All ratios of a study of seconds, from the means over the splits that both methods have."""
    found = []
    for slow, fast in compared(outcome.methods):
        ours = {(e.dataset, e.setting): e for e in encounters(outcome, fast, slow)}
        for setting in outcome.settings:
            for dataset in outcome.datasets:
                met = ours.get((dataset, setting))
                printed = _printed_ratio(outcome, dataset, setting, slow, fast)
                if met or printed:
                    splits, measured = (met.test.n, met.ratio) if met else (0, None)
                    found.append(Ratio(dataset, setting, slow, fast, splits, measured, printed))
    return tuple(found)


def _printed_ratio(outcome: Outcome, dataset: str, setting: str, slow: str, fast: str) -> float | None:
    above, below = (outcome.printed.get((dataset, setting, method)) for method in (slow, fast))
    return above.mean / below.mean if above and below and below.mean else None


def geometric_mean(values: Sequence[float]) -> float | None:
    """The mean of ratios that treats twice as fast and twice as slow alike; None without values."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else None
