"""Fitted searches of every kind that a report has to show, small and fast."""

import warnings
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import LSSVC, KernelSearchCV, criteria
from onefit.kernels import Gaussian, Linear

GAMMAS, BOXES = [0.01, 0.1, 1.0, 10.0], [0.1, 1.0, 10.0]
HOSTILE = ["</script><script>window.harmed = true</script>", "<b onclick=harm()>&\"'\u2028</b>"]


def data(n_classes, n=72):
    """Rows and labels of overlapping classes; no classes: a regression."""
    rng = np.random.default_rng(7)
    if not n_classes:
        X = rng.uniform(-2, 2, size=(n, 3))
        return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=n)
    codes = np.arange(n) % n_classes
    return rng.normal(size=(n, 3)) + codes[:, None] * [1.2, -0.6, 0.4], codes


def _fit(estimator, grid, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelSearchCV(estimator, grid, **{"cv": 4, **options}).fit(X, y), X, y


def _binary():
    X, y = data(2)
    return _fit(SVC(), {"gamma": GAMMAS, "C": BOXES}, X, np.array(["no", "yes"])[y])


def _multi_class():
    X, y = data(3)
    model = make_pipeline(StandardScaler(), SVC())
    return _fit(model, {"svc__gamma": GAMMAS, "svc__C": BOXES}, X, np.array(["ant", "bee", "cat"])[y])


def _regression():
    X, y = data(0)
    return _fit(KernelRidge(kernel="rbf"), {"gamma": GAMMAS, "alpha": [1e-3, 0.1, 10.0]}, X, y)


def _two_targets():
    X, y = data(0)
    return _fit(KernelRidge(kernel="rbf"), {"gamma": GAMMAS, "alpha": [1e-3, 0.1]}, X, np.column_stack([y, -2 * y]))


def _fit_free():
    X, y = data(2)
    return _fit(LSSVC(), {"gamma": GAMMAS, "alpha": [0.1, 1.0]}, X, y, criterion=["sm", "kta"])


def _smaller_is_better():
    X, y = data(0)
    grid = {"gamma": GAMMAS, "alpha": [1e-3, 0.1, 10.0]}
    return _fit(KernelRidge(kernel="rbf"), grid, X, y, criterion="gcv")


def _series():
    X, y = data(2)
    return _fit(LSSVC(), {"gamma": GAMMAS, "alpha": [0.1, 1.0, 10.0]}, X, y, criterion="bif")


def _certified():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[:200])
    grid = {"gamma": np.logspace(-4, 1, 11), "C": np.logspace(-2, 4, 9)}
    return _fit(SVC(), grid, X, y[:200], criterion=criteria.CV(certify=True, prune=True))


def _screened():
    X, y = data(2)
    return _fit(SVC(), {"gamma": GAMMAS, "C": BOXES}, X, y, screen=("ckta", 2))


def _failed():
    X, y = data(0)
    model = make_pipeline(PCA(), KernelRidge(kernel="rbf"))  # there are three columns only
    return _fit(model, {"pca__n_components": [2, 3, 40], "kernelridge__alpha": [0.1, 1.0]}, X, y)


def _out_of_time():
    X, y = data(2)
    return _fit(SVC(), {"gamma": GAMMAS, "C": BOXES}, X, y, time_budget=1e-9)  # one kernel is always evaluated


def _automatic():
    X, y = data(2)
    return _fit(SVC(), "auto", X, y)


def _leave_one_out():
    X, y = data(0, n=40)
    return _fit(KernelRidge(kernel="rbf"), {"gamma": GAMMAS, "alpha": [1e-3, 0.1, 10.0]}, X, y, cv=LeaveOneOut())


def _one_parameter():
    X, y = data(0)
    return _fit(SVR(), {"gamma": GAMMAS}, X, y)


def _no_parameter():
    X, y = data(2)
    return _fit(SVC(), {}, X, y)


def _list_of_grids():
    X, y = data(3)
    grids = [
        {"kernel": ["rbf"], "gamma": GAMMAS, "C": BOXES},
        {"kernel": ["poly"], "degree": [1, 2, 3], "C": BOXES},
        {"kernel": ["linear"], "C": BOXES},
    ]
    return _fit(SVC(), grids, X, y)


def _kernel_objects():
    X, y = data(2)
    return _fit(LSSVC(), {"kernel": [Gaussian(0.1), Gaussian(1.0) + Linear()], "alpha": [0.1, 1.0]}, X, y)


def _retrained():
    X, y = data(2)
    return _fit(RandomForestClassifier(n_estimators=5, random_state=0), {"max_depth": [1, 2]}, X, y)


def _several_metrics():
    X, y = data(2)
    return _fit(SVC(), {"gamma": GAMMAS, "C": BOXES}, X, y, scoring=["roc_auc", "accuracy"], refit="accuracy")


def _not_refitted():
    X, y = data(2)
    model = make_pipeline(StandardScaler(), SVC())
    return _fit(model, {"svc__gamma": GAMMAS, "svc__C": BOXES}, X, y, refit=False)


def _precomputed():
    X, y = data(2)
    return _fit(SVC(kernel="precomputed"), {"C": BOXES}, Gaussian(0.5)(X), y)


def _hostile():
    X, y = data(2)
    model = Pipeline([("scale", StandardScaler()), (HOSTILE[1], SVC())])
    grid = {f"{HOSTILE[1]}__gamma": GAMMAS, f"{HOSTILE[1]}__C": BOXES}
    return _fit(model, grid, X, np.array(HOSTILE)[y])


KINDS = {
    name.removeprefix("_"): make
    for name, make in list(globals().items())
    if name.startswith("_") and callable(make) and name != "_fit" and not name.startswith("__")
}


@cache
def search_of(kind):
    """(search, X, y), fitted once."""
    return KINDS[kind]()
