"""Probabilities from out-of-fold decision values."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import LSSVC, KernelSearchCV, calibrated

GRID = {"C": [0.3, 3.0]}


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", ["two_classes", "three_classes"])
def test_equals_scikit_learns_calibration_with_the_same_folds(request, classes, method):
    """CalibratedClassifierCV(ensemble=False) retrains on the folds; its curves are fitted to the same values."""
    X, y = request.getfixturevalue(classes)
    search = KernelSearchCV(SVC(tol=1e-9), GRID, cv=StratifiedKFold(4)).fit(X, y)
    model = calibrated(search, method)
    expected = CalibratedClassifierCV(search.best_estimator_, method=method, cv=StratifiedKFold(4), ensemble=False)
    np.testing.assert_allclose(model.predict_proba(X), expected.fit(X, y).predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.predict(X).tolist() == search.predict(X).tolist()
    assert model.classes_.tolist() == sorted(set(y))


def test_probabilities_are_better_than_shares_of_classes(three_classes):
    X, y = three_classes
    model = calibrated(KernelSearchCV(SVC(), GRID).fit(X[:60], y[:60]))
    shares = np.unique(y[:60], return_counts=True)[1] / 60
    assert log_loss(y[60:], model.predict_proba(X[60:])) < log_loss(y[60:], np.tile(shares, (30, 1)))


def test_one_value_per_pair_gives_the_same_probabilities(three_classes):
    X, y = three_classes
    by_class = KernelSearchCV(SVC(), GRID).fit(X, y)
    by_pair = KernelSearchCV(SVC(decision_function_shape="ovo"), GRID).fit(X, y)
    np.testing.assert_allclose(calibrated(by_class).predict_proba(X), calibrated(by_pair).predict_proba(X))


def test_pipelines_least_squares_weights_and_untested_rows(three_classes):
    X, y = three_classes
    pipe = KernelSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}).fit(X, y)
    assert calibrated(pipe).predict_proba(X).shape == (90, 3)
    least_squares = KernelSearchCV(LSSVC(), {"alpha": [1.0]}, cv=ShuffleSplit(2, random_state=0)).fit(X, y)
    assert np.isfinite(calibrated(least_squares).predict_proba(X)).all()
    weights = np.where(y == "ant", 5.0, 1.0)
    plain = calibrated(KernelSearchCV(SVC(), {"C": [1.0]}, cv=KFold(5)).fit(X, y))
    heavy = calibrated(KernelSearchCV(SVC(), {"C": [1.0]}, cv=KFold(5)).fit(X, y, sample_weight=weights))
    assert heavy.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean()


def test_is_an_estimator_of_its_own(two_classes):
    X, y = two_classes
    model = calibrated(KernelSearchCV(SVC(), GRID).fit(X, y))
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_cannot_be_calibrated(two_classes, regression):
    X, y = two_classes
    with pytest.raises(ValueError, match="method"):
        calibrated(KernelSearchCV(SVC(), GRID).fit(X, y), method="x")
    with pytest.raises(ValueError, match="refit"):
        calibrated(KernelSearchCV(SVC(), GRID, refit=False).fit(X, y))
    with pytest.raises(ValueError, match="regressor"):
        calibrated(KernelSearchCV(SVR(), GRID).fit(*regression))
