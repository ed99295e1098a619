"""Variance of folds' errors and covariance of two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machines.evidence import OutOfFold
from .base import Array


def check_correlation(correlation: Any) -> None:
    """Refuse what is neither None nor a correlation of two folds that leaves some variance."""
    if correlation is not None and not 0 <= correlation < 1:
        raise ValueError(f"correlation must be None or a number from 0 up to 1, got {correlation!r}.")


def fold_means(losses: list[Array], held: OutOfFold) -> Array:
    """Mean loss of every split (E, J), from the losses (E, rows) of each; leave-one-out has one part of all splits."""
    if held.folds.leave_one_out:
        return losses[0]
    return np.stack([loss.mean(axis=1) for loss in losses], axis=1)


def tested_share(held: OutOfFold) -> float:
    """Mean share of the rows that a split tests."""
    n = held.folds.n
    return float(np.mean([len(fold.test) for fold in held.folds])) / n


def fold_moments(means: Array, correlation: float) -> tuple[Array, Array]:
    r"""(variance of one fold's error, covariance of two folds') from the errors (…, J) of J folds.

    The sample variance of exchangeable folds estimates the difference of the two without bias, and nothing that is
    computed from one sample estimates either: the correlation has to be supposed.
    """
    variance = means.var(axis=-1, ddof=1) / (1.0 - correlation)
    return variance, correlation * variance
