"""Narrow kernels: held-out values far below the rounding of what they are computed from keep their signs and ranks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import L2SVC, LSSVC, KernelSearchCV, criteria

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
GAMMAS = [1.0, 10.0, 30.0, 100.0, 1e3, 1e4]


def data(seed=0, n=80, classes=2):
    """Classes of different sizes: with equal ones a bias leaves ties, which rounding decides."""
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(rng.normal(size=(n, 4)))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, [0.4] if classes == 2 else [0.2, 0.5]))


@pytest.mark.parametrize(
    ("model", "scoring"),
    [
        (L2SVC(fit_intercept=False), ["accuracy", "roc_auc"]),
        (LSSVC(fit_intercept=False), ["accuracy", "roc_auc"]),
        (L2SVC(), ["accuracy"]),
        (SVC(tol=1e-8), ["accuracy"]),
        (LSSVC(), ["accuracy"]),
    ],
)
@pytest.mark.parametrize("classes", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.quick(1)
def test_scores_are_those_of_grid_search(model, scoring, classes):
    X, y = data(classes=classes)
    penalties = {"alpha": [1e-2, 1.0, 1e3]} if isinstance(model, LSSVC) else {"C": [1e-3, 0.1, 1.0, 100.0]}
    scoring = scoring if classes == 2 else scoring[:1]
    options = {"cv": KFold(5), "scoring": scoring, "refit": False}
    ours = KernelSearchCV(model, {"gamma": GAMMAS, **penalties}, **options).fit(X, y).cv_results_
    theirs = GridSearchCV(model, {"gamma": GAMMAS, **penalties}, **options).fit(X, y).cv_results_
    for name in scoring:
        np.testing.assert_allclose(ours[f"mean_test_{name}"], theirs[f"mean_test_{name}"], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.quick(3)
def test_leave_one_out_of_the_squared_hinge_loss(gamma, classes):
    """All margins are below one at this penalty: no row changes its side, and the Newton step is retraining."""
    X, y = data(1, 40, classes)
    K, model = rbf_kernel(X, gamma=gamma), L2SVC(C=0.1, kernel="precomputed", fit_intercept=False)
    wrong = 0
    for train, test in LeaveOneOut().split(K):
        trained = clone(model).fit(K[np.ix_(train, train)], y[train])
        wrong += trained.predict(K[np.ix_(test, train)])[0] != y[test][0]
    assert criteria.ALO()(K, y, model) == pytest.approx(wrong / 40, abs=1e-12)
    assert criteria.CV()(K, y, model, cv=LeaveOneOut()) == pytest.approx(wrong / 40, abs=1e-12)
