"""Descents: how many evaluations they take."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import rosen, rosen_der

from onefit.search.gradient import descend


def test_a_descent_keeps_to_its_evaluations():
    """A line search may take many: the limit holds within it, and the steps so far are there."""

    class Valley(SimpleNamespace):
        def __call__(self, theta):
            self.evaluations += 1
            return rosen(theta), rosen_der(theta)

    for most in range(1, 25):
        valley = Valley(evaluations=0, start=0, theta=np.array([-1.2, 1.0]), bounds=[(-9, 9)] * 2, point=lambda x: 1)
        points = descend(valley, 30, max_evaluations=most)
        assert valley.evaluations <= most
        assert len(points) <= most
    assert len(points) > 5
