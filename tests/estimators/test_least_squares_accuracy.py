"""Held-out values of least squares against fixed-point arithmetic: labels are true, and no stated bound is exceeded.

The truth is the machine trained on every split from the doubles that the library is given, without any rounding: a
precomputed Gram matrix as it is, and for other kernels the kernel of the rows as they are. The rounding of a Gram
matrix that is computed from rows is therefore part of what ``error_bound`` has to cover, and of what the label tells.
"""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, ShuffleSplit

from onefit import LSSVC, LSSVR, KernelSearchCV

from ..oracles import fixed_point
from ..oracles.least_squares_cases import Case, random_case

pytestmark = pytest.mark.filterwarnings("ignore")
ACCURACY = 1e-6


def search_one(case, **options):
    """A search with one candidate, the largest distance of its held-out values to the truth, and their size."""
    estimator = case.estimator
    scoring = "accuracy" if isinstance(estimator, LSSVC) else "neg_mean_squared_error"
    search = KernelSearchCV(estimator, {"alpha": [estimator.alpha]}, cv=case.splits, refit=False, scoring=scoring)
    weights = {} if case.weights is None else {"sample_weight": case.weights}
    search.set_params(**options).fit(case.X, case.y, **weights)
    truth, times = np.zeros((len(case.y), np.size(case.y[0]))), np.zeros(len(case.y))
    parts = case.truth()
    for (_, test), values in zip(case.splits, parts, strict=True):
        truth[test] += values
        times[test] += 1
    tested = times > 0
    truth, largest = truth[tested] / times[tested, None], max(np.abs(values).max() for values in parts)
    if search.cv_results_["exactness"][0] == "retrained":
        return search, np.nan, largest
    values = np.reshape(search.oof_decision_, (len(case.y), -1))[tested]
    return search, float(np.abs(values - truth).max()), largest


def assert_label_is_true(case):
    """Return the label; of what was retrained nothing is claimed."""
    search, error, largest = search_one(case)
    label, bound = search.cv_results_["exactness"][0], search.cv_results_["error_bound"][0]
    if label == "retrained":
        return label
    assert label in ("exact", "approximate")
    assert error <= bound, f"{case.estimator}: an error of {error:.3g} exceeds the bound {bound:.3g}"
    if label == "exact":
        unresolved = 1e-13 * np.abs(case.y).max()  # of a kernel that is a multiple of I to working precision
        assert error <= ACCURACY * largest + unresolved, f"{case.estimator}: exact, but {error:.3g} from the truth"
        assert bound <= ACCURACY * max(largest, np.abs(case.y).max()) * (1 + ACCURACY)
    return label


def labels_of(seeds, **options):
    return [assert_label_is_true(random_case(seed, **options)) for seed in seeds]


def test_leaving_rows_out_of_an_indefinite_matrix():
    """Without a row the matrix is nearly singular, which the whole matrix is not."""
    assert_label_is_true(random_case(47158))


@pytest.mark.slow
def test_random_searches():
    assert labels_of(range(60)).count("exact") >= 40


def test_ordinary_searches_are_exact():
    assert set(labels_of(range(40), ordinary=True)) == {"exact"}


@pytest.mark.slow
def test_a_thousand_random_searches():
    """Weights over twelve decades, duplicates, spectra over sixteen decades, offsets: two thirds are known exactly."""
    labels = labels_of(range(60, 1160))
    assert labels.count("exact") >= 700


@pytest.mark.slow
def test_hundreds_of_ordinary_searches_are_exact():
    """But for a few of LSSVC, whose accuracy depends on the sign of a value at zero."""
    assert labels_of(range(40, 240), ordinary=True).count("exact") >= 196


def precomputed_case(K, y, estimator, splits, weights=None):
    return Case(estimator, K, y, weights, splits, fixed_point.fixed(K), False)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("smallest", [1e-2, 1e-4, 1e-6])
