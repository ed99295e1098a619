"""Criteria of support vector machines, against other solvers, dense inverses and leave-one-out fits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import KFold
from sklearn.svm import SVC, SVR

from onefit import L2SVC, HingeSVC, KernelSearchCV, criteria
from onefit.criteria.span import squared_spans
from onefit.machines.capabilities import Margin

from ..oracles import criteria as oracle
from ..oracles.problems import points, seeds, two_seeds
from ..oracles.support_vector import coordinate_descent, gaussian, gram, labels, squared_hinge_newton
from ..oracles.support_vector import single_precision as rounded
from .problems import GRAMS, N, three_labels, two_labels

costs = pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
names = pytest.mark.parametrize("name", ["wide", "medium", "narrow"])  # regular, so that alpha is unique


def trained(K, y, C):
    """(alpha, f) of LIBSVM, with the free coefficients solved for once more: LIBSVM stops at its tolerance."""
    model = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    beta, b = np.zeros(len(K)), model.intercept_[0]
    beta[model.support_] = model.dual_coef_[0]
    free = np.flatnonzero((np.abs(beta) > 1e-9 * C) & (np.abs(beta) < C * (1 - 1e-9)))
    beta[np.abs(beta) <= 1e-9 * C] = 0.0
    bounded = np.where(np.isin(np.arange(len(K)), free), 0.0, np.sign(beta) * C)
    beta = bounded.copy()
    if len(free):
        m = len(free)
        system = np.ones((m + 1, m + 1))
        system[:m, :m], system[m, m] = K[np.ix_(free, free)], 0.0
        solved = np.linalg.solve(system, np.append(y[free] - K[free] @ bounded, -bounded.sum()))
        beta[free], b = solved[:m], solved[m]
    return np.abs(beta), K @ beta + b


def trained_without_bias(K, y, C):
    """(alpha, f) of the machine without a bias."""
    beta = coordinate_descent(K, y, np.full(len(K), C))
    return np.abs(beta), K @ beta


@seeds
@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("name", ["medium", "narrow"])
class TestWithoutABias:
    def test_generalised_approximate_cross_validation(self, seed, name, C):
        K, y = problem(name, seed)
        alpha, f = trained_without_bias(K, y, C)
        within = np.where(y * f < -1, 2.0, np.where(y * f <= 1 + 1e-8, 1.0, 0.0))
        expected = (np.maximum(0.0, 1 - y * f) + within * alpha * np.diagonal(K)).mean()
        assert criteria.GACV()(K, y, unbiased(C)) == pytest.approx(expected, rel=1e-8)

    def test_span(self, seed, name, C):
        K, y = problem(name, seed)
        alpha, f = trained_without_bias(K, y, C)
        alpha[np.abs(alpha - C) <= 1e-12] = C
        margins = y * f - alpha * oracle.squared_spans(K, y, alpha, C, bias=False)
        unsure = np.abs(margins) < 1e-8
        value = criteria.Span()(K, y, unbiased(C))
        assert (margins[~unsure] < 0).sum() / len(K) <= value + 1e-12 <= ((margins < 0) | unsure).mean() + 2e-12


def unbiased(C):
    return HingeSVC(C=C, kernel="precomputed", fit_intercept=False)


@seeds
@pytest.mark.parametrize("C", [0.002, 0.1, 1.0])
@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_xi_alpha_without_a_bias_is_never_below_leave_one_out(seed, C, shift):
    """A constant in K counts, since there is no bias to take it up: the radius is that around zero."""
    n = 31
    K = gram("medium", seed, n)[0] + shift
    y = np.where(np.random.default_rng(seed).permutation(n) % 2, -1.0, 1.0)  # one more of +1
    wrong = 0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        model = unbiased(C).fit(K[np.ix_(rest, rest)], y[rest])
        wrong += model.decision_function(K[[i]][:, rest])[0] * y[i] < 0
    for rho in (1.0, 2.0):
        assert criteria.XiAlpha(rho=rho)(K, y, unbiased(C)) >= wrong / n


@seeds
def test_xi_alpha_without_a_bias_counts_rows(seed):
    K, y = problem("medium", seed)
    alpha, f = trained_without_bias(K, y, 1.0)
    score = 1.3 * alpha * np.diagonal(K).max() + np.maximum(0.0, 1 - y * f)
    assert (np.abs(score - 1) > 1e-9).all()
    assert criteria.XiAlpha(rho=1.3)(K, y, unbiased(1.0)) == (score > 1).mean()


def problem(name, seed, n=30):
    K, X = gram(name, seed, n)
    return K, labels(seed, X, 0.4)


@seeds
def test_generalised_approximate_cross_validation_of_rows_far_on_the_wrong_side(seed):
    x = np.sort(points(seed, 30)[:, 0])
    K = np.outer(x, x) + 0.01 * np.eye(30)  # a line, on which the last rows are far out
    y = np.where(x > 0, 1, -1)
    y[[0, -1]] *= -1
    assert (y * trained(K, y, 1.0)[1] < -1).sum() == 2
    check_gacv(K, y, 1.0)


@seeds
@names
@costs
def test_generalised_approximate_cross_validation(seed, name, C):
    check_gacv(*problem(name, seed), C)


def check_gacv(K, y, C):
    alpha, f = trained(K, y, C)
    total = 0.0
    for i in range(len(K)):
        total += max(0.0, 1 - y[i] * f[i])
        if y[i] * f[i] < -1:
            total += 2 * alpha[i] * K[i, i]
        elif y[i] * f[i] <= 1 + 1e-8:
            total += alpha[i] * K[i, i]
    expected = total / len(K)
    assert criteria.GACV()(K, y, SVC(C=C, kernel="precomputed")) == pytest.approx(expected, rel=1e-9)


@seeds
@names
@costs
@pytest.mark.parametrize("rho", [1.0, 2.0])
def test_xi_alpha_counts_rows(seed, name, C, rho):
    K, y = problem(name, seed)
    alpha, f = trained(K, y, C)
    radius = max(K[i, i] - K[i, j] for i in range(len(K)) for j in range(len(K)))
    score = rho * alpha * radius + np.maximum(0.0, 1 - y * f)
    unsure = np.abs(score - 1) < 1e-9
    value = criteria.XiAlpha(rho=rho)(K, y, SVC(C=C, kernel="precomputed"))
    assert (score[~unsure] > 1).mean() * (~unsure).mean() <= value + 1e-12
    assert value <= ((score > 1) | unsure).mean() + 1e-12
    assert unsure.mean() < 0.5


@two_seeds
@costs
def test_xi_alpha_is_never_below_leave_one_out(seed, C):
    K, y = problem("medium", seed)
    n = len(K)
    wrong = 0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        model = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K[np.ix_(rest, rest)], y[rest])
        wrong += model.decision_function(K[[i]][:, rest])[0] * y[i] < 0
    assert criteria.XiAlpha()(K, y, SVC(C=C, kernel="precomputed")) >= wrong / n


@seeds
@names
@costs
def test_span_of_the_hinge_loss(seed, name, C):
    K, y = problem(name, seed)
    alpha, f = trained(K, y, C)
    free = (alpha > 1e-9 * C) & (alpha < C * (1 - 1e-9))
    if free.sum() < 2:
        pytest.skip("no span without free support vectors")
    margins = y * f - alpha * oracle.squared_spans(K, y, alpha, C)
    unsure = np.abs(margins) < 1e-9
    value = criteria.Span()(K, y, SVC(C=C, kernel="precomputed"))
    assert (margins[~unsure] < 0).sum() / len(K) <= value + 1e-12 <= ((margins < 0) | unsure).mean() + 2e-12


@seeds
@costs
@pytest.mark.parametrize("bias", [True, False])
def test_span_of_the_squared_hinge_loss(seed, C, bias):
    K, y = problem("medium", seed)
    beta, b = squared_hinge_newton(K, y, C, bias=bias)
    alpha = np.abs(beta)
    spans = oracle.squared_spans(K, y, alpha, np.inf, 1 / (2 * C), bias)
    margins = np.where(alpha > 0, 1.0, y * (K @ beta + b)) - alpha * spans
    value = criteria.Span()(K, y, L2SVC(C=C, kernel="precomputed", fit_intercept=bias))
    assert value == pytest.approx((margins < 0).mean())


@two_seeds
def test_spans_of_the_squared_hinge_loss_are_exact_where_support_vectors_stay(seed):
    """``y f^(-p) = 1 - alpha_p S_p²`` against really leaving rows out."""
    K, y = problem("medium", seed)
    n, C = len(K), 0.5
    beta, _ = squared_hinge_newton(K, y, C, bias=False)
    spans = oracle.squared_spans(K, y, np.abs(beta), np.inf, 1 / (2 * C), bias=False)
    compared = 0
    for p in np.flatnonzero(beta):
        rest = np.delete(np.arange(n), p)
        other, _ = squared_hinge_newton(K[np.ix_(rest, rest)], y[rest], C, bias=False)
        if np.array_equal(other != 0, (beta != 0)[rest]):
            value = y[p] * K[p, rest] @ other
            assert value == pytest.approx(1 - abs(beta[p]) * spans[p], abs=1e-9)
            compared += 1
    assert compared > 5


def test_span_without_free_support_vectors_is_the_training_error():
    y = np.array([1, 1, 1, -1, -1])
    model = SVC(C=1.0, kernel="precomputed")
    assert criteria.Span()(np.zeros((5, 5)), y, model) == 0.4
    K = np.ones((6, 6))
    assert criteria.Span()(K, np.array([1, 1, 1, 1, -1, -1]), model) == pytest.approx(2 / 6)


@seeds
def test_twins_span_each_other_and_nobody_else_notices(seed):
    """The span is a distance to the affine hull of the other support vectors, which a twin does not change."""
    X = points(seed, 12)
    single, double = gaussian(X, 0.3), gaussian(X[[*range(12), 4, 7]], 0.3)

    def spans(K):
        n = len(K)
        ones = np.ones(n)
        margin = Margin(ones, np.full(n, 0.5), 0.0, ones, ones, np.zeros(n), bias=True, converged=True)
        return squared_spans(K, margin)

    alone, together = spans(single), spans(double)
    others = np.delete(np.arange(12), [4, 7])
    np.testing.assert_allclose(together[others], alone[others], rtol=1e-6)
    assert (together[[4, 7, 12, 13]] < 1e-9).all()
    assert (alone > 1e-3).all()


def test_a_single_free_support_vector_has_nothing_to_span_it():
    K = gaussian(points(0, 5), 0.3)
    beta = np.array([0.5, 1.0, -1.0, 0.0, 0.0])
    margin = Margin(np.sign(beta), beta, 0.0, np.ones(5), np.ones(5), np.zeros(5), bias=True, converged=True)
    assert squared_spans(K, margin)[0] == np.inf
    without = Margin(np.sign(beta), beta, 0.0, np.ones(5), np.ones(5), np.zeros(5), bias=False, converged=True)
    assert squared_spans(K, without)[0] == pytest.approx(1.0)


class TestZeroGramMatrix:
    """Nothing but the bias: everything is known by hand."""

    K, y = np.zeros((5, 5)), np.array([1, 1, 1, -1, -1])

    def test_span_is_the_training_error(self):
        for model in (SVC(kernel="precomputed"), L2SVC(kernel="precomputed")):
            assert criteria.Span()(self.K, self.y, model) == pytest.approx(0.4)

    @pytest.mark.parametrize("K", [np.zeros((4, 4)), np.ones((4, 4))])
    def test_span_of_equal_classes_is_not_zero(self, K):
        y = np.array([1, 1, -1, -1])  # f = 0 wherever the bias is: one label for all rows
        assert criteria.Span()(K, y, SVC(kernel="precomputed")) == pytest.approx(0.5)
        without = L2SVC(kernel="precomputed", fit_intercept=False)
        assert criteria.Span()(np.zeros((4, 4)), y, without) == pytest.approx(0.5)

    def test_xi_alpha(self):
        # f = 1, so that the two negative rows have a slack of two
        assert criteria.XiAlpha()(self.K, self.y, SVC(kernel="precomputed")) == pytest.approx(0.4)

    def test_gacv_is_the_hinge_risk(self):
        assert criteria.GACV()(self.K, self.y, SVC(kernel="precomputed")) == pytest.approx(0.8)

    def test_radius_margin(self):
        # K + D = I / (2C): R² = (1 - 1/5) / 2, and alpha_i = 2 (1 - y_i b) with b = 1/5
        value = criteria.RadiusMargin()(self.K, self.y, L2SVC(C=1.0, kernel="precomputed"))
        assert value == pytest.approx(0.4 * (3 * 2 * 0.8 + 2 * 2 * 1.2) / 5)

    def test_risk_and_stability(self):
        assert criteria.RKS()(self.K, self.y, SVC(kernel="precomputed")) == pytest.approx(0.8)


@two_seeds
@names
@costs
@pytest.mark.parametrize("bias", [True, False])
def test_radius_and_margin(seed, name, C, bias):
    K, y = problem(name, seed)
    n = len(K)
    beta, _ = squared_hinge_newton(K, y, C, bias=bias)
    ridged = K + np.eye(n) / (2 * C)
    squared, _ = oracle.smallest_ball(ridged)
    expected = squared * np.abs(beta).sum() / n
    value = criteria.RadiusMargin()(K, y, L2SVC(C=C, kernel="precomputed", fit_intercept=bias))
    assert value == pytest.approx(expected, rel=1e-9)


def test_the_norm_of_the_weights_is_the_sum_of_the_coefficients():
    K, y = problem("medium", 0)
    beta, _ = squared_hinge_newton(K, y, 2.0)
    norm = beta @ K @ beta + (beta**2).sum() / 4.0
    assert np.abs(beta).sum() == pytest.approx(norm, rel=1e-9)


def test_the_smallest_ball_of_the_oracle():
    K = GRAMS["wide"](0)
    squared, b = oracle.smallest_ball(K)
    assert squared == pytest.approx(b @ np.diag(K) - b @ K @ b, rel=1e-10)

    def objective(z):
        weights = np.exp(z - z.max())
        weights /= weights.sum()
        return -(weights @ np.diag(K) - weights @ K @ weights)

    assert -minimize(objective, np.zeros(N)).fun == pytest.approx(squared, rel=1e-4)


@two_seeds
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_radius_margin_bounds_leave_one_out_errors(seed, C):
    K, y = problem("medium", seed)
    n = len(K)
    wrong = 0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        beta, _ = squared_hinge_newton(K[np.ix_(rest, rest)], y[rest], C, bias=False)
        wrong += y[i] * (K[i, rest] @ beta) < 0
    value = criteria.RadiusMargin()(K, y, L2SVC(C=C, kernel="precomputed", fit_intercept=False))
    assert value >= wrong / n


@two_seeds
@costs
def test_risk_with_hinge_loss(seed, C):
    K, y = rounded(GRAMS["narrow"](seed)), two_labels(seed)
    _, f = trained(K, y, C)
    expected = np.maximum(0, 1 - y * f).mean() + 0.5 / N * oracle.stability(K)
    value = criteria.RKS(eta=0.5)(K, y, SVC(C=C, kernel="precomputed"))
    assert value == pytest.approx(expected, rel=1e-9)
    beta, b = squared_hinge_newton(K, y, C)
    expected = np.maximum(0, 1 - y * (K @ beta + b)).mean() + 0.5 / N * oracle.stability(K)
    value = criteria.RKS(eta=0.5)(K, y, L2SVC(C=C, kernel="precomputed"))
    assert value == pytest.approx(expected, rel=1e-9)


@two_seeds
@costs
def test_cross_validated_hinge_loss(seed, C):
    K, y = rounded(GRAMS["narrow"](seed)), two_labels(seed)
    splits = [(np.delete(np.arange(N), part), part) for part in np.array_split(np.arange(N), 5)]
    losses = []
    for train, test in splits:
        alpha, f = trained(K[np.ix_(train, train)], y[train], C)
        beta = alpha * y[train]
        b = (f - K[np.ix_(train, train)] @ beta)[0]
        losses.extend(np.maximum(0, 1 - y[test] * (K[np.ix_(test, train)] @ beta + b)))
    expected = np.mean(losses) + 0.5 / N * oracle.stability(K)
    value = criteria.CVKS()(K, y, SVC(C=C, kernel="precomputed"), cv=splits)
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("criterion", ["span", "xi_alpha", "gacv"])
def test_more_than_two_classes_are_refused(criterion):
    with pytest.raises(ValueError, match="two classes"):
        criteria.resolve(criterion)(GRAMS["narrow"](0), three_labels(0), SVC(kernel="precomputed"))


def test_indefinite_matrices_are_refused():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    for name in ("span", "xi_alpha", "gacv"):
        with pytest.raises(ValueError, match="positive semi-definite"):
            criteria.resolve(name)(K, np.array([-1, 1]), SVC(kernel="precomputed"))


BALANCED = np.tile([-1.0, 1.0], N // 2)


@seeds
@pytest.mark.parametrize("kind", [SVC, HingeSVC])
@pytest.mark.parametrize("C", [1e-4, 1.0, 20.0])
def test_the_risk_is_that_of_the_delivered_machine(seed, kind, C):
    """With small C and as many rows of either class no coefficient is free: the bias is the middle of an interval."""
    K = gaussian(points(seed, len(BALANCED)), 0.5)
    machine = kind(kernel="precomputed", tol=1e-9)
    risk = criteria.RKS(eta=0.0, loss="squared")  # the hinge loss is the same everywhere in the interval
    search = KernelSearchCV(machine, {"C": [C / 7, C, 7 * C]}, criterion=risk, cv=3).fit(K, BALANCED)
    f = search.best_estimator_.decision_function(K)
    assert -search.best_score_ == pytest.approx(((BALANCED - f) ** 2).mean(), rel=1e-4)  # LIBSVM's single precision


@seeds
@pytest.mark.parametrize("kind", [SVC, L2SVC, SVR])
def test_values_do_not_depend_on_criteria_beside(seed, kind):
    """Machines on all rows, whose problems many folds start from, are found by several criteria or by one."""
    K, y = problem("medium", seed)
    y = y if kind is not SVR else y + points(seed, len(K))[:, 0]
    grid = {"C": np.logspace(-2, 3, 6)}
    both, alone = (
        KernelSearchCV(kind(kernel="precomputed"), grid, criterion=asked, cv=KFold(25), refit=False)
        .fit(K, y)
        .cv_results_
        for asked in (["rks", "cvks"], ["cvks"])
    )
    np.testing.assert_allclose(both["criterion_cvks"], alone["criterion_cvks"], rtol=1e-9, atol=1e-12)


@seeds
@pytest.mark.parametrize("kind", [SVC, L2SVC, SVR])
def test_values_do_not_depend_on_other_penalties(seed, kind):
    """Machines of all penalties are found along a path; each is the one that is found for its penalty alone."""
    K, y = problem("medium", seed)
    y = y if kind is not SVR else y + points(seed, len(K))[:, 0]
    costs = np.logspace(-4, 4, 9)
    search = KernelSearchCV(kind(kernel="precomputed"), {"C": costs}, criterion="rks", cv=3, refit=False).fit(K, y)
    alone = [criteria.RKS()(K, y, kind(C=C, kernel="precomputed")) for C in costs]
    np.testing.assert_allclose(-search.cv_results_["mean_test_score"], alone, rtol=1e-9, atol=1e-12)
