"""Grids that follow the data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

import onefit
from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, default_grid, kernels

MACHINES = [SVC(), SVR(), HingeSVC(), EpsilonSVR(), L2SVC(), KernelRidge(kernel="rbf"), LSSVC(), LSSVR()]


def median_over_pairs(X, distance):
    """The median of all positive distances, pair by pair."""
    found = [distance(X[i], X[j]) for i in range(len(X)) for j in range(i)]
    return np.median([value for value in found if value > 0])


def test_widths_are_around_the_median_distance(regression):
    X, y = regression
    gaussian = default_grid(KernelRidge(kernel="rbf"), X, y)["gamma"]
    expected = 1 / median_over_pairs(X, lambda a, b: ((a - b) ** 2).sum())
    assert gaussian[4] == pytest.approx(expected, rel=5e-3)
    np.testing.assert_allclose(np.diff(np.log2(gaussian)), 2.0, atol=0.02)
    laplacian = default_grid(KernelRidge(kernel="laplacian"), X, y)["gamma"]
    expected = 1 / median_over_pairs(X, lambda a, b: np.abs(a - b).sum())
    assert laplacian[4] == pytest.approx(expected, rel=5e-3)
    np.testing.assert_allclose(np.diff(np.log2(laplacian)), 1.0, atol=0.02)


def test_the_narrowest_kernel_reaches_the_nearest_neighbour(regression):
    for columns in (1, 2, 4):
        X, y = regression[0][:, :columns], regression[1]
        gammas = default_grid(KernelRidge(kernel="rbf"), X, y)["gamma"]
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        nearest = np.median(np.sort(squares, axis=1)[:, 1])
        steps = np.ceil(np.log(1 / (nearest * gammas[4])) / np.log(4.0))
        assert abs(len(gammas) - 5 - np.clip(steps, 1, 6)) <= (1 if steps < 6 else 0)


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 7.0, 1e6])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_widths_follow_the_scale_of_the_inputs_and_penalties_do_not(regression, machine, factor):
    X, y = regression
    y = y if isinstance(machine, SVR | KernelRidge | LSSVR) else y > 0
    one, other = default_grid(machine, X, y), default_grid(machine, factor * X, y)
    np.testing.assert_allclose(np.multiply(other["gamma"], factor**2), one["gamma"], rtol=1e-2)
    for name in set(one) - {"gamma"}:
        np.testing.assert_allclose(other[name], one[name], rtol=1e-2)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_scales_of_other_kernels(regression, factor):
    X, y = regression
    for kernel, power in (("laplacian", 1), ("poly", 2)):
        one, other = (default_grid(LSSVR(kernel=kernel), c * X, y) for c in (1.0, factor))
        np.testing.assert_allclose(np.multiply(other["gamma"], factor**power), one["gamma"], rtol=1e-2)
        np.testing.assert_allclose(other["alpha"], one["alpha"], rtol=1e-2)
    one, other = (default_grid(LSSVR(kernel="linear"), c * X, y) for c in (1.0, factor))
    np.testing.assert_allclose(np.divide(other["alpha"], factor**2), one["alpha"], rtol=1e-2)
    one, other = (default_grid(SVC(kernel="linear"), c * X, y > 0) for c in (1.0, factor))
    np.testing.assert_allclose(np.multiply(other["C"], factor**2), one["C"], rtol=1e-2)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_scale_of_the_target_moves_the_tube_and_its_penalty(regression, factor):
    X, y = regression
    one, other = default_grid(SVR(), X, y), default_grid(SVR(), X, factor * y + 3.0)
    np.testing.assert_allclose(other["gamma"], one["gamma"])
    for name in ("C", "epsilon"):
        np.testing.assert_allclose(np.divide(other[name], factor), one[name], rtol=1e-2)
    for machine in (KernelRidge(kernel="rbf"), LSSVR()):
        assert default_grid(machine, X, y) == default_grid(machine, X, factor * y)


def test_the_largest_tube_is_the_noise():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(800, 1))
    for noise in (0.01, 0.1):
        y = np.sin(3 * X[:, 0]) + noise * rng.normal(size=800)
        assert default_grid(SVR(), X, y)["epsilon"][-1] == pytest.approx(noise, rel=0.2)


def test_a_few_outliers_change_little(regression):
    X, y = (array.copy() for array in regression)
    before = default_grid(SVR(), X, y)
    X[:3] *= 1e4
    y[:3] *= 1e4
    after = default_grid(SVR(), X, y)
    assert after["gamma"][4] == pytest.approx(before["gamma"][4], rel=0.2)
    for name in ("C", "epsilon"):
        np.testing.assert_allclose(after[name], before[name], rtol=0.3)


def test_grids_are_plain_and_sorted(three_classes):
    for machine in (SVC(), LSSVC(), L2SVC(), SVC(kernel="poly"), LSSVC(kernel="laplacian")):
        grid = default_grid(machine, *three_classes)
        for values in grid.values():
            assert values == sorted(values)
            assert all(type(value) in (int, float) for value in values)
            assert all(float(f"{value:.3g}") == value for value in values)


def test_pipelines_see_the_transformed_rows(regression):
    X, y = regression
    steps = StandardScaler(), SelectKBest(f_regression, k=3), PCA(2)
    pipe = make_pipeline(*steps, SVR())
    inner = default_grid(SVR(), make_pipeline(*map(clone, steps)).fit_transform(X, y), y)
    assert default_grid(pipe, X, y) == {f"svr__{name}": values for name, values in inner.items()}
    assert not hasattr(pipe[0], "mean_")
    alone = default_grid(Pipeline([("machine", SVR())]), X, y)
    assert alone == {f"machine__{name}": values for name, values in default_grid(SVR(), X, y).items()}


def test_scaled_pipelines_do_not_feel_the_scale(regression):
    X, y = regression
    pipe = make_pipeline(MinMaxScaler(), KernelRidge(kernel="rbf"))
    assert default_grid(pipe, X, y) == default_grid(pipe, X * [1e-6, 1.0, 1e3, 1e6], y)


def test_several_kernels_are_several_grids(regression):
    X, y = regression
    grids = default_grid(LSSVR(), X, y, kernels=("gaussian", "poly", "linear", "laplacian"))
    assert [grid["kernel"] for grid in grids] == [["rbf"], ["poly"], ["linear"], ["laplacian"]]
    assert [sorted(set(grid) - {"kernel", "alpha"}) for grid in grids] == [
        ["gamma"], ["coef0", "degree", "gamma"], [], ["gamma"],
    ]  # fmt: skip
    for name, grid in zip(("rbf", "poly", "linear", "laplacian"), grids):
        own = default_grid(LSSVR(kernel=name), X, y)
        assert {**own, "kernel": [name]} == grid
    prefixed = default_grid(make_pipeline(StandardScaler(), SVR()), X, y, kernels="linear")
    assert prefixed[0]["svr__kernel"] == ["linear"]


def test_polynomials_have_a_constant(two_classes):
    assert default_grid(SVC(kernel="poly"), *two_classes)["coef0"] == [1.0]
    assert default_grid(SVC(kernel="poly", coef0=0.5), *two_classes)["coef0"] == [0.5]
    assert default_grid(SVC(kernel="poly"), *two_classes)["degree"] == [2, 3, 4]


def test_other_kernels_have_penalties_only(regression):
    X, y = regression
    for kernel in ("cosine", kernels.Matern(2.0), kernels.Gaussian(0.1) + kernels.Linear(), lambda a, b: float(a @ b)):
        assert list(default_grid(LSSVR(kernel=kernel), X, y)) == ["alpha"]
    by_hand = default_grid(LSSVR(kernel=lambda a, b: float(a @ b)), X, y)
    assert by_hand == default_grid(LSSVR(kernel="linear"), X, y)
    for kernel in (lambda A, B: A @ B.T, kernels.Linear()):
        assert default_grid(SVC(kernel=kernel), X, y > 0) == default_grid(SVC(kernel="linear"), X, y > 0)


def test_sparse_rows_and_lists(regression):
    X, y = regression
    assert default_grid(SVR(), sparse.csr_array(X), list(y)) == default_grid(SVR(), X.tolist(), y)


def test_many_rows_are_sampled_always_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=len(X))
    grid = default_grid(SVR(), X, y)
    assert grid == default_grid(SVR(), X, y)
    few = default_grid(SVR(), X[:1000], y[:1000])
    assert grid["gamma"][4] == pytest.approx(few["gamma"][4], rel=0.1)
    assert default_grid(LSSVR(), X, y)["alpha"][-1] > default_grid(LSSVR(), X[:50], y[:50])["alpha"][-1]


class TestDegenerateData:
    @pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
    @pytest.mark.parametrize("n", [1, 2, 3, 9])
    def test_few_rows(self, machine, n):
        X = np.random.default_rng(0).normal(size=(n, 2))
        grid = default_grid(machine, X, np.arange(n) % 2)
        assert all(np.isfinite(values).all() and np.min(values) > 0 for values in grid.values())

    @pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
    def test_equal_rows_have_no_scale(self, kernel):
        for value in (0.0, 3.0):
            X = np.full((20, 2), value)
            for machine in (SVR(kernel=kernel), LSSVR(kernel=kernel)):
                grid = default_grid(machine, X, np.ones(20))
                assert all(np.isfinite(values).all() and np.min(values) > 0 for values in grid.values())

    def test_constant_features_do_not_count(self, regression):
        X, y = regression
        constant = np.column_stack([X, np.full(len(y), 5.0)])
        for kernel in ("rbf", "linear"):
            assert default_grid(SVR(kernel=kernel), X, y) == default_grid(SVR(kernel=kernel), constant, y)

    def test_duplicates_do_not_count(self, regression):
        """Most pairs are equal, and the median is that of the others."""
        X, y = regression
        X, y = X.copy(), y.copy()
        X[20:] = X[0]
        gamma = default_grid(SVR(), X, y)["gamma"][4]
        expected = 1 / median_over_pairs(X, lambda a, b: ((a - b) ** 2).sum())
        assert gamma == pytest.approx(expected, rel=5e-3)

    def test_a_constant_target(self, regression):
        X, _ = regression
        grid = default_grid(SVR(), X, np.full(len(X), 7.0))
        assert grid["epsilon"][-1] == pytest.approx(0.1)


class TestRefusals:
    def test_precomputed_kernels(self, two_classes):
        X, y = two_classes
        for machine in (SVC(kernel="precomputed"), KernelRidge(kernel="precomputed"), LSSVC(kernel="precomputed")):
            with pytest.raises(ValueError, match="no default grid for a precomputed kernel"):
                default_grid(machine, X @ X.T, y)
        with pytest.raises(ValueError, match="no default grid for a precomputed kernel"):
            default_grid(SVC(), X, y, kernels=["gaussian", "precomputed"])

    def test_other_estimators(self, two_classes):
        with pytest.raises(ValueError, match=r"no default grid for NuSVC: only for KernelRidge, .*SVC, .*SVR"):
            default_grid(NuSVC(), *two_classes)
        with pytest.raises(ValueError, match="no default grid for StandardScaler"):
            default_grid(make_pipeline(StandardScaler()), *two_classes)
        with pytest.raises(ValueError, match="no default grid for this estimator: more than transformers"):
            default_grid(OneVsRestClassifier(SVC()), *two_classes)

    def test_pipelines_inside_one_another(self, two_classes):
        inside = default_grid(make_pipeline(StandardScaler(), make_pipeline(SVC())), *two_classes)
        assert inside == {
            f"pipeline__{name}": values
            for name, values in default_grid(make_pipeline(StandardScaler(), SVC()), *two_classes).items()
        }

    def test_kernels(self, two_classes):
        with pytest.raises(ValueError, match="SVC has no kernel 'laplacian': use one of linear, poly, rbf, sigmoid"):
            default_grid(SVC(), *two_classes, kernels=["laplacian"])
        with pytest.raises(ValueError, match="LSSVC has no kernel 'gausian'"):
            default_grid(LSSVC(), *two_classes, kernels=["gausian"])
        with pytest.raises(ValueError, match="at least one name"):
            default_grid(SVC(), *two_classes, kernels=[])

    def test_data(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            default_grid(SVR(), X, y[:-1])
        with pytest.raises(ValueError, match="Input X contains NaN"):
            default_grid(SVR(), np.where(X > 2, np.nan, X), y)
        with pytest.raises(ValueError, match="Input y contains NaN"):
            default_grid(SVR(), X, np.where(y > 1, np.nan, y))
        with pytest.raises(ValueError, match="regression has one target"):
            default_grid(SVR(), X, np.column_stack([y, y]))


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
def test_grid_search_takes_it(two_classes):
    grid = default_grid(SVC(), *two_classes, kernels=["linear"])
    search = GridSearchCV(SVC(), grid, cv=3).fit(*two_classes)
    assert len(search.cv_results_["params"]) == len(ParameterGrid(grid))
    assert "default_grid" in dir(onefit)
