"""Peak memory of a search, counted in n x n arrays of doubles."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, NuSVR

import onefit.kernels
from onefit import L2SVC, LSSVR, KernelLogisticRegression, KernelSearchCV

N = 500


def peak_in_squares(search, X, y, **params):
    """Peak of all arrays, LAPACK's work space included, in units of n² doubles."""
    tracemalloc.start()
    try:
        search.fit(X, y, **params)
        return tracemalloc.get_traced_memory()[1] / (8 * len(y) ** 2)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("estimator", [KernelRidge(kernel="rbf"), LSSVR()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("cv", [KFold(10), LeaveOneOut(), KFold(2), KFold(3)], ids=str)
@pytest.mark.parametrize("n_alphas", [1, 15])
@pytest.mark.quick(2)
def test_at_most_four_squares(estimator, cv, n_alphas):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 10)), rng.normal(size=N)
    grid = {"gamma": [0.05, 0.1, 1e4], "alpha": np.logspace(-3, 3, n_alphas)}
    search = KernelSearchCV(estimator, grid, cv=cv, refit=False, scoring="neg_mean_squared_error")
    search.fit(X[:50], y[:50])  # imports and caches
    assert peak_in_squares(search, X, y) <= 4.3  # and a few vectors: n is small here


@pytest.mark.parametrize("cv", [KFold(10), KFold(3)], ids=str)
@pytest.mark.parametrize("n_alphas", [1, 15])
@pytest.mark.parametrize("zeros", [0.0, 0.02], ids=["positive", "some zero"])
def test_weights_need_no_more(cv, n_alphas, zeros):
    """Rows of weight zero are left out before there is a matrix, not copied out of one."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 10)), rng.normal(size=N)
    weights = np.where(rng.random(N) < zeros, 0.0, rng.uniform(0.5, 2.0, N))
    search = KernelSearchCV(
        KernelRidge(kernel="rbf", gamma=0.1), {"alpha": np.logspace(-3, 3, n_alphas)}, cv=cv, refit=False
    )
    search.fit(X[:50], y[:50], sample_weight=weights[:50])
    assert peak_in_squares(search, X, y, sample_weight=weights) <= 4.1  # and a few vectors


@pytest.mark.slow
@pytest.mark.parametrize("n_splits", [3, 10, 30])
@pytest.mark.parametrize("n_alphas", [2, 15])
def test_singular_candidates_need_no_more(n_splits, n_alphas):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 10)), rng.normal(size=N)
    X[N // 2 :] = X[: N // 2]
    grid = {"alpha": [0.0, *np.logspace(-3, 3, n_alphas - 1)]}
    search = KernelSearchCV(LSSVR(gamma=0.1), grid, cv=n_splits, refit=False, scoring="neg_mean_squared_error")
    search.fit(X[:50], y[:50])
    assert peak_in_squares(search, X, y) <= 4.3
    assert search.cv_results_["status"][0].startswith("least-squares solution")


def test_several_machines_on_one_kernel_need_what_is_checked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 10)), rng.normal(size=N)
    grid = {"fit_intercept": [True, False], "alpha": np.logspace(-3, 3, 15)}
    search = KernelSearchCV(LSSVR(gamma=0.1), grid, cv=10, refit=False, memory_budget=4.9 * 8 * N**2)
    with pytest.raises(ValueError, match="5 arrays"):
        search.fit(X, y)
    search.set_params(memory_budget=None).fit(X[:50], y[:50])
    assert peak_in_squares(search, X, y) <= 5.3


def test_precomputed_needs_no_more():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 10)), rng.normal(size=N)
    search = KernelSearchCV(KernelRidge(kernel="precomputed"), {"alpha": np.logspace(-3, 3, 15)}, cv=10, refit=False)
    search.fit(np.eye(50), y[:50])
    assert peak_in_squares(search, X @ X.T, y) <= 4.3


@pytest.mark.slow
@pytest.mark.parametrize("model", [SVC(), L2SVC(), SVR(epsilon=0.01)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("gamma", [0.001, 0.05, 1.0])
@pytest.mark.parametrize("Cs", [[1.0, 100.0], 4.0 ** np.arange(-2, 6)], ids=["two", "path"])
def test_support_vector_machines_need_no_more(model, gamma, Cs):
    rng = np.random.default_rng(0)
    n = 1000
    X = rng.normal(size=(n, 10))
    y = np.sin(X[:, 0]) + 0.5 * rng.normal(size=n)
    y = y if isinstance(model, SVR) else np.sign(y)
    model.set_params(gamma=gamma)
    search = KernelSearchCV(model, {"C": Cs}, cv=10, refit=False)
    search.fit(X[:50], y[:50])  # imports
    assert peak_in_squares(search, X, y) <= 4.4  # and some vectors for each of ten folds


@pytest.mark.parametrize("cv", [KFold(10), LeaveOneOut(), KFold(3)], ids=str)
@pytest.mark.quick(1)
def test_logistic_regression_needs_no_more(cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 10))
    y = np.sign(np.sin(X[:, 0]) + 0.5 * rng.normal(size=N))
    grid = {"C": [0.1] if isinstance(cv, LeaveOneOut) else [1.0, 100.0]}
    search = KernelSearchCV(KernelLogisticRegression(gamma=0.05), grid, cv=cv, refit=False)
    search.fit(X[:50], y[:50])
    assert peak_in_squares(search, X, y) <= 4.3  # and a few vectors for each row that is left out


@pytest.mark.parametrize("gamma", [0.03, 0.1])
def test_folds_that_are_factorised_do_not_find_parts_of_others_in_memory(gamma):
    """Two folds are too few for one inverse: each is factorised by itself."""
    rng = np.random.default_rng(0)
    n = 1000
    X = rng.normal(size=(n, 10))
    y = np.sign(np.sin(X[:, 0]) + 0.3 * rng.normal(size=n))
    search = KernelSearchCV(L2SVC(gamma=gamma), {"C": 10.0 ** np.arange(-2, 5)}, cv=KFold(2), refit=False)
    search.fit(X[:50], y[:50])
    assert peak_in_squares(search, X, y) <= 4.0


class TestOutOfMemory:
    """Memory that is lacking all the same is a MemoryError that says what was needed, not a misconfigured model."""

    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_names_itself(self, regression, monkeypatch, n_jobs):
        def refused(kernel, values):
            raise MemoryError("Unable to allocate 8 EiB")

        monkeypatch.setattr(onefit.kernels.Gaussian, "map", refused)
        grid = {"gamma": [0.1, 1.0], "alpha": [0.1, 1.0]}
        search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, n_jobs=n_jobs, memory_budget="3GB")
        with pytest.raises(MemoryError, match=r"80 rows.*Unable to allocate 8 EiB.*4 arrays.*budget of 3 GB"):
            search.fit(*regression)

    def test_a_transformer_fails_its_candidates_only(self, regression):
        search = KernelSearchCV(
            make_pipeline(Hungry(), KernelRidge(kernel="rbf")), {"hungry__very": [False, True]}, cv=3
        )
        with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"):
            search.fit(*regression)
        assert list(search.cv_results_["exactness"]) == ["exact", "failed"]
        assert search.cv_results_["status"][1] == "MemoryError: of the transformer"

    def test_of_all_candidates(self, regression):
        search = KernelSearchCV(make_pipeline(Hungry(very=True), NuSVR()), {"nusvr__nu": [0.2, 0.4]}, cv=3)
        with pytest.raises(MemoryError, match="of the transformer"), pytest.warns(match="retrained"):
            search.fit(*regression)

    @pytest.mark.slow
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is enforced on Linux")
    @pytest.mark.parametrize(
        ("budget", "expected"),
        [(None, "ValueError 5,000 rows need 800 MB"), ("9GB", "MemoryError 5,000 rows: an array could not be")],
    )
    def test_under_a_limit_of_the_address_space(self, budget, expected):
        script = f"""
import resource
from pathlib import Path
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from onefit import KernelSearchCV
X = np.random.default_rng(0).normal(size=(5_000, 3))
(used,) = [line.split()[1] for line in Path("/proc/self/status").open() if line.startswith("VmSize")]
resource.setrlimit(resource.RLIMIT_AS, (int(used) * 1024 + 350 * 10**6, resource.RLIM_INFINITY))
try:
    KernelSearchCV(KernelRidge(kernel="rbf"), {{"alpha": [0.1, 1.0]}}, memory_budget={budget!r}).fit(X, X[:, 0])
except Exception as error:
    print(type(error).__name__, error)
"""
        environment = {"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", script]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert result.stdout.startswith(expected)


class Hungry(TransformerMixin, BaseEstimator):
    """Leaves rows as they are, or runs out of memory."""

    def __init__(self, very=False):
        self.very = very

    def fit(self, X, y=None):
        if self.very:
            raise MemoryError("of the transformer")
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X
