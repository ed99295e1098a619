"""Statistics of differences over data sets: how large they are, and how probable it is that they matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .statistics import LEVEL

DRAWS = 10_000
"""Resamples of the bootstrap, and samples of a posterior: their shares are known to a half percent."""


@dataclass(frozen=True)
class Interval:
    """A mean over data sets with the interval of its bootstrap; NaN without data sets."""

    mean: float
    low: float
    high: float


def bootstrap_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """The mean of one number for each data set, with the percentile interval over data sets drawn with replacement.

    The seed is fixed. Values that are NaN are left out; the interval of fewer than two is NaN.

    Source  Efron & Tibshirani, An introduction to the bootstrap (1993), chapter 13.

    >>> bootstrap_interval([1.0, 1.0, 1.0])
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    known = _finite(values)
    if len(known) < 2:
        return Interval(float(known.mean()) if len(known) else np.nan, np.nan, np.nan)
    rows = np.random.default_rng(0).integers(len(known), size=(DRAWS, len(known)))
    low, high = np.quantile(known[rows].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(known.mean()), float(low), float(high))


@dataclass(frozen=True)
class Practical:
    """Posterior probabilities that differences are below, within and above a region of practical equivalence."""

    below: float
    within: float
    above: float


def bayesian_signed_rank(differences: ArrayLike, rope: float, prior: float = 0.5) -> Practical:
    r"""The Bayesian signed-rank test of one difference for each data set.

    With weights w from a Dirichlet distribution, one for each difference z and ``prior`` for a pseudo-observation
    z = 0, the shares of pairs below, within and above ``±rope`` are

    .. math:: \theta_< = \sum_{ij} w_i w_j [z_i + z_j < -2 r], \quad
              \theta_> = \sum_{ij} w_i w_j [z_i + z_j > 2 r], \quad \theta_= = 1 - \theta_< - \theta_>

    A probability is the share of draws of w in which its θ is the largest. The seed is fixed.

    Oracle  a double loop over pairs.
    Laws    swapping the sign of z swaps below and above; rope = ∞ is certainly within.
    Source  Benavoli, Corani, Demšar & Zaffalon, Time for a change, JMLR 18 (2017), section 4.2; written here on NumPy.
    """
    z = np.concatenate([[0.0], _finite(differences)])
    if len(z) < 3:
        return Practical(np.nan, np.nan, np.nan)
    weights = np.random.default_rng(0).dirichlet([prior, *np.ones(len(z) - 1)], size=DRAWS)
    sums = np.add.outer(z, z)
    below = ((weights @ (sums < -2 * rope)) * weights).sum(axis=1)
    above = ((weights @ (sums > 2 * rope)) * weights).sum(axis=1)
    largest = np.argmax([below, 1.0 - below - above, above], axis=0)
    shares = np.bincount(largest, minlength=3) / DRAWS
    return Practical(*(float(share) for share in shares))


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]
