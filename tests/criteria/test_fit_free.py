"""Criteria that need no machine, against dense matrices and explicit features."""

import numpy as np
import pytest

from onefit import criteria

from ..oracles import criteria as oracle
from ..oracles.problems import random_symmetric, seeds, smooth_targets
from .problems import GRAMS, TARGETS, WITHOUT_NEGATIVE, N, two_labels

grams = pytest.mark.parametrize("gram", list(GRAMS))
without_negative = pytest.mark.parametrize("gram", WITHOUT_NEGATIVE)
targets = pytest.mark.parametrize("target", list(TARGETS))


def exactly(value):
    return pytest.approx(value, rel=1e-9, abs=1e-300)


norms = pytest.mark.parametrize("norm", ["spectral", "trace", "frobenius"])


@seeds
@grams
@norms
def test_kernel_stability_is_the_largest_norm_of_a_removed_row(seed, gram, norm):
    K = GRAMS[gram](seed)
    assert criteria.kernel_stability(K, norm) == exactly(oracle.stability(K, norm))


@seeds
@norms
def test_kernel_stability_of_an_indefinite_matrix(seed, norm):
    K = random_symmetric(seed, 20)
    assert criteria.kernel_stability(K, norm) == exactly(oracle.stability(K, norm))


def test_kernel_stability_is_spectral_by_default():
    K = GRAMS["wide"](0)
    assert criteria.kernel_stability(K) == criteria.kernel_stability(K, norm="spectral")


@pytest.mark.parametrize(
    "call",
    [
        lambda norm: criteria.kernel_stability(np.eye(2), norm),
        lambda norm: criteria.RKS(norm=norm),
        lambda norm: criteria.CVKS(norm=norm),
    ],
)
def test_unknown_norms_are_refused(call):
    with pytest.raises(ValueError, match="'spectral', 'trace', 'frobenius', got 'nuclear'"):
        call("nuclear")


@pytest.mark.parametrize(
    ("K", "expected"),
    [
        (np.zeros((4, 4)), 0.0),
        (2.5 * np.eye(6), 2.5),
        (3.0 * np.ones((7, 7)), 3.0 * (1 + 5) / 2),
        (np.array([[-2.0]]), 2.0),
    ],
)
def test_kernel_stability_in_closed_form(K, expected):
    assert criteria.kernel_stability(K) == pytest.approx(expected, rel=1e-14)


@seeds
@without_negative
@targets
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.filterwarnings("ignore:The spectral measure of degree")
def test_spectral_measure_of_degree_r(seed, gram, target, weighted, degree):
    K, y = GRAMS[gram](seed), TARGETS[target](seed)
    expected = oracle.spectral_measure(K, y, weighted, lambda t: t**degree)
    assert criteria.SM(degree=degree, weighted=weighted)(K, y) == exactly(expected)


@seeds
@without_negative
@targets
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.2])
def test_spectral_measure_in_hinge_form(seed, gram, target, weighted, threshold):
    K, y = GRAMS[gram](seed), TARGETS[target](seed)
    expected = oracle.spectral_measure(K, y, weighted, lambda t: t if t > threshold else 0.0)
    assert criteria.SM(threshold=threshold, weighted=weighted)(K, y) == exactly(expected)


@seeds
def test_spectral_measure_of_a_gram_matrix_with_negative_entries(seed):
    X = np.random.default_rng(seed).normal(size=(N, 3))
    K, y = X @ X.T, two_labels(seed)
    with pytest.raises(ValueError, match="negative entries"):
        criteria.SM()(K, y)
    expected = oracle.spectral_measure(K, y, True, lambda t: t**3, absolute=True)
    assert criteria.SM(absolute=True)(K, y) == exactly(expected)


def test_spectral_measure_where_it_is_not_defined():
    y = np.array([1, 1, -1, -1])
    with pytest.raises(ValueError, match="zero Gram"):
        criteria.SM()(np.zeros((4, 4)), y)
    with pytest.raises(ValueError, match="two classes"):
        criteria.SM()(np.eye(4), np.ones(4))
    assert criteria.SM(weighted=False)(np.eye(4), np.ones(4)) == pytest.approx(4.0**-3)
    with pytest.raises(ValueError, match="indefinite"):
        criteria.SM()(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0, 1]))
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    with pytest.raises(ValueError, match="indefinite"):  # what no two rows show, the spectrum does
        criteria.SM(threshold=0.1)(K, np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="regression"):
        criteria.SM()(np.eye(4), np.array([0.1, 0.2, 0.3, 0.5]))


