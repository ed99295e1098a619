"""Parameters: their bounds, equality of kernels, and scikit-learn's names."""

import functools

import numpy as np
import pytest

from onefit.kernels import (
    AdditiveChi2,
    Chi2,
    Cosine,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Sigmoid,
    from_params,
)
from onefit.kernels.naming import NAMES

from ..oracles.problems import points

BAD = [-1.0, np.nan, np.inf, "wide"]

WRONG = (
    [(kernel, "gamma", value) for kernel in (Gaussian, Laplacian, Polynomial, Sigmoid, Chi2) for value in BAD]
    + [(Polynomial, "degree", value) for value in BAD]
    + [(kernel, "coef0", value) for kernel in (Polynomial, Sigmoid) for value in (np.nan, -np.inf, "x", None)]
    + [(Matern, "length_scale", value) for value in [*BAD, 0.0, None]]
    + [(Matern, "nu", value) for value in (0.0, -1.0, 101.0, np.nan, "x", None)]
)


@pytest.mark.parametrize(("kernel", "name", "value"), WRONG)
def test_impossible_parameters_are_refused_by_name(kernel, name, value):
    with pytest.raises(ValueError, match=name):
        kernel(**{name: value})


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian, Polynomial, Sigmoid, Chi2])
def test_zero_and_missing_widths_are_allowed(kernel):
    assert kernel(gamma=0.0).gamma == 0.0
    assert kernel(gamma=None).gamma is None


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), Polynomial(), Sigmoid()])
def test_a_missing_width_must_be_bound_before_it_is_used(kernel):
    with pytest.raises(ValueError, match="gamma=None"):
        kernel.map(np.ones((2, 2)))
    assert kernel.bound(5).gamma == pytest.approx(0.2)


@pytest.mark.parametrize("length_scale", [1e-170, 1e-5, 1e5, 1e200])
def test_extreme_length_scales_have_finite_values(length_scale):
    K = Matern(length_scale)(points(0, 5))
    assert np.isfinite(K).all()
    assert (K.diagonal() == 1).all()


def test_equal_kernels_hash_alike_and_different_ones_differ():
    kernels = [
        Gaussian(1.0),
        Gaussian(2.0),
        Laplacian(1.0),
        Matern(1.0, 1.5),
        Matern(1.0, 2.5),
        Polynomial(2, 1.0),
        Polynomial(3, 1.0),
        Polynomial(3, 1.0, 0.0),
        Sigmoid(1.0),
        Linear(),
        Cosine(),
        Chi2(1.0),
        AdditiveChi2(),
        Precomputed(),
        2 * Gaussian(1.0),
        Gaussian(1.0) + Linear(),
        Gaussian(1.0) * Linear(),
    ]
    assert len(set(kernels)) == len(kernels)
    assert Gaussian(1) == Gaussian(1.0)
    assert hash(Gaussian(1)) == hash(Gaussian(np.float64(1.0)))
    assert len({Gaussian(1.0), Gaussian(1), Gaussian(np.float64(1))}) == 1


EXPECTED = {
    "linear": Linear(),
    "rbf": Gaussian(0.3),
    "laplacian": Laplacian(0.3),
    "polynomial": Polynomial(2, 0.3, 0.5),
    "poly": Polynomial(2, 0.3, 0.5),
    "sigmoid": Sigmoid(0.3, 0.5),
    "cosine": Cosine(),
    "chi2": Chi2(0.3),
    "additive_chi2": AdditiveChi2(),
    "precomputed": Precomputed(),
}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_means_its_kernel(name):
    assert from_params(name, gamma=0.3, degree=2, coef0=0.5) == EXPECTED[name]


def test_parameters_without_effect_do_not_make_kernels_differ():
    assert len({from_params("linear", gamma=g, degree=d) for g in (None, 1.0, 2.0) for d in (2, 3)}) == 1
    assert len({from_params("rbf", gamma=1.0, degree=d, coef0=c) for d in (2, 3) for c in (0.0, 1.0)}) == 1
    assert len({from_params("sigmoid", gamma=1.0, degree=d) for d in (2, 3)}) == 1
    assert len({from_params("cosine", gamma=g) for g in (1.0, 2.0)}) == 1
    assert len({from_params("rbf", gamma=g) for g in (1.0, 2.0)}) == 2
    assert from_params("rbf", gamma=1.0, kernel_params={"degree": 2}) == Gaussian(1.0)


def test_a_kernel_is_itself_and_an_unknown_name_is_refused():
    kernel = Gaussian(1.0) + Linear()
    assert from_params(kernel, gamma=7.0) is kernel
    with pytest.raises(ValueError, match=r"Unknown kernel 'rfb'.*rbf"):
        from_params("rfb")


def _dot(x, z, shift=0.0):
    return float(x @ z + shift)


class _Shifted:
    def __init__(self, shift):
        self.shift = shift

    def __call__(self, x, z):
        return float(x @ z + self.shift)


def test_equal_callables_with_equal_parameters_make_equal_kernels():
    assert from_params(_dot) == Function.of(_dot)
    assert Function.of(_dot, {"shift": 1.0}) == Function.of(_dot, {"shift": 1.0})
    assert hash(Function.of(_dot, {"shift": 1.0})) == hash(Function.of(_dot, {"shift": 1.0}))
    assert Function.of(_dot, {"shift": 1.0}) != Function.of(_dot, {"shift": 2.0})
    assert Function.of(_dot) != Function.of(lambda x, z: float(x @ z))


def test_copies_of_a_callable_object_are_equal_if_their_state_is():
    assert Function.of(_Shifted(1.0)) == Function.of(_Shifted(1.0))
    assert Function.of(_Shifted(1.0)) != Function.of(_Shifted(2.0))
    assert Function.of(functools.partial(_dot, shift=1.0)) == Function.of(functools.partial(_dot, shift=1.0))
    assert Function.of(functools.partial(_dot, shift=1.0)) != Function.of(functools.partial(_dot, shift=2.0))


def test_closures_with_different_contents_differ():
    def shifted(shift):
        return lambda x, z: float(x @ z + shift)

    X = points(0, 4)
    one, two = Function.of(shifted(1.0)), Function.of(shifted(2.0))
    assert one != two
    np.testing.assert_allclose(two(X) - one(X), np.ones((4, 4)), atol=1e-12)
    wrapped = [Function.of(functools.partial(shifted(s))) for s in (1.0, 2.0)]
    assert wrapped[0] != wrapped[1]
