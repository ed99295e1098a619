"""Variants beside their tables: does another answer to an open question come nearer to print?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .comparisons import CellSummary, summarise
from .fingerprint import conditions, method_text
from .outcome import Cell, Outcome
from .spec import Protocol


@dataclass(frozen=True)
class BesideTable:
    """Cells further than three standard errors from print, of a table and a variant of it.

    Both are taken on the ``pairs`` of (data set, split) that they have in common, and ``cells`` are those that have a
    printed number and a distance from it in both, without methods that both measure alike.
    """

    key: str
    pairs: int
    cells: int
    far_in_table: int
    far_in_variant: int


def hypotheses(outcomes: Iterable[Outcome]) -> Iterator[BesideTable]:
    """Every variant that shares splits with its table, if cells of both have printed numbers."""
    known = {outcome.study.key: outcome for outcome in outcomes}
    for variant in known.values():
        table = known.get(variant.study.table_key)
        if table is not None and table is not variant:
            found = _beside_table(table, variant)
            if found.cells:
                yield found


def _beside_table(table: Outcome, variant: Outcome) -> BesideTable:
    alike = _measured_alike(table.study.protocol, variant.study.protocol)
    shared = [cell for cell in table.scores.keys() & variant.scores.keys() if cell[2] not in alike]
    common = {cell: table.scores[cell].keys() & variant.scores[cell].keys() for cell in shared}
    ours, theirs = (_distances(outcome, common) for outcome in (table, variant))
    cells = ours.keys() & theirs.keys()
    return BesideTable(
        variant.study.key,
        len({(dataset, split) for (dataset, _, _), splits in common.items() for split in splits}),
        len(cells),
        sum(ours[cell].is_far for cell in cells),
        sum(theirs[cell].is_far for cell in cells),
    )


def _measured_alike(table: Protocol, variant: Protocol) -> set[str]:
    """The methods of a variant whose numbers are those of its table."""
    if conditions(table) != conditions(variant):
        return set()
    known = {method_text(table, method) for method in table.methods}
    return {method.name for method in variant.methods if method_text(variant, method) in known}


def _distances(outcome: Outcome, splits: Mapping[Cell, set[int]]) -> dict[Cell, CellSummary]:
    """The cells whose distance from print is known, on some of their splits."""
    scores = {cell: {split: outcome.scores[cell][split] for split in some} for cell, some in splits.items()}
    found = summarise(replace(outcome, scores=scores))
    return {(cell.dataset, cell.setting, cell.method): cell for cell in found if cell.difference is not None}
