"""Squared distances in arithmetic that does not round."""

from fractions import Fraction

import numpy as np


def exact_squared_distances(X, Y=None):
    """Sums of squared differences of the numbers as stored, rounded once at the end."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    others = rows if Y is None else [[Fraction(value) for value in row] for row in Y.tolist()]
    return np.array([[float(sum((a - b) ** 2 for a, b in zip(x, y))) for y in others] for x in rows])


def largest_relative_error(actual, exact):
    """Largest ``|actual - exact| / exact``; entries that are exactly zero must be so in both."""
    zero = exact == 0
    assert (actual[zero] == 0).all()
    return float((np.abs(actual - exact)[~zero] / exact[~zero]).max())
