"""Least squares from sums, against scikit-learn's Ridge on the rows."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from onefit.gram.streamed import Sums
from onefit.solvers.primal.ridge_path import ridge_path, squared_errors


def sums_of(Z, Y, weights):
    root = np.sqrt(weights)[:, None]
    sums = Sums.zeros(1, Z.shape[1], 1 + Y.shape[1])
    sums.add_rows(0, Z * root, np.column_stack([np.ones(len(Z)), Y]) * root)
    return sums


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("count", [4, 40])  # Cholesky factorisations, or eigenvectors
@pytest.mark.parametrize("leading", [None, 5])
def test_every_ridge_is_that_of_scikit_learn(bias, count, leading):
    rng = np.random.default_rng(count)
    Z, Y, weights = rng.normal(size=(60, 12)) + 0.5, rng.normal(size=(60, 3)) + 2, rng.uniform(0.1, 2, size=60)
    sums, ridges = sums_of(Z, Y, weights), np.logspace(-3, 2, count)
    path = ridge_path(sums, ridges, bias=bias, leading=leading)
    part = Z[:, :leading]
    errors, terms = squared_errors(sums, path)
    for k, ridge in enumerate(ridges):
        model = Ridge(alpha=ridge, fit_intercept=bias).fit(part, Y, sample_weight=weights)
        np.testing.assert_allclose(path.coef[k], model.coef_.T, atol=1e-9)
        np.testing.assert_allclose(path.intercept[k], np.broadcast_to(model.intercept_, 3), atol=1e-9)
        missed = weights @ (Y - model.predict(part)) ** 2
        np.testing.assert_allclose(errors[k], missed, rtol=1e-10)
        assert (terms[k] >= missed).all()
    np.testing.assert_allclose(
        path.values(part @ path.stacked), np.stack([part @ b + a for b, a in zip(path.coef, path.intercept)])
    )


def test_a_ridge_below_the_rounding_of_the_sums_still_has_a_solution():
    z = np.random.default_rng(0).normal(size=(50, 1))
    Z, Y = np.hstack([z, 1e8 * z, z]), np.ones((50, 1)) * z
    path = ridge_path(sums_of(Z, Y, np.ones(50)), np.array([1e-10]), bias=False)
    assert np.isfinite(path.coef).all()
    np.testing.assert_allclose(Z @ path.coef[0], Y, atol=1e-4)
