"""Pairs of classes as columns, and what scikit-learn's SVC makes of their values."""

import numpy as np
import pytest
from sklearn.svm import SVC

from onefit.data.coding import PairCoding, Pairs, code_pairs, code_targets

from ..oracles.problems import points, seeds

NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
counts = pytest.mark.parametrize("k", [3, 4, 5])


def labels(seed, k, n=60):
    """Names of k classes, all of which occur."""
    return NAMES[np.r_[np.arange(k), np.random.default_rng(seed).integers(k, size=n - k)]]


def rows_with_any_votes(seed, n=300):
    """Kernel values that no data have: votes of all kinds, cycles and ties among them."""
    return np.random.default_rng(seed + 100).normal(size=(n, 60)) * 3


def fitted(seed, k, shape="ovr", break_ties=False, kept=None):
    """(SVC, values of the pairs of its classes, kernel values) on the classes ``kept``, or all of k."""
    X, y = points(seed, 60), labels(seed, k)
    used = np.arange(60) if kept is None else np.flatnonzero(np.isin(y, kept))
    K = np.exp(-((X[used, None] - X[used]) ** 2).sum(axis=2))
    rows = rows_with_any_votes(seed)[:, used]
    model = SVC(kernel="precomputed", decision_function_shape=shape, break_ties=break_ties).fit(K, y[used])
    plain = SVC(kernel="precomputed", decision_function_shape="ovo").fit(K, y[used])
    values = plain.decision_function(rows)
    return model, values[:, None] if values.ndim == 1 else -values, rows


@seeds
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_code_pairs(seed, k):
    y = labels(seed, k)
    Y = code_pairs(y, NAMES[:k])
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    assert Y.shape == (60, len(pairs))
    for column, (i, j) in zip(Y.T, pairs):
        assert column.tolist() == [1.0 if name == NAMES[j] else -1.0 if name == NAMES[i] else 0.0 for name in y]


@seeds
@counts
def test_targets_in_pairs(seed, k):
    y = labels(seed, k)
    coded = code_targets(y, classifier=True, pairs=Pairs("ovo", True))
    assert coded.coding == PairCoding(coded.coding.classes, True, "ovo", True)
    np.testing.assert_array_equal(coded.coding.classes, NAMES[:k])
    np.testing.assert_array_equal(coded.Y, code_pairs(y, NAMES[:k]))


@seeds
@counts
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_decisions_and_labels_of_svc(seed, k, shape):
    model, values, rows = fitted(seed, k, shape)
    coding = PairCoding(NAMES[:k], True, shape)
    np.testing.assert_allclose(coding.decision(values), model.decision_function(rows), atol=1e-12)
    np.testing.assert_array_equal(coding.predict(values), model.predict(rows))


@seeds
@counts
def test_broken_ties(seed, k):
    model, values, rows = fitted(seed, k, break_ties=True)
    coding = PairCoding(NAMES[:k], True, "ovr", True)
    np.testing.assert_array_equal(coding.predict(values), model.predict(rows))
    plain = PairCoding(NAMES[:k], True, "ovr")
    assert (coding.predict(values) != plain.predict(values)).any()  # there were ties to break


@seeds
def test_two_classes_are_one_value(seed):
    model, values, rows = fitted(seed, 2)
    for shape in ("ovr", "ovo"):
        coding = PairCoding(NAMES[:2], True, shape)
        np.testing.assert_allclose(coding.decision(values), model.decision_function(rows), atol=1e-12)
        np.testing.assert_array_equal(coding.predict(values), model.predict(rows))


@counts
@pytest.mark.parametrize(("shape", "break_ties"), [("ovr", False), ("ovr", True), ("ovo", False)])  # all that SVC takes
def test_exact_zeros(k, shape, break_ties):
    """One row per class, all at right angles: values are differences of kernel values, and often exactly zero."""
    model = SVC(kernel="precomputed", C=8.0, decision_function_shape=shape, break_ties=break_ties)
    model.fit(np.eye(k), NAMES[:k])
    plain = SVC(kernel="precomputed", C=8.0, decision_function_shape="ovo").fit(np.eye(k), NAMES[:k])
    rows = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * k)).reshape(k, -1).T
    values = -plain.decision_function(rows)
    assert (values == 0).mean() > 0.2
    coding = PairCoding(NAMES[:k], True, shape, break_ties)
    np.testing.assert_allclose(coding.decision(values), model.decision_function(rows), atol=1e-12)
    np.testing.assert_array_equal(coding.predict(values), model.predict(rows))


