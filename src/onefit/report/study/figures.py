"""The figures of a study as SVG text: the same bytes for the same numbers, readable on light and dark pages."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...studies.comparisons import finite_scores
from ...studies.outcome import Outcome
from .diagram import draw_diagram
from .numbers import as_number, capitalised
from .view import SETTING_NAMES, StudyView, unit_name

INK, PAPER, FAINT = "#1f2328", "#fefefe", "#d0d7de"
COLOURS = ("#0a7d4f", "#c2410c", "#3b6fd4", "#a8318c", "#8a6d00", "#0891b2", "#6b7280", "#b91c1c")
STYLE = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.0,
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.titlecolor": INK, "axes.titlesize": 9.0, "axes.facecolor": "none", "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "axes.unicode_minus": True, "lines.linewidth": 1.4,
}  # fmt: skip
DARK = (
    "<style>@media (prefers-color-scheme: dark) {"
    f' [style*="fill: {INK}"] {{ fill: #e6edf3 !important }} [style*="stroke: {INK}"] {{ stroke: #e6edf3 !important }}'
    f' [style*="fill: {PAPER}"] {{ fill: #0f1419 !important }} }}</style>'
)


@dataclass(frozen=True)
class Picture:
    """A figure: the end of its file's name, the drawing, and what it shows in words."""

    suffix: str
    svg: str
    caption: str


def pictures(shown: StudyView) -> tuple[Picture, ...]:
    """The figures that a study's numbers allow: a curve or bars for a figure, average ranks for a table."""
    outcome = shown.outcome
    if not any(cell.splits for cell in shown.cells):
        return ()
    if shown.study.key == "sps:fig1":
        caption = "The highest mean of each criterion over all settings; diamonds: the highest that the paper prints."
        return (Picture("", svg_text(shown.stem, lambda: _bars(outcome)), caption),)
    if shown.study.is_figure:
        by = SETTING_NAMES.get(shown.study.key, "setting")
        caption = f"{capitalised(unit_name(shown.study))} by {by}; bands are one standard error wide on each side."
        return (Picture("", svg_text(shown.stem, lambda: _curves(outcome)), caption),)
    ranked = [(label, s) for label, s in shown.statistics if not np.isnan(s.ranking.critical_difference)]
    if not ranked:
        return ()
    caption = (
        "Average ranks over data sets (1 is the best). Methods under one bar cannot be told apart "
        "by Nemenyi's test at 95 %; CD is the critical difference."
    )
    return (Picture("-ranks", svg_text(shown.stem, lambda: _rank_diagrams(ranked)), caption),)