@pytest.mark.filterwarnings("ignore:The spectral measure of degree")
def test_spectral_measure_of_constant_and_identity_kernels():
    y = np.array([1, 1, 1, -1, -1, -1])
    assert criteria.SM()(np.ones((6, 6)), y) == pytest.approx(0.0, abs=1e-30)
    for degree in (1, 2, 3, 4):
        assert criteria.SM(degree, weighted=False)(np.eye(6), y) == pytest.approx(6.0**-degree)


@seeds
@grams
@targets
def test_alignment(seed, gram, target):
    K, y = GRAMS[gram](seed), TARGETS[target](seed)
    assert criteria.KTA()(K, y) == exactly(oracle.alignment(K, y))


@seeds
@grams
@targets
def test_centred_alignment(seed, gram, target):
    K, y = GRAMS[gram](seed), TARGETS[target](seed)
    assert criteria.CKTA()(K, y) == exactly(oracle.centred_alignment(K, oracle.one_vs_rest(y)))


@pytest.mark.parametrize("size", [1e-2, 1e-5])
def test_centred_alignment_of_a_nearly_constant_kernel(size):
    K, y = GRAMS["narrow"](0), two_labels(0)
    assert criteria.CKTA()(1.0 + size * K, y) == pytest.approx(criteria.CKTA()(K, y), rel=1e-13 / size)


@seeds
def test_alignments_in_regression(seed):
    K = GRAMS["narrow"](seed)
    y = smooth_targets(seed, np.random.default_rng(seed).normal(size=(N, 2)))[:, 0]
    assert criteria.CKTA()(K, y) == exactly(oracle.centred_alignment(K, [y]))
    outer = np.outer(y, y)
    expected = (K * outer).sum() / np.linalg.norm(K) / np.linalg.norm(outer)
    assert criteria.KTA()(K, y) == exactly(expected)


def test_alignments_where_there_is_nothing_to_align():
    y = np.array([1, 1, -1, -1])
    assert np.isnan(criteria.KTA()(np.zeros((4, 4)), y))
    assert np.isnan(criteria.CKTA()(np.zeros((4, 4)), y))
    assert np.isnan(criteria.CKTA()(7.0 * np.ones((4, 4)), y))
    assert np.isnan(criteria.CKTA()(np.eye(4), np.ones(4)))
    assert criteria.KTA()(np.eye(4), np.ones(4)) == pytest.approx(0.5)


def test_alignments_of_simple_kernels():
    y = np.repeat([1, -1], [1, 9])
    assert criteria.KTA()(np.ones((10, 10)), y) == pytest.approx(0.64)
    assert criteria.KTA()(np.eye(10), y) == pytest.approx(10**-0.5)
    assert criteria.CKTA()(np.eye(10), y) == pytest.approx(1 / 3)


@seeds
@grams
@targets
def test_feature_space_measure(seed, gram, target):
    K, y = GRAMS[gram](seed), TARGETS[target](seed)
    assert criteria.FSM()(K, y) == exactly(oracle.feature_space_measure(K, y))


def test_feature_space_measure_where_it_is_not_defined():
    y = np.array([1, 1, -1, -1])
    assert criteria.FSM()(np.eye(4), y) == 0.0
    assert criteria.FSM()(np.ones((4, 4)), y) == np.inf
    assert np.isnan(criteria.FSM()(np.zeros((4, 4)), y))
    with pytest.raises(ValueError, match="two rows"):
        criteria.FSM()(np.eye(4), np.array([1, -1, -1, -1]))
    with pytest.raises(ValueError, match="two rows"):
        criteria.FSM()(np.eye(4), np.ones(4))


@seeds
@grams
@pytest.mark.parametrize("components", [1, 3, "sqrt", 40])
def test_principal_eigenvalue_proportion(seed, gram, components):
    K = GRAMS[gram](seed)
    head, tail = oracle.leading_eigenvalues(K, 5 if components == "sqrt" else components)
    assert criteria.PEP(components)(K, None) == exactly(head / (head + tail))


def test_principal_eigenvalue_proportion_of_degenerate_matrices():
    assert np.isnan(criteria.PEP()(np.zeros((5, 5)), None))
    assert criteria.PEP(components=3)(GRAMS["rank three"](0) - 20.0, None) == 1.0
    K = np.diag([3.0, 1.0, -2.0])
    assert criteria.PEP(components=1)(K, None) == 0.75
