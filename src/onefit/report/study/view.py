"""Contents of the pages of a study, computed once and put into words; the templates only arrange them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from ...studies.comparisons import (
    CellSummary,
    Encounter,
    Ratio,
    SettingSummary,
    Verdict,
    compared,
    geometric_mean,
    judge,
    ratios,
    summarise,
    summarise_setting,
)
from ...studies.outcome import Outcome
from ...studies.spec import Claim, Study
from .numbers import MISSING, RowFormat, ratio, signed

SETTING_NAMES = {
    "ks:2": "nλ", "ks:3": "nλ", "sps:1": "λ", "sps:fig1": "λ",
    "bif:fig1": "σ", "bif:fig2": "r", "ks:fig2": "η", "sm:fig1": "r",
}  # fmt: skip


@dataclass(frozen=True)
class CellView:
    """A cell in words: ours, the printed number, their difference in standard errors, and the mark of ours."""

    ours: str = MISSING
    printed: str = ""
    difference: str = ""
    mark: str = ""
    is_far: bool = False


@dataclass(frozen=True)
class Row:
    """A data set: how many splits are finished and a cell for each column."""

    label: str
    splits: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True)
class Grid:
    """A table: its columns, and rows grouped by setting."""

    title: str
    legend: str
    columns: tuple[str, ...]
    groups: tuple[tuple[str, tuple[Row, ...]], ...]

    @property
    def has_parts(self) -> bool:
        return any(label for label, _ in self.groups)

    @property
    def n_rows(self) -> int:
        return sum(len(rows) for _, rows in self.groups)


@dataclass(frozen=True)
class VerdictView:
    """A claim, what is compared, whether it holds, by how much, and the rows for and against it."""

    verdict: Verdict
    compared: str
    amount: str
    wins: str
    losses: str


@dataclass(frozen=True)
class StudyView:
    """Everything that is said about a study."""

    outcome: Outcome
    stem: str
    cells: tuple[CellSummary, ...]
    grids: tuple[Grid, ...]
    verdicts: tuple[VerdictView, ...]
    statistics: tuple[tuple[str, SettingSummary], ...]
    ratios: tuple[Ratio, ...]
    far: tuple[tuple[str, CellView, CellSummary], ...]
    progress: str
    rest: str | None
    unusable: int

    @property
    def has_marks(self) -> bool:
        return any(cell.mark for cell in self.cells)

    @property
    def study(self) -> Study:
        return self.outcome.study


def is_timing(study: Study) -> bool:
    """Whether the numbers of a study are seconds, which differ from run to run."""
    return study.protocol.kind == "seconds" or study.unit == "seconds"


def _file_stem(study: Study) -> str:
    """The beginning of the names of a study's files; those with times in them say so.

    Files without "seconds" in their names have the same bytes whenever the same splits are finished.
    """
    return study.key.replace(":", "-") + ("-seconds" if is_timing(study) else "")


def view(outcome: Outcome) -> StudyView:
    """Compute and word everything that the pages of a study show."""
    study, cells = outcome.study, summarise(outcome)
    measured = ratios(outcome) if is_timing(study) else ()
    grid = number_grid(outcome, cells)
    tested = not study.is_figure and study.protocol.kind == "selection"
    return StudyView(
        outcome=outcome,
        stem=_file_stem(study),
        cells=cells,
        grids=(_ratio_grid(outcome, measured), grid) if measured else (grid,),
        verdicts=tuple(_verdict_view(judge(outcome, claim), study) for claim in study.claims),
        statistics=tuple((_part_label(outcome, s), summarise_setting(outcome, s)) for s in outcome.settings if tested),
        ratios=measured,
        far=tuple(_far_cells(study, cells)),
        progress=progress(outcome),
        rest=_command_for_the_rest(outcome),
        unusable=sum(not np.isfinite(v) for values in outcome.scores.values() for v in values.values()),
    )


def _setting_label(study: Study, setting: str) -> str:
    """A setting with its name, as in nλ = 0.1; empty where a study has none."""
    name = SETTING_NAMES.get(study.key.partition("+")[0])  # behind it: the name of a variant
    return f"{name} = {setting}" if name and setting and "=" not in setting else setting.replace(">=", "≥")


def _part_label(outcome: Outcome, setting: str) -> str:
    """The heading of a part of a table; of several, the one without a setting is the paper's."""
    unnamed = "as in the paper" if len(outcome.settings) > 1 else ""
    return _setting_label(outcome.study, setting) or unnamed


