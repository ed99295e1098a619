"""The grid of a search as panels of cells, and as curves: the score over one parameter, the others as chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..machines import Exactness
from .scores import Scores
from .text import last_part, plain, settings, tick

REGULARISATION = ("C", "alpha")
KERNEL = ("gamma", "degree", "coef0", "kernel", "kernel_params", "nu", "length_scale")
"""Parameters by their last name, those first that are first looked for."""

PANELS, CELLS = 12, 3600
"""As many panels, and as many cells in all, are drawn; the table of candidates has the rest."""


@dataclass(frozen=True)
class Axes:
    """Which parameters the rows, the columns and the panels of cells stand for; the first two may be missing."""

    row: str | None
    column: str | None
    others: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    """Cells of candidates (their numbers; None where the grid has none) by two parameters."""

    title: str
    row_name: str
    column_name: str
    row_labels: list[str]
    column_labels: list[str]
    cells: list[list[int | None]]
    thinned: bool = False  # not all values of the parameters are shown


def key_of(value: Any) -> tuple:
    """Sorts parameter values: numbers by size, then everything else by its text; equal keys are equal values."""
    if isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value):
        return (0, float(value), "")
    return (1, 0.0, plain(value))


def _varied(params: list[dict[str, Any]]) -> dict[str, int]:
    """The parameters that take more than one value (absent counts as one), with how many."""
    names = dict.fromkeys(name for candidate in params for name in candidate)
    counts = {name: len({key_of(candidate.get(name)) for candidate in params}) for name in names}
    return {name: count for name, count in counts.items() if count > 1}


def choose_axes(params: list[dict[str, Any]]) -> Axes:
    """Regularisation in columns, a kernel parameter in rows; whatever varies most where there is no such."""
    counts = _varied(params)
    column = _first(counts, REGULARISATION)
    rest = {name: count for name, count in counts.items() if name != column}
    row = _first(rest, KERNEL) or (max(rest, key=lambda name: rest[name]) if rest else None)
    if column is None:
        rest = {name: count for name, count in rest.items() if name != row}
        column = max(rest, key=lambda name: rest[name]) if rest else None
    return Axes(row, column, tuple(name for name in counts if name not in (row, column)))


def _first(names: dict[str, int], wanted: tuple[str, ...]) -> str | None:
    for want in wanted:
        found = [name for name in names if last_part(name) == want]
        if found:
            return max(found, key=lambda name: names[name])
    return None


def axes_around(scores: Scores, number: int) -> Axes:
    """The axes of the part of the grid that a candidate is in: of those with the same parameters."""
    names = set(scores.params[number])
    return choose_axes([params for params in scores.params if set(params) == names])


def panels_of(scores: Scores) -> tuple[list[Panel], int]:
    """(panels, how many were left out): that of the chosen candidate first, the others by their best candidate."""
    parts: dict[frozenset, Axes] = {}
    groups: dict[tuple, list[int]] = {}
    for number, params in enumerate(scores.params):
        names = frozenset(params)
        if names not in parts:
            parts[names] = axes_around(scores, number)
        others = tuple(key_of(params[name]) for name in parts[names].others)
        groups.setdefault((names, others), []).append(number)
    merit = np.nan_to_num(scores.merit, nan=-np.inf)
    order = sorted(groups.items(), key=lambda item: (scores.best not in item[1], -max(merit[item[1]])))
    differing = _varied(scores.params)
    panels: list[Panel] = []
    for (names, _), group in order[:PANELS]:
        room = CELLS - sum(len(panel.cells) * len(panel.column_labels) for panel in panels)
        if panels and room <= 0:
            break
        panels.append(_panel(scores, parts[names], group, max(room, 1), differing))
    return panels, len(order) - len(panels)


def _panel(scores: Scores, axes: Axes, group: list[int], room: int, differing: dict[str, int]) -> Panel:
    """The candidates of a group; its title has what is the same for all of them, and not for those of other panels."""
    names = (axes.row, axes.column)
    values = [_values(scores, name, group) for name in names]
    chosen = scores.params[scores.best if scores.best in group else group[0]]
    side = math.isqrt(room)
    limits = max(side, room // len(values[1])), max(side, room // len(values[0]))
    kept = [
        _thin(found, limit, key_of(chosen[name]) if name else ())
        for found, limit, name in zip(values, limits, names)
    ]  # fmt: skip
    places = {}
    for number in reversed(group):  # of candidates in the same cell the first is shown
        params = scores.params[number]
        places[tuple(key_of(params[name]) if name else () for name in names)] = number
    same = {name: value for name, value in chosen.items() if name in differing and name not in names}
    return Panel(
        settings(same) if same else "",
        axes.row or "",
        axes.column or "",
        [values[0][key] for key in kept[0]],
        [values[1][key] for key in kept[1]],
        [[places.get((row, column)) for column in kept[1]] for row in kept[0]],
        thinned=any(len(some) < len(found) for some, found in zip(kept, values)),
    )


def _values(scores: Scores, name: str | None, group: list[int]) -> dict[tuple, str]:
    """Key and text of every value of a parameter, in order; a single nameless one without a parameter."""
    if name is None:
        return {(): ""}
    found = {key_of(scores.params[i].get(name)): tick(scores.params[i].get(name)) for i in group}
    return {key: found[key] for key in sorted(found)}


def _thin(values: dict[tuple, str], limit: int, keep: tuple) -> list[tuple]:
    """At most ``limit`` or so of the values, equally spaced, with the one to keep among them."""
    keys = list(values)
    step = -(-len(keys) // limit)
    start = keys.index(keep) % step if keep in values else 0
    return keys[start::step]


@dataclass(frozen=True)
class Curve:
    """Values of candidates that differ in one numeric parameter only.

    ``errors`` are standard errors (NaN where there are none), ``best`` and ``cautious`` positions on the curve of the
    chosen candidate and of the one-standard-error choice (None if they lie elsewhere), ``threshold`` the best
    score less its standard error, NaN without.
    """

    parameter: str
    score: str
    places: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    best: int | None
    cautious: int | None
    threshold: float

    @property
    def logarithmic(self) -> bool:
        """Whether the parameter is better shown on a logarithmic axis."""
        return spans_decades(self.places)


def spans_decades(places: np.ndarray) -> bool:
    """Positive numbers that a linear axis would crowd at one end."""
    return len(places) > 1 and places.min() > 0 and places.max() / places.min() > 10


def validation_curves(scores: Scores) -> list[Curve]:
    """A curve for each of the two axes of the grid that has three numbers or more through the chosen candidate."""
    axes = axes_around(scores, scores.best)
    curves = [validation_curve(scores, name) for name in (axes.column, axes.row) if name is not None]
    return [curve for curve in curves if len(curve.places) > 2]


def validation_curve(scores: Scores, parameter: str) -> Curve:
    """The curve through the chosen candidate; pruned and failed candidates are left out."""
    chosen = scores.params[scores.best]
    others = {name: key_of(value) for name, value in chosen.items() if name != parameter}
    found: dict[float, int] = {}
    for number, params in enumerate(scores.params):
        place = params.get(parameter)
        same = others == {name: key_of(value) for name, value in params.items() if name != parameter}
        known = scores.exactness[number] not in (Exactness.PRUNED, Exactness.FAILED)
        if same and known and isinstance(place, Real) and np.isfinite(scores.values[number]):
            found.setdefault(float(place), number)
    numbers = [found[place] for place in sorted(found)]
    position = {number: k for k, number in enumerate(numbers)}
    threshold = np.nan
    if scores.cautious is not None:
        top = int(np.nanargmax(np.where(scores.exactness == Exactness.PRUNED, np.nan, scores.values)))
        threshold = float(scores.values[top] - scores.errors[top])
    return Curve(
        parameter,
        scores.name,
        np.array(sorted(found)),
        scores.values[numbers],
        scores.errors[numbers],
        position.get(scores.best),
        position.get(scores.cautious) if scores.cautious is not None else None,
        threshold,
    )