def test_an_exact_zero_of_two_classes():
    model = SVC(kernel="precomputed", C=8.0).fit(np.eye(2), NAMES[:2])
    rows = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    values = model.decision_function(rows)[:, None]
    assert values[:2].tolist() == [[0.0], [0.0]]
    np.testing.assert_array_equal(PairCoding(NAMES[:2], True).predict(values), model.predict(rows))


@seeds
@pytest.mark.parametrize("kept", [[0, 1], [1, 3], [0, 1, 2], [0, 2, 4], [0, 1, 3, 4]])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_missing_classes_are_decided_as_by_svc_trained_without_them(seed, kept, shape):
    """The columns of pairs with a missing class are NaN, and are not looked at."""
    present = NAMES[kept]
    model, found, rows = fitted(seed, 5, shape, kept=present)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    values = np.full((len(rows), 10), np.nan)
    values[:, [k for k, (i, j) in enumerate(pairs) if i in kept and j in kept]] = found
    coding = PairCoding(NAMES, True, shape)
    np.testing.assert_allclose(coding.decision(values, present), model.decision_function(rows), atol=1e-12)
    np.testing.assert_array_equal(coding.predict(values, present), model.predict(rows))
    if shape == "ovr":
        broken, found, rows = fitted(seed, 5, "ovr", break_ties=True, kept=present)
        np.testing.assert_array_equal(
            PairCoding(NAMES, True, "ovr", True).predict(values, present), broken.predict(rows)
        )


@seeds
@counts
def test_a_path_of_penalties_in_front(seed, k):
    """Values (L, l, pairs) are decided as each of them."""
    values = np.random.default_rng(seed).normal(size=(4, 30, k * (k - 1) // 2))
    for coding in (PairCoding(NAMES[:k], True, "ovr"), PairCoding(NAMES[:k], True, "ovo")):
        np.testing.assert_array_equal(coding.decision(values), [coding.decision(part) for part in values])
        np.testing.assert_array_equal(coding.predict(values), [coding.predict(part) for part in values])


@seeds
@pytest.mark.parametrize("kept", [[0, 2], [0, 1, 3]])
def test_absent_classes_lose(seed, kept):
    """Whatever the values of their pairs were; the others are decided as before."""
    values = np.random.default_rng(seed).normal(size=(50, 6))
    absent = ~np.isin(np.arange(4), kept)
    expected = PairCoding(NAMES[:4], True).predict(values, NAMES[kept])
    PairCoding(NAMES[:4], True).lose(values, absent)
    np.testing.assert_array_equal(PairCoding(NAMES[:4], True).predict(values), expected)


@seeds
@pytest.mark.parametrize("kept", [[0, 2], [0, 1, 3], [0, 1, 2, 3]])
def test_full_decisions_have_a_place_for_absent_classes(seed, kept):
    values = np.random.default_rng(seed).normal(size=(20, 6))
    present = NAMES[kept]
    coding = PairCoding(NAMES[:4], True, "ovr")
    full, part = coding.full_decision(values, present), coding.decision(values, present)
    assert full.shape == (20, 4)
    np.testing.assert_array_equal(full[:, kept], np.column_stack([-part, part]) if len(kept) == 2 else part)
    assert (np.delete(full, kept, axis=1) == np.finfo(np.float64).min).all()
    pairs = PairCoding(NAMES[:4], True, "ovo").full_decision(values, present)
    names = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for k, (i, j) in enumerate(names):
        expected = -values[:, k] if i in kept and j in kept else np.full(20, np.nan)
        np.testing.assert_array_equal(pairs[:, k], expected)
