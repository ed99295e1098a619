"""Derivatives of kernels with respect to their parameters and to rows, against central differences."""

import numpy as np
import pytest
from scipy import sparse

from onefit import kernels
from onefit.kernels import (
    ARD,
    Chi2,
    Columns,
    Cosine,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Metric,
    NotDifferentiableError,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    WeightedSum,
)
from onefit.kernels.row_pairs import RowPairs

from ..oracles.problems import points

D = 3
FAMILIES = [
    Gaussian(0.3),
    Gaussian([0.3, 0.1, 0.7]),
    Laplacian(0.3),
    Laplacian([0.3, 0.1, 0.7]),
    Matern(1.3, 0.5),
    Matern(1.3, 1.5),
    Matern(1.3, 2.5),
    Matern(1.3, 2.2),
    Matern(1.3, np.inf),
    RationalQuadratic(1.3, 0.7),
    Polynomial(3, 0.2, 0.9),
    Polynomial(3, [0.2, 0.1, 0.3], 0.9),
    Polynomial(2, 0.2, 0.0),
    Sigmoid(0.2, 0.3),
    Linear(),
]
SCALES = [0.8, 1.4, 0.5]
MATRIX = [[0.8, 0.3], [-0.4, 1.4], [0.5, 0.0]]
COMPOSED = [
    *(ARD(kernel, scales=SCALES) for kernel in FAMILIES),
    ARD(Gaussian(0.2), groups=[[0, 2], [1]], scales=[0.7, 1.1]),
    ARD(ARD(Gaussian(0.2), scales=SCALES), scales=SCALES),
    ARD(Gaussian(0.2) + 0.5 * Laplacian(0.1) * Linear(), scales=SCALES),
    0.3 * Gaussian(0.2) + Linear(),
    Gaussian(0.2) * (Polynomial(2, 0.3, 0.5) + 2.0 * RationalQuadratic()),
    *(Metric(kernel, MATRIX) for kernel in (Gaussian(0.3), Laplacian(0.3), Polynomial(3, 0.2, 0.9))),
    Metric(Gaussian(0.3)),
    ARD(Metric(Matern(1.3, 1.5), MATRIX), scales=SCALES),
    Columns(ARD(Gaussian(0.4), scales=[1.0, 2.0]), [2, 0]),
    Columns(Matern(0.8), [1]) * Gaussian(0.1),
    WeightedSum([Gaussian(0.1), Linear(), Columns(Laplacian(0.5), [0, 1])], [0.2, 0.3, 0.0]),
    WeightedSum([ARD(Gaussian(0.1), scales=SCALES), Columns(ARD(Linear(), scales=[2.0]), [1])], [0.5, 0.2]),
]


def inside(kernel):
    """The classes of a kernel and of its parts."""
    parts = [getattr(kernel, name, None) for name in ("kernel", "left", "right")]
    return {type(kernel)}.union(*(inside(part) for part in [*parts, *getattr(kernel, "kernels", ())] if part))


WITHOUT = {"Chi2", "AdditiveChi2", "Cosine", "Function", "Precomputed", "Given"}
"""Kernels without derivatives, and those of which nothing is learned but a weight."""


def test_every_kernel_is_in_the_table_or_said_to_have_no_derivatives():
    offered = {name for name in kernels.__all__ if isinstance(getattr(kernels, name), type)}
    abstract = {"Kernel", "ElementWise", "NotDifferentiableError"}
    tested = {kind.__name__ for kernel in [*FAMILIES, *COMPOSED] for kind in inside(kernel)}
    assert offered - abstract - WITHOUT == tested


def central_differences(function, at, step=1e-5):
    found = []
    for j in range(len(at)):
        e = step * np.eye(len(at))[j]
        found.append((function(at + e) - function(at - e)) / (2 * step))
    return np.array(found)


def symmetric(n):
    G = np.random.default_rng(1).normal(size=(n, n))
    return G + G.T


