"""The tests that tables are read with: arrays of losses in (lower is better), named results out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.95
"""Level of confidence of all tests."""
SMALL = 13
"""Data sets up to which signed ranks are counted out even if some are equal; above, their sum is taken as normal."""
ROUNDING = 1e-12
"""Differences below this share of the scores are those of two ways to sum the same numbers: they count as zero."""


@dataclass(frozen=True)
class PairedTest:
    """A paired t-test of A against B over splits: d_i = B_i - A_i, so a positive statistic speaks for A.

    ``statistic`` is NaN where nothing can be tested (fewer than two splits) and infinite where all
    splits have the same difference.
    """

    n: int
    mean: float
    std: float
    statistic: float
    critical: float

    @property
    def first_is_better(self) -> bool:
        return self.statistic > self.critical

    @property
    def second_is_better(self) -> bool:
        return self.statistic < -self.critical

    @property
    def differs(self) -> bool:
        return self.first_is_better or self.second_is_better

    @property
    def tested(self) -> bool:
        return not np.isnan(self.statistic)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    r"""The papers' paired t-test.

    .. math:: t = \bar d \,/\, (S_d / \sqrt m) \;>\; t_{m-1,\,0.95}, \qquad d_i = B_i - A_i

    S_d is the sample standard deviation of the differences (which the papers call their standard error) and the
    critical value is one-sided: 1.833 for m = 10. For m = 50 the papers print 1.676, the value of 50 degrees of
    freedom instead of 49; here it is 1.677.

    Oracle  ``scipy.stats.ttest_rel``.
    Laws    swapping the methods changes the sign; only differences count, and not their unit.
    Source  BIF paper, section 6; SM paper, section 5.

    >>> test = paired_t_test([1.0, 2.0, 3.0], [1.5, 2.75, 4.0])
    >>> test.first_is_better, round(test.statistic, 3)
    (True, 5.196)
    """
    return _t_test(first, second, extra_variance=0.0)


def corrected_resampled_t_test(first: ArrayLike, second: ArrayLike, train_share: float) -> PairedTest:
    r"""The paired t-test for random splits of one data set, whose training sets overlap.

    .. math:: t = \bar d \,/\, (S_d \sqrt{1/m + n_\mathrm{test} / n_\mathrm{train}})

    The papers' test takes m splits for m independent samples and finds too many differences; with half of the
    data held out and ten splits, this one asks for differences 3.3 times as large.

    Source  Nadeau & Bengio, Machine Learning 52 (2003).
    """
    if not 0 < train_share < 1:
        raise ValueError(f"train_share must be between 0 and 1, got {train_share!r}.")
    return _t_test(first, second, extra_variance=(1 - train_share) / train_share)


def _t_test(first: ArrayLike, second: ArrayLike, extra_variance: float) -> PairedTest:
    """d̄ / (S_d sqrt(1/m + extra)), without the splits where either has no finite score."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"Paired scores need two sequences of one length, got shapes {a.shape} and {b.shape}.")
    differences = _differences(a, b)
    m = len(differences)
    mean = float(differences.mean()) if m else np.nan
    if m < 2:
        return PairedTest(m, mean, np.nan, np.nan, np.nan)
    constant = np.ptp(differences) <= ROUNDING * np.abs(differences).max()
    std = 0.0 if constant else float(differences.std(ddof=1))
    if std > 0:
        statistic = mean / (std * np.sqrt(1 / m + extra_variance))
    else:
        statistic = 0.0 if mean == 0 else float(np.copysign(np.inf, mean))
    return PairedTest(m, mean, std, float(statistic), float(stats.t.ppf(LEVEL, m - 1)))


def _differences(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """b - a where both are finite, and zero where they only differ by rounding."""
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[finite], b[finite]
    differences = b - a
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return differences


@dataclass(frozen=True)
class PairOfMethods:
    """Two methods over all data sets: the signed-rank p-value, two-sided, and the same after Holm's correction."""

    first: int
    second: int
    p_value: float
    adjusted: float


def wilcoxon_holm(losses: ArrayLike) -> tuple[PairOfMethods, ...]:
    """Wilcoxon's signed-rank test for all pairs of columns of (data sets, methods), corrected for their number.

    Data sets without a difference are split evenly between the two sides; rows with a missing number are left out.

    Oracle  ``scipy.stats.wilcoxon``, ``statsmodels.stats.multitest.multipletests``.
    Source  Demšar, JMLR 7 (2006), sections 3.1.3 and 3.2.2.
    """
    table = complete_rows(losses)
    pairs = list(combinations(range(table.shape[1]), 2))
    p_values = [_signed_rank(_differences(table[:, a], table[:, b])) for a, b in pairs]
    return tuple(PairOfMethods(a, b, p, q) for (a, b), p, q in zip(pairs, p_values, holm(p_values)))


def _signed_rank(differences: NDArray[np.float64]) -> float:
    """The p-value of differences; sizes that are equal but for rounding, such as 1.1 - 1 and 0.1, tie."""
    differences = np.array([float(f"{difference:.9g}") for difference in differences])
    if not np.any(differences):
        return 1.0
    if len(differences) > SMALL:
        return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)
    return _exact_signed_rank(differences)


