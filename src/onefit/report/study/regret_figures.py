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
        "to it. Nothing is both better and faster than the methods on the line. Methods that err by 10 points more are "
        "named at the top; where names have no room, the tables have them."
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


HIGHEST = 10.0
"""Points of error up to which methods are drawn: beyond, nobody asks how much more."""

ROOM = 0.2, 0.055
"""Width and height of a name, as shares of a panel."""


def _front(panel: Any, methods: Sequence[Summary]) -> None:
    drawn = [one for one in methods if one.excess.mean < HIGHEST]
    best = front(drawn)
    panel.axhline(0.0, color=FAINT, linewidth=1)
    panel.plot([one.seconds for one in best], [one.excess.mean for one in best], color=COLOURS[0], linewidth=1.2)
    for one in drawn:
        colour = COLOURS[0] if one in best else COLOURS[6]
        if not np.isnan(one.excess.low):
            panel.plot([one.seconds] * 2, [one.excess.low, one.excess.high], color=colour, linewidth=0.7)
        panel.plot(one.seconds, one.excess.mean, "o", color=colour, markersize=4)
    lows = [one.excess.mean if np.isnan(one.excess.low) else one.excess.low for one in drawn]
    panel.set(xscale="log", xlim=(0.05, 5.0), ylim=(1.1 * min([-1.0, *lows]), HIGHEST))
    panel.set_xticks([0.1, 0.2, 0.5, 1.0, 2.0], ["0.1", "0.2", "0.5", "1", "2"])
    panel.set_xticks([], minor=True)
    _write_names(panel, [*best, *(one for one in drawn if one not in best)])
    beyond = [one.method for one in methods if one not in drawn]
    if beyond:
        panel.set_title(f"above: {', '.join(beyond)}", loc="right", fontsize=6.5)  # outside, where no point can be


def _write_names(panel: Any, methods: Sequence[Summary]) -> None:
    """Names beside their points, the first ones first, where they do not cover another name."""
    taken: list[tuple[float, float]] = []
    to_panel = panel.transScale + panel.transLimits
    for one in methods:
        x, y = to_panel.transform((one.seconds, one.excess.mean))
        if all(abs(x - left) > ROOM[0] or abs(y - low) > ROOM[1] for left, low in taken):
            taken.append((x, y))
            at = one.seconds, one.excess.mean
            panel.annotate(one.method, at, (3, 3), textcoords="offset points", fontsize=6.5)