def test_training_sets_that_are_nearly_singular_where_all_rows_are_not(seed, smallest):
    """Indefinite matrices have such parts: of one half an eigenvalue is small, the other has a part of low rank."""
    rng, m = np.random.default_rng(seed), 7
    Q, R = (np.linalg.qr(rng.normal(size=(m, m)))[0] for _ in range(2))
    eigenvalues = np.r_[smallest, rng.uniform(0.5, 1.0, m - 1) * rng.choice([-1, 1], m - 1)]
    K = np.block([[Q * eigenvalues @ Q.T, Q @ R], [(Q @ R).T, np.zeros((m, m))]])
    rows = np.arange(2 * m)
    splits = [(rows[:m], rows[m:]), (rows[m // 2 :], rows[: m // 2])]
    ridge = KernelRidge(kernel="precomputed", alpha=1e-9)
    assert_label_is_true(precomputed_case((K + K.T) / 2, rng.standard_normal(2 * m), ridge, splits))


SPLITTERS = {"five": KFold(5), "two": KFold(2), "shuffle": ShuffleSplit(3, random_state=0), "one by one": LeaveOneOut()}


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS.keys())
@pytest.mark.parametrize("alpha", [9e-8, 1e-4])
def test_whole_numbers_of_low_rank(splitter, alpha):
    """Products of whole numbers have no rounding: however small the ridge, every digit can be known."""
    rng = np.random.default_rng(0)
    Z = np.round(rng.standard_normal((35, 4)) * 300)
    K, y = Z @ Z.T, rng.standard_normal(35)
    estimator = KernelRidge(kernel="precomputed", alpha=alpha)
    case = precomputed_case(K, y, estimator, list(splitter.split(K)))
    label = assert_label_is_true(case)
    if alpha == 1e-4:
        _, error, largest = search_one(case)
        assert label == "exact"
        assert error <= 1e-9 * largest


def test_weights_over_twelve_decades():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(40) > 0, 1, -1)
    weights = 10 ** rng.uniform(-6, 6, 40)
    case = precomputed_case(K, y, LSSVC(alpha=1e-3, kernel="precomputed"), list(KFold(5).split(X)), weights)
    search, error, largest = search_one(case)
    assert search.cv_results_["exactness"][0] == "exact"
    assert error <= 1e-9 * largest


def test_features_that_are_not_scaled_are_told():
    """Rounding of the Gram matrix alone leaves one or two digits here, so that nobody can have six."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2)) * [1, 300]
    y = X[:, 0] + 1e-2 * X[:, 1] + 0.2 * rng.standard_normal(120)
    estimator = KernelRidge(kernel="poly", degree=2, gamma=1.7, coef0=1, alpha=1.7e-3)
    search = KernelSearchCV(estimator, {"alpha": [1.7e-3]}, cv=2).fit(X, y)
    assert search.cv_results_["exactness"][0] == "approximate"
    assert "scale the features or use larger alpha" in search.cv_results_["status"][0]
    slow = GridSearchCV(estimator, {"alpha": [1.7e-3]}, cv=2).fit(X, y)
    assert abs(search.best_score_ - slow.best_score_) < 1e-2  # as good as retraining, at least


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize("machine", [KernelRidge, LSSVR])
def test_rows_that_overflow_are_not_exact(kernel, machine):
    """Whatever GridSearchCV makes of such a candidate, a failed fit mostly; the Laplacian kernel has no squares."""
    X, y = np.random.default_rng(0).standard_normal((2, 30, 3)) * [[[1e155]], [[1]]]
    options = {"param_grid": {"kernel": [kernel, "laplacian"]}, "cv": 3, "refit": False}
    fast = KernelSearchCV(machine(), **options).fit(X, y[:, 0])
    slow = GridSearchCV(machine(), **options).fit(X, y[:, 0])
    assert fast.cv_results_["exactness"][0] in ("failed", "retrained")
    assert fast.cv_results_["exactness"][1] == "exact"
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


@pytest.mark.parametrize("kernel", ["rbf", "cosine"])
def test_machines_refuse_rows_that_overflow(kernel):
    X = np.random.default_rng(0).standard_normal((30, 3)) * 1e155
    with pytest.raises(ValueError, match=r"overflow|not finite"):
        LSSVR(kernel=kernel).fit(X, X[:, 0] / 1e155)


def test_a_target_without_values_leaves_the_others_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    Y = np.column_stack([np.zeros(40), X[:, 0], 1e-20 * X[:, 1]])
    for cv in (5, LeaveOneOut()):
        options = {"scoring": "neg_mean_squared_error", "cv": cv}
        fast = KernelSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}, **options).fit(X, Y)
        slow = GridSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}, **options).fit(X, Y)
        np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], rtol=1e-9)


@pytest.mark.parametrize("machine", [KernelRidge, LSSVR])
def test_training_scores_are_refined_too(machine):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60)
    K = np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    alphas = [1e-9, 1e-3]
    options = {"cv": 4, "scoring": "neg_mean_squared_error", "return_train_score": True}
    search = KernelSearchCV(machine(kernel="precomputed"), {"alpha": alphas}, **options).fit(K, y)
    assert search.cv_results_["exactness"].tolist() == ["exact", "exact"]
    F, bias = fixed_point.fixed(K), machine is LSSVR
    for k, alpha in enumerate(alphas):
        for number, (train, _) in enumerate(KFold(4).split(K)):
            fitted = fixed_point.predict(F, y[:, None], train, train, alpha, bias=bias)[:, 0]
            expected = -np.mean((y[train] - fitted) ** 2)
            assert search.cv_results_[f"split{number}_train_score"][k] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("splitter", [KFold(5), LeaveOneOut()], ids=["five", "one by one"])
def test_errors_measured_on_a_sample_of_the_splits(splitter):
    """More rows than are refined one and all: the error is that of some splits, with a margin."""
    rng = np.random.default_rng(0)
    n = 300
    X = rng.standard_normal((n, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(n)
    K = np.exp(-0.001 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    options = {"cv": splitter, "refit": False, "scoring": "neg_mean_squared_error"}
    search = KernelSearchCV(KernelRidge(kernel="rbf", gamma=0.001), {"alpha": [3e-7]}, **options).fit(X, y)
    assert search.cv_results_["exactness"][0] == "exact"
    limit = search.cv_results_["error_bound"][0]
    assert 1e-10 < limit < 1e-6
    splits = list(splitter.split(K))
    for train, test in splits[:: max(1, len(splits) // 12)]:
        truth = refined_in_long_double(K, y, train, test, 3e-7)
        assert np.abs(search.oof_decision_[test] - truth).max() <= limit


def refined_in_long_double(K, y, train, test, alpha):
    """Values of one split by Cholesky factorisation, refined with residuals in long double."""
    A = K[np.ix_(train, train)].astype(np.longdouble)
    A[np.diag_indices_from(A)] += np.longdouble(alpha)
    factor = np.linalg.cholesky(A.astype(float))
    dual = np.zeros(len(train), dtype=np.longdouble)
    for _ in range(6):
        residual = (y[train] - A @ dual).astype(float)
        dual += np.linalg.solve(factor.T, np.linalg.solve(factor, residual))
    return (K[np.ix_(test, train)] @ dual).astype(float)
