"""Validation curves: the score over one parameter, the others as chosen."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..machines import Exactness
from .scores import Scores
from .surface import axes_around, key_of


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
