"""Data that many tests share."""

import numpy as np
import pytest


@pytest.fixture
def regression():
    """80 rows, 4 features, a smooth target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=80)


@pytest.fixture
def three_classes():
    """90 rows, 3 features, three overlapping classes with names."""
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=90)
    return rng.normal(size=(90, 3)) + codes[:, None] * [1.0, -0.5, 0.3], np.array(["ant", "bee", "cat"])[codes]


@pytest.fixture
def two_classes(three_classes):
    """The two first classes of ``three_classes``."""
    X, y = three_classes
    return X[y != "cat"], y[y != "cat"]
