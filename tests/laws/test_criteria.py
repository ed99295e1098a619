"""Laws that criteria obey whatever the data are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, circulant
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneOut

from onefit import L2SVC, LSSVR, criteria

from ..oracles.criteria import features
from ..oracles.problems import points, random_gram

pytestmark = pytest.mark.filterwarnings("ignore:The spectral measure of degree")
few = settings(max_examples=30, deadline=None, derandomize=True)
many_seeds = st.integers(0, 10_000)
factors = st.floats(1e-3, 1e3)
degrees = st.integers(1, 6)
coins = st.booleans()


class Problem:
    """A Gaussian Gram matrix, labels of unequal classes, a target, and a ridge."""

    def __init__(self, seed, n=20):
        rng = np.random.default_rng(seed)
        self.n = n
        self.K = rbf_kernel(points(seed, n), gamma=10 ** rng.uniform(-1.5, 0.5))
        self.y = np.where(rng.permutation(n) < rng.integers(3, n - 3), 1, -1)
        self.target = rng.normal(size=n)
        self.alpha = 10 ** rng.uniform(-2, 1)

    @property
    def model(self):
        return KernelRidge(alpha=self.alpha, kernel="precomputed")


problems = st.builds(Problem, many_seeds)


def same(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@few
@given(problems, factors, degrees, coins)
def test_fit_free_criteria_are_invariant_to_scaling_of_the_kernel(problem, factor, degree, weighted):
    for criterion in (
        criteria.SM(degree, weighted), criteria.SM(threshold=0.05), criteria.KTA(), criteria.CKTA(),
        criteria.FSM(), criteria.PEP(),
    ):  # fmt: skip
        assert criterion(factor * problem.K, problem.y) == same(criterion(problem.K, problem.y))


@few
@given(problems, factors)
def test_kernel_stability_is_homogeneous(problem, factor):
    expected = factor * criteria.kernel_stability(problem.K)
    assert criteria.kernel_stability(factor * problem.K) == pytest.approx(expected, rel=1e-12)


@few
@given(st.lists(st.tuples(many_seeds, st.integers(1, 8)), min_size=1, max_size=4))
def test_kernel_stability_of_a_block_diagonal_kernel_is_the_largest_of_its_blocks(parts):
    blocks = [random_gram(seed, size) for seed, size in parts]
    expected = max(criteria.kernel_stability(block) for block in blocks)
    assert criteria.kernel_stability(block_diag(*blocks)) == pytest.approx(expected, rel=1e-12)


@few
@given(many_seeds, st.floats(0.05, 2.0), st.floats(1.1, 3.0))
def test_kernel_stability_falls_as_a_gaussian_narrows(seed, gamma, factor):
    X = points(seed, 15)
    wide, narrow = (criteria.kernel_stability(rbf_kernel(X, gamma=g)) for g in (gamma, factor * gamma))
    assert 1.0 <= narrow <= wide


@few
@given(problems)
def test_the_spectral_measure_of_degree_one_is_the_paper_s_cut(problem):
    K, y, n = problem.K, problem.y, problem.n
    D = np.diag(K.sum(axis=1))
    cut = (y @ (D - K) @ y) / (y @ D @ y)
    measure = criteria.SM(degree=1, weighted=False)(K, y)
    assert n * measure == same(1 - cut)
    assert measure <= 1 / n * (1 + 1e-12)


@few
@given(problems)
def test_the_weighted_spectral_measure_of_degree_one_is_the_distance_of_the_class_means(problem):
    X = features(problem.K)
    distance = X[problem.y == 1].mean(axis=0) - X[problem.y == -1].mean(axis=0)
    expected = problem.n * (distance @ distance) / problem.K.sum()
    assert criteria.SM(degree=1)(problem.K, problem.y) == same(expected)


@few
@given(problems, st.floats(0.1, 10.0))
def test_centring_is_nothing_to_ckta_and_shifts_are_nothing_to_fsm(problem, shift):
    C = np.eye(problem.n) - 1 / problem.n
    value = criteria.CKTA()(problem.K, problem.y)
    assert criteria.CKTA()(C @ problem.K @ C, problem.y) == same(value)
    assert criteria.CKTA()(problem.K + shift, problem.y) == same(value)
    assert criteria.FSM()(problem.K + shift, problem.y) == pytest.approx(criteria.FSM()(problem.K, problem.y), rel=1e-7)


@few
@given(problems, factors)
def test_squared_losses_are_homogeneous(problem, factor):
    for criterion in (criteria.LOO(), criteria.GCV(), criteria.RKS(eta=0.0), criteria.CVKS(eta=0.0)):
        value = criterion(problem.K, problem.target, problem.model, cv=4)
        scaled = criterion(problem.K, factor * problem.target, problem.model, cv=4)
        assert scaled == pytest.approx(factor**2 * value, rel=1e-9)


@few
@given(problems, st.floats(-10, 10))
def test_a_bias_takes_up_a_constant(problem, shift):
    model = LSSVR(alpha=problem.alpha, kernel="precomputed")
    for criterion in (criteria.LOO(), criteria.GCV(), criteria.RKS()):
        value = criterion(problem.K, problem.target, model)
        assert criterion(problem.K, problem.target + shift, model) == pytest.approx(value, rel=1e-8)


@few
@given(many_seeds, st.floats(0.01, 10.0))
def test_generalised_cross_validation_is_leave_one_out_where_leverages_are_equal(seed, alpha):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=7)
    C = circulant(np.concatenate([half, half[:0:-1]]))
    K, y = C @ C.T, rng.normal(size=13)
    model = KernelRidge(alpha=alpha, kernel="precomputed")
    assert criteria.GCV()(K, y, model) == pytest.approx(criteria.LOO()(K, y, model), rel=1e-8)


@few
@given(problems)
def test_leave_one_out_is_cross_validation_with_as_many_folds_as_rows(problem):
    for scale in (False, True):
        exact = criteria.CV(scale_penalty=scale)(problem.K, problem.target, problem.model, cv=LeaveOneOut())
        assert criteria.LOO(scale_penalty=scale)(problem.K, problem.target, problem.model) == same(exact)


@few
@given(problems, st.floats(0.0, 5.0))
def test_the_penalties_of_spectral_perturbation_stability(problem, delta):
    K = problem.K * np.sqrt(np.outer(np.arange(1, 21), np.arange(1, 21)))  # a diagonal that is not constant
    n, y, model = problem.n, problem.target, problem.model
    risk = criteria.RKS(eta=0.0)(K, y, model)
    exact = criteria.SPS(exact=True, delta=delta)(K, y, model) - risk
    assert exact == pytest.approx(delta * np.trace(K) / n**2, rel=1e-8, abs=1e-12)
    first = criteria.SPS(delta=delta)(K, y, model) - risk
    assert exact * (1 - 1e-9) - 1e-12 <= first <= 3 * exact * (1 + 1e-9) + 1e-12


@few
@given(problems, factors)
def test_scaling_of_the_marginal_likelihood(problem, c):
    model = KernelRidge(alpha=c * problem.alpha, kernel="precomputed")
    scaled = criteria.LML()(c * problem.K, np.sqrt(c) * problem.target, model)
    expected = criteria.LML()(problem.K, problem.target, problem.model) - problem.n / 2 * np.log(c)
    assert scaled == pytest.approx(expected, rel=1e-8, abs=1e-8)


@few
@given(problems, st.integers(1, 8), st.floats(0.1, 3.0))
def test_the_two_measures_of_the_spectrum_say_the_same(problem, components, eta):
    share = criteria.PEP(components)(problem.K, None)
    risk = criteria.RKS(eta=0.0)(problem.K, problem.target, problem.model)
    ratio = share / (1 - share)
    expected = risk + eta / ratio
    value = criteria.ER(components, eta)(problem.K, problem.target, problem.model)
    assert value == pytest.approx(expected, rel=1e-7, abs=1e-10)


@few
@given(problems, factors, st.floats(0.1, 10.0))
def test_radius_margin_does_not_see_a_scale_that_kernel_and_penalty_share(problem, c, C):
    value = criteria.RadiusMargin()(problem.K, problem.y, L2SVC(C=C, kernel="precomputed"))
    scaled = criteria.RadiusMargin()(c * problem.K, problem.y, L2SVC(C=C / c, kernel="precomputed"))
    assert scaled == pytest.approx(value, rel=1e-7)
