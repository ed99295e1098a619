"""Kernel logistic regression: against other solvers, and searched over as GridSearchCV does it."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onefit import KernelLogisticRegression, KernelSearchCV, compare, criteria, cross_val_decision, default_grid
from onefit.kernels import Gaussian

from ..oracles.logistic import minimiser

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:90, :6]), y[:90]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2]


def same_scores(search, reference, X, y, **fit):
    """Fit both; all scores of all splits are the same."""
    search.fit(X, y, **fit)
    reference.fit(X, y, **fit)
    names = [name for name in reference.cv_results_ if name.startswith("split")]
    assert names
    for name in names:
        np.testing.assert_allclose(
            search.cv_results_[name], reference.cv_results_[name], rtol=0, atol=1e-8, err_msg=name
        )
    assert search.best_params_ == reference.best_params_
    assert set(search.cv_results_["exactness"]) == {"exact"}


class TestMachine:
    @pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_linear_kernel_is_scikit_learns_logistic_regression(self, cancer, C, weighted):
        X, y = cancer
        weights = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else None
        ours = KernelLogisticRegression(C, kernel="linear", class_weight="balanced").fit(X, y, weights)
        theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000, class_weight="balanced").fit(X, y, weights)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)

    @pytest.mark.parametrize("bias", [False, True])
    def test_it_minimises_the_objective(self, cancer, bias):
        X, y = cancer
        K = rbf_kernel(X, gamma=0.1)
        expected = minimiser(K, 2.0 * y - 1, np.full(len(y), 5.0), bias)
        for model, rows in (
            (KernelLogisticRegression(5.0, gamma=0.1, fit_intercept=bias), X),
            (KernelLogisticRegression(5.0, kernel="precomputed", fit_intercept=bias), K),
            (KernelLogisticRegression(5.0, kernel=Gaussian(0.1), fit_intercept=bias), sparse.csr_matrix(X)),
        ):
            np.testing.assert_allclose(model.fit(rows, y).decision_function(rows), expected, atol=1e-7)
            gradient = 5.0 / (1 + np.exp((2 * y - 1) * model.decision_function(rows))) - np.abs(model.dual_coef_)
            assert np.abs(gradient).max() < 1e-12

    def test_classes_and_probabilities(self, iris):
        X, y = iris
        names = np.array(["a", "b", "c"])[y]
        model = KernelLogisticRegression(C=10.0).fit(X, names)
        P = model.predict_proba(X)
        assert model.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(P))
        one = KernelLogisticRegression(C=10.0).fit(X, y == 1)
        np.testing.assert_allclose(model.decision_function(X)[:, 1], one.decision_function(X), atol=1e-8)
        odds = 1 / (1 + np.exp(-model.decision_function(X)))
        np.testing.assert_allclose(P, odds / odds.sum(axis=1, keepdims=True))

    def test_weights_are_repetitions_and_zero_is_absence(self, cancer):
        X, y = cancer
        counts = np.random.default_rng(1).integers(0, 3, len(y))
        weighted = KernelLogisticRegression(gamma=0.2).fit(X, y, counts)
        repeated = KernelLogisticRegression(gamma=0.2).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"C": 0.0}, "C must be a finite positive number"),
            ({"tol": 0.0}, "tol must be a positive number"),
            ({"max_iter": 0}, "max_iter must be -1 or a positive whole number"),
            ({"kernel": "rbf", "gamma": -1.0}, "gamma"),
        ],
    )
    def test_parameters_that_make_no_sense(self, cancer, params, message):
        with pytest.raises(ValueError, match=message):
            KernelLogisticRegression(**params).fit(*cancer)

    def test_other_refusals(self, cancer):
        X, y = cancer
        with pytest.raises(ValueError, match="needs at least two classes"):
            KernelLogisticRegression().fit(X, np.ones(len(y)))
        with pytest.raises(ValueError, match="not positive semi-definite"):
            KernelLogisticRegression(1e3, kernel="precomputed").fit(-rbf_kernel(X), y)
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            KernelLogisticRegression(C=1e4, max_iter=2).fit(X, y)

    def test_separable_classes_with_a_large_penalty(self):
        X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
        model = KernelLogisticRegression(1e8, kernel="linear").fit(X, [0, 0, 1, 1])
        assert model.score(X, [0, 0, 1, 1]) == 1.0
        assert model.n_iter_.tolist() < [100]
        w = float(model.decision_function([[1.0]])[0])
        assert w == pytest.approx(2e8 * (1 / (1 + np.exp(w)) + 2 / (1 + np.exp(2 * w))), rel=1e-6)


SCORERS = ["accuracy", "neg_log_loss", "neg_brier_score", "roc_auc"]


class TestSearch:
    @pytest.mark.parametrize("cv", [3, 7])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.quick(2)
    def test_two_classes(self, cancer, cv, weighted):
        X, y = cancer
        fit = {"sample_weight": np.random.default_rng(0).uniform(0.1, 2.0, len(y))} if weighted else {}
        grid = {"C": [0.1, 20.0], "gamma": ["scale", 0.5], "class_weight": ["balanced" if weighted else None]}
        options = {"scoring": SCORERS, "refit": "neg_log_loss", "cv": cv, "return_train_score": True}
        model = KernelLogisticRegression()
        search = KernelSearchCV(model, grid, **options)
        same_scores(search, GridSearchCV(model, grid, **options), X, y, **fit)
        assert search.ledger_["fit"] <= 1  # nothing is retrained

    def test_several_classes_and_a_pipeline(self, iris):
        model = make_pipeline(StandardScaler(), KernelLogisticRegression())
        step = "kernellogisticregression__"
        grid = {f"{step}C": [0.1, 5.0], f"{step}gamma": ["scale", 0.5], f"{step}kernel": ["rbf", "linear"]}
        options = {"scoring": ["accuracy", "neg_log_loss", "roc_auc_ovr"], "refit": "neg_log_loss"}
        options["cv"] = StratifiedKFold(4, shuffle=True, random_state=0)
        same_scores(KernelSearchCV(model, grid, **options), GridSearchCV(model, grid, **options), *iris)

    def test_precomputed_kernels_and_no_intercept(self, cancer):
        X, y = cancer
        model = KernelLogisticRegression(kernel="precomputed", fit_intercept=False)
        options = {"scoring": "neg_log_loss", "cv": 9}
        grid = {"C": [0.1, 1.0, 10.0]}
        same_scores(KernelSearchCV(model, grid, **options), GridSearchCV(model, grid, **options), rbf_kernel(X), y)

    def test_leave_one_out(self, cancer):
        X, y = cancer
        model, grid = KernelLogisticRegression(), {"C": [0.1, 1.0, 10.0]}
        ours = KernelSearchCV(model, grid, cv=LeaveOneOut()).fit(X[:40], y[:40])
        theirs = GridSearchCV(model, grid, cv=LeaveOneOut()).fit(X[:40], y[:40])
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more")
    def test_splits_that_lack_a_class(self, iris):
        X, y = iris
        rows = np.arange(len(y))
        cv = [(rows[y != 2], rows[y == 2]), (rows[::2], rows[1::2]), (rows[y == 1], rows[y != 1])]
        model, grid = KernelLogisticRegression(), {"C": [0.5, 2.0]}
        ours, theirs = KernelSearchCV(model, grid, cv=cv), GridSearchCV(model, grid, cv=cv)
        for search in (ours, theirs):
            search.fit(X, y)
        for k in range(3):
            name = f"split{k}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])

    def test_the_delivered_model_is_the_one_that_was_scored(self, cancer):
        X, y = cancer
        search = KernelSearchCV(KernelLogisticRegression(tol=0.1), {"C": [1.0, 10.0]}, cv=5).fit(X, y)
        exact = KernelLogisticRegression(C=search.best_params_["C"]).fit(X, y)
        assert search.best_estimator_.tol <= 1e-10
        np.testing.assert_allclose(search.predict_proba(X), exact.predict_proba(X), rtol=1e-9)
        again = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))

    def test_a_limited_machine_is_retrained(self, cancer):
        with pytest.warns(UserWarning, match="max_iter=50 stops the solver"):
            search = KernelSearchCV(KernelLogisticRegression(max_iter=50), {"C": [1.0]}, cv=3).fit(*cancer)
        assert search.cv_results_["exactness"].tolist() == ["retrained"]

    @pytest.mark.filterwarnings("ignore::onefit.RetrainingWarning", "ignore::sklearn.exceptions.FitFailedWarning")
    @pytest.mark.filterwarnings("ignore:One or more", "ignore::sklearn.exceptions.ConvergenceWarning")
    def test_indefinite_kernels_fare_as_in_training(self, cancer):
        X, y = cancer
        model = KernelLogisticRegression(kernel="sigmoid", gamma=0.5, coef0=-1.0)
        grid = {"C": [0.01, 100.0]}
        ours, theirs = (kind(model, grid, cv=4, refit=False).fit(X, y) for kind in (KernelSearchCV, GridSearchCV))
        for k in range(4):
            name = f"split{k}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])

    def test_journals_keep_its_rows(self, cancer, tmp_path):
        options = {"cv": 4, "scoring": "neg_log_loss", "journal": tmp_path / "rows.sqlite"}
        searches = [
            KernelSearchCV(KernelLogisticRegression(), {"C": [1.0, 10.0]}, **options).fit(*cancer) for _ in range(2)
        ]
        first, second = (search.cv_results_["mean_test_score"] for search in searches)
        np.testing.assert_array_equal(first, second)
        assert searches[1].ledger_["heldout"] == 0

    @pytest.mark.slow
    def test_processes_compute_the_same(self, iris):
        options = {"cv": 7, "scoring": "neg_log_loss", "n_jobs": 2}
        scores = []
        for backend in ("threading", "loky"):
            with parallel_config(backend):
                search = KernelSearchCV(KernelLogisticRegression(), {"gamma": [0.1, 1.0]}, **options).fit(*iris)
            scores.append(search.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(*scores)

    def test_grids_of_its_own(self, cancer):
        X, y = cancer
        grid = default_grid(KernelLogisticRegression(), X, y)
        assert set(grid) == {"C", "gamma"}
        search = KernelSearchCV(KernelLogisticRegression(), "auto", cv=3, scoring="neg_log_loss").fit(X, y)
        assert search.best_score_ >= KernelSearchCV(KernelLogisticRegression(), {"C": [1.0]}, cv=3,
                                                    scoring="neg_log_loss").fit(X, y).best_score_  # fmt: skip


class TestDecisions:
    @pytest.mark.parametrize("method", ["exact", "bif"])
    def test_out_of_fold_values(self, iris, method):
        X, y = iris
        model = KernelLogisticRegression(C=0.5)
        found = cross_val_decision(model, X, y, cv=8, method=method, order=25)
        retrained = cross_val_decision(model, X, y, cv=8, method="retrain")
        np.testing.assert_allclose(found, retrained, atol=1e-9 if method == "exact" else 1e-5)

    def test_scaled_penalties(self, cancer):
        X, y = cancer
        found = cross_val_decision(KernelLogisticRegression(C=2.0), X, y, cv=3, scale_penalty=True)
        for train, test in StratifiedKFold(3).split(X, y):
            model = KernelLogisticRegression(C=2.0 * len(y) / len(train)).fit(X[train], y[train])
            np.testing.assert_allclose(found[test], model.decision_function(X[test]), atol=1e-9)


class TestCriteria:
    def test_approximate_leave_one_out_is_near_the_exact_one(self, cancer):
        X, y = cancer
        K, model = rbf_kernel(X, gamma=0.1), KernelLogisticRegression(kernel="precomputed")

        def loss(y, f):
            return np.logaddexp(0, -y * f)

        exact = criteria.CV(loss=loss)(K, y, model, cv=LeaveOneOut())
        newton = criteria.ALO(loss=loss)(K, y, model)
        jackknife = criteria.BIF(order=1, loss=loss)(K, y, model, cv=LeaveOneOut())
        assert abs(newton - exact) < 0.02 * exact
        assert abs(newton - exact) < abs(jackknife - exact)

    def test_empirical_risk_is_the_log_loss(self, cancer):
        X, y = cancer
        K, model = rbf_kernel(X, gamma=0.1), KernelLogisticRegression(kernel="precomputed", C=3.0)
        expected = log_loss(y, clone(model).fit(K, y).predict_proba(K))
        assert criteria.RKS(eta=0.0)(K, y, model) == pytest.approx(expected, rel=1e-9)
        assert criteria.SPS(delta=0.0)(K, y, model) == pytest.approx(expected, rel=1e-9)

    def test_criteria_that_need_more_say_so(self, cancer):
        X, y = cancer
        for criterion, lacking in (("gcv", "linear in the targets"), ("span", "a margin between two classes")):
            with pytest.raises(ValueError, match=f"{criterion} is defined for .*KernelLogisticRegression.* {lacking}"):
                KernelSearchCV(KernelLogisticRegression(), {"C": [1.0]}, criterion=criterion).fit(X, y)

    def test_compared(self, cancer):
        X, y = cancer
        result = compare(
            KernelLogisticRegression(), {"C": [0.1, 10.0]}, X, y, ["cv", "alo", "bif", "rks", "ckta"], cv=3
        )
        assert [row["criterion"] for row in result.rows] == ["cv", "alo", "bif", "rks", "ckta"]
