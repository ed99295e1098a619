"""Vectorised twins equal scikit-learn's scorers; stand-ins answer only what they know."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils import get_tags

from onefit import LSSVR, KernelSearchCV
from onefit.data.coding import Coding
from onefit.search.scorers import TWINS, StandInClassifier, StandInRegressor, roc_auc
from onefit.search.scoring import NeedsRetrainingError, ScoredRows, Scoring, accepts_sample_weight


def some_rows(n):
    """n rows of ones."""
    return ScoredRows(np.zeros((n, 1)), np.ones(n), np.ones(n), np.arange(n))


REGRESSION = sorted(set(TWINS) - {"accuracy"})


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_regression_twins(name, outputs, weighted, constant):
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(size=(20, outputs)), rng.normal(size=(4, 20, outputs))
    if constant:
        y[:, 0] = 2.0
        predicted[1, :, 0] = 2.0  # predicted perfectly
    weights = rng.uniform(size=20) if weighted else None
    expected = [get_scorer(name)(StandInRegressor(y, p, p), y, y, sample_weight=weights) for p in predicted]
    np.testing.assert_allclose(TWINS[name](y, predicted, weights), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_accuracy_twin(weighted):
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(3, size=30), rng.integers(3, size=(4, 30))
    weights = rng.uniform(size=30) if weighted else None
    expected = [
        get_scorer("accuracy")(StandInClassifier(y, p, p, np.arange(3)), y, y, sample_weight=weights) for p in predicted
    ]
    np.testing.assert_allclose(TWINS["accuracy"](y, predicted, weights), expected, rtol=1e-12)


@pytest.mark.parametrize("digits", [0, 1, 15])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_areas_are_scikit_learns_to_the_last_bit(digits, share):
    """With many ties, some and none: equal areas must tie in both programs."""
    rng = np.random.default_rng(int(100 * share) + digits)
    for n in (2, 3, 17, 200):
        positive = np.r_[True, False, rng.random(n - 2) < share]
        decision = np.round(rng.normal(size=(9, n)), digits)
        expected = [roc_auc_score(positive, values) for values in decision]
        np.testing.assert_array_equal(roc_auc(positive, decision), expected)


@pytest.mark.parametrize("scoring", ["roc_auc", ["roc_auc", "accuracy"], {"area": "roc_auc", "hits": "accuracy"}])
def test_areas_of_a_search_are_grid_searchs(scoring):
    """Labels of any kind, a test set of one class included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "no", "yes")
    y[:12] = "no"
    splits = [(np.arange(12, 60), np.arange(12)), *StratifiedKFold(3).split(X, y)]
    grid, options = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, {"cv": splits, "refit": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine = KernelSearchCV(SVC(tol=1e-9), grid, scoring=scoring, **options).fit(X, y).cv_results_
        theirs = GridSearchCV(SVC(tol=1e-9), grid, scoring=scoring, **options).fit(X, y).cv_results_
    for key in (key for key in theirs if key.startswith("split")):
        np.testing.assert_allclose(mine[key], theirs[key], rtol=1e-12)


def test_twins_are_used_only_where_they_mean_the_same():
    assert Scoring.build(LSSVR(), "r2", np.nan).metrics["score"].twin is TWINS["r2"]
    assert Scoring.build(LSSVR(), None, np.nan).metrics["score"].twin is TWINS["r2"]
    assert Scoring.build(LSSVR(), "accuracy", np.nan).metrics["score"].twin is None
    assert Scoring.build(LSSVR(), get_scorer("r2"), np.nan).metrics["score"].twin is None


def test_single_rows_are_left_to_scikit_learn():
    scoring = Scoring.build(LSSVR(), "r2", np.nan)
    with pytest.warns(match="not well-defined with less than two samples"):
        scores = scoring.path(some_rows(1), np.ones((2, 1, 1)), Coding(None, True))
    assert np.isnan(scores["score"]).all()


def test_stand_ins_tell_what_they_lack():
    def greedy(model, X, y):
        return model.coef_.sum()

    scoring = Scoring.build(LSSVR(), greedy, np.nan)
    with pytest.raises(NeedsRetrainingError, match="coef_"):
        scoring.path(some_rows(3), np.ones((2, 3, 1)), Coding(None, True))


@pytest.mark.parametrize(
    "greedy",
    [
        lambda model, X, y: model.predict(X[:1])[0],
        lambda model, X, y: model.predict(X + 0.5)[0],
        lambda model, X, y: getattr(model, "alpha", 0.0),
        lambda model, X, y: model.get_params()["alpha"],
        lambda model, X, y: model[-1].predict(X)[0],
    ],
    ids=["fewer rows", "changed rows", "attribute with a default", "parameters", "step"],
)
def test_stand_ins_answer_only_what_they_know(greedy):
    scoring = Scoring.build(LSSVR(), greedy, np.nan)
    with pytest.raises(NeedsRetrainingError, match="of a trained model"):
        scoring.path(some_rows(3), np.ones((2, 3, 1)), Coding(None, True))


def test_scorers_may_edit_what_they_get():
    def clip(model, X, y):
        predicted = model.predict(X)
        predicted[:] = X[:] = y[:] = 7.0
        return 0.0

    values = np.ones((2, 3, 1))
    what = some_rows(3)
    scoring = Scoring.build(LSSVR(), {"a": clip, "b": "neg_mean_squared_error"}, np.nan)
    assert scoring.path(what, values, Coding(None, True))["b"].tolist() == [0.0, 0.0]
    assert (values == 1).all()
    assert (what.y == 1).all()
    assert (what.X == 0).all()


def test_stand_ins_refuse_other_rows():
    def curious(model, X, y):
        return model.predict(X[:1])[0]

    scoring = Scoring.build(LSSVR(), curious, np.nan)
    with pytest.raises(NeedsRetrainingError, match="other rows"):
        scoring.path(some_rows(3), np.ones((2, 3, 1)), Coding(None, True))


def test_stand_ins_have_the_right_type():
    assert get_tags(StandInRegressor()).estimator_type == "regressor"
    assert get_tags(StandInClassifier()).estimator_type == "classifier"


def test_failing_scorers_give_the_error_score_or_raise():
    def broken(model, X, y):
        raise ZeroDivisionError("broken scorer")

    arguments = (some_rows(3), np.ones((2, 3, 1)), Coding(None, True))
    with pytest.warns(match="Scoring failed"):
        scores = Scoring.build(LSSVR(), broken, -7.0).path(*arguments)
    assert scores["score"].tolist() == [-7.0, -7.0]
    with pytest.raises(ZeroDivisionError):
        Scoring.build(LSSVR(), broken, "raise").path(*arguments)
    with pytest.raises(ValueError, match="scoring must return a number"):
        Scoring.build(LSSVR(), lambda model, X, y: "good", np.nan).path(*arguments)


def test_who_takes_sample_weights():
    assert accepts_sample_weight(get_scorer("r2"), LSSVR(), "r2")
    assert not accepts_sample_weight(get_scorer("neg_max_error"), LSSVR(), "neg_max_error")
    assert accepts_sample_weight(None, LSSVR(), None)
    assert accepts_sample_weight(lambda model, X, y, sample_weight: 0, LSSVR(), len)
    assert not accepts_sample_weight(cross_val_score, LSSVR(), len)
