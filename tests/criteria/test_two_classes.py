"""Normalised cut and mean discrepancy: sums over pairs, explicit features, relations to the spectral measure."""

import numpy as np
import pytest

from onefit import criteria

from ..oracles import criteria as oracle
from ..oracles.problems import random_symmetric, seeds
from .problems import GRAMS, WITHOUT_NEGATIVE, N, three_labels, two_labels

pytestmark = pytest.mark.filterwarnings("ignore:The spectral measure of degree")
without_negative = pytest.mark.parametrize("gram", WITHOUT_NEGATIVE)
shares = pytest.mark.parametrize("share", [0.1, 0.3, 0.5])


def exactly(value):
    return pytest.approx(value, rel=1e-9)


@seeds
@without_negative
@shares
def test_normalised_cut_is_a_sum_over_pairs(seed, gram, share):
    K, y = GRAMS[gram](seed), two_labels(seed, share)
    cut = sum(K[i, j] for i in range(N) for j in range(N) if y[i] > 0 > y[j])
    volumes = [sum(K[i, j] for i in range(N) for j in range(N) if y[i] == label) for label in (-1, 1)]
    L = np.diag(K.sum(axis=1)) - K
    assert criteria.ncut(K, y) == exactly(y @ L @ y / (y @ np.diag(K.sum(axis=1)) @ y))
    assert criteria.ncut(K, y) == exactly(4 * cut / sum(volumes))
    per_class = criteria.ncut(K, y, per_class=True)
    assert per_class == exactly(cut / volumes[0] + cut / volumes[1])
    assert criteria.ncut(K, y) <= per_class * (1 + 1e-12)


@seeds
@without_negative
@shares
def test_normalised_cut_and_the_spectral_measure(seed, gram, share):
    K, y = GRAMS[gram](seed), two_labels(seed, share)
    assert criteria.ncut(K, y) == exactly(1 - N * criteria.SM(degree=1, weighted=False)(K, y))
    weighted = criteria.SM(degree=1)(K, y)
    if share == 0.5:
        assert criteria.ncut(K, y) == exactly(1 - N / 4 * weighted)
        assert criteria.ncut(K, y) != pytest.approx(1 - N / 2 * weighted, rel=1e-3)  # the printed relation


def test_both_normalised_cuts_agree_where_the_volumes_are_equal():
    block = GRAMS["narrow"](0)[:8, :8]
    K = np.block([[block, 0.3 * np.ones((8, 8))], [0.3 * np.ones((8, 8)), block]])
    y = np.repeat([0, 1], 8)
    assert criteria.ncut(K, y) == exactly(criteria.ncut(K, y, per_class=True))


@seeds
@pytest.mark.parametrize("gram", list(GRAMS))
@shares
def test_mean_discrepancy_is_the_distance_of_means_of_features(seed, gram, share):
    K, y = GRAMS[gram](seed), two_labels(seed, share)
    X = oracle.features(K)
    expected = np.linalg.norm(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))
    assert criteria.mean_discrepancy(K, y) == exactly(expected)


@seeds
@without_negative
@shares
def test_mean_discrepancy_and_the_spectral_measure(seed, gram, share):
    K, y = GRAMS[gram](seed), two_labels(seed, share)
    measure = criteria.SM(degree=1)(K, y)
    assert measure == exactly(N * criteria.mean_discrepancy(K, y) ** 2 / K.sum())
    assert measure == exactly(N * criteria.mean_discrepancy(K / K.sum(), y) ** 2)


def test_extreme_kernels():
    y = np.array([0, 0, 0, 1])
    assert criteria.ncut(np.outer(2 * y - 1, 2 * y - 1) + 1.0, y) == 0.0
    assert criteria.mean_discrepancy(np.ones((4, 4)), y) == 0.0
    assert criteria.mean_discrepancy(np.eye(4), y) == pytest.approx(np.sqrt(1 / 3 + 1))


@pytest.mark.parametrize("measure", [criteria.ncut, criteria.mean_discrepancy])
def test_other_targets_are_refused(measure):
    K = GRAMS["narrow"](0)
    for y, found in ((three_labels(0), 3), (np.ones(N), 1), (np.linspace(0, 1, N), "real values")):
        with pytest.raises(ValueError, match=f"two classes: the target has {found}"):
            measure(K, y)
    with pytest.raises(ValueError, match="y, which is None"):
        measure(K, None)


def test_matrices_without_a_meaning_are_refused():
    y = two_labels(0)
    with pytest.raises(ValueError, match="negative entries"):
        criteria.ncut(GRAMS["rank three"](0) - 20.0, y)
    with pytest.raises(ValueError, match="without any similarity"):
        criteria.ncut(np.zeros((N, N)), y)
    with pytest.raises(ValueError, match="indefinite"):
        criteria.mean_discrepancy(random_symmetric(0, N), y)
