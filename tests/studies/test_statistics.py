"""Tests over splits and data sets against scipy, statsmodels, plain formulas and a published example."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from onefit.studies.statistics import (
    complete_rows,
    corrected_resampled_t_test,
    critical_difference,
    holm,
    in_standard_errors,
    paired_t_test,
    ranking,
    wilcoxon_holm,
)

# Area under the curve of four variants of one tree learner on fourteen data sets: Demšar (2006), Table 6.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


@pytest.mark.parametrize(("m", "printed"), [(10, 1.833), (50, 1.676)])
def test_critical_values_are_those_of_the_papers(m, printed):
    """1.676 is printed for fifty splits; the value of 49 degrees of freedom is 1.6766."""
    scores = np.arange(m, dtype=float)
    critical = paired_t_test(scores, scores**2).critical
    assert critical == pytest.approx(printed, abs=1e-3)
    assert critical == stats.t.ppf(0.95, m - 1)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("m", [2, 3, 10, 50])
def test_the_papers_test_is_a_one_sided_paired_t_test(m, seed):
    rng = np.random.default_rng(seed)
    first = rng.normal(20, 3, m)
    second = first + rng.normal(0.5, 1, m)
    test = paired_t_test(first, second)
    oracle = stats.ttest_rel(second, first, alternative="greater")
    assert test.statistic == pytest.approx(oracle.statistic)
    assert test.first_is_better == (oracle.pvalue < 0.05)
    assert test.second_is_better == (stats.ttest_rel(second, first, alternative="less").pvalue < 0.05)
    assert test.differs == (test.first_is_better or test.second_is_better)


PERCENT = st.floats(0, 100).map(lambda value: round(value, 6))  # squares of differences below 1e-150 underflow


@given(
    scores=st.lists(st.tuples(PERCENT, PERCENT), min_size=2, max_size=12),
    unit=st.sampled_from([1e-6, 1.0, 1e3]),
)
def test_swapped_methods_swap_the_verdict_in_any_unit(scores, unit):
    first, second = np.array(scores).T
    here, there = paired_t_test(first, second), paired_t_test(unit * second, unit * first)
    assert here.statistic == pytest.approx(-there.statistic, rel=1e-6)
    assert not (here.first_is_better and here.second_is_better)


@pytest.mark.parametrize("train_share", [0.5, 0.7])
def test_corrected_test_is_the_formula_of_nadeau_and_bengio(rng_scores, train_share):
    first, second = rng_scores
    d, m = second - first, len(first)
    variance = sum((x - d.mean()) ** 2 for x in d) / (m - 1)
    expected = d.mean() / np.sqrt((1 / m + (1 - train_share) / train_share) * variance)
    assert corrected_resampled_t_test(first, second, train_share).statistic == pytest.approx(expected)


@pytest.fixture
def rng_scores():
    rng = np.random.default_rng(7)
    first = rng.normal(20, 3, 10)
    return first, first + rng.normal(0.5, 1, 10)


def test_corrected_test_finds_a_subset_of_the_differences():
    """0.8 ± 1 over ten splits: significant for the papers, not when training sets overlap."""
    d = np.tile([-0.2, 1.8], 5)
    plain, corrected = paired_t_test(np.zeros(10), d), corrected_resampled_t_test(np.zeros(10), d, 0.5)
    assert plain.first_is_better
    assert not corrected.differs
    assert plain.statistic / corrected.statistic == pytest.approx(np.sqrt(11))


@pytest.mark.parametrize("train_share", [0.0, 1.0, -0.5, np.nan])
def test_an_impossible_share_is_refused(train_share):
    with pytest.raises(ValueError, match="train_share"):
        corrected_resampled_t_test([1.0, 2.0], [2.0, 1.0], train_share)


def test_without_any_difference_nothing_is_significant():
    test = paired_t_test([5.0, 6.0, 7.0], [5.0, 6.0, 7.0])
    assert (test.statistic, test.std, test.differs, test.tested) == (0.0, 0.0, False, True)


def test_equal_differences_are_certain():
    test = paired_t_test([5.0, 6.0, 7.0], [5.3, 6.3, 7.3])
    assert test.statistic == np.inf
    assert test.first_is_better
    assert paired_t_test([5.3, 6.3, 7.3], [5.0, 6.0, 7.0]).second_is_better


def test_rounding_is_no_difference():
    scores = np.array([1.8e-5, 1.9e-5, 2.0e-5])
    test = paired_t_test(scores, scores * (1 + 4e-16))
    assert (test.statistic, test.differs) == (0.0, False)


@pytest.mark.parametrize("scores", [[], [4.0]])
def test_fewer_than_two_splits_cannot_be_tested(scores):
    test = paired_t_test(scores, [x + 1 for x in scores])
    assert not test.tested
    assert not test.differs
    assert test.n == len(scores)


def test_splits_without_a_finite_score_are_left_out():
    test = paired_t_test([1.0, 2.0, np.nan, 4.0], [2.0, 4.0, 5.0, np.inf])
    assert test == paired_t_test([1.0, 2.0], [2.0, 4.0])


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="one length"):
        paired_t_test([1.0, 2.0], [1.0])


@pytest.mark.parametrize("seed", range(10))
def test_holm_is_that_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    p_values = np.round(rng.uniform(0, 1, rng.integers(1, 30)) ** 4, 3)  # small ones and ties among them
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], atol=1e-15)


def test_published_signed_rank_example():
    """Rank sums 93 and 12 of Demšar's Table 2, two data sets without a difference; 12 is significant at 5 %."""
    pair = wilcoxon_holm(-DEMSAR[:, :2])[0]
    assert pair.p_value == pytest.approx(stats.wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1], zero_method="zsplit").pvalue)
    mean, variance = 14 * 15 / 4, 14 * 15 * 29 / 24
    assert pair.p_value == pytest.approx(2 * stats.norm.cdf((12 - mean) / np.sqrt(variance)), rel=0.02)
    assert pair.p_value < 0.05