def svg_text(salt: str, draw: Callable[[], Any]) -> str:
    """Draw with fixed settings and save without a date, with names that depend on the study alone."""
    from matplotlib import style

    with style.context(["default", {**STYLE, "svg.hashsalt": salt}]):
        figure, stream = draw(), io.StringIO()
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    start = svg.index("<svg")
    end = svg.index(">", start) + 1
    lines = (svg[start:end] + DARK + svg[end:]).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _rank_diagrams(ranked: Sequence[tuple[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    heights = [0.9 + 0.16 * len(summary.methods) for _, summary in ranked]
    figure = Figure(figsize=(7.0, sum(heights)), layout="constrained")
    panels = figure.subplots(len(ranked), 1, squeeze=False, height_ratios=heights)[:, 0]
    for panel, (label, summary) in zip(panels, ranked):
        draw_diagram(panel, summary.methods, summary.ranking, INK)
        panel.set_title(label, loc="left", pad=14)
    return figure


def _curves(outcome: Outcome) -> Any:
    """A panel for each data set, a curve for each method: the mean of each setting with its standard error."""
    from matplotlib.figure import Figure

    columns = min(3, len(outcome.datasets))
    rows = -(-len(outcome.datasets) // columns)
    figure = Figure(figsize=(3.0 * columns + 0.5, 2.3 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    places = _places(outcome.settings)
    for panel, dataset in zip(panels, outcome.datasets):
        for method, look in zip(outcome.methods, _looks(outcome.methods)):
            _curve(panel, outcome, dataset, method, places, look)
        panel.set_title(dataset, loc="left")
        _scale(panel, outcome, places)
    for panel in panels[len(outcome.datasets) :]:
        panel.set_visible(False)
    for panel in panels[max(0, len(outcome.datasets) - columns) : len(outcome.datasets)]:
        panel.set_xlabel(SETTING_NAMES.get(outcome.study.key, "setting"))
    figure.supylabel(unit_name(outcome.study), fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(6, max(1, len(labels))))
    return figure


def _places(settings: Sequence[str]) -> np.ndarray:
    """Where settings stand on the axis: at their numbers, or in order where one of them is not a number."""
    numbers = [as_number(setting) for setting in settings]
    return np.arange(len(settings), dtype=float) if None in numbers else np.array(numbers, dtype=float)


def _curve(panel: Any, outcome: Outcome, dataset: str, method: str, places: np.ndarray, look: dict) -> None:
    values = [list(finite_scores(outcome, (dataset, s, method)).values()) for s in outcome.settings]
    means = np.array([np.mean(v) if v else np.nan for v in values])
    errors = np.array([np.std(v, ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in values])
    order = np.argsort(places, kind="stable")
    panel.plot(places[order], means[order], label=method, **look)
    if errors.any():
        low, high = (means - errors)[order], (means + errors)[order]
        panel.fill_between(places[order], low, high, color=look["color"], alpha=0.15, linewidth=0)
    printed = [outcome.printed.get((dataset, s, method)) for s in outcome.settings]
    if any(printed):
        paper = np.array([p.mean if p else np.nan for p in printed])
        panel.plot(places[order], paper[order], "D", markersize=4, markerfacecolor="none", color=look["color"])


def _looks(methods: Sequence[str]) -> list[dict[str, Any]]:
    """A colour for each number of folds; what comes first is wide and pale, so that what coincides shows on it."""
    families = [m.partition("-")[0] if m.partition("-")[0].isdigit() else m for m in methods]
    colours = {family: COLOURS[k % len(COLOURS)] for k, family in enumerate(dict.fromkeys(families))}
    on_top = ({"marker": "o", "markersize": 2.5}, {"marker": "x", "markersize": 4, "linestyle": "--"})
    looks: list[dict[str, Any]] = []
    for place, family in enumerate(families):
        earlier = families[:place].count(family)
        if not earlier and families.count(family) > 1:
            look: dict[str, Any] = {"linewidth": 3.0, "alpha": 0.45}
        else:
            look = {"linewidth": 1.2, **on_top[max(0, earlier - 1) % len(on_top)]}
        looks.append({"color": colours[family], **look})
    return looks


def _scale(panel: Any, outcome: Outcome, places: np.ndarray) -> None:
    numeric = None not in [as_number(setting) for setting in outcome.settings]
    if not numeric:
        panel.set_xticks(places, outcome.settings)
    elif len(places) > 1 and places.min() > 0 and places.max() / places.min() >= 16:
        panel.set_xscale("log", base=2)
    elif np.all(places == np.round(places)) and len(places) <= 12:
        panel.set_xticks(places)
    drawn = np.concatenate([line.get_ydata() for line in panel.lines] or [np.zeros(0)])
    drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
    if outcome.study.protocol.kind == "discrepancy" and len(drawn) and drawn.max() > 10 * drawn.min():
        panel.set_yscale("log", nonpositive="mask")


def _bars(outcome: Outcome) -> Any:
    """The best mean over all settings, bars by data set, and the best printed mean."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6.0, 1.0 * len(outcome.datasets)), 3.2), layout="constrained")
    panel = figure.subplots()
    width = 0.8 / len(outcome.methods)
    choose = np.nanmax if outcome.study.greater_is_better else np.nanmin
    lowest = []
    for place, method in enumerate(outcome.methods):
        ours, printed = (_best(outcome, method, which, choose) for which in ("ours", "printed"))
        x = np.arange(len(outcome.datasets)) + (place - (len(outcome.methods) - 1) / 2) * width
        panel.bar(x, ours, width * 0.9, label=method, color=COLOURS[place % len(COLOURS)])
        panel.plot(x, printed, "D", markersize=3, color=INK, label="printed" if not place else None, linestyle="none")
        lowest += [value for value in (*ours, *printed) if np.isfinite(value)]
    panel.set_ylim(bottom=max(0.0, 10 * np.floor(min(lowest) / 10) - 10))
    panel.set_xticks(range(len(outcome.datasets)), outcome.datasets, rotation=30, ha="right")
    start = panel.get_ylim()[0]
    panel.set_ylabel(unit_name(outcome.study) + (f" (from {start:g})" if start else ""))
    figure.legend(*panel.get_legend_handles_labels(), loc="outside upper center", ncols=len(outcome.methods) + 1)
    return figure


def _best(outcome: Outcome, method: str, which: str, choose: Callable) -> list[float]:
    best = []
    for dataset in outcome.datasets:
        cells = [(dataset, setting, method) for setting in outcome.settings]
        if which == "printed":
            values = [outcome.printed[cell].mean for cell in cells if cell in outcome.printed]
        else:
            scores = [list(finite_scores(outcome, cell).values()) for cell in cells]
            values = [float(np.mean(found)) for found in scores if found]
        best.append(float(choose(values)) if values else np.nan)
    return best
