"""scikit-learn's own estimator checks."""

import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    EpsilonSVR,
    HingeSVC,
    KernelLearnCV,
    KernelLogisticRegression,
    KernelSearchCV,
    Landmarks,
    LinearEpsilonSVR,
    LinearHingeSVC,
    LinearL2SVC,
    LinearLogisticRegression,
    LinearLSSVC,
)
from onefit.kernels import ARD, Gaussian

GRID = {"alpha": [0.1, 1.0]}


def expected_failures(estimator):
    """What GridSearchCV around the same estimator fails as well, and why."""
    if isinstance(estimator, L2SVC | HingeSVC | EpsilonSVR | KernelLogisticRegression) and estimator.kernel == "rbf":
        reason = 'gamma="scale" is the variance of the rows, whatever they weigh, as in SVC'
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if not isinstance(estimator, KernelSearchCV | KernelLearnCV):
        return {}
    if isinstance(
        estimator.estimator, LSSVC | L2SVC | HingeSVC | EpsilonSVR | KernelLogisticRegression | SVC | SVR | Pipeline
    ):
        return {}
    return {"check_supervised_y_2d": "the estimator takes several targets, so a column is not flattened"}


ESTIMATORS = [
    LSSVC(),
    LSSVR(),
    L2SVC(),
    HingeSVC(),
    EpsilonSVR(),
    KernelLogisticRegression(),
    LinearLSSVC(),
    LinearL2SVC(),
    KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=2),
    KernelSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=2),
    KernelLearnCV(LSSVC(), ARD(Gaussian()), cv=2, outer_cv=2, max_iter=2),
]
FURTHER = [
    LSSVC(class_weight="balanced"),
    LSSVC(fit_intercept=False),
    LinearLSSVC(class_weight="balanced"),
    LinearLSSVC(fit_intercept=False),
    LinearL2SVC(class_weight="balanced"),
    LinearHingeSVC(),
    LinearEpsilonSVR(),
    LinearLogisticRegression(),
    LinearLogisticRegression(fit_intercept=False),
    LSSVR(kernel="linear", fit_intercept=False),
    L2SVC(class_weight="balanced"),
    L2SVC(fit_intercept=False, kernel="linear"),
    HingeSVC(class_weight="balanced"),
    HingeSVC(fit_intercept=False, kernel="linear"),
    EpsilonSVR(fit_intercept=False, kernel="linear"),
    KernelLogisticRegression(class_weight="balanced"),
    KernelLogisticRegression(fit_intercept=False, kernel="linear"),
    KernelSearchCV(KernelRidge(), GRID, cv=2),
    KernelSearchCV(LSSVC(), GRID, cv=2),
    KernelSearchCV(LSSVR(), GRID, cv=2),
    KernelSearchCV(LSSVR(), GRID, cv=2, approximation=Landmarks(20, random_state=0)),
    KernelSearchCV(LSSVC(), GRID, cv=2, approximation=Landmarks(20, random_state=0)),
    KernelSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2),
    KernelSearchCV(SVR(), {"C": [0.1, 1.0]}, cv=2),
    KernelSearchCV(L2SVC(), {"C": [0.1, 1.0]}, cv=2),
    KernelSearchCV(HingeSVC(), {"C": [0.1, 1.0]}, cv=2),
    KernelSearchCV(EpsilonSVR(), {"C": [0.1, 1.0]}, cv=2),
    KernelSearchCV(KernelLogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    KernelLearnCV(KernelRidge(), ARD(Gaussian()), cv=2, outer_cv=2, max_iter=2),
    KernelLearnCV(make_pipeline(StandardScaler(), SVC()), ARD(Gaussian()), cv=2, stop=None, max_iter=2),
]

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning", "default::RuntimeWarning")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(FURTHER, expected_failed_checks=expected_failures)
def test_estimator_checks_of_further_options(estimator, check):
    check(estimator)
