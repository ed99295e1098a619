"""Sums, products and multiples of kernels, nested, against the same expression of arrays."""

import numpy as np
import pytest

from onefit.kernels import Chi2, Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid

from ..oracles.problems import points, seeds

EXPRESSIONS = {
    "(a + b) * c + 2*d*(e + f)": lambda a, b, c, d, e, f: (a + b) * c + 2 * d * (e + f),
    "a*b + c": lambda a, b, c, d, e, f: a * b + c,
    "a + b*c": lambda a, b, c, d, e, f: a + b * c,
    "a*(b + c*(d + e*f))": lambda a, b, c, d, e, f: a * (b + c * (d + e * f)),
    "((a + b)*c + d)*e*0.5 + f*3": lambda a, b, c, d, e, f: ((a + b) * c + d) * e * 0.5 + f * 3,
    "2*(3*a + a)*(a + 0*b)": lambda a, b, c, d, e, f: 2 * (3 * a + a) * (a + 0 * b),
    "one kernel six times": lambda a, b, c, d, e, f: (a + a) * a + 2 * a * (a + a),
}

LEAVES = {
    "one base": [Gaussian(0.1), Gaussian(0.4), Matern(2.0, 1.5), Gaussian(1.0), Matern(0.5, 0.5), Gaussian()],
    "many bases": [Gaussian(), Linear(), Polynomial(), Laplacian(0.2), Cosine(), Sigmoid()],
}

combinations = pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
leaves_of = pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES.keys())


@seeds
@combinations
@leaves_of
def test_nested_expressions(seed, expression, leaves):
    X, Y = points(seed, 20, 4), points(seed + 100, 11, 4)
    kernel = expression(*leaves)
    np.testing.assert_allclose(kernel(X), expression(*[leaf(X) for leaf in leaves]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), expression(*[leaf(X, Y) for leaf in leaves]), rtol=1e-12, atol=1e-12)


@combinations
@leaves_of
def test_equal_expressions_are_equal_and_hash_alike(expression, leaves):
    one, other = expression(*leaves), expression(*leaves)
    assert one == other
    assert hash(one) == hash(other)
    assert one != expression(*leaves[::-1])


@combinations
def test_an_expression_reads_the_bases_of_its_leaves(expression):
    leaves = LEAVES["many bases"]
    assert expression(*leaves).bases <= frozenset().union(*(leaf.bases for leaf in leaves))
    assert len(expression(*LEAVES["one base"]).bases) == 1


def test_missing_widths_are_bound_inside_expressions():
    kernel = (Gaussian() + 2 * Polynomial()) * Laplacian() + Chi2()
    assert kernel.bound(4) == (Gaussian(0.25) + 2 * Polynomial(gamma=0.25)) * Laplacian(0.25) + Chi2(1.0)


def test_positive_only_if_every_part_is():
    assert (Gaussian(1.0) * Linear() + 2 * Cosine()).positive
    assert not (Gaussian(1.0) * Sigmoid(1.0) + 2 * Cosine()).positive
    assert not (2 * (Linear() + Polynomial(2.5, 1.0))).positive


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
def test_impossible_factors_are_refused(factor):
    with pytest.raises(ValueError, match="scaled by a finite non-negative number"):
        factor * Gaussian(1.0)


def test_only_kernels_and_numbers_combine():
    with pytest.raises(TypeError):
        Gaussian(1.0) + 1.0
    with pytest.raises(TypeError):
        Gaussian(1.0) * "2"


@pytest.mark.parametrize("two", [2, 2.0, np.float64(2), np.float32(2), np.int64(2)])
def test_any_real_number_scales_from_either_side(two):
    X = points(0, 6)
    np.testing.assert_array_equal((two * Gaussian(1.0))(X), 2.0 * Gaussian(1.0)(X))
    np.testing.assert_array_equal((Gaussian(1.0) * two)(X), 2.0 * Gaussian(1.0)(X))


@seeds
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(3.0), Laplacian(2.0), Matern(0.2, 0.5), Matern(0.2, 0.8), 2 * Gaussian(1.0) + Matern(0.3, 2.5)],
)
def test_largest_off_diagonal_value_comes_from_the_closest_pair(seed, kernel):
    X = points(seed, 30)
    off_diagonal = ~np.eye(30, dtype=bool)
    bound = kernel.largest_off_diagonal(lambda base: base(X)[off_diagonal].min())
    assert kernel(X)[off_diagonal].max() <= bound * (1 + 1e-12)


def test_kernels_that_do_not_decay_know_no_bound():
    for kernel in (Linear(), Polynomial(), Sigmoid(), Gaussian(1.0) + Linear(), Gaussian(1.0) * Linear()):
        assert kernel.largest_off_diagonal(lambda base: 1.0) == np.inf
