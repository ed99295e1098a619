"""Intervals and probabilities over data sets."""

import numpy as np
import pytest
from scipy import stats

from onefit.studies.statistics import DRAWS, bayesian_signed_rank, bootstrap_interval


@pytest.mark.parametrize("seed", range(3))
def test_bootstrap_is_that_of_scipy(seed):
    values = np.random.default_rng(seed).gamma(2.0, size=30)
    found = bootstrap_interval([*values, np.nan])
    reference = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=1).confidence_interval
    assert found.mean == pytest.approx(values.mean())
    assert [found.low, found.high] == pytest.approx(list(reference), abs=0.05 * values.std())


def test_one_data_set_has_no_interval():
    assert bootstrap_interval([2.0]).mean == 2.0
    assert np.isnan(bootstrap_interval([2.0]).low)
    assert np.isnan(bootstrap_interval([]).mean)


def literal_signed_rank(z, rope, draws, rng):
    """Section 4.2 of Benavoli et al. with loops over pairs."""
    z = [0.0, *z]
    wins = np.zeros(3)
    for w in rng.dirichlet([0.5, *np.ones(len(z) - 1)], size=draws):
        theta = [0.0, 0.0, 0.0]
        for i in range(len(z)):
            for j in range(len(z)):
                place = 0 if z[i] + z[j] < -2 * rope else 2 if z[i] + z[j] > 2 * rope else 1
                theta[place] += w[i] * w[j]
        wins[np.argmax(theta)] += 1
    return wins / draws


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.8, 1.3])
def test_signed_rank_is_a_double_loop_over_pairs(shift):
    rng = np.random.default_rng(7)
    z = rng.normal(shift, 1.0, size=7)
    found = bayesian_signed_rank(z, 1.0)
    expected = literal_signed_rank(z, 1.0, 1000, rng)
    assert [found.below, found.within, found.above] == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(1000))


def test_laws_of_the_signed_rank():
    z = np.random.default_rng(0).normal(0.6, 1.0, size=12)
    there, back = bayesian_signed_rank(z, 0.5), bayesian_signed_rank(-z, 0.5)
    assert (there.below, there.within, there.above) == (back.above, back.within, back.below)
    assert bayesian_signed_rank(z, 100.0).within == 1.0
    assert there.below + there.within + there.above == pytest.approx(1.0, abs=1 / DRAWS)
