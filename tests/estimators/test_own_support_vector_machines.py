"""HingeSVC and EpsilonSVR: scikit-learn's machines with a bias, quadratic programs of their own without."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC, SVR

from onefit import L2SVC, EpsilonSVR, HingeSVC, KernelSearchCV, kernels
from onefit.cli.models import load, save
from tests.oracles.bouligand import sharp_machine
from tests.oracles.interior_point import InteriorPointSVC, InteriorPointSVR
from tests.oracles.problems import points, row_weights, seeds, two_seeds
from tests.oracles.support_vector import coordinate_descent, curve, dual_value, labels, primal_value

SINGLE = 1e-4  # LIBSVM keeps its kernel in single precision, which large C makes visible
biases = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
penalties = pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
weightings = pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])


def classes(seed, n, k):
    """Rows of k overlapping classes of unequal sizes, with names."""
    X = points(seed, n)
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * np.random.default_rng(seed).normal(size=n)
    shares = np.quantile(score, np.cumsum([0.45, 0.3, 0.15][: k - 1]))
    return X, np.array(["ant", "bee", "cat", "dog"])[np.searchsorted(shares, score)]


@seeds
@penalties
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "bee": 0.3}], ids=["", "balanced", "dict"])
@weightings
def test_with_a_bias_it_is_scikit_learns(seed, C, class_weight, weighted):
    """Two to four classes. An open bias may be any in LIBSVM, and is the middle in the interior-point method."""
    X, y = classes(seed, 60, 2 + seed)
    new, weights = points(seed + 50, 30), row_weights(seed, 60) if weighted else None
    params = {"C": C, "gamma": 0.5, "class_weight": class_weight}
    ours = HingeSVC(**params).fit(X, y, weights)
    precise = InteriorPointSVC(**params).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(new), precise.decision_function(new), atol=1e-7)
    assert ours.predict(new).tolist() == precise.predict(new).tolist()
    if precise.bias_interval_ == 0:
        theirs = SVC(tol=1e-10, **params).fit(X, y, weights)
        np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=SINGLE)
        assert ours.predict(new).tolist() == theirs.predict(new).tolist()
    else:
        assert (C, class_weight, weighted) == (0.05, "balanced", False)


@seeds
@penalties
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@weightings
def test_regression_with_a_bias_is_scikit_learns(seed, C, epsilon, weighted):
    X = points(seed, 50)
    y, new = curve(seed, X) + 3.0, points(seed + 50, 30)
    weights = row_weights(seed, 50) if weighted else None
    if weighted:
        weights[::7] = 0.0
    params = {"C": C, "gamma": 0.5, "epsilon": epsilon}
    ours = EpsilonSVR(**params).fit(X, y, weights)
    theirs = SVR(tol=1e-10, **params).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=SINGLE)
    precise = InteriorPointSVR(**params).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict(new), precise.predict(new), atol=1e-7)


def problem(kind, seed, n=40):
    """(rows, targets, Gram matrix, tube or None) of a machine of two classes, or a regression."""
    X = points(seed, n)
    K = rbf_kernel(X, gamma=0.7)
    return (X, labels(seed, X, 0.4), K, None) if kind is HingeSVC else (X, curve(seed, X), K, 0.1)


def fitted(kind, X, y, C, bias, epsilon, weights=None, **params):
    own = {} if epsilon is None else {"epsilon": epsilon}
    return kind(C=C, gamma=0.7, fit_intercept=bias, **own, **params).fit(X, y, weights)


def values_of(model, X):
    return model.decision_function(X) if isinstance(model, HingeSVC) else model.predict(X)


kinds = pytest.mark.parametrize("kind", [HingeSVC, EpsilonSVR])


@kinds
@two_seeds
@penalties
@weightings
def test_without_a_bias_by_coordinate_descent(kind, seed, C, weighted):
    X, y, K, epsilon = problem(kind, seed)
    cost = C * (row_weights(seed, len(y)) if weighted else np.ones(len(y)))
    model = fitted(kind, X, y, C, False, epsilon, cost / C)
    assert model.intercept_.tolist() == [0.0]
    beta = coordinate_descent(K, y, cost, epsilon)
    np.testing.assert_allclose(values_of(model, X), K @ beta, atol=1e-8)


@kinds
@seeds
@biases
def test_in_extended_precision(kind, seed, bias):
    X, y, K, epsilon = problem(kind, seed, 30)
    beta, b = sharp_machine(K, y, np.full(30, 2.0), bias, epsilon)
    model = fitted(kind, X, y, 2.0, bias, epsilon)
    np.testing.assert_allclose(values_of(model, X), (K @ beta + b).astype(float), atol=1e-10)
    assert model.intercept_[0] == pytest.approx(float(b), abs=1e-10)


@kinds
@seeds
@penalties
@biases
@weightings
def test_conditions_of_optimality_and_duality_gap(kind, seed, C, bias, weighted):
    X, y, K, epsilon = problem(kind, seed)
    n = len(y)
    cost = C * (row_weights(seed, n) if weighted else np.ones(n))
    model = fitted(kind, X, y, C, bias, epsilon, cost / C)
    beta, b = np.zeros(n), float(model.intercept_[0])
    beta[model.support_] = model.dual_coef_[0]
    f = K @ beta + b
    beyond, sign = (1 - y * f, y) if epsilon is None else (np.abs(y - f) - epsilon, np.sign(y - f))
    size = sign * beta  # of rows within the margin or outside the tube, positive
    assert (np.abs(beta) <= cost * (1 + 1e-12)).all()
    np.testing.assert_allclose(size[beyond > 1e-8], cost[beyond > 1e-8])
    np.testing.assert_allclose(beta[beyond < -1e-8], 0.0)
    assert (size[np.abs(beyond) <= 1e-8] >= 0).all()
    assert abs(beta.sum()) <= 1e-9 * C * n or not bias

    def loss(f):
        return cost * np.maximum(0.0, 1 - y * f if epsilon is None else np.abs(y - f) - epsilon)

    gap = primal_value(K, beta, b, loss) - dual_value(K, np.zeros(n), y, epsilon or 0.0, beta)
    assert -1e-12 < gap < 1e-8 * C * n
    assert model.dual_gap_[0] == pytest.approx(gap, abs=1e-11 * C * n)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_targets_of_any_type_are_double_precision(dtype):
    X = points(0, 40)
    y = np.round(10 * curve(0, X)).astype(dtype)
    model = EpsilonSVR(C=3.0, epsilon=0.3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), EpsilonSVR(C=3.0, epsilon=0.3).fit(X, y.astype(float)).predict(X))
    assert model.predict(X).dtype == np.float64


@kinds
@pytest.mark.parametrize("weighted", [False, True])
def test_whole_weights_are_repetitions(kind, weighted):
    X, y, _, epsilon = problem(kind, 0)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    once = fitted(kind, X, y, 1.0, weighted, epsilon, times.astype(float))
    repeated = fitted(kind, np.repeat(X, times, axis=0), np.repeat(y, times), 1.0, weighted, epsilon)
    np.testing.assert_allclose(values_of(once, X), values_of(repeated, X), atol=1e-8)


@pytest.mark.parametrize("bias", [True, False])
def test_three_classes_are_three_pairs(three_classes, bias):
    X, y = three_classes
    model = HingeSVC(C=5.0, gamma=0.3, fit_intercept=bias).fit(X, y)
    assert model.decision_function(X).shape == (90, 3)
    votes = np.zeros((90, 3))
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(y, model.classes_[[i, j]])
        pair = HingeSVC(C=5.0, gamma=0.3, fit_intercept=bias).fit(X[rows], y[rows])
        value = rbf_kernel(X, X[model.support_], gamma=0.3) @ model.dual_coef_[k] + model.intercept_[k]
        np.testing.assert_allclose(value, pair.decision_function(X), atol=1e-8)
        votes[np.arange(90), np.where(value >= 0, j, i)] += 1
    assert model.predict(X).tolist() == model.classes_[votes.argmax(axis=1)].tolist()


def test_an_open_bias_is_in_the_middle_of_its_interval():
    """All coefficients are at C: best biases reach from ``max(-1 - f)`` of class -1 to ``min(1 - f)`` of class +1."""
    X = points(0, 30)
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    K = rbf_kernel(X, gamma=0.5)
    model = HingeSVC(C=1e-3, gamma=0.5).fit(X, y)
    assert len(model.support_) == 30
    f = K @ (1e-3 * y)
    low, high = (-1 - f)[y < 0].max(), (1 - f)[y > 0].min()
    assert high - low > 1.5
    assert model.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-12)
    wide = EpsilonSVR(epsilon=5.0).fit(X, np.arange(30.0) / 10)  # everything fits into the tube
    assert wide.intercept_[0] == pytest.approx(1.45, abs=1e-12)
    assert len(wide.support_) == 0


KINDS = [kind(C=2.0, fit_intercept=bias) for kind in (HingeSVC, EpsilonSVR) for bias in (True, False)]
machines = pytest.mark.parametrize("machine", KINDS, ids=str)


def data_for(machine, three_classes, regression):
    return three_classes if isinstance(machine, HingeSVC) else regression


@machines
def test_kernels_in_every_form(machine, three_classes, regression):
    X, y = data_for(machine, three_classes, regression)
    expected = values_of(clone(machine).set_params(gamma=0.3).fit(X, y), X)
    K = rbf_kernel(X, gamma=0.3)
    given = clone(machine).set_params(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(values_of(given, K), expected, atol=1e-9)
    assert given.support_vectors_.shape == (0, 0)
    of_object = clone(machine).set_params(kernel=kernels.Gaussian(0.3)).fit(X, y)
    np.testing.assert_array_equal(values_of(of_object, X), expected)

    def gaussian(a, b):
        return np.exp(-0.3 * ((a - b) ** 2).sum())

    np.testing.assert_allclose(values_of(clone(machine).set_params(kernel=gaussian).fit(X, y), X), expected, atol=1e-9)
    few = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    dense = clone(machine).fit(few.toarray(), y)
    np.testing.assert_allclose(values_of(clone(machine).fit(few, y), few), values_of(dense, few.toarray()), atol=1e-9)
    laplacian = clone(machine).set_params(kernel="laplacian", gamma=0.4).fit(X, y)
    L = laplacian_kernel(X, gamma=0.4)
    given.fit(L, y)
    np.testing.assert_allclose(values_of(laplacian, X), values_of(given, L), atol=1e-9)


@machines
def test_saved_and_loaded(machine, three_classes, regression, tmp_path):
    X, y = data_for(machine, three_classes, regression)
    model = clone(machine).fit(X, y)
    save(tmp_path / "model.skops", model, {})
    found, _ = load(tmp_path / "model.skops")
    assert type(found) is type(model)
    np.testing.assert_array_equal(values_of(found, X), values_of(model, X))


@machines
def test_delivered_models_are_exact(machine, three_classes, regression):
    X, y = data_for(machine, three_classes, regression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = KernelSearchCV(clone(machine).set_params(tol=0.5), {"C": [0.1, 10.0]}, cv=3).fit(X, y)
    precise = clone(machine).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(values_of(search.best_estimator_, X), values_of(precise, X), atol=1e-8)


@machines
def test_a_limit_that_is_met_warns(machine, three_classes, regression):
    X, y = data_for(machine, three_classes, regression)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        clone(machine).set_params(C=1000.0, gamma=0.1, max_iter=1).fit(X, y)


@machines
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"C": np.inf}, "C must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"kernel": "sigmoid", "gamma": 5.0, "coef0": -2.0}, "positive semi-definite"),
    ],
)
def test_bad_parameters(machine, params, message, three_classes, regression):
    X, y = data_for(machine, three_classes, regression)
    with pytest.raises(ValueError, match=message):
        clone(machine).set_params(**params).fit(X, y)


def test_bad_parameters_of_one_kind(three_classes, regression):
    with pytest.raises(ValueError, match="class_weight"):
        HingeSVC(class_weight="x").fit(*three_classes)
    for epsilon in (-0.1, np.nan, "wide"):
        with pytest.raises(ValueError, match="epsilon must be"):
            EpsilonSVR(epsilon=epsilon).fit(*regression)
        with pytest.raises(ValueError, match="epsilon must be"):
            KernelSearchCV(EpsilonSVR(), {"epsilon": [epsilon]}).fit(*regression)


@pytest.mark.parametrize("machine", [HingeSVC(), HingeSVC(fit_intercept=False), L2SVC()], ids=str)
def test_a_class_without_weight_is_scored_as_it_is_trained(machine, two_classes):
    """A fold has one class only then: it is retrained, as in GridSearchCV, and not scored as wrong throughout."""
    X, y = two_classes
    machine = clone(machine).set_params(class_weight={"ant": 0.0, "bee": 1.0})
    with pytest.warns(match="not positive numbers"):
        search = KernelSearchCV(machine, {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"retrained"}
    assert search.best_score_ == pytest.approx((y == "bee").mean(), abs=0.01)


@machines
def test_the_layout_of_a_precomputed_matrix_does_not_matter(machine, three_classes, regression):
    X, y = data_for(machine, three_classes, regression)
    K = rbf_kernel(X, gamma=0.5)
    model = clone(machine).set_params(kernel="precomputed")
    expected = values_of(clone(model).fit(K, y), K)
    np.testing.assert_array_equal(values_of(clone(model).fit(np.asfortranarray(K), y), K), expected)
