"""The comparison notices differences, and its referee knows the right solution."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR

from onefit import KernelSearchCV
from tests.oracles.interior_point import solve_box_qp, violation
from tests.oracles.support_vector import classified, curve, gram, labels, regressed

from .comparison import Comparison, run
from .referee import Referee
from .searches import Search


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e5])
@pytest.mark.parametrize("name", ["wide", "narrow", "linear", "duplicated", "ones"])
def test_interior_point_is_optimal(name, C):
    K, X = gram(name, 5, 40)
    y = labels(5, X, share=0.3)
    problem = y[:, None] * K * y, -np.ones(len(y)), y, C * np.where(y > 0, 3.0, 1.0)
    x, b, width = solve_box_qp(*problem)
    assert violation(*problem, x, b) <= 1e-12 * (1 + C)
    assert abs(y @ x) <= 1e-9 * C
    assert width >= 0


@pytest.mark.parametrize("name", ["medium", "narrow", "polynomial"])
def test_interior_point_agrees_with_libsvm_on_kernels_in_single_precision(name):
    """LIBSVM loses nothing where kernel values have no more digits."""
    K, X = gram(name, 3, 40)
    y, t = labels(3, X), curve(3, X)
    x, b, _ = solve_box_qp(y[:, None] * K * y, -np.ones(40), y, np.full(40, 2.0))
    np.testing.assert_allclose(K @ (y * x) - b, classified(K, y, 2.0), atol=1e-7)
    sign = np.repeat([1.0, -1.0], 40)
    c = 0.1 - sign * np.tile(t, 2)
    x, b, _ = solve_box_qp(np.block([[K, -K], [-K, K]]), c, sign, np.full(80, 2.0))
    np.testing.assert_allclose(K @ (x[:40] - x[40:]) - b, regressed(K, t, 2.0, 0.1), atol=1e-7)


def test_bias_interval_of_a_machine_with_all_coefficients_at_their_bounds():
    K = np.eye(4)
    y = np.array([1.0, 1.0, -1.0, -1.0])
    x, b, width = solve_box_qp(y[:, None] * K * y, -np.ones(4), y, np.full(4, 0.1))
    np.testing.assert_allclose(x, 0.1)
    assert abs(b) <= 1e-12
    assert width == pytest.approx(2 * 0.9)  # y (f + b) <= 1 with f = ±0.1


@pytest.fixture(params=[SVR(tol=1e-8), KernelRidge(kernel="rbf"), SVC(tol=1e-8)], ids=lambda m: type(m).__name__)
def compared(request):
    """A search, fitted by GridSearchCV and KernelSearchCV."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=50)
    machine = request.param
    penalty = {"alpha": [0.1, 10.0]} if isinstance(machine, KernelRidge) else {"C": [0.5, 2.0]}
    target = (y > 0).astype(int) if isinstance(machine, SVC) else y
    search = Search(0, machine, {**penalty, "gamma": [0.01, 0.3]}, X, target, {}, {"cv": 3, "scoring": None})
    return search, run(GridSearchCV, search).fitted, run(KernelSearchCV, search).fitted


def test_searches_that_agree_do(compared):
    assert not Comparison(*compared).differences()


def test_changed_scores_are_noticed(compared):
    fast = compared[2]
    fast.cv_results_["split0_test_score"] = fast.cv_results_["split0_test_score"] + 3e-6
    assert [text[:6] for text in Comparison(*compared).differences()] == ["score:"] * 4


def test_scores_labelled_approximate_may_differ(compared):
    fast = compared[2]
    fast.cv_results_["split0_test_score"] = fast.cv_results_["split0_test_score"] + 3e-6
    fast.cv_results_["exactness"][:] = "approximate"
    assert not Comparison(*compared).differences()


def test_changed_values_are_noticed(compared):
    fast = compared[2]
    fast.oof_decision_ = fast.oof_decision_ + 3e-6 * np.abs(fast.oof_decision_).max()
    assert "out of fold" in Comparison(*compared).differences()[0]


def test_another_choice_is_noticed(compared):
    _, slow, fast = compared
    fast.best_index_ = int(np.argmin(slow.cv_results_["mean_test_score"]))
    assert Comparison(*compared).differences()[0].startswith("choice")


def test_libsvm_is_blamed_for_its_single_precision_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=60)
    large, small = SVR(C=10.0, kernel="poly", coef0=1.0, gamma=0.3, tol=1e-8), SVR(C=1e-4, gamma=0.3, tol=1e-8)
    blamed = [Referee(Search(0, model, {}, X, y, {}, {"cv": 3}), [{}]).blames_libsvm(0) for model in (large, small)]
    assert blamed == [True, False]


def test_a_bias_that_is_not_unique_has_no_referee():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], [40, 20])
    machine = SVC(C=1e-3, class_weight="balanced", gamma=0.3, tol=1e-8)
    referee = Referee(Search(0, machine, {}, X, y, {}, {"cv": 3}), [{}])
    assert not referee.blames_libsvm(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(width > 1 for _, width in referee.verdicts(0))
