"""Curves of criteria over a kernel parameter."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .comparison import Comparison

KERNEL_PARAMETERS = ("gamma", "degree", "coef0")


def plot_comparison(comparison: Comparison, parameter: str | None = None):
    """A matplotlib figure with a panel for each criterion: its best value at every value of a parameter.

    ``parameter`` is one of the grid's; by default ``gamma``, ``degree`` or ``coef0``, also of a Pipeline's step, or
    else the one with most values. The point that the criterion chooses is marked. Needs matplotlib.
    """
    from matplotlib.figure import Figure

    parameter = parameter_of(comparison) if parameter is None else parameter
    figure = Figure(figsize=(3.2 * min(4, len(comparison.rows)), 2.6 * -(-len(comparison.rows) // 4)))
    axes = figure.subplots(-(-len(comparison.rows) // 4), min(4, len(comparison.rows)), squeeze=False).ravel()
    for row, panel in zip(comparison.rows, axes):
        name = row["criterion"]
        places, curve = curve_of(comparison, name, parameter)
        panel.plot(places, curve, marker=".", color="#57606a")
        if isinstance(row["params"].get(parameter), Real):  # what it chooses may have no such parameter
            panel.plot([row["params"][parameter]], [row["value"]], marker="o", color="#0a7d4f")
        panel.set_title(f"{name} ({'larger' if comparison.greater_is_better[name] else 'smaller'} is better)")
        panel.set_xlabel(parameter)
        if len(places) > 1 and places[0] > 0 and places[-1] / places[0] > 10:
            panel.set_xscale("log")
    for panel in axes[len(comparison.rows) :]:
        panel.set_visible(False)
    figure.set_layout_engine("tight")
    return figure


def parameter_of(comparison: Comparison) -> str:
    """The parameter of the horizontal axis: a kernel parameter of the grid, or else the one with most values."""
    found: dict[str, set] = {}
    for params in comparison.candidates:
        for name, value in params.items():
            if isinstance(value, Real) and not isinstance(value, bool):
                found.setdefault(name, set()).add(value)
    if not found:
        raise ValueError("The grid has no numeric parameter to plot over.")
    ours = [name for name in found if name.rsplit("__", 1)[-1] in KERNEL_PARAMETERS]
    return max(ours or found, key=lambda name: len(found[name]))


def curve_of(comparison: Comparison, name: str, parameter: str) -> tuple[np.ndarray, np.ndarray]:
    """The best value over all other parameters, for each value of this one."""
    best: dict[float, float] = {}
    better = np.fmax if comparison.greater_is_better[name] else np.fmin
    for params, value in zip(comparison.candidates, comparison.values[name]):
        place = params.get(parameter)
        if isinstance(place, Real):
            best[float(place)] = float(better(best.get(float(place), np.nan), value))
    if not best:
        raise ValueError(f"The grid has no numbers for {parameter!r}.")
    places = sorted(best)
    return np.array(places), np.array([best[place] for place in places])
