"""From facts to a page: HTML, style and script in one text."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

from . import figures, text
from .drawing import palette, picture
from .facts import Facts
from .heat_map import SYMBOLS, Colouring, details, heat_map
from .kernel_picture import KernelPicture
from .predictions import Classification, Regression
from .probabilities import Thresholds
from .surface import CELLS

TABLE_ROWS = 50
"""Candidates in the table as it is printed and without scripts; a script shows all that are embedded."""

EMBEDDED = 5000
"""Candidates that the page holds; all are in ``cv_results_``."""

CLASSES = 30
"""Classes of a confusion matrix that are shown."""

MEANINGS = {
    "exact": "equal to training on every fold, up to rounding",
    "certified": "proved to equal training on every fold",
    "approximate": "an influence-function series, a criterion, shared preprocessing, or rounding is seen in its values",
    "retrained": "trained on every fold, as GridSearchCV does",
    "pruned": "given up, because something else is proved to be better or ranked better by the screen",
    "failed": "could not be trained",
    "not reached": "not known, because the time budget was used up before their turn",
}


def render(facts: Facts) -> str:
    """The page. A pure function of the facts."""
    pages = environment()
    scores = facts.scores
    shown = {cell for panel in facts.panels for row in panel.cells for cell in row if cell is not None}
    order = np.argsort(scores.ranks, kind="stable")
    shown |= set(order[:EMBEDDED].tolist())
    colouring = Colouring.of(scores.merit)
    return pages.get_template("report.html").render(
        facts=facts,
        scores=scores,
        best=scores.best,
        cost=facts.cost,
        colouring=colouring,
        maps=[heat_map(scores, panel, colouring) for panel in facts.panels],
        details={i: details(scores, i) for i in sorted(shown)},
        symbols={str(label): symbol for label, symbol in SYMBOLS.items()},
        meanings=MEANINGS,
        scale=", ".join(f"rgb({r},{g},{b})" for r, g, b in palette(11)),
        order=order[:TABLE_ROWS].tolist(),
        embedded=order[:EMBEDDED].tolist(),
        thresholds=None if facts.calibration is None else thresholds_for_script(facts.calibration.thresholds),
        figures=figures,
        is_classified=isinstance(facts.predictions, Classification),
        is_regressed=isinstance(facts.predictions, Regression),
        shown_classes=largest_classes(facts.predictions),
        gram=None if facts.kernel is None else _gram(facts.kernel),
        spectrum_table=[] if facts.kernel is None else _some_eigenvalues(facts.kernel),
        cells_limit=CELLS,
    )


@cache
def environment() -> Any:
    """Templates of the pages, with their filters."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("Reports need jinja2: install onefit[report].") from error
    pages = Environment(
        loader=PackageLoader("onefit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(
        number=text.number,
        plain=text.plain,
        settings=text.settings,
        seconds=text.seconds,
        drawn=Markup,  # charts escape what they are given
        embedded=lambda data: Markup(_json(data)),
    )
    return pages


def _json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def thresholds_for_script(found: Thresholds) -> dict[str, Any]:
    """Thresholds as the page's script reads them."""
    return {
        "places": [round(float(place), 6) for place in found.places], "caught": found.caught.tolist(),
        "alarms": found.alarms.tolist(), "positives": found.positives, "negatives": found.negatives,
    }  # fmt: skip


def largest_classes(predictions: Any) -> list[int]:
    """The classes with most rows, in their own order."""
    if not isinstance(predictions, Classification):
        return []
    sizes = predictions.confusion.sum(axis=1)
    return sorted(np.argsort(-sizes, kind="stable")[:CLASSES].tolist())


def _gram(kernel: KernelPicture) -> dict[str, Any]:
    """The picture of the matrix and the numbers at the ends of its colours."""
    low, high = float(kernel.pixels.min()), float(kernel.pixels.max())
    shares = (kernel.pixels - low) / (high - low) if high > low else np.ones_like(kernel.pixels)
    return {"source": picture(shares), "low": low, "high": high}


def _some_eigenvalues(kernel: KernelPicture) -> list[tuple[int, float]]:
    """Eigenvalues at places 1, 2, 5, 10, 20, …"""
    places = [factor * 10**power for power in range(6) for factor in (1, 2, 5)]
    return [(place, float(kernel.eigenvalues[place - 1])) for place in places if place <= len(kernel.eigenvalues)]
