"""Sums over blocks of rows, against products of whole matrices."""

import numpy as np
import pytest
from scipy import sparse

from onefit.gram.cells import disjoint_cells, grouped_cells
from onefit.gram.feature_map import FourierMap, LandmarkMap
from onefit.gram.streamed import accumulate, in_lanes, products
from onefit.kernels import Gaussian


def problem(seed, n=500, c=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    feature_map = LandmarkMap.build(Gaussian(0.7), X[:40])
    return rng, X, rng.normal(size=(n, c)), feature_map


def train_sums(Z, E, weights):
    """G, H and T of weighted rows."""
    return Z.T @ (weights[:, None] * Z), Z.T @ (weights[:, None] * E), E.T @ (weights[:, None] * E)


@pytest.mark.parametrize("step", [37, 128, 10_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_cells_add_up_to_the_training_rows_of_every_split(step, weighted, threads):
    rng, X, Y, feature_map = problem(1)
    tests = np.array_split(rng.permutation(480), 7)  # the last twenty rows are never tested
    weights = rng.uniform(0.2, 2, size=500) if weighted else None
    cells = disjoint_cells(tests, 500, weights)
    sums = accumulate(feature_map, X, Y, cells, threads=threads, step=step)
    Z, E, w = feature_map(X), np.column_stack([np.ones(500), Y]), np.ones(500) if weights is None else weights
    for i, test in enumerate(tests):
        train = np.ones(500)
        train[test] = 0
        G, H, T = train_sums(Z, E, train * w)
        mixed = sums.mix(cells.share[i])
        np.testing.assert_allclose(np.triu(mixed.G[0]), np.triu(G), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(mixed.H[0], H, atol=1e-10)
        np.testing.assert_allclose(mixed.T[0], T, atol=1e-10)


def test_the_number_of_threads_does_not_change_a_bit():
    rng, X, Y, feature_map = problem(2)
    cells = disjoint_cells(np.array_split(rng.permutation(500), 3), 500, None)
    one, two = (accumulate(feature_map, X, Y, cells, threads=threads, step=64) for threads in (1, 2))
    np.testing.assert_array_equal(one.G, two.G)


@pytest.mark.parametrize("limit", [2, 5, 1000])
@pytest.mark.parametrize("shared", [None, "weights"])
def test_splits_of_any_kind_are_sums_of_cells(limit, shared):
    """Overlapping splits, rows that are trained on twice, weights of each split."""
    rng, X, Y, feature_map = problem(3, n=200)
    factors = [rng.choice([0.0, 1.0, 2.0], size=200) for _ in range(6)] + [rng.uniform(size=200)]
    weights = None if shared is None else rng.uniform(size=200)
    Z, E = feature_map(X), np.column_stack([np.ones(200), Y])
    seen = []
    for cells in grouped_cells(factors, weights, limit):
        assert cells.count <= limit or len(cells.splits) == 1
        sums = accumulate(feature_map, X, Y, cells)
        for k, split in enumerate(cells.splits):
            G, H, T = train_sums(Z, E, factors[split] * (1 if weights is None else weights))
            mixed = sums.mix(cells.share[k])
            np.testing.assert_allclose(np.triu(mixed.G[0]), np.triu(G), atol=1e-10)
            np.testing.assert_allclose(mixed.H[0], H, atol=1e-10)
            np.testing.assert_allclose(mixed.T[0], T, atol=1e-10)
            seen.append(split)
    assert seen == list(range(7))


@pytest.mark.parametrize("gamma", [0.05, 30.0])
def test_well_conditioned_landmarks_are_whitened_after_summing(gamma):
    rng, X, Y, _ = problem(8, n=2000)
    feature_map = LandmarkMap.build(Gaussian(gamma), X[:40])
    assert (feature_map.whitening is None) == (gamma < 1)
    cells = disjoint_cells(np.array_split(rng.permutation(2000), 3), 2000, None)
    sums, Z = accumulate(feature_map, X, Y, cells), feature_map(X)
    for cell in range(3):
        rows = cells.number == cell
        np.testing.assert_allclose(np.triu(sums.G[cell]), np.triu(Z[rows].T @ Z[rows]), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(sums.H[cell][:, 1:], Z[rows].T @ Y[rows], atol=1e-9)
    B = rng.normal(size=(feature_map.width, 2))
    (found,) = products(feature_map, X, [(np.arange(2000), B)])
    np.testing.assert_allclose(found, Z @ B, atol=1e-9)


def test_products_of_wanted_rows():
    rng, X, _, feature_map = problem(4)
    wanted = [(rng.permutation(500)[:k], rng.normal(size=(feature_map.width, 3))) for k in (1, 60, 500)]
    found = products(feature_map, X, wanted)
    for (rows, B), values in zip(wanted, found):
        np.testing.assert_allclose(values, feature_map(X)[rows] @ B, atol=1e-10)


def test_a_missing_value_is_named_by_its_row():
    _, X, Y, feature_map = problem(5)
    X[321, 1] = np.nan
    with pytest.raises(ValueError, match="Row 321 of X"):
        accumulate(feature_map, X, Y, disjoint_cells([np.arange(250)], 500, None), step=100)


def test_sparse_rows_give_the_bits_of_dense_ones():
    rng, X, Y, _ = problem(6)
    X[rng.uniform(size=X.shape) < 0.5] = 0
    feature_map = LandmarkMap.build(Gaussian(0.7), X[:40])
    cells = disjoint_cells([np.arange(250)], 500, None)
    dense, csr = (accumulate(feature_map, rows, Y, cells, step=100) for rows in (X, sparse.csr_matrix(X)))
    np.testing.assert_array_equal(dense.G, csr.G)


def test_landmark_features_have_the_kernel_as_inner_product_where_landmarks_are():
    _, X, _, feature_map = problem(7)
    Z = feature_map(X)
    np.testing.assert_allclose(Z @ Z[:40].T, Gaussian(0.7)(X, X[:40]), atol=1e-10)
    part = LandmarkMap.build(Gaussian(0.7), X[:17])
    np.testing.assert_allclose(part(X), Z[:, : feature_map.leading(17)], atol=1e-12)


def test_random_features_have_the_kernel_as_mean_inner_product():
    X = np.random.default_rng(0).normal(size=(30, 3))
    mean = np.mean([FourierMap.build(Gaussian(0.3), 60, 3, seed)(X) @ FourierMap.build(Gaussian(0.3), 60, 3, seed)(X).T
                    for seed in range(300)], axis=0)  # fmt: skip
    np.testing.assert_allclose(mean, Gaussian(0.3)(X), atol=0.03)
    Z = FourierMap.build(Gaussian(0.3), 60, 3, 0)(X)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 50.0])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e7])
def test_entries_of_a_gaussian_kernel_have_all_their_digits(gamma, shift):
    """Near landmarks, at them and far from them; a shift of all rows or a row far away costs no digits."""
    rng = np.random.default_rng(0)
    landmarks = (rng.integers(-2000, 2000, size=(30, 4)) / 1024) + shift  # exact in binary, also when shifted
    X = np.vstack([landmarks, landmarks + 2.0**-20, rng.integers(-4000, 4000, size=(50, 4)) / 1024 + shift])
    kernel = Gaussian(gamma)
    exact = np.exp(-gamma * ((X[:, None] - landmarks) ** 2).sum(axis=2))
    for rows, expected in ((X, exact), (np.vstack([X, X[:1] + 1e6]), np.vstack([exact, np.zeros(30)]))):
        feature_map = LandmarkMap(kernel, landmarks, np.arange(30), np.asfortranarray(np.eye(30)))
        np.testing.assert_allclose(feature_map(rows)[:130], expected[:130], rtol=1e-11, atol=1e-13)


def test_an_error_in_one_lane_ends_the_other():
    """Of forty blocks the second fails: the other lane stops after the block that it is at."""
    import threading
    import time

    seen, failed = [], threading.Event()

    def run(lane, blocks):
        for block in blocks:
            if block.start == 10:
                failed.set()
                raise ValueError("the second block")
            failed.wait(5.0)
            time.sleep(0.05)
            seen.append(block.start)

    with pytest.raises(ValueError, match="the second block"):
        in_lanes(run, 400, 1, 2, step=10)
    assert len(seen) < 5


@pytest.mark.parametrize("gamma", [1e-4, 3e-3, 0.05])
def test_features_of_wide_kernels_in_any_order_are_no_longer_than_the_kernel_allows(gamma):
    """A projection: ``|z(x)|² <= k(x, x)``, and the kernel where landmarks are; pivots alone do not ensure it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 5))
    feature_map = LandmarkMap.build(Gaussian(gamma), X[:800])
    Z = feature_map(X)
    assert (Z**2).sum(axis=1).max() <= 1 + 1e-8
    np.testing.assert_allclose(Z[:800] @ Z[:800].T, Gaussian(gamma)(X[:800]), atol=1e-8)
