"""The tables of a study for LaTeX, in blocks of columns that fit the text of an article."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .view import Grid, Row

TEXT_WIDTH = 345.0
"""Points between the margins of LaTeX's article as it comes: tables that fit there fit nearly everywhere."""

CHARACTER, CAPITAL, SEPARATION = 4.4, 5.1, 6.0
"""Points in ``\\footnotesize``: of a character of bold numbers or of names, of those above columns, which have many
capitals, and between two columns. Measured, and rounded up: ``10-CVKS`` has 35.2, a bold 13.83 ± 1.35 has 51.7."""

LINES = 42
"""So many lines, a caption and rules fill a page: what is longer has to break."""

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": "$-$", "–": "--", "∞": r"$\infty$",
    "λ": r"$\lambda$", "σ": r"$\sigma$", "η": r"$\eta$", "τ": r"$\tau$", "ε": r"$\varepsilon$", "δ": r"$\delta$",
    "<": r"\textless{}", ">": r"\textgreater{}", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$", "×": r"$\times$",
    "²": "$^2$", "∈": r"$\in$", "…": r"\ldots{}",
}  # fmt: skip


def latex(text: object) -> str:
    """Text that LaTeX prints as it is.

    >>> latex("german_numer & 5 %")
    'german\\\\_numer \\\\& 5 \\\\%'
    """
    return "".join(LATEX.get(character, character) for character in str(text))


def latex_number(text: str) -> str:
    """A number or a pair of them; powers of ten as such, once for both where they are not far apart.

    >>> latex_number("1.81e-05 ± 6.8e-06")
    '$(1.81 \\\\pm 0.68) \\\\cdot 10^{-5}$'
    >>> latex_number("1.81e-05 ± 6.8e-09")
    '$1.81 \\\\cdot 10^{-5} \\\\pm 6.8 \\\\cdot 10^{-9}$'
    """
    if not re.search(r"\d", text):
        return latex(text)
    mean, _, std = text.partition(" ± ")
    digits, _, power = mean.partition("e")
    share = float(std or 0) / 10.0 ** int(power or 0)
    if power and std and 0.01 <= share < 10:
        return f"$({digits.replace('−', '-')} \\pm {share:.2f}) \\cdot 10^{{{int(power)}}}$"
    body = re.sub(r"e([+-]\d+)", lambda found: rf" \cdot 10^{{{int(found[1])}}}", text)
    return "$" + body.replace("±", r"\pm").replace("−", "-") + "$"


@dataclass(frozen=True)
class LatexGrid:
    """A grid in blocks of columns that fit side by side; ``long`` if they do not fit on one page."""

    whole: Grid
    blocks: tuple[Grid, ...]

    @property
    def has_print(self) -> bool:
        return any(_has_print(row) for _, rows in self.whole.groups for row in rows)

    @property
    def long(self) -> bool:
        return sum(map(_lines, self.blocks)) > LINES


def latex_grid(grid: Grid) -> LatexGrid:
    """Cut a grid where it is too wide, if possible between numbers of folds, into blocks of about as many columns."""
    families = [list(found) for _, found in groupby(range(len(grid.columns)), key=lambda k: _family(grid.columns[k]))]
    units = [unit for family in families for unit in ([family] if _fits(grid, family) else [[k] for k in family])]
    needed = len(_fill(grid, units, len(grid.columns)))
    filled = (_fill(grid, units, most) for most in range(1, len(grid.columns) + 1))
    blocks: list[list[int]] = next((found for found in filled if len(found) == needed), [[]])
    return LatexGrid(grid, tuple(_part(grid, block) for block in blocks))


def _fill(grid: Grid, units: Sequence[list[int]], most: int) -> list[list[int]]:
    """Columns in blocks of at most so many that fit, unless one unit alone does not."""
    blocks: list[list[int]] = []
    for unit in units:
        if blocks and len(blocks[-1]) + len(unit) <= most and _fits(grid, blocks[-1] + unit):
            blocks[-1] = blocks[-1] + unit
        else:
            blocks.append(unit)
    return blocks


def _family(column: str) -> str:
    """A key that columns side by side share: the number of folds, as in 5-CV and 5-BIF."""
    folds, dash, _ = column.partition("-")
    return folds if dash and folds.isdigit() else column


def _fits(grid: Grid, block: Sequence[int]) -> bool:
    part = _part(grid, block)
    rows = [row for _, rows in part.groups for row in rows]
    label = max((len(row.label) for row in rows), default=0)
    widths = [
        max(
            [CAPITAL * len(line) for line in column.split(" / ")]
            + [CHARACTER * _length(text) for row in rows for text in (row.cells[k].ours, row.cells[k].printed)]
        )
        for k, column in enumerate(part.columns)
    ]
    return CHARACTER * label + sum(widths) + SEPARATION * len(widths) <= TEXT_WIDTH


def _length(text: str) -> int:
    """How many characters of a number are seen."""
    return len(re.sub(r"[\\${}^]", "", latex_number(text).replace(r"\pm", "±").replace(r"\cdot ", "·")))


def _part(grid: Grid, block: Sequence[int]) -> Grid:
    """Some columns of a grid."""
    groups = tuple(
        (label, tuple(replace(row, cells=tuple(row.cells[k] for k in block)) for row in rows))
        for label, rows in grid.groups
    )
    return replace(grid, columns=tuple(grid.columns[k] for k in block), groups=groups)


def _lines(grid: Grid) -> int:
    heads = 2 + len(grid.groups)
    return heads + sum(1 + _has_print(row) for _, rows in grid.groups for row in rows)


def _has_print(row: Row) -> bool:
    return any(cell.printed for cell in row.cells)


def latex_heads(columns: Sequence[str]) -> list[list[str]]:
    """The lines above the columns: ratios have two.

    >>> latex_heads(["5-CV / 5-BIF"]), latex_heads(["SM", "CV"])
    ([['', '5-CV /'], ['data set', '5-BIF']], [['data set', 'SM', 'CV']])
    """
    upper = [above + " /" if below else "" for above, _, below in (column.partition(" / ") for column in columns)]
    lower = [column.rpartition(" / ")[2] for column in columns]
    return [*([["", *upper]] if any(upper) else []), ["data set", *lower]]
