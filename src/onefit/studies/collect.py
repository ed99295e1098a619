"""From a journal to an Outcome."""

from __future__ import annotations

from collections.abc import Sequence

from .catalogue import printed_numbers
from .cell_journal import Journal
from .outcome import Cell, Outcome
from .spec import Study


def collect(study: Study, journal: Journal, datasets: Sequence[str], methods: Sequence[str] | None = None) -> Outcome:
    """The outcome of a study from its journal, for some data sets with all of their splits."""
    scores: dict[Cell, dict[int, float]] = {}
    failures, seconds = {}, {}
    settings: dict[str, None] = dict.fromkeys(study.protocol.settings)
    found = journal.read(study.protocol)
    for (dataset, number), cell in sorted(found.items()):
        if dataset not in datasets:
            continue
        seconds[dataset, number] = cell.seconds
        if cell.error is not None:
            failures[dataset, number] = cell.error
        for setting, method, value in cell.records:
            scores.setdefault((dataset, setting, method), {})[number] = value
    for _, setting, _ in scores:
        settings.setdefault(setting)
    used = {setting for _, setting, _ in scores}
    names = tuple(dict.fromkeys(method.name for method in study.protocol.methods))
    return Outcome(
        study,
        tuple(datasets),
        tuple(setting for setting in settings if setting in used or not used),
        tuple(name for name in names if methods is None or name in methods),
        scores,
        printed_numbers(study),
        failures,
        seconds,
    )
