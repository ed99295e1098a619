"""The model that a search delivers is the model that it scored, for every machine."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, KernelLogisticRegression, KernelSearchCV, RefitWarning
from onefit.cli.code import expression
from tests.oracles.decisions import svm_oracle, training_values
from tests.oracles.interior_point import violation

from .comparison import ROUNDING, TOLERANCE
from .referee import Referee, libsvm_solutions
from .searches import Search

SINGLE = 1e-4
"""Largest difference, relative to the spread of values, that LIBSVM's single precision may cause without a warning."""

PENALTIES = {
    "ordinary": {"C": [0.1, 1.0, 10.0], "alpha": [1e-2, 1.0], "gamma": [0.05, 0.5]},
    "tiny penalty": {"C": [1e-4, 1e-3, 1e-2], "alpha": [1e2, 1e4], "gamma": [0.05, 0.5]},
    "tiny width": {"C": [0.01, 1.0], "alpha": [1e-3, 1.0], "gamma": [1e-6, 1e-4]},
    "huge penalty": {"C": [1e2, 1e4], "alpha": [1e-6, 1e-4], "gamma": [0.1, 5.0]},
}
"""Corners: all coefficients at their bounds, values that hardly differ, interpolation."""

CLASSIFICATIONS = [(2, "accuracy"), (2, "roc_auc"), (3, "accuracy")]
REGRESSIONS = [(1, "r2"), (1, "neg_mean_absolute_error"), (2, "r2")]


def _cases():
    for kind in (SVC, HingeSVC, L2SVC, KernelLogisticRegression, LSSVC):
        for classes, scoring in CLASSIFICATIONS:
            for weight in (None, "balanced"):
                yield kind(class_weight=weight), classes, scoring
    for kind in (SVR, EpsilonSVR, KernelRidge, LSSVR):
        for targets, scoring in REGRESSIONS:
            if kind not in (SVR, EpsilonSVR) or targets == 1:
                yield kind(kernel="rbf"), targets, scoring


def _data(outputs, classifier):
    """70 rows of three features; unequal noisy classes with names, or smooth targets with noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] - X[:, 0] ** 2]) + 0.3 * rng.normal(size=(70, 2))
    if not classifier:
        return X, Y[:, 0] if outputs == 1 else Y
    shares = [0.7] if outputs == 2 else [0.5, 0.8]
    return X, np.array(["ant", "bee", "cat"])[np.searchsorted(np.quantile(Y[:, 0], shares), Y[:, 0])]


def _search(machine, outputs, scoring, corner, piped):
    """The arguments of a search."""
    X, y = _data(outputs, is_classifier(machine))
    folds = (StratifiedKFold if is_classifier(machine) else KFold)(5, shuffle=True, random_state=0)
    penalty = "C" if hasattr(machine, "C") else "alpha"
    grid = {penalty: PENALTIES[corner][penalty], "gamma": PENALTIES[corner]["gamma"]}
    if piped:
        machine = Pipeline([("scale", StandardScaler()), ("machine", machine)])
        grid = {f"machine__{name}": values for name, values in grid.items()}
    place = "machine" if piped else ""
    return Search(0, machine, grid, X, y, {}, {"cv": list(folds.split(X, y)), "scoring": scoring}, place)


@pytest.mark.parametrize("piped", [pytest.param(False, marks=pytest.mark.slow), True], ids=["alone", "Pipeline"])
@pytest.mark.parametrize(
    "corner",
    [corner if corner == "tiny penalty" else pytest.param(corner, marks=pytest.mark.slow) for corner in PENALTIES],
)
@pytest.mark.parametrize(
    ("machine", "outputs", "scoring"),
    list(_cases()),
    ids=lambda part: f"{type(part).__name__}-{getattr(part, 'class_weight', None)}" if hasattr(part, "fit") else None,
)
@pytest.mark.quick(12)
def test_delivered_model_is_the_scored_one(machine, outputs, scoring, corner, piped):
    asked = _search(machine, outputs, scoring, corner, piped)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = KernelSearchCV(asked.estimator, asked.grid, **asked.options).fit(asked.X, asked.y)
    warned = any(issubclass(w.category, RefitWarning) for w in caught)
    assert search.cv_results_["exactness"][search.best_index_] in ("exact", "retrained")
    _assert_scores_are_retrained(search, asked, warned)
    _assert_values_are_right(search, asked, warned)
    _assert_code_rebuilds(search.best_estimator_, asked)


def _assert_scores_are_retrained(search, asked, warned):
    """Scores of the chosen row are those of the delivered model, cloned and trained on every fold by scikit-learn."""
    ours = np.array([search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(search.n_splits_)])
    model = clone(search.best_estimator_)
    theirs = cross_val_score(model, asked.X, asked.y, cv=asked.options["cv"], scoring=asked.options["scoring"])
    if is_classifier(model):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING)
        return
    far = np.flatnonzero(np.abs(ours - theirs) > TOLERANCE * np.maximum(1.0, np.abs(theirs)))
    if len(far):  # LIBSVM's single precision, and nothing else
        referee = Referee(Search(0, model, {}, asked.X, asked.y, {}, asked.options, asked.place), [{}])
        assert all(referee.blames_libsvm(0, split) for split in far), referee.explain(0)
        judged = np.array([referee.scores(0)[f"split{split}_test_score"][0] for split in far])
        np.testing.assert_allclose(ours[far], judged, rtol=TOLERANCE, atol=TOLERANCE)
        assert warned or np.abs(ours - theirs).max() <= SINGLE


def _assert_values_are_right(search, asked, warned):
    """Values on training rows are those of an independent solver."""
    model = search.best_estimator_
    X = model[:-1].transform(asked.X) if isinstance(model, Pipeline) else asked.X
    machine = model[-1] if isinstance(model, Pipeline) else model
    values = machine.decision_function(X) if is_classifier(machine) else machine.predict(X)
    if isinstance(machine, SVC | SVR):
        exact = search.cv_results_["exactness"][search.best_index_] == "exact"
        _assert_libsvm_is_right(machine, values, X, asked.y, exact and not warned)
        return
    right = training_values(machine, X, asked.y)
    np.testing.assert_allclose(values, right, rtol=0, atol=TOLERANCE * np.abs(right).max())


def _assert_libsvm_is_right(machine, values, X, y, exact):
    """Conditions of optimality hold to LIBSVM's ``tol`` and precision; of an ``exact`` row the values are right too."""
    oracle = svm_oracle(machine).fit(X, y)
    for (Q, *problem), (x, multiplier) in zip(oracle.problems_, libsvm_solutions(machine, oracle)):
        rounding = 4 * np.finfo(np.float32).eps * (np.abs(Q) @ x).max()
        assert violation(Q, *problem, x, multiplier) <= machine.tol + rounding
    if exact and oracle.bias_interval_ == 0:
        right = oracle.decision_function(X) if is_classifier(machine) else oracle.predict(X)
        assert np.abs(values - right).max() <= max(TOLERANCE, SINGLE * np.ptp(right, axis=0).min())


def _assert_code_rebuilds(model, asked):
    """The printed code makes an estimator with the same parameters, hence the same values."""
    imports = set()
    text = expression(model, imports)
    names = {}
    for module, name in imports:
        exec(f"from {module} import {name}", names)
    built = eval(text, names)
    for name in ("decision_function", "predict"):
        if hasattr(model, name):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                again = getattr(clone(built).fit(asked.X, asked.y), name)(asked.X)
            np.testing.assert_array_equal(again, getattr(model, name)(asked.X))
