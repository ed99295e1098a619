"""The table of all criteria, from what they declare.

``python -m onefit.criteria.documentation docs/criteria.md`` writes it between the marks of that file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ..machines.registry import estimators_that_offer
from .base import Criterion, capabilities_of

START, END = "<!-- table of criteria: start -->", "<!-- table of criteria: end -->"
TARGETS = {"any": "any", "labels": "classes", "two": "two classes"}
COLUMNS = ("criterion", "formula", "estimates", "reads", "better", "machines", "target", "cost", "use it for", "beware")


def markdown_table(criteria: Iterable[type[Criterion]]) -> str:
    """A row for each criterion, as Markdown.

    >>> from onefit import criteria
    >>> print(markdown_table([criteria.KTA]).splitlines()[2].split(" | ")[0])
    | `KTA`, "kta"
    """
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(criterion) for criterion in criteria)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(kind: type[Criterion]) -> tuple[str, ...]:
    criterion = kind()
    required = capabilities_of(criterion)
    any_machine = "any" if "heldout" in criterion.reads else "none needed"
    return (
        f'`{kind.__name__}`, "{kind.name}"',
        _cell(kind.formula),
        _cell(kind.estimates),
        ", ".join(criterion.reads),
        "larger" if kind.greater_is_better else "smaller",
        ", ".join(estimators_that_offer(required)) if required else any_machine,
        TARGETS[kind.classes],
        _cell(kind.cost),
        _cell(kind.use),
        _cell(kind.failures),
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def insert(page: str, table: str) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}\n{table}\n{END}{after}"


if __name__ == "__main__":
    from . import REGISTRY

    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(insert(file.read_text(encoding="utf-8"), markdown_table(REGISTRY.values())), encoding="utf-8")