def test_signed_rank_of_all_pairs_with_holm():
    pairs = wilcoxon_holm(-DEMSAR)
    expected = [stats.wilcoxon(DEMSAR[:, p.first], DEMSAR[:, p.second], zero_method="zsplit").pvalue for p in pairs]
    assert [(p.first, p.second) for p in pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    np.testing.assert_allclose([p.p_value for p in pairs], expected)
    np.testing.assert_allclose([p.adjusted for p in pairs], multipletests(expected, method="holm")[1])


@pytest.mark.parametrize("seed", range(30))
def test_signed_rank_of_few_data_sets_over_all_signs(seed):
    """With ties and zeros against the literal count of all signs, without them against scipy's exact distribution."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    tied = rng.integers(-3, 4, n).astype(float)
    ranks = stats.rankdata(np.abs(tied))
    halves = ranks[tied == 0].sum() / 2
    sums = [ranks[(np.array(signs) > 0) & (tied != 0)].sum() + halves for signs in product((-1, 1), repeat=n)]
    observed = ranks[tied > 0].sum() + halves
    tails = np.mean(np.array(sums) <= observed), np.mean(np.array(sums) >= observed)
    assert wilcoxon_holm(np.column_stack([np.zeros(n), tied]))[0].p_value == pytest.approx(min(1.0, 2 * min(tails)))
    distinct = rng.normal(size=n)
    expected = stats.wilcoxon(distinct, method="exact").pvalue
    assert wilcoxon_holm(np.column_stack([np.zeros(n), distinct]))[0].p_value == pytest.approx(expected)


@pytest.mark.parametrize("copies", [1, 3])
def test_rounding_does_not_rank_equal_differences(copies):
    """1.1 - 1, 2.1 - 2 and so on are one tenth in print and four different doubles."""
    tenths = np.tile([[1.0, 1.1], [2.0, 2.1], [3.0, 3.1], [4.1, 4.0], [9.0, 9.1], [0.0, 0.1]], (copies, 1))
    whole = np.tile([[0.0, 1.0]] * 3 + [[1.0, 0.0]] + [[0.0, 1.0]] * 2, (copies, 1))
    assert wilcoxon_holm(tenths)[0].p_value == wilcoxon_holm(whole)[0].p_value


def test_signed_rank_without_differences_or_data():
    assert [p.p_value for p in wilcoxon_holm([[1.0, 1.0], [2.0, 2.0]])] == [1.0]
    assert [p.p_value for p in wilcoxon_holm(np.full((3, 2), np.nan))] == [1.0]
    assert wilcoxon_holm([[1.0]]) == ()


def test_published_ranks_and_critical_difference():
    found = ranking(-DEMSAR)
    assert found.ranks[:2] == pytest.approx((3.143, 2.0), abs=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert max(found.ranks) - min(found.ranks) < found.critical_difference  # no two differ at 5 % ...
    loose = ranking(-DEMSAR, level=0.9)
    assert loose.critical_difference == pytest.approx(1.12, abs=5e-3)
    gaps = [found.ranks[0] - rank for rank in found.ranks[1:]]
    assert [gap > loose.critical_difference for gap in gaps] == [True, False, True]  # ... two pairs do at 10 %


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_published_critical_values(k, q):
    assert critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_friedman_by_counting(seed):
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 5, (9, 4)).astype(float)
    found = ranking(losses)
    counted = [
        np.mean([1 + sum(row < row[j]) + (sum(row == row[j]) - 1) / 2 for row in losses])
        for j in range(losses.shape[1])
    ]
    assert found.ranks == pytest.approx(counted)
    oracle = stats.friedmanchisquare(*losses.T)
    assert (found.chi_square, found.p_value) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert found.f_statistic == pytest.approx(8 * oracle.statistic / (9 * 3 - oracle.statistic))


def test_nemenyi_is_that_of_scikit_posthocs():
    """Two average ranks differ by the critical difference exactly where the pairwise p-value is below 5 %."""
    posthocs = pytest.importorskip("scikit_posthocs")
    losses = np.random.default_rng(3).normal(size=(12, 5)) + np.arange(5) * 0.8
    found = ranking(losses)
    p_values = posthocs.posthoc_nemenyi_friedman(losses).to_numpy()
    gaps = np.abs(np.subtract.outer(found.ranks, found.ranks))
    assert 0 < (p_values < 0.05).sum() < p_values.size
    np.testing.assert_array_equal(gaps > found.critical_difference, p_values < 0.05)


def test_ranks_of_ties_and_of_one_order():
    equal = ranking(np.ones((6, 3)))
    assert equal.ranks == (2.0, 2.0, 2.0)
    assert (equal.chi_square, equal.p_value) == (0.0, 1.0)
    ordered = ranking(np.tile([3.0, 1.0, 2.0], (6, 1)))
    assert ordered.ranks == (3.0, 1.0, 2.0)
    assert ordered.f_statistic == np.inf
    assert ordered.chi_square == pytest.approx(12.0)


def test_rounding_makes_no_rank():
    losses = 1.8e-5 * np.array([[1.0, 1.0 + 2e-16, 2.0], [1.0 + 2e-16, 1.0, 3.0]])
    assert ranking(losses).ranks == (1.5, 1.5, 3.0)


def test_incomplete_data_sets_do_not_rank():
    losses = np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(complete_rows(losses), losses[[0, 2]])
    assert ranking(losses).n == 2
    few = ranking(losses[:2])
    assert few.n == 1
    assert np.isnan(few.ranks).all()
    with pytest.raises(ValueError, match="data sets, methods"):
        complete_rows([1.0, 2.0])


def test_distance_from_print():
    combined = in_standard_errors(15.0, 0.9, 10, 14.0, 1.2, 50)
    assert combined == pytest.approx(1 / np.sqrt(0.81 / 10 + 1.44 / 50))
    assert in_standard_errors(15.0, 0.9, 9, 14.0, None, 50) == pytest.approx(1 / 0.3)
    assert in_standard_errors(15.0, None, 1, 14.0, 1.2, 50) is None
    assert in_standard_errors(15.0, 0.0, 5, 14.0, 0.0, 50) == np.inf
    assert in_standard_errors(14.0, 0.0, 5, 14.0, 0.0, 50) == 0.0
    assert in_standard_errors(np.nan, 0.0, 5, 14.0, 0.0, 50) is None
