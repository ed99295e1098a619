"""How criteria without a machine read a target."""

import numpy as np
import pytest

from onefit.data.targets import read_labels


@pytest.mark.parametrize("y", [[-1, 1, 1], ["a", "b", "b"], [False, True, True], [0.5, 2.5, 2.5]])
@pytest.mark.parametrize("classifier", [None, False])
def test_two_values_are_two_classes(y, classifier):
    labels = read_labels(np.array(y), classifier)
    assert labels.n_classes == 2
    assert labels.codes.tolist() == [[-1], [1], [1]]
    assert labels.positive.tolist() == [[0], [1], [1]]
    assert labels.member.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_several_classes_have_a_column_each():
    labels = read_labels(["a", "c", "b", "c"])
    assert labels.n_classes == 3
    assert labels.codes.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [-1, -1, 1]]
    np.testing.assert_array_equal(labels.positive, labels.member)


def test_one_class_is_positive():
    labels = read_labels(np.full(3, 7))
    assert labels.n_classes == 1
    assert labels.codes.tolist() == [[1], [1], [1]]


def test_numbers_are_classes_or_not_as_the_estimator_says():
    whole, broken = np.array([1, 2, 3, 4]), np.array([0.1, 0.2, 0.3, 0.3])
    assert read_labels(whole).n_classes == 4
    assert read_labels(whole, True).n_classes == 4
    assert read_labels(whole, False).n_classes is None
    assert read_labels(broken).codes[:, 0].tolist() == broken.tolist()
    assert read_labels(broken).n_classes is None
    with pytest.raises(ValueError, match="Unknown label type"):
        read_labels(broken, True)


def test_several_targets_are_a_regression():
    labels = read_labels(np.ones((4, 2)))
    assert labels.n_classes is None
    assert labels.codes.shape == (4, 2)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        read_labels([0.0, np.nan, 1.0])
