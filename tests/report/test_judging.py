"""Sections that judge the choice, against scikit-learn and plain resampling."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_regression
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import LSSVR, KernelSearchCV
from onefit.estimators.calibration import logistic_curves, probabilities
from onefit.report.facts import gather
from onefit.report.overview import overview_of
from onefit.report.page import render
from onefit.report.predictions import classified
from onefit.report.probabilities import held_out_probabilities, thresholds_of
from onefit.report.sureness import area_under_roc, mean_of, mean_of_classes, shares_of_best


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("ties", [False, True])
def test_scores_of_samples_are_those_of_repeated_rows(rng, ties):
    n = 60
    y = rng.integers(0, 3, n)
    values = np.round(rng.normal(size=n), 0 if ties else 9)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=5).astype(float)
    for drawn, weight in zip((np.repeat(np.arange(n), w.astype(int)) for w in weights), weights):
        positive = y == 0
        area = area_under_roc(values, positive)(weight[None])[0]
        assert area == pytest.approx(roc_auc_score(positive[drawn], values[drawn]), abs=1e-12)
        guess = rng.integers(0, 3, n)
        right = (guess == y).astype(float)
        balanced = mean_of_classes(right, y)(weight[None])[0]
        assert balanced == pytest.approx(balanced_accuracy_score(y[drawn], guess[drawn]), abs=1e-12)
        assert mean_of(right)(weight[None])[0] == pytest.approx(right[drawn].mean(), abs=1e-12)


def test_shares_of_the_best_are_those_of_resampling(rng):
    losses = rng.normal(size=(4, 30)) + np.array([[0.0], [0.1], [0.2], [3.0]])
    shares = shares_of_best([mean_of(-each) for each in losses], 30, replicates=4000)
    drawn = [losses[:, rng.integers(0, 30, 30)].mean(axis=1).argmin() for _ in range(4000)]
    np.testing.assert_allclose(shares, np.bincount(drawn, minlength=4) / 4000, atol=0.04)  # four standard errors
    assert shares.sum() == pytest.approx(1)
    same = np.zeros(30)
    np.testing.assert_allclose(shares_of_best([mean_of(same), mean_of(same)], 30, replicates=10), 0.5)


def test_curves_of_probabilities_are_those_of_scikit_learn(rng):
    for classes in (2, 3):
        X, y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=classes, random_state=0)
        model = SVC().fit(X[:100], y[:100])
        rows = np.arange(100, 200)
        theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid", ensemble=False).fit(X[rows], y[rows])
        values = model.decision_function(X[rows])
        ours = probabilities(values, logistic_curves(values, y[rows], list(range(classes))))
        np.testing.assert_allclose(ours, theirs.predict_proba(X[rows]), atol=2e-3)  # of their solver
        np.testing.assert_allclose(ours.sum(axis=1), 1)
    assert logistic_curves(np.ones(4), np.zeros(4), [0, 1]) is None


def test_probabilities_have_not_seen_their_rows(rng):
    y = rng.integers(0, 2, 100)
    values = rng.normal(size=100) + y
    before = held_out_probabilities(values, y, [0, 1])
    changed = y.copy()
    changed[7] = 1 - changed[7]
    after = held_out_probabilities(values, changed, [0, 1])
    assert after[7] == before[7]
    assert (after != before).sum() > 50


def test_counts_at_thresholds(rng):
    chances, positive = np.round(rng.uniform(size=300), 2), rng.uniform(size=300) < 0.2
    cuts = thresholds_of(chances, positive, "yes")
    for k in range(1, len(cuts.places)):
        found = chances >= cuts.places[k]
        assert cuts.recall[k] == pytest.approx(recall_score(positive, found))
        assert cuts.precision[k] == pytest.approx(precision_score(positive, found))
    for ratio in (0.1, 1, 20):
        k = cuts.cheapest(ratio)
        cost = ratio * (cuts.positives - cuts.caught) + cuts.alarms
        assert cost[k] == cost.min()


def test_confusions_are_counted(rng):
    y = np.array(["a", "a", "b", "c", "c", "c"])
    labels = np.array(["b", "b", "b", "c", "a", "b"])
    found = classified(y, labels, np.unique(y), np.zeros((6, 3)), 0)
    assert found.confusions == [("a", "b", 2), ("c", "a", 1), ("c", "b", 1)]


def test_overview_counts(rng):
    table = np.empty((5, 2), dtype=object)
    table[:, 0] = [1.0, 2.0, np.nan, 2.0, 5.0]
    table[:, 1] = ["a", None, "b", "a", "a"]
    facts = overview_of(table, np.array(["x", "y", "x", "x", "x"]), classifier=True, names=["n", "t"])
    assert [(c.name, c.kind, c.missing, c.distinct) for c in facts.columns] == [
        ("n", "number", 1, 3),
        ("t", "text", 1, 2),
    ]
    assert facts.columns[0].summary == "1 … 2 … 5"
    assert facts.columns[1].summary == "a (3), b (1)"
    assert facts.classes == [("x", 4, 0.8), ("y", 1, 0.2)]
    assert overview_of(None, None, classifier=True) is None


def test_learning_curve_and_importance(rng):
    X, y = make_regression(160, 4, n_informative=2, shuffle=False, noise=5.0, random_state=0)
    search = KernelSearchCV(make_pipeline(StandardScaler(), LSSVR()), "auto", cv=4).fit(X, y)
    facts = gather(search, X=X, y=y, feature_names=["a", "b", "c", "d"])
    assert facts.learning.rows.tolist() == [20, 40, 80, 160]
    assert facts.learning.values[-1] == pytest.approx(
        cross_val_score(search.best_estimator_, X, y, cv=4).mean(), abs=0.01
    )
    assert set(facts.importance.names[:2]) == {"a", "b"}
    assert facts.importance.falls[1] > 10 * abs(facts.importance.falls[2])
    assert facts.sureness.candidates[0] == search.best_index_
    assert facts.sureness.shares.sum() == pytest.approx(1)
    page = render(facts)
    for words in ("How sure is the choice?", "Learning curve", "Importance"):
        assert words in page
    quick = gather(search, X=X, y=y, thorough=False)
    assert quick.sureness is quick.learning is quick.importance is None


def test_a_page_with_many_candidates_is_small(rng):
    X, y = make_classification(60, 4, random_state=0)
    grid = {"gamma": np.logspace(-4, 1, 50), "alpha": np.logspace(-2, 3, 40)}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=3).fit(X, y.astype(float))
    page = render(gather(search, X=X, y=y.astype(float)))
    assert len(search.cv_results_["params"]) == 2000
    assert len(page.encode()) < 1_000_000


def test_the_folds_of_the_search_are_used(rng):
    X, y = make_classification(120, 4, random_state=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    search = KernelSearchCV(SVC(), {"gamma": [0.1, 1.0], "C": [1.0, 10.0]}, cv=folds).fit(X, y)
    facts = gather(search, X=X, y=y)
    pooled = (np.where(search.oof_decision_ > 0, 1, 0) == y).mean()
    assert facts.sureness.values[facts.sureness.candidates.index(search.best_index_)] == pytest.approx(pooled)