@pytest.mark.parametrize("kernel", [*FAMILIES, *COMPOSED], ids=str)
def test_pullback_is_the_derivative_with_respect_to_every_parameter(kernel):
    X, G = points(0, 12, D), symmetric(12)
    theta = kernel.log_parameters
    assert len(theta) == len(kernel.parameter_names) == len(kernel.is_width)
    found = kernel.pullback(RowPairs(X), G)
    used = np.isfinite(theta)
    expected = central_differences(lambda t: np.vdot(G, kernel.with_log_parameters(t)(X)), theta)[used]
    assert found.shape == theta.shape
    np.testing.assert_allclose(found[used], expected, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(expected).max(initial=0)))
    assert (found[~used] == 0).all()


@pytest.mark.parametrize("kernel", [*FAMILIES, *COMPOSED], ids=str)
def test_input_gradient_is_the_derivative_with_respect_to_a_row(kernel):
    X, Y = points(0, 5, D), points(1, 7, D)
    B = np.random.default_rng(2).normal(size=(5, 7))
    found = kernel.input_gradient(RowPairs(X, Y), B)
    for a in range(len(X)):
        expected = central_differences(lambda x, a=a: float(B[a] @ kernel(x[None], Y)[0]), X[a])
        np.testing.assert_allclose(found[a], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", [*FAMILIES, *COMPOSED], ids=str)
def test_parameters_make_a_round_trip_and_kernels_stay_hashable(kernel):
    again = kernel.with_log_parameters(kernel.log_parameters)
    assert type(again) is type(kernel)
    assert again.parameter_names == kernel.parameter_names
    np.testing.assert_allclose(again(points(0, 6, D)), kernel(points(0, 6, D)), rtol=1e-13)
    assert isinstance(hash(again), int)


def test_one_scale_per_feature_is_a_gaussian_with_an_array_and_a_kernel_of_scaled_rows():
    X, gamma = points(0, 10, D), np.array([0.3, 0.1, 0.7])
    expected = np.exp(-(gamma * (X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(Gaussian(gamma)(X), expected, rtol=1e-13)
    np.testing.assert_allclose(ARD(Gaussian(1.0), scales=np.sqrt(gamma))(X), expected, rtol=1e-13)
    np.testing.assert_allclose(Gaussian(1.0)(X * np.sqrt(gamma)), expected, rtol=1e-13)
    assert Gaussian(gamma).gamma == (0.3, 0.1, 0.7)
    assert Gaussian(gamma) == Gaussian([0.3, 0.1, 0.7])


def test_a_metric_is_a_kernel_of_mapped_rows():
    X, Y, L = points(0, 10, D), points(1, 4, D), np.array(MATRIX)
    M = L @ L.T
    differences = X[:, None] - Y
    expected = np.exp(-0.3 * np.einsum("abi,ij,abj->ab", differences, M, differences))
    np.testing.assert_allclose(Metric(Gaussian(0.3), L)(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(Metric(Gaussian(0.3), L)(sparse.csr_matrix(X)), Gaussian(0.3)(X @ L), rtol=1e-12)
    assert Metric(Gaussian(0.3), L) == Metric(Gaussian(0.3), MATRIX)
    assert Metric(Gaussian(0.3)).bound(3).bases == Gaussian(0.3).bases


@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        (1, [1]),
        ([0, -1], [0, 2]),
        (slice(0, 2), [0, 1]),
        ([True, False, True], [0, 2]),
        (np.array([False, True, True]), [1, 2]),
    ],
    ids=str,
)
def test_columns_are_named_as_a_column_transformer_names_them(columns, positions):
    X = points(0, 6, D)
    np.testing.assert_allclose(Columns(Linear(), columns)(X), X[:, positions] @ X[:, positions].T, rtol=1e-13)


def test_rational_quadratic_tends_to_the_gaussian():
    X = points(0, 8, D)
    np.testing.assert_allclose(RationalQuadratic(1.5, 1e9)(X), Gaussian(0.5 / 1.5**2)(X), rtol=1e-8)


def test_unit_scales_share_the_base_of_the_kernel():
    assert ARD(Gaussian(0.1)).bound(3).bases == Gaussian(0.1).bases
    assert ARD(Gaussian(0.1)).bases == Gaussian(0.1).bases


def test_sparse_rows_have_the_values_and_derivatives_of_dense_ones():
    X, G = points(0, 12, D), symmetric(12)
    X[X < 0] = 0.0
    kernel = ARD(Gaussian(0.3), scales=SCALES)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X)), kernel(X), rtol=1e-12)
    found = kernel.pullback(RowPairs(sparse.csr_matrix(X)), G)
    np.testing.assert_allclose(found, kernel.pullback(RowPairs(X), G), rtol=1e-10)


def test_shifted_rows_keep_the_digits_of_derivatives():
    X, G = points(0, 12, D), symmetric(12)
    kernel = ARD(Gaussian(0.3), scales=SCALES)
    found = kernel.pullback(RowPairs(X + 1e6), G)
    np.testing.assert_allclose(found, kernel.pullback(RowPairs(X), G), rtol=1e-7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gaussian([]),
        lambda: Gaussian([0.1, -1.0]),
        lambda: Gaussian([[0.1]]),
        lambda: Gaussian([0.1, None]),
        lambda: Gaussian([0.1, 0.2])(points(0, 4, 3)),
        lambda: ARD("rbf"),
        lambda: ARD(Gaussian(), groups=[[0], [0, 1]]),
        lambda: ARD(Gaussian(), groups=[[0], []]),
        lambda: ARD(Gaussian(), groups=[[0], [1]], scales=[1.0]),
        lambda: ARD(Gaussian(), groups=[[0], [1]])(points(0, 4, 3)),
        lambda: ARD(Gaussian(), scales=[1.0, -1.0, 1.0]),
        lambda: ARD(Gaussian(), scales=[1.0])(points(0, 4, 3)),
        lambda: ARD(Gaussian(0.1)).log_parameters,
        lambda: Gaussian().log_parameters,
        lambda: WeightedSum([]),
        lambda: WeightedSum(["rbf"]),
        lambda: WeightedSum([Linear()], [0.5, 0.5]),
        lambda: WeightedSum([Linear()], [-1.0]),
        lambda: Columns(Linear(), []),
        lambda: Columns(Linear(), [1.5]),
        lambda: Columns(Linear(), True),
        lambda: Columns(Linear(), None),
        lambda: Columns(Linear(), slice(1, None)),
        lambda: Columns(Linear(), [False, False]),
        lambda: Columns(Linear(), [-4])(points(0, 4, 3)),
        lambda: Metric("rbf"),
        lambda: Metric(Gaussian(), [1.0, 2.0]),
        lambda: Metric(Gaussian(), [[1.0], [np.nan]]),
        lambda: Metric(Gaussian(), [[1.0], [2.0]])(points(0, 4, 3)),
        lambda: Columns(Linear(), [3])(points(0, 4, 3)),
        lambda: Columns(Linear(), ["a"])(points(0, 4, 3)),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(ValueError, match=r"gamma|ARD|groups|scales|features|weights|kernels|column|data|names|matrix"):
        make()


@pytest.mark.parametrize("kernel", [Cosine(), Chi2(0.2), Precomputed(), Matern(1.0, 0.8), Function.of(min)], ids=str)
def test_kernels_without_derivatives_say_so(kernel):
    X = np.abs(points(0, 4, 4))
    with pytest.raises(NotDifferentiableError):
        kernel.input_gradient(RowPairs(X), np.ones((4, 4)))


def test_chi2_has_a_width_to_learn():
    X, G = np.abs(points(0, 8, D)), symmetric(8)
    kernel = Chi2(0.4)
    expected = central_differences(lambda t: np.vdot(G, kernel.with_log_parameters(t)(X)), kernel.log_parameters)
    np.testing.assert_allclose(kernel.pullback(RowPairs(X), G), expected, rtol=1e-7)


def test_names_of_columns_become_positions():
    assert Columns(Linear(), ["b", 0]).named(["a", "b"]).columns == (1, 0)
    with pytest.raises(ValueError, match="no column 'c'"):
        Columns(Linear(), ["c"]).named(["a", "b"])
