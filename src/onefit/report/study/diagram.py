"""Critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...studies.statistics import Ranking


def draw_diagram(panel: Any, methods: Sequence[str], ranking: Ranking, ink: str) -> None:
    """Average ranks on a line, and a bar under those that Nemenyi's test cannot tell apart (by scikit-posthocs)."""
    import pandas as pd
    from scikit_posthocs import critical_difference_diagram

    ranks = pd.Series(ranking.ranks, index=list(methods))
    gaps = np.abs(np.subtract.outer(ranking.ranks, ranking.ranks))
    as_p_values = np.where(gaps > ranking.critical_difference, 0.0, 1.0)  # it asks only which are below the level
    drawn = critical_difference_diagram(
        ranks,
        pd.DataFrame(as_p_values, index=ranks.index, columns=ranks.index),
        ax=panel,
        label_fmt_left="{label}  {rank:.2f}",
        label_fmt_right="{rank:.2f}  {label}",
        text_h_margin=0.04 * len(methods),
        elbow_props={"color": ink, "linewidth": 0.9},
        marker_props={"color": ink, "s": 12},
        crossbar_props={"color": "#0a7d4f", "linewidth": 3.5},
    )
    panel.spines["top"].set_visible(True)
    for (bar,) in drawn["crossbars"]:  # sets of names have no fixed order, their ends do
        bar.set_data([min(bar.get_xdata()), max(bar.get_xdata())], [bar.get_ydata()[0]] * 2)
    _draw_critical_difference(panel, ranking, len(methods), ink)


def _draw_critical_difference(panel: Any, ranking: Ranking, methods: int, ink: str) -> None:
    end = min(methods, 1 + ranking.critical_difference)
    panel.set_xlim(1 - 0.02 * methods, methods + 0.02 * methods)
    panel.set_xticks(range(1, methods + 1))
    panel.plot([1, end], [1.6, 1.6], color=ink, linewidth=1.4, marker="|", markersize=6, clip_on=False)
    wider = "" if end < methods else " (more than the scale)"
    text = f"CD = {ranking.critical_difference:.2f}{wider}, {ranking.n} data sets"
    panel.text(end + 0.02 * methods, 1.6, text, va="center", color=ink)
    panel.set_ylim(top=2.2)
