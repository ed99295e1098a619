"""Pictures of searches, criteria and kernels in matplotlib, with the manners of scikit-learn's displays.

``from_…`` computes what is drawn and draws it; the display keeps the numbers, can ``plot`` them again, and has the axes
and the figure as ``ax_`` and ``figure_``.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._public import set_module
from ..estimators.comparison import Comparison, curve_of, parameter_of
from ..kernels import Kernel
from ..machines import Exactness
from ..studies.statistics import Ranking, ranking
from .heat_map import SYMBOLS, Colouring
from .scores import Scores, read_scores
from .study.diagram import draw_diagram
from .surface import Curve, Panel, axes_around, panels_of, spans_decades, validation_curve

ACCENT, INK = "#0a6b57", "#1f2328"


def _axes(ax: Any) -> Any:
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Displays need matplotlib: install onefit[plot].") from error
    return plt.subplots()[1]


class _Display:
    """Displays show in one line what they hold, and not every number of it."""

    def __repr__(self) -> str:
        held = ", ".join(f"{name}: {_in_short(value)}" for name, value in vars(self).items() if not name.endswith("_"))
        return f"<{type(self).__name__} of {held}>"


def _in_short(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"array {value.shape}"
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"{len(value):,} {type(value).__name__}"
    text = str(value)
    return text if len(text) <= 40 else type(value).__name__


@set_module("onefit")
@dataclass(repr=False)
class ValidationSurfaceDisplay(_Display):
    """Scores of a grid as a heat map: kernel parameter by regularisation.

    The chosen candidate is marked with a star, the one-standard-error choice with a diamond; certified, approximate
    and retrained cells have a symbol where labels differ; what was pruned, failed or not reached is grey. Colours start
    three times as far below the best score as the median is, so that a few dreadful candidates do not use them up.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import KernelSearchCV, ValidationSurfaceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1], "C": [0.1, 1, 10, 100]}, cv=5).fit(X, y)
    >>> display = ValidationSurfaceDisplay.from_search(search)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel(), display.values.shape
    ('C', 'gamma', (3, 4))
    """

    scores: Scores
    panel: Panel

    @classmethod
    def from_search(
        cls, search: Any, *, panel: int = 0, ax: Any = None, cmap: str = "viridis", colorbar: bool = True
    ) -> ValidationSurfaceDisplay:
        """Draw a fitted search; of grids with more than two parameters one ``panel``, first that of the choice."""
        scores = read_scores(search)
        panels, _ = panels_of(scores)
        if not 0 <= panel < len(panels):
            raise ValueError(f"panel must be one of 0 to {len(panels) - 1}, got {panel!r}.")
        return cls(scores, panels[panel]).plot(ax=ax, cmap=cmap, colorbar=colorbar)

    @property
    def values(self) -> np.ndarray:
        """Scores by rows and columns, to be coloured; NaN for what was pruned, failed, or is not in the grid."""
        hidden = np.isin(self.scores.exactness, [Exactness.PRUNED, Exactness.FAILED])
        values = np.where(hidden, np.nan, self.scores.values)
        return np.array([[np.nan if i is None else values[i] for i in row] for row in self.panel.cells])

    def plot(self, *, ax: Any = None, cmap: str = "viridis", colorbar: bool = True) -> ValidationSurfaceDisplay:
        """Draw it, on given axes or new ones."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        colouring, sign = Colouring.of(self.scores.merit), 1.0 if self.scores.greater_is_better else -1.0
        low, high = sorted((sign * colouring.low, sign * colouring.high))
        name = cmap if self.scores.greater_is_better else f"{cmap}_r"
        self.ax_.set_facecolor("#d9d9d9")
        self.im_ = self.ax_.imshow(self.values, cmap=name, vmin=low, vmax=high, aspect="auto")
        if colorbar:
            below = "min" if self.scores.greater_is_better else "max"
            extend = below if colouring.clipped else "neither"
            self.figure_.colorbar(self.im_, ax=self.ax_, label=self.scores.name, extend=extend)
        self._mark()
        self._label(self.ax_.set_xticks, self.panel.column_labels, rotation=45, ha="right")
        self._label(self.ax_.set_yticks, self.panel.row_labels)
        self.ax_.set(xlabel=self.panel.column_name, ylabel=self.panel.row_name, title=self.panel.title)
        return self

    def _mark(self) -> None:
        """Symbols of the chosen ones, and of labels if there are several."""
        several, values = len(set(self.scores.exactness)) > 1, self.values
        for row, line in enumerate(self.panel.cells):
            for column, i in enumerate(line):
                if i is None:
                    continue
                symbol = SYMBOLS[Exactness(self.scores.exactness[i])] if several else ""
                symbol += "◇" * (i == self.scores.cautious) + "★" * (i == self.scores.best)
                if symbol:
                    value = values[row, column]
                    light = np.isnan(value) or sum(self.im_.cmap(self.im_.norm(value))[:3]) > 1.4
                    self.ax_.text(column, row, symbol, ha="center", va="center", color="black" if light else "white")

    @staticmethod
    def _label(set_ticks: Any, labels: Sequence[str], **options: Any) -> None:
        every = max(1, -(-len(labels) // 25))
        set_ticks(range(0, len(labels), every), labels[::every], **options)


@set_module("onefit")
@dataclass(repr=False)
class CriterionCurveDisplay(_Display):
    """A score over a parameter with its band of one standard error, or several criteria side by side.

    ``from_search`` draws the candidates that differ from the chosen one in the parameter only. ``from_comparison``
    draws for each criterion its best value over all other parameters, scaled so that 0 is its worst and 1 its best:
    they have no unit in common.
    """

    parameter: str
    curves: dict[str, Curve]
    scaled: bool

    @classmethod
    def from_search(cls, search: Any, parameter: str | None = None, *, ax: Any = None) -> CriterionCurveDisplay:
        """Draw the validation curve of a fitted search, by default over its kernel parameter."""
        scores = read_scores(search)
        axes = axes_around(scores, scores.best)
        parameter = parameter or axes.row or axes.column
        if parameter is None or parameter not in scores.params[scores.best]:
            raise ValueError(f"parameter must be one of the grid's, got {parameter!r}.")
        curve = validation_curve(scores, parameter)
        if len(curve.places) == 0:
            raise ValueError(f"The grid has no numbers for {parameter!r}.")
        return cls(parameter, {scores.name: curve}, scaled=False).plot(ax=ax)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, parameter: str | None = None, *, ax: Any = None
    ) -> CriterionCurveDisplay:
        """Draw what ``onefit.compare`` returned, by default over a kernel parameter."""
        parameter = parameter or parameter_of(comparison)
        curves = {}
        for row in comparison.rows:
            name = row["criterion"]
            places, values = curve_of(comparison, name, parameter)
            values = values if comparison.greater_is_better[name] else -values
            spread = np.nanmax(values) - np.nanmin(values)
            values = (values - np.nanmin(values)) / spread if spread > 0 else np.ones(len(values))
            at = np.flatnonzero(places == row["params"].get(parameter))
            curves[name] = Curve(
                parameter, name, places, values, np.full(len(values), np.nan),
                int(at[0]) if len(at) else None, None, np.nan,
            )  # fmt: skip
        return cls(parameter, curves, scaled=True).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CriterionCurveDisplay:
        """Draw it, on given axes or new ones."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for name, curve in self.curves.items():
            (line,) = self.ax_.plot(curve.places, curve.values, marker=".", label=name)
            self.lines_.append(line)
            if np.isfinite(curve.errors).any():
                low, high = curve.values - curve.errors, curve.values + curve.errors
                self.ax_.fill_between(curve.places, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
            if np.isfinite(curve.threshold):
                self.ax_.axhline(curve.threshold, linestyle="--", color="gray", linewidth=1)
            for position, marker, fill in ((curve.cautious, "D", "none"), (curve.best, "*", "full")):
                if position is not None:
                    at = curve.places[position], curve.values[position]
                    self.ax_.plot(*at, marker, color=line.get_color(), markersize=12, fillstyle=fill)
        if spans_decades(next(iter(self.curves.values())).places):
            self.ax_.set_xscale("log")
        self.ax_.set(xlabel=self.parameter, ylabel="scaled: 1 is best" if self.scaled else next(iter(self.curves)))
        if len(self.curves) > 1:
            self.ax_.legend()
        return self


@set_module("onefit")
@dataclass(repr=False)
class SpectrumDisplay(_Display):
    """Eigenvalues of a Gram matrix from the largest to the smallest, and a ridge among them.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from onefit import SpectrumDisplay
    >>> from onefit.kernels import Gaussian
    >>> display = SpectrumDisplay.from_kernel(Gaussian(0.1), load_iris().data, ridge=0.01)
    >>> len(display.eigenvalues), bool(abs(display.eigenvalues.sum() - 150) < 1e-9)
    (150, True)
    """

    eigenvalues: np.ndarray
    ridge: float | None = None
    name: str | None = None

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any = None, *, ridge: float | None = None, name: str | None = None, ax: Any = None
    ) -> SpectrumDisplay:
        """Draw the spectrum of a kernel of ``onefit.kernels`` on the rows of X, or of a Gram matrix."""
        if isinstance(kernel, Kernel):
            if X is None:
                raise ValueError("X is needed: a kernel has a spectrum on some rows only.")
            K = kernel(X)
        else:
            K = np.asarray(kernel, dtype=float)
            if K.ndim != 2 or K.shape[0] != K.shape[1] or X is not None:
                raise ValueError("kernel must be one of onefit.kernels, with X, or a square Gram matrix, without.")
        return cls(np.linalg.eigvalsh((K + K.T) / 2.0)[::-1], ridge, name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SpectrumDisplay:
        """Draw what is positive of it, on given axes or new ones."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        floor = max(0.0, self.eigenvalues[0] * 1e-16 * len(self.eigenvalues))
        kept = self.eigenvalues[self.eigenvalues > floor]
        (self.line_,) = self.ax_.plot(np.arange(1, len(kept) + 1), kept, color=ACCENT, label=self.name)
        if self.ridge:
            self.ax_.axhline(self.ridge, linestyle="--", color="gray", linewidth=1, label="ridge")
        if self.ridge or self.name:
            self.ax_.legend()
        self.ax_.set(xscale="log", yscale="log", xlabel="place", ylabel="eigenvalue")
        return self


@set_module("onefit")
@dataclass(repr=False)
class CriticalDifferenceDisplay(_Display):
    """Average ranks of methods over data sets; methods that the Nemenyi test cannot tell apart are joined by a bar.

    ``ranking`` has the ranks (1 is best), Friedman's test and the critical difference. Needs scikit-posthocs.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from onefit import CriticalDifferenceDisplay
    >>> scores = {"cv": [0.9, 0.8, 0.7, 0.9], "sm": [0.8, 0.7, 0.7, 0.6], "kta": [0.7, 0.6, 0.5, 0.5]}
    >>> CriticalDifferenceDisplay.from_scores(scores).ranks
    {'cv': 1.125, 'sm': 1.875, 'kta': 3.0}
    """

    methods: list[str]
    ranking: Ranking

    @classmethod
    def from_scores(
        cls, scores: Any, *, greater_is_better: bool = True, level: float = 0.95, ax: Any = None
    ) -> CriticalDifferenceDisplay:
        """Draw a table of scores: a DataFrame or a dict, one row for each data set, one column for each method."""
        methods = [str(name) for name in scores]
        table = np.column_stack([np.asarray(scores[name], dtype=float) for name in scores])
        if min(table.shape) < 2:
            sets, columns = table.shape
            raise ValueError(f"scores must have two data sets and two methods or more, got {sets} and {columns}.")
        missing = [name for name, column in zip(methods, table.T) if not np.isfinite(column).all()]
        if missing:
            raise ValueError(f"scores has missing values: {', '.join(missing)}.")
        return cls(methods, ranking(-table if greater_is_better else table, level)).plot(ax=ax)

    @property
    def ranks(self) -> dict[str, float]:
        """The average rank of each method."""
        return dict(zip(self.methods, self.ranking.ranks))

    def plot(self, *, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw it, on given axes or new ones."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        try:
            draw_diagram(self.ax_, self.methods, self.ranking, INK)
        except ImportError as error:
            raise ImportError("Critical differences need scikit-posthocs: install onefit[studies].") from error
        return self
