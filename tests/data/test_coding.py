"""Classes as ±1 columns, and back; class weights; targets."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight

from onefit.data import Folds, Targets
from onefit.data.coding import class_weights, code_classes, code_targets, row_weights

from ..oracles.problems import row_weights as random_weights
from ..oracles.problems import seeds

NAMES = np.array(["ant", "bee", "cat", "dog"])


def labels(seed, n=40, classes=4):
    """Labels of unequal frequency in which every class occurs."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(classes), np.floor(classes * rng.uniform(size=n - classes) ** 2).astype(int)]
    return NAMES[rng.permutation(codes)]


def stratified(y, seed=0):
    return Folds.from_splits(StratifiedKFold(3, shuffle=True, random_state=seed).split(y, y), len(y))


@seeds
def test_one_versus_rest(seed):
    y = labels(seed)
    coded = code_targets(y, classifier=True)
    assert coded.Y.shape == (40, 4)
    for k, name in enumerate(NAMES):
        np.testing.assert_array_equal(coded.Y[:, k], [1.0 if label == name else -1.0 for label in y])
    np.testing.assert_array_equal(coded.coding.predict(coded.Y), y)


@seeds
@pytest.mark.parametrize(
    "names", [np.array(["no", "yes"]), np.array([0, 1]), np.array([-1.0, 1.0]), np.array([False, True])]
)
def test_two_classes_are_one_column(seed, names):
    y = names[np.random.default_rng(seed).integers(2, size=30)]
    coded = code_targets(y, classifier=True)
    assert coded.Y.shape == (30, 1)
    np.testing.assert_array_equal(coded.Y[:, 0], [1.0 if label == names[1] else -1.0 for label in y])
    decision = coded.coding.decision(coded.Y)
    assert decision.shape == (30,)
    np.testing.assert_array_equal(coded.coding.predict(coded.Y), y)
    assert coded.coding.predict(np.zeros((2, 1))).tolist() == [names[0]] * 2


@seeds
@pytest.mark.parametrize("kept", [[0, 2], [1, 3], [2, 3], [0, 1, 3], [0, 1, 2, 3]])
def test_missing_classes_are_decided_as_a_machine_trained_without_them(seed, kept):
    """Least squares on the present classes only: its targets are the present columns."""
    coding = code_targets(labels(seed), classifier=True).coding
    present = NAMES[kept]
    values = np.random.default_rng(seed).normal(size=(5, 12, 4))
    decision = coding.decision(values, present)
    predicted = coding.predict(values, present)
    if len(kept) == 2:
        np.testing.assert_array_equal(decision, values[..., kept[1]])
        np.testing.assert_array_equal(predicted, np.where(decision > 0, present[1], present[0]))
    else:
        np.testing.assert_array_equal(decision, values[..., kept])
        np.testing.assert_array_equal(predicted, present[values[..., kept].argmax(axis=-1)])


@seeds
def test_present_classes_count_rows_of_positive_weight(seed):
    y = labels(seed)
    only_train = Folds.from_splits([(np.flatnonzero(y != "dog"), np.flatnonzero(y == "dog")), (y != "none", [0])], 40)
    coded = code_targets(y, classifier=True)
    first, second = coded.present_classes(only_train, None)
    np.testing.assert_array_equal(first, NAMES[:3])
    assert second is None
    weights = np.where(y == "ant", 0.0, 1.0)
    first, second = coded.present_classes(only_train, weights)
    np.testing.assert_array_equal(first, NAMES[1:3])
    np.testing.assert_array_equal(second, NAMES[1:])


@seeds
def test_balanced_weights_follow_each_fold(seed):
    y = labels(seed)
    folds, coded = stratified(y, seed), code_targets(y, classifier=True)
    weights = row_weights("balanced", coded, folds, None, shared=False)
    assert len(weights) == len(folds)
    for full, fold in zip(weights, folds):
        np.testing.assert_allclose(full[fold.train], compute_sample_weight("balanced", y[fold.train]), rtol=1e-13)
        assert (full[fold.removed] == 0).all()


@seeds
def test_balanced_weights_of_repeated_training_rows(seed):
    y = labels(seed)
    train = np.random.default_rng(seed).integers(40, size=60)
    folds = Folds.from_splits([(train, np.setdiff1d(np.arange(40), train))], 40)
    (full,) = row_weights("balanced", code_targets(y, classifier=True), folds, None, shared=False)
    np.testing.assert_allclose(full[train], compute_sample_weight("balanced", y[train]), rtol=1e-13)


@seeds
def test_shared_balanced_weights_are_those_of_all_rows(seed):
    y = labels(seed)
    weights = row_weights("balanced", code_targets(y, classifier=True), stratified(y, seed), None, shared=True)
    np.testing.assert_allclose(weights, compute_sample_weight("balanced", y), rtol=1e-13)


