"""Criteria of least-squares machines, against n fits, dense hat matrices and all eigenvalues."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut

from onefit import LSSVC, LSSVR, KernelSearchCV, criteria

from ..oracles import criteria as oracle
from ..oracles.problems import points, random_symmetric, seeds, smooth_targets, two_seeds
from .problems import GRAMS, N, three_labels, two_labels

grams = pytest.mark.parametrize("gram", list(GRAMS))
ridges = pytest.mark.parametrize("ridge", [0.1, 3.0])


class Case:
    """A machine, its target, and the same as numbers: columns, weights, whether there is a bias."""

    def __init__(self, kind, seed, ridge):
        self.ridge, self.weights = ridge, None
        self.bias = kind in ("LSSVR", "LSSVC", "balanced")
        X = points(seed, N)
        if kind in ("LSSVC", "balanced", "without bias"):
            self.y = three_labels(seed) if kind != "balanced" else two_labels(seed)
            balance = "balanced" if kind == "balanced" else None
            self.model = LSSVC(ridge, kernel="precomputed", class_weight=balance, fit_intercept=self.bias)
            self.Y = np.column_stack(oracle.one_vs_rest(self.y))
            if balance:
                sizes = {label: (self.y == label).sum() for label in (-1, 1)}
                self.weights = np.array([N / 2 / sizes[label] for label in self.y])
        else:
            self.y = smooth_targets(seed, X, 2 if kind == "two targets" else 1)
            self.y = self.y if kind == "two targets" else self.y[:, 0]
            self.Y = self.y.reshape(N, -1)
            machine = LSSVR if kind == "LSSVR" else KernelRidge
            self.model = machine(alpha=ridge, kernel="precomputed")

    @property
    def options(self):
        return {"ridge": self.ridge, "weights": self.weights, "bias": self.bias}

    def risk(self, K):
        return ((self.Y - oracle.fitted(K, self.Y, **self.options)) ** 2).mean()


KINDS = ("KernelRidge", "two targets", "LSSVR", "LSSVC", "balanced", "without bias")
kinds = pytest.mark.parametrize("kind", KINDS)
regressions = pytest.mark.parametrize("kind", ["KernelRidge", "two targets", "LSSVR"])


def close(value):
    return pytest.approx(value, rel=1e-9)


@two_seeds
@grams
@ridges
@regressions
def test_leave_one_out_is_n_fits(seed, gram, ridge, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, ridge)
    expected = ((case.Y - oracle.left_out(K, case.Y, **case.options)) ** 2).mean()
    assert criteria.LOO()(K, case.y, case.model) == close(expected)
    assert criteria.ALO()(K, case.y, case.model) == close(expected)
    scaled = {**case.options, "ridge": ridge * (N - 1) / N}
    expected = ((case.Y - oracle.left_out(K, case.Y, **scaled)) ** 2).mean()
    assert criteria.LOO(scale_penalty=True)(K, case.y, case.model) == close(expected)


@seeds
@pytest.mark.parametrize("kind", ["LSSVC", "without bias"])
def test_leave_one_out_counts_wrong_labels(seed, kind):
    K, case = GRAMS["narrow"](seed), Case(kind, seed, 0.3)
    wrong = 0
    for train, test in LeaveOneOut().split(K):
        model = clone(case.model).fit(K[np.ix_(train, train)], case.y[train])
        wrong += model.predict(K[np.ix_(test, train)])[0] != case.y[test][0]
    assert criteria.LOO()(K, case.y, case.model) == pytest.approx(wrong / N)
    assert 0 < wrong < N
    assert criteria.CV()(K, case.y, case.model, cv=LeaveOneOut()) == pytest.approx(wrong / N)


@two_seeds
@grams
@ridges
@kinds
def test_generalised_cross_validation(seed, gram, ridge, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, ridge)
    expected = oracle.generalised_cross_validation(K, case.Y, **case.options)
    assert criteria.GCV()(K, case.y, case.model) == close(expected)


@seeds
def test_generalised_cross_validation_of_a_ridge_of_zero_is_its_limit(seed):
    K, y = GRAMS["narrow"](seed), points(seed, N)[:, 0]
    s, U = np.linalg.eigh(K)
    expected = N * ((U.T @ y / s) ** 2).sum() / (1 / s).sum() ** 2
    assert criteria.GCV()(K, y, KernelRidge(alpha=0.0, kernel="precomputed")) == pytest.approx(expected, rel=1e-8)


@two_seeds
@grams
@ridges
@kinds
def test_risk_and_kernel_stability(seed, gram, ridge, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, ridge)
    expected = case.risk(K) + 0.7 / N * oracle.stability(K)
    assert criteria.RKS(eta=0.7)(K, case.y, case.model) == close(expected)


@seeds
@pytest.mark.parametrize("norm", ["trace", "frobenius"])
def test_kernel_stability_in_other_norms(seed, norm):
    K, case = GRAMS["wide"](seed), Case("KernelRidge", seed, 0.5)
    extra = 0.7 / N * oracle.stability(K, norm)
    assert criteria.RKS(eta=0.7, norm=norm)(K, case.y, case.model) == close(case.risk(K) + extra)
    held = np.empty(N)
    for train, test in KFold(4).split(K):
        held[test] = oracle.predict(K, case.Y, train, test, 0.5)[:, 0]
    expected = ((held - case.y) ** 2).mean() + extra
    assert criteria.CVKS(eta=0.7, norm=norm)(K, case.y, case.model, cv=KFold(4)) == close(expected)


@two_seeds
@grams
@kinds
@pytest.mark.parametrize("aggregate", ["points", "folds"])
def test_cross_validation_and_kernel_stability(seed, gram, kind, aggregate):
    K, case = GRAMS[gram](seed), Case(kind, seed, 0.5)
    cv, losses = KFold(5, shuffle=True, random_state=seed), []
    for train, test in cv.split(K):
        weights = case.weights
        if kind == "balanced":
            sizes = {label: (case.y[train] == label).sum() for label in (-1, 1)}
            weights = np.array([len(train) / 2 / sizes[label] for label in case.y])
        values = oracle.predict(K, case.Y, train, test, 0.5, weights, case.bias)
        losses.append(((values - case.Y[test]) ** 2).mean(axis=1))
    mean = np.concatenate(losses).mean() if aggregate == "points" else np.mean([loss.mean() for loss in losses])
    expected = mean + 0.25 / N * oracle.stability(K)
    assert criteria.CVKS(eta=0.25, aggregate=aggregate)(K, case.y, case.model, cv=cv) == close(expected)


@two_seeds
@grams
@kinds
def test_spectral_perturbation_stability(seed, gram, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, 0.5)
    exact = case.risk(K) + 2.0 * oracle.eigenvalue_changes(K) / N**2
    first = case.risk(K) + 2.0 * oracle.first_order_changes(K) / N**2
    assert criteria.SPS(exact=True, delta=2.0)(K, case.y, case.model) == close(exact)
    assert criteria.SPS(delta=2.0)(K, case.y, case.model) == close(first)


@two_seeds
@grams
@kinds
@pytest.mark.parametrize("components", [4, "sqrt"])
def test_eigenvalue_ratio(seed, gram, kind, components):
    K, case = GRAMS[gram](seed), Case(kind, seed, 0.5)
    head, tail = oracle.leading_eigenvalues(K, 5 if components == "sqrt" else components)
    expected = case.risk(K) + 0.3 * tail / head
    assert criteria.ER(components, eta=0.3)(K, case.y, case.model) == close(expected)


@two_seeds
@grams
@ridges
@pytest.mark.parametrize("kind", ["KernelRidge", "two targets", "without bias"])
def test_marginal_likelihood(seed, gram, ridge, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, ridge)
    expected = oracle.marginal_likelihood(K, case.Y, ridge)
    assert criteria.LML()(K, case.y, case.model) == close(expected)


@seeds
def test_marginal_likelihood_of_weighted_rows(seed):
    K, y = GRAMS["narrow"](seed), two_labels(seed)
    model = LSSVC(0.4, kernel="precomputed", fit_intercept=False, class_weight={-1: 2.0, 1: 0.5})
    expected = oracle.marginal_likelihood(K, y[:, None], 0.4, np.where(y == 1, 0.5, 2.0))
    assert criteria.LML()(K, y, model) == close(expected)


@two_seeds
@grams
@ridges
@kinds
def test_bayesian_regularisation_of_a_given_matrix(seed, gram, ridge, kind):
    K, case = GRAMS[gram](seed), Case(kind, seed, ridge)
    weights = case.weights
    squares = ((case.Y - oracle.left_out(K, case.Y, ridge, weights, case.bias)) ** 2).sum()
    expected = case.Y.size / 2 * np.log(squares / 2)
    assert criteria.BR()(K, case.y, case.model) == close(expected)


@seeds
@pytest.mark.parametrize("theta", ["log", "linear"])
def test_bayesian_regularisation_in_a_search(seed, theta):
    """Both codings of the kernel parameters, literally: the polynomial kernel has two of them."""
    X = points(seed, N)
    y, degrees, gammas = smooth_targets(seed, X)[:, 0], [2, 3], [0.1, 0.5]
    grid = {"kernel": ["poly"], "degree": degrees, "gamma": gammas, "coef0": [1.0]}
    search = KernelSearchCV(KernelRidge(alpha=0.5), grid, criterion=criteria.BR(theta=theta), refit=False).fit(X, y)
    expected = []
    for params in search.cv_results_["params"]:
        K = (params["gamma"] * X @ X.T + 1.0) ** params["degree"]
        misfit = ((y - oracle.left_out(K, y[:, None], 0.5)[:, 0]) ** 2).sum() / 2
        numbers = np.array([params["gamma"], params["degree"]], dtype=float)
        omega = ((np.log(numbers) if theta == "log" else numbers) ** 2).sum() / 2
        expected.append(-(N / 2 * np.log(misfit) + np.log(omega)))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-9)


def test_codings_of_bayesian_regularisation():
    assert criteria.BR() == criteria.BR(theta="log")
    with pytest.raises(ValueError, match='"log" or "linear", got \'width\''):
        criteria.BR(theta="width")


@pytest.mark.parametrize("n", [24, 25, 26, 35, 36])
def test_the_default_number_of_components_is_the_square_root_rounded_down(n):
    K = np.diag(np.arange(n, 0.0, -1.0))
    t = max(k for k in range(n) if k * k <= n)
    assert criteria.PEP()(K, None) == close(np.arange(n, n - t, -1).sum() / np.arange(1, n + 1).sum())
    assert criteria.PEP()(K, None) == criteria.PEP(components=t)(K, None)
    model, y = KernelRidge(kernel="precomputed"), np.ones(n)
    assert criteria.ER()(K, y, model) == criteria.ER(components=t)(K, y, model)


class TestDegenerate:
    """What the table of degenerate inputs asks for."""

    model = KernelRidge(alpha=2.0, kernel="precomputed")
    y = np.array([1.0, -1.0, 3.0, 0.0])
    zero = np.zeros((4, 4))

    def test_zero_gram_matrix(self):
        square = (self.y**2).mean()
        assert criteria.LOO()(self.zero, self.y, self.model) == pytest.approx(square)
        assert criteria.GCV()(self.zero, self.y, self.model) == pytest.approx(square)
        assert criteria.CV()(self.zero, self.y, self.model, cv=2) == pytest.approx(square)
        assert criteria.RKS()(self.zero, self.y, self.model) == pytest.approx(square)
        for exact in (True, False):
            assert criteria.SPS(exact=exact)(self.zero, self.y, self.model) == pytest.approx(square)
        assert np.isnan(criteria.ER()(self.zero, self.y, self.model))
        expected = oracle.marginal_likelihood(self.zero, self.y[:, None], 2.0)
        assert criteria.LML()(self.zero, self.y, self.model) == pytest.approx(expected)

    def test_constant_target_and_a_bias(self):
        K, y = GRAMS["narrow"](0), np.full(N, 3.0)
        model = LSSVR(kernel="precomputed")
        assert criteria.LOO()(K, y, model) == pytest.approx(0.0, abs=1e-25)
        assert criteria.GCV()(K, y, model) == pytest.approx(0.0, abs=1e-25)
        assert criteria.RKS(eta=0.0)(K, y, model) == pytest.approx(0.0, abs=1e-25)

    def test_rank_no_larger_than_the_number_of_components(self):
        K, y = GRAMS["rank three"](0) - 20.0, points(0, N)[:, 0]
        risk = ((y - oracle.fitted(K, y[:, None], 2.0)[:, 0]) ** 2).mean()
        assert criteria.ER(components=3)(K, y, self.model) == close(risk)

    def test_indefinite_matrices_are_refused_or_served(self):
        K, y = random_symmetric(0, 12), points(0, 12)[:, 0]
        model = KernelRidge(alpha=20.0, kernel="precomputed")
        for criterion in (criteria.SPS(), criteria.SPS(exact=True), criteria.LML()):
            with pytest.raises(ValueError, match="indefinite"):
                criterion(K, y, model)
        expected = ((y - oracle.left_out(K, y[:, None], 20.0)[:, 0]) ** 2).mean()
        assert criteria.LOO()(K, y, model) == close(expected)
        s = np.maximum(np.sort(np.linalg.eigvalsh(K))[::-1], 0.0)
        risk = ((y - oracle.fitted(K, y[:, None], 20.0)[:, 0]) ** 2).mean()
        assert criteria.ER(components=2)(K, y, model) == close(risk + s[2:].sum() / s[:2].sum())

    def test_singular_systems_are_errors(self):
        K = np.ones((4, 4))
        with pytest.raises(ValueError, match="singular"):
            criteria.LOO()(K, self.y, KernelRidge(alpha=0.0, kernel="precomputed"))
        with pytest.raises(ValueError, match="singular"):
            criteria.LML()(K, self.y, KernelRidge(alpha=0.0, kernel="precomputed"))

    def test_perfect_leave_one_out(self):
        K = np.ones((4, 4))
        model = LSSVR(kernel="precomputed")
        assert criteria.BR()(K, np.zeros(4), model) == -np.inf


def test_a_machine_with_bias_has_no_marginal_likelihood():
    with pytest.raises(ValueError, match="without bias"):
        criteria.LML()(np.eye(3), np.arange(3.0), LSSVR(kernel="precomputed"))
