"""The results of a gradient search as a table, and columns by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import Columns, Kernel, Product, Scaled, Sum, WeightedSum
from .outer_folds import OuterScores


def learning_table(steps: list[dict[str, Any]], inner: np.ndarray, outer: OuterScores) -> dict[str, Any]:
    """``cv_results_``: one entry for each step of the path."""
    count = len(steps)
    table: dict[str, Any] = {"params": list(steps), "step": np.arange(count), "inner_value": np.asarray(inner)}
    for name in steps[0]:
        column = np.ma.MaskedArray(np.empty(count, dtype=object), mask=False)
        for k, step in enumerate(steps):
            column[k] = step[name]
        table[f"param_{name}"] = column
    table["outer_loss"] = outer.pooled_loss
    for k, scores in enumerate(outer.scores):
        table[f"split{k}_test_score"] = scores
    counted = outer.scores[outer.weights > 0]
    mean = counted.mean(axis=0) if len(counted) else np.full(count, np.nan)
    table["mean_test_score"] = mean
    table["std_test_score"] = counted.std(axis=0) if len(counted) else np.full(count, np.nan)
    ranked = np.where(np.isnan(mean), -np.inf, mean)
    table["rank_test_score"] = np.array([1 + int((ranked > value).sum()) for value in ranked], dtype=np.int32)
    return table


def name_columns(kernel: Kernel, X: Any) -> Kernel:
    """The kernel with positions in place of the names of a data frame's columns."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else []
    if isinstance(kernel, Columns):
        return replace(kernel.named(names), kernel=name_columns(kernel.kernel, X))
    if isinstance(kernel, Sum | Product):
        return type(kernel)(name_columns(kernel.left, X), name_columns(kernel.right, X))
    if isinstance(kernel, Scaled):
        return replace(kernel, kernel=name_columns(kernel.kernel, X))
    if isinstance(kernel, WeightedSum):
        return replace(kernel, kernels=tuple(name_columns(one, X) for one in kernel.kernels))
    return kernel
