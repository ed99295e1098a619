"""Pictures of learned kernels in matplotlib: the path of a search, scales of features, weights of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._public import set_module
from ..kernels import ARD, Kernel, WeightedSum
from .displays import ACCENT, INK, _axes

MOST_BARS = 30
"""Bars that can be told apart; those of the largest values are drawn."""


@set_module("onefit")
@dataclass
class LearningPathDisplay:
    """The criterion that a ``KernelLearnCV`` minimises and the loss on outer folds, step by step.

    Both are relative to the first step. The inner value only falls; where the outer loss rises, the search overfits. A
    star marks the step that was chosen.

    Parameters
    ----------
    inner, outer : ndarray of shape (n_steps,)
        The criterion, and the loss on outer folds (NaN without them).
    chosen : int
        The chosen step.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from onefit import KernelLearnCV, LearningPathDisplay, LSSVR
    >>> from onefit.kernels import ARD, Gaussian
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=3, outer_cv=2).fit(X[:80], y[:80])
    >>> display = LearningPathDisplay.from_search(search)
    >>> display.ax_.get_xlabel(), len(display.inner) == search.n_iter_
    ('step', True)
    """

    inner: np.ndarray
    outer: np.ndarray
    chosen: int

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None) -> LearningPathDisplay:
        """Draw the path of a fitted ``KernelLearnCV``."""
        check_is_fitted(search)
        results = search.cv_results_
        return cls(results["inner_value"], results["outer_loss"], search.best_index_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> LearningPathDisplay:
        """Draw it on given axes or new ones."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        steps = np.arange(len(self.inner))
        self.ax_.plot(steps, self.inner / self.inner[0], color="0.6", label="inner value, minimised")
        if np.isfinite(self.outer).any():
            relative = self.outer / self.outer[0]
            self.ax_.plot(steps, relative, color=ACCENT, label="loss on outer folds")
            self.ax_.plot(self.chosen, relative[self.chosen], "*", color=INK, markersize=12, label="chosen step")
        self.ax_.set(xlabel="step", ylabel="relative to the start")
        self.ax_.legend()
        return self


@set_module("onefit")
@dataclass
class LearnedKernelDisplay:
    """The learned parameters of a kernel as bars: importances of features, their scales, or weights of kernels.

    Parameters
    ----------
    names : list of str
        What the bars stand for.
    values : ndarray of shape (n_bars,)
        How long they are.
    label : str
        The name of the values.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from onefit import LearnedKernelDisplay
    >>> from onefit.kernels import Gaussian, Linear, WeightedSum
    >>> display = LearnedKernelDisplay.from_kernel(WeightedSum([Gaussian(0.1), Linear()], [0.9, 0.1]))
    >>> display.values.tolist()
    [0.9, 0.1]
    """

    names: list[str]
    values: np.ndarray
    label: str

    @classmethod
    def from_search(cls, search: Any, *, names: Sequence[str] | None = None, ax: Any = None) -> LearnedKernelDisplay:
        """Draw the importances of the features of a fitted ``KernelLearnCV``; ``names`` are those of the features."""
        check_is_fitted(search)
        if not hasattr(search, "feature_importances_"):
            raise ValueError("The learned kernel has no importances of features: draw its parameters by from_kernel.")
        values = search.feature_importances_
        known: Any = getattr(search, "feature_names_in_", range(len(values))) if names is None else names
        return cls([str(name) for name in known], values, "importance").plot(ax=ax)

    @classmethod
    def from_kernel(cls, kernel: Kernel, *, names: Sequence[str] | None = None, ax: Any = None) -> LearnedKernelDisplay:
        """Draw the scales of an ``ARD`` or the weights of a ``WeightedSum``."""
        if isinstance(kernel, WeightedSum):
            values, label = np.array(kernel.weights), "weight"
            known: Sequence[Any] = kernel.kernels
        elif isinstance(kernel, ARD) and kernel.scales is not None:
            values, label = np.array(kernel.scales), "scale"
            known = range(len(values)) if kernel.groups is None else kernel.groups
        else:
            raise ValueError(f"Bars are those of an ARD with scales or of a WeightedSum, got {kernel}.")
        return cls([str(name) for name in (known if names is None else names)], values, label).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> LearnedKernelDisplay:
        """Draw the largest values, on given axes or new ones."""
        if len(self.names) != len(self.values):
            raise ValueError(f"There are {len(self.names)} names for {len(self.values)} values.")
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(-self.values, kind="stable")[:MOST_BARS][::-1]
        self.bars_ = self.ax_.barh([self.names[k] for k in order], self.values[order], color=ACCENT)
        self.ax_.set(xlabel=self.label)
        return self