def unit_name(study: Study) -> str:
    """The quantity and unit of a study's numbers."""
    errors = "accuracy (%)" if study.greater_is_better else "error (%)"
    return {"%": errors, "MSE": "mean squared error", "seconds": "CPU seconds"}.get(study.unit, study.unit)


def number_grid(outcome: Outcome, cells: Iterable[CellSummary]) -> Grid:
    """Our numbers with the printed ones, methods as columns."""
    study = outcome.study
    by_row: dict[tuple[str, str], dict[str, CellSummary]] = {}
    for cell in cells:
        by_row.setdefault((cell.setting, cell.dataset), {})[cell.method] = cell
    groups = []
    for setting in outcome.settings:
        rows = [
            _number_row(dataset, by_row[setting, dataset], outcome)
            for dataset in outcome.datasets
            if (setting, dataset) in by_row
        ]
        if rows:
            groups.append((_part_label(outcome, setting), tuple(rows)))
    legend = "Below each number the one that the paper prints"
    legend += "." if is_timing(study) else " and the difference in standard errors."
    return Grid(f"{unit_name(study)}, mean ± standard deviation", legend, outcome.methods, tuple(groups))


def _number_row(dataset: str, found: dict[str, CellSummary], outcome: Outcome) -> Row:
    printed = [cell.printed.mean for cell in found.values() if cell.printed]
    style = RowFormat([*(cell.mean for cell in found.values()), *printed])
    cells = tuple(_cell_view(found[m], style) if m in found else CellView() for m in outcome.methods)
    return Row(dataset, _splits_text(cell.splits for cell in found.values()), cells)


def _splits_text(numbers: Iterable[int]) -> str:
    """How many splits the cells of a row have: one number, or the range.

    >>> _splits_text([10, 10]), _splits_text([3, 10])
    ('10', '3–10')
    """
    found = sorted(set(numbers))
    return str(found[0]) if len(found) == 1 else f"{found[0]}–{found[-1]}"


def _cell_view(cell: CellSummary, style: RowFormat) -> CellView:
    printed = style.pair(cell.printed.mean, cell.printed.std) if cell.printed else ""
    return CellView(style.pair(cell.mean, cell.std), printed, signed(cell.difference), cell.mark, cell.is_far)


def _ratio_grid(outcome: Outcome, measured: Sequence[Ratio]) -> Grid:
    """How many times slower retraining is than each other method, ours with the paper's; geometric means last."""
    pairs = compared(outcome.methods)
    by_row: dict[tuple[str, str], dict[tuple[str, str], Ratio]] = {}
    for found in measured:
        by_row.setdefault((found.setting, found.dataset), {})[found.slow, found.fast] = found
    groups = []
    for setting in outcome.settings:
        rows = [
            _ratio_row(dataset, [by_row[setting, dataset].get(pair) for pair in pairs])
            for dataset in outcome.datasets
            if (setting, dataset) in by_row
        ]
        of_setting = [found for found in measured if found.setting == setting]
        rows.append(Row("geometric mean", "", tuple(_mean_ratio(of_setting, *pair) for pair in pairs)))
        groups.append((_part_label(outcome, setting), tuple(rows)))
    columns = tuple(f"{slow} / {fast}" for slow, fast in pairs)
    legend = "How many times as long retraining takes; below each ratio that of the paper's own seconds."
    return Grid("ratios of CPU seconds", legend, columns, tuple(groups))


def _ratio_row(dataset: str, found: Sequence[Ratio | None]) -> Row:
    cells = tuple(_ratio_cell(r.ours, r.printed) if r else CellView() for r in found)
    return Row(dataset, _splits_text(r.splits for r in found if r), cells)


def _ratio_cell(ours: float | None, printed: float | None) -> CellView:
    return CellView(ratio(ours), "" if printed is None else ratio(printed))


def _mean_ratio(measured: Sequence[Ratio], slow: str, fast: str) -> CellView:
    chosen = [r for r in measured if (r.slow, r.fast) == (slow, fast)]
    ours, printed = ([getattr(r, name) for r in chosen] for name in ("ours", "printed"))
    return _ratio_cell(*(geometric_mean([v for v in values if v is not None]) for values in (ours, printed)))


def _far_cells(study: Study, cells: Iterable[CellSummary]) -> Iterable[tuple[str, CellView, CellSummary]]:
    for cell in cells:
        if cell.is_far and cell.printed:
            label = ", ".join(filter(None, (cell.dataset, _setting_label(study, cell.setting), cell.method)))
            yield label, _cell_view(cell, RowFormat([cell.mean, cell.printed.mean])), cell


