"""The figures of the benchmark of criteria: average ranks, and regret against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...studies.regret.analysis import REFERENCE, Regrets, Summary
from .diagram import draw_diagram
from .figures import COLOURS, FAINT, INK, Picture, svg_text


def regret_pictures(tables: Sequence[Regrets]) -> tuple[Picture, ...]:
    """Critical differences, and Pareto fronts, of all machines together and of each."""
    ranked = [table for table in tables if not np.isnan(table.ranked()[1].critical_difference)]
    ranks = (
        "Average ranks over data sets (1 is the best), of the methods that are defined on all of them. Methods under "
        "one bar cannot be told apart by Nemenyi's test at 95 %."
    )
    pareto = (
        "Mean error above that of exact tenfold cross-validation, with its 95 % interval, against CPU seconds relative "
        "to it. Nothing is both better and faster than the methods on the line. Errors are drawn to 10 points."
    )
    drawn = [Picture("-pareto", svg_text("regret-pareto", lambda: _fronts(tables)), pareto)]
    if ranked:
        drawn.append(Picture("-ranks", svg_text("regret-ranks", lambda: _ranks(ranked)), ranks))
    return tuple(drawn)


def _ranks(tables: Sequence[Regrets]) -> Any:
    from matplotlib.figure import Figure

    compared = [table.ranked() for table in tables]
    heights = [0.9 + 0.16 * len(methods) for methods, _ in compared]
    figure = Figure(figsize=(9.0, sum(heights)), layout="constrained")
    panels = figure.subplots(len(compared), 1, squeeze=False, height_ratios=heights)[:, 0]
    for panel, table, (methods, ranking) in zip(panels, tables, compared):
        draw_diagram(panel, methods, ranking, INK)
        panel.set_title(table.title, loc="left", pad=14)
    return figure


def _fronts(tables: Sequence[Regrets]) -> Any:
    from matplotlib.figure import Figure

    columns = min(2, len(tables))
    rows = -(-len(tables) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, table in zip(panels, tables):
        _front(panel, [one for one in table.summary if one.seconds > 0])
        panel.set_title(table.title, loc="left")
    for panel in panels[len(tables) :]:
        panel.set_visible(False)
    figure.supxlabel(f"CPU seconds, relative to {REFERENCE}", fontsize=9)
    figure.supylabel("error above tenfold cross-validation, points", fontsize=9)
    return figure


def front(methods: Sequence[Summary]) -> list[Summary]:
    """The methods that no other one beats in both seconds and mean excess, from fast to slow."""
    best: list[Summary] = []
    for one in sorted(methods, key=lambda one: (one.seconds, one.excess.mean)):
        if not best or one.excess.mean < best[-1].excess.mean:
            best.append(one)
    return best


def _front(panel: Any, methods: Sequence[Summary]) -> None:
    best = front(methods)
    panel.axhline(0.0, color=FAINT, linewidth=1)
    panel.plot([one.seconds for one in best], [one.excess.mean for one in best], color=COLOURS[0], linewidth=1.2)
    for one in methods:
        colour = COLOURS[0] if one in best else COLOURS[6]
        if not np.isnan(one.excess.low):
            panel.plot([one.seconds] * 2, [one.excess.low, one.excess.high], color=colour, linewidth=0.7)
        panel.plot(one.seconds, one.excess.mean, "o", color=colour, markersize=4)
        if one.excess.mean < 10.0:
            panel.annotate(one.method, (one.seconds, one.excess.mean), (3, 3), textcoords="offset points", fontsize=6.5)
    panel.set_xscale("log")
    panel.set_ylim(top=10.0)
