"""The cells of a heat map: colour by score, symbol by label."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..machines import Exactness
from .drawing import ink, shade
from .scores import Scores
from .surface import Panel
from .text import number, settings

SYMBOLS = {
    Exactness.EXACT: "",
    Exactness.CERTIFIED: "✓",
    Exactness.APPROXIMATE: "≈",
    Exactness.RETRAINED: "↻",
    Exactness.PRUNED: "–",
    Exactness.FAILED: "×",
    Exactness.UNREACHED: "…",
}
"""Symbols that tell labels apart without colour; cells without a score are hatched as well."""

FEW, MANY = 6, 14
"""Up to so many columns cells show their scores on a phone; above so many nowhere."""


@dataclass(frozen=True)
class Cell:
    """A candidate as a cell: classes, colours, symbol, score, and all of it in words."""

    candidate: int
    kind: str
    style: str
    symbol: str
    value: str
    words: str


@dataclass(frozen=True)
class HeatMap:
    """A panel with its cells (None where the grid has no candidate)."""

    panel: Panel
    size: str  # few, some or many columns
    cells: list[list[Cell | None]]


@dataclass(frozen=True)
class Colouring:
    """Merits between ``low`` and ``high`` get the whole scale; what is below is as dark as ``low``."""

    low: float
    high: float
    clipped: bool

    @classmethod
    def of(cls, merit: np.ndarray) -> Colouring:
        """From three times the median's distance to the best: a few dreadful candidates must not use up the scale."""
        known = merit[np.isfinite(merit)]
        if len(known) == 0:
            return cls(0.0, 1.0, False)
        high, middle, lowest = float(known.max()), float(np.median(known)), float(known.min())
        low = max(lowest, high - 3.0 * (high - middle)) if middle < high else lowest
        return cls(low, high, low > lowest)

    def text(self, value: float) -> str:
        """A value with as many decimals as all others, three digits of the best one or so."""
        size = abs(self.high)
        if not np.isfinite(value) or not 0.01 <= size < 1e5:
            return number(value, 3)
        return f"{value:.{max(0, 3 - max(0, math.floor(math.log10(size))))}f}"

    def share(self, merit: float) -> float:
        """The place of a merit on the scale, between 0 and 1."""
        return 1.0 if self.high == self.low else max(0.0, (merit - self.low) / (self.high - self.low))


def heat_map(scores: Scores, panel: Panel, colouring: Colouring) -> HeatMap:
    """The cells of a panel."""
    columns = len(panel.column_labels)
    size = "few" if columns <= FEW else "some" if columns <= MANY else "many"
    cells = [[None if i is None else _cell_of(scores, i, colouring) for i in row] for row in panel.cells]
    return HeatMap(panel, size, cells)


def _cell_of(scores: Scores, i: int, colouring: Colouring) -> Cell:
    """One candidate."""
    label, merit = Exactness(scores.exactness[i]), float(scores.merit[i])
    kinds, symbol = [label.replace(" ", "-")], SYMBOLS[label]
    if i == scores.cautious:
        kinds.append("cautious")
        symbol += "◇"
    if i == scores.best:
        kinds.append("best")
        symbol += "★"
    style = ""
    if np.isfinite(merit) and label not in (Exactness.PRUNED, Exactness.FAILED):
        colour = shade(colouring.share(merit))
        style = f"background:{colour};color:{ink(colour)}"
    value = colouring.text(float(scores.values[i]))
    words = [symbol + value]  # a name that differs from what is seen would confuse whoever speaks to the page
    words += ["chosen"] * (i == scores.best) + ["one-standard-error choice"] * (i == scores.cautious)
    words += [str(label), settings(scores.params[i])]
    return Cell(i, " ".join(kinds), style, symbol, value, ", ".join(words))


def details(scores: Scores, i: int) -> list:
    """Contents of a candidate's tooltip: parameters, value, error, rank, label, bound, seconds, status."""
    return [
        settings(scores.params[i]), _known(scores.values[i]), _known(scores.errors[i]), int(scores.ranks[i]),
        str(scores.exactness[i]), _known(scores.bounds[i]), _known(scores.seconds[i]), str(scores.status[i])[:300],
    ]  # fmt: skip


def _known(value: float) -> float | None:
    """A number that JSON has, or None."""
    return float(value) if np.isfinite(value) else None