def _verdict_view(verdict: Verdict, study: Study) -> VerdictView:
    wins, losses = (
        _some([_row_label(e, verdict.claim, study) for e in rows]) for rows in (verdict.wins, verdict.losses)
    )
    return VerdictView(verdict, _claim_text(verdict.claim, study), _amount_text(verdict, study), wins, losses)


def _row_label(encounter: Encounter, claim: Claim, study: Study) -> str:
    """A data set, with the setting where a claim is about several."""
    setting = _setting_label(study, encounter.setting) if claim.setting is None else ""
    return f"{encounter.dataset} ({setting})" if setting else encounter.dataset


def _some(labels: Sequence[str], most: int = 25) -> str:
    more = len(labels) - most
    return ", ".join(labels[:most]) + (f" and {more} more" if more > 0 else "")


def _claim_text(claim: Claim, study: Study) -> str:
    """A claim in words, as in "5-BIF is not worse than 5-CV at nλ = 1"."""
    if claim.within:
        ends = [_setting_label(study, setting) for setting in (claim.within[0], claim.within[-1])]
        others = "its worst" if claim.verb == "does not differ from" else "its best outside"
        return f"{claim.first} at its best from {ends[0]} to {ends[1]} {claim.verb} {others}"
    place = f" at {_setting_label(study, claim.setting)}" if claim.setting else ""
    place = ", each at its best setting" if claim.best_settings else place
    return f"{claim.first} {claim.verb} {claim.second}{place}"


def _amount_text(verdict: Verdict, study: Study) -> str:
    """By how much the first method of a claim is ahead: the median over the rows, and the extremes."""
    if not verdict.encounters:
        return "no numbers yet"
    if verdict.claim.verb == "is faster than":
        values = [e.ratio for e in verdict.encounters]
        return f"{ratio(median(values))} times as fast (median; {ratio(min(values))} to {ratio(max(values))})"
    in_points = "%" in study.unit or "percent" in study.unit
    values = [e.advantage if in_points else 100 * e.relative for e in verdict.encounters]
    unit = "points" if in_points else "%"
    if min(values) == max(values):
        return f"advantage {signed(values[0], 2)} {unit} everywhere"
    ends = [
        f"{signed(end, 2)} on {_row_label(verdict.encounters[values.index(end)], verdict.claim, study)}"
        for end in (min(values), max(values))
    ]
    return f"median advantage {signed(median(values), 2)} {unit} ({ends[0]}; {ends[1]})"


def progress(outcome: Outcome) -> str:
    """How many splits are finished, in words."""
    protocol = outcome.study.protocol
    total = protocol.splits
    if outcome.datasets and all(outcome.n_splits(name) == protocol.splits_of(name) for name in outcome.datasets):
        large = [name for name in outcome.datasets if protocol.splits_of(name) < total]
        fewer = [f"{protocol.splits_of(name)} on {name}" for name in large]
        return "; ".join([f"all {total} splits on {_count(len(outcome.datasets) - len(fewer))}", *fewer])
    by_number: dict[int, list[str]] = {}
    for dataset in outcome.datasets:
        by_number.setdefault(outcome.n_splits(dataset), []).append(dataset)
    if not by_number:
        return "no data sets"
    if len(by_number) == 1:
        return f"{next(iter(by_number))} of {total} splits on {_count(len(outcome.datasets))}"
    usual = max(by_number, key=lambda n: (len(by_number[n]), n))
    parts = [f"{usual} of {total} splits on {_count(len(by_number[usual]))}"]
    parts += [f"{n} on {', '.join(names)}" for n, names in sorted(by_number.items(), reverse=True) if n != usual]
    return "; ".join(parts)


def _count(datasets: int) -> str:
    return "1 data set" if datasets == 1 else f"{datasets} data sets"


def _command_for_the_rest(outcome: Outcome) -> str | None:
    """The command, for the folder of the page, that runs the splits that are not finished; None when all are.

    A split that has failed is not finished either, and is only run again on request.
    """
    protocol = outcome.study.protocol
    names = protocol.datasets or outcome.datasets
    short = [name for name in names if outcome.n_splits(name) < protocol.splits_of(name)]
    if not short:
        return None
    command = f"onefit reproduce {outcome.study.key} --resume --out . --splits {protocol.splits}"
    if any(dataset in short for dataset, _ in outcome.failures):
        command += " --retry-failed"
    return command if len(short) == len(names) else f"{command} --datasets {' '.join(short)}"