@seeds
def test_given_class_weights_multiply_sample_weights(seed):
    y = labels(seed)
    given = random_weights(seed, 40)
    setting = {"ant": 0.5, "bee": 2.0, "cat": 3.0, "dog": 1.0}
    coded, folds = code_targets(y, classifier=True), stratified(y, seed)
    weights = row_weights(tuple(setting.items()), coded, folds, given, shared=False)
    np.testing.assert_allclose(weights, given * compute_sample_weight(setting, y), rtol=1e-13)
    assert row_weights(None, coded, folds, given, shared=False) is given
    assert row_weights(None, coded, folds, None, shared=False) is None


@seeds
def test_balanced_weights_give_every_class_the_same_total_sample_weight(seed):
    y, given = labels(seed), random_weights(seed, 40)
    given[y == "dog"] = 0.0
    weights = row_weights("balanced", code_targets(y, classifier=True), stratified(y, seed), given, shared=False)
    for full, fold in zip(weights, stratified(y, seed)):
        rows = fold.train
        totals = [full[rows][y[rows] == name].sum() for name in NAMES[:3]]
        np.testing.assert_allclose(totals, totals[0], rtol=1e-12)
        assert full[y == "dog"].sum() == 0.0


def test_rows_of_no_listed_class_weigh_nothing():
    y = np.array(["ant", "bee", "cat", "ant"])
    weights = class_weights("balanced", np.array(["ant", "bee"]), y, None)
    np.testing.assert_allclose(weights, [0.75, 1.5, 0.0, 0.75])
    assert class_weights(None, np.array(["ant", "bee"]), y, None) is None


def test_code_classes_does_not_need_every_class():
    np.testing.assert_array_equal(code_classes(NAMES[[1, 1]], NAMES[:3]), [[-1.0, 1.0, -1.0]] * 2)


REGRESSION = {"numbers": [1, 2, 3], "text numbers": ["1", "2", "3"], "two columns": [[1.0, 2.0], [3.0, 4.0]]}


@pytest.mark.parametrize("y", REGRESSION.values(), ids=REGRESSION.keys())
def test_regression_targets_keep_their_shape(y):
    coded = code_targets(y, classifier=False)
    expected = np.array(y, dtype=float)
    assert coded.Y.ndim == 2
    np.testing.assert_array_equal(coded.coding.decision(coded.Y), expected)
    np.testing.assert_array_equal(coded.coding.predict(coded.Y), expected)


@pytest.mark.parametrize(
    ("y", "classifier", "message"),
    [
        (None, False, "requires y"),
        (["a", "b"], False, "numbers are needed"),
        ([1.0, np.nan], False, "y contains NaN"),
        ([1.0, np.inf], False, "y contains infinity"),
        (np.zeros((2, 2, 2)), False, "one or two dimensions"),
        (["a", "a"], True, "one class only"),
        ([1.0, np.nan, 0.0], True, "y contains NaN"),
        ([1.0, 2.0j], False, "complex"),
        ([0.5, 1.7, 2.9], True, "Unknown label type"),
    ],
)
def test_impossible_targets_are_refused(y, classifier, message):
    with pytest.raises(ValueError, match=message):
        code_targets(y, classifier)


def test_targets_are_shared_if_all_folds_have_the_same_positive_weights():
    Y, ones = np.zeros((4, 1)), np.ones(4)
    assert Targets(Y).shared
    assert Targets(Y, ones).shared
    assert not Targets(Y, np.array([1.0, 0.0, 1.0, 1.0])).shared
    assert not Targets(Y, (ones, ones)).shared


def test_targets_of_some_rows_keep_the_weights_of_their_fold():
    Y = np.arange(4.0)[:, None]
    rows = np.array([2, 0])
    for weights, expected in [
        (None, None),
        (np.arange(1.0, 5.0), [3.0, 1.0]),
        ((np.ones(4), np.arange(4.0)), [2.0, 0.0]),
    ]:
        taken = Targets(Y, weights).take(rows, 1)
        np.testing.assert_array_equal(taken.Y, [[2.0], [0.0]])
        assert taken.weights is None if expected is None else taken.weights.tolist() == expected


def test_balanced_weights_that_count_rows_ignore_sample_weights():
    """SVC balances rows, also those that weigh nothing, and multiplies by the sample weights afterwards."""
    y = labels(0)
    given = np.where(y == "dog", 0.0, np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    coded = code_targets(y, classifier=True)
    weights = row_weights("balanced", coded, stratified(y), given, shared=False, balance_weighted=False)
    for fold, full in zip(stratified(y), weights):
        expected = compute_sample_weight("balanced", y[fold.train]) * given[fold.train]
        np.testing.assert_allclose(full[fold.train], expected)