def _exact_signed_rank(differences: NDArray[np.float64]) -> float:
    """The two-sided p-value over all signs of the differences, of which some may be equal or zero.

    Twice the ranks are whole numbers, so that the sums of all subsets are counted one rank after the other. SciPy
    ranks anew for each of the 2^n signs. Cost: O(n³).
    """
    doubled = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)[differences != 0]
    counts = np.zeros(doubled.sum() + 1)
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] += counts[: len(counts) - rank].copy()
    positive = doubled[differences[differences != 0] > 0].sum()
    tails = counts[: positive + 1].sum(), counts[positive:].sum()
    return float(min(1.0, 2 * min(tails) / counts.sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the i-th smallest of k p-values times k - i + 1, made increasing, at most one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted.tolist()


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over data sets (1 is the best), and whether they can be told apart.

    ``chi_square`` and ``p_value`` are Friedman's, ``f_statistic`` and ``f_p_value`` Iman and Davenport's less
    conservative form; two methods differ by Nemenyi's test if their ranks do by ``critical_difference`` or more.
    NaN where there are too few methods or data sets.
    """

    n: int
    ranks: tuple[float, ...]
    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float


def ranking(losses: ArrayLike, level: float = LEVEL) -> Ranking:
    r"""Rank the columns of (data sets, methods); rows with a missing number are left out.

    .. math:: F = (N-1) \chi^2 / (N(k-1) - \chi^2), \qquad CD = q_{\alpha} \sqrt{k(k+1) / (6N)}

    with N data sets, k methods and q the studentized range over the square root of two.

    Oracle  the worked example of the source; ``scikit_posthocs.posthoc_nemenyi_friedman``.
    Source  Demšar, JMLR 7 (2006), section 3.2.
    """
    table = complete_rows(losses)
    n, k = table.shape
    if n < 2 or k < 2:
        return Ranking(n, (np.nan,) * k, np.nan, np.nan, np.nan, np.nan, np.nan)
    ranks = tuple(float(r) for r in _ranks_of_rows(table).mean(axis=0))
    return Ranking(n, ranks, *_friedman(table), critical_difference(k, n, level))


def _ranks_of_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rank of each method on each data set, 1 for the lowest loss; numbers that only differ by rounding tie."""
    scale = np.abs(table).max(axis=1, keepdims=True)
    return stats.rankdata(np.round(table / np.where(scale > 0, scale, 1.0) / ROUNDING), axis=1)


def complete_rows(losses: ArrayLike) -> NDArray[np.float64]:
    """The data sets on which every method has a finite number."""
    table = np.asarray(losses, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"Losses must have the shape (data sets, methods), got {table.shape}.")
    return table[np.isfinite(table).all(axis=1)]


def _friedman(table: NDArray[np.float64]) -> tuple[float, float, float, float]:
    n, k = table.shape
    if k < 3:
        return np.nan, np.nan, np.nan, np.nan
    ranks = _ranks_of_rows(table)
    if np.all(ranks == ranks[0, 0]):  # every method ties with every other everywhere
        return 0.0, 1.0, 0.0, 1.0
    chi_square, p_value = stats.friedmanchisquare(*ranks.T)
    rest = n * (k - 1) - chi_square
    if rest <= ROUNDING * n * k:  # one order on all data sets
        return float(chi_square), float(p_value), np.inf, 0.0
    f_statistic = (n - 1) * chi_square / rest
    f_p_value = stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1))
    return float(chi_square), float(p_value), float(f_statistic), float(f_p_value)


def critical_difference(methods: int, datasets: int, level: float = LEVEL) -> float:
    """How far apart two average ranks must be to differ by Nemenyi's test.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = stats.studentized_range.ppf(level, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * datasets)))


def in_standard_errors(
    mean: float, std: float | None, n: int, printed: float, printed_std: float | None, printed_n: int
) -> float | None:
    r"""How far our mean is from the printed one, in standard errors of the difference.

    .. math:: (\bar x - \bar x_p) \,/\, \sqrt{s^2/m + s_p^2/m_p}

    A missing printed standard deviation counts as zero; None where ours is unknown (fewer than two splits).
    """
    if n < 2 or std is None or not np.isfinite([mean, std, printed]).all():
        return None
    difference = mean - printed
    if abs(difference) <= ROUNDING * abs(printed):
        return 0.0
    error = np.sqrt(std**2 / n + (printed_std or 0.0) ** 2 / printed_n)
    return float(difference / error) if error > 0 else float(np.copysign(np.inf, difference))


DRAWS = 10_000
"""Resamples of the bootstrap, and samples of a posterior: their shares are known to a half percent."""


@dataclass(frozen=True)
class Interval:
    """A mean over data sets with the interval of its bootstrap; NaN without data sets."""

    mean: float
    low: float
    high: float


def bootstrap_interval(values: ArrayLike) -> Interval:
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
    low, high = np.quantile(known[rows].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
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
