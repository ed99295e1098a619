"""Rows with equal inputs have equal held-out values, bit for bit, whatever the machine."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import average_precision_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, KernelSearchCV, criteria, cross_val_decision

pytestmark = pytest.mark.filterwarnings(
    "ignore::onefit.GridEdgeWarning", "ignore:.*never tested", "ignore:.*more than once"
)

MACHINES = {
    "LSSVC": LSSVC(gamma=0.1),
    "LSSVC without bias": LSSVC(gamma=0.1, fit_intercept=False),
    "LSSVC balanced": LSSVC(gamma=0.1, class_weight="balanced"),
    "LSSVR": LSSVR(gamma=0.1),
    "KernelRidge": KernelRidge(kernel="rbf", gamma=0.1),
    "SVC": SVC(C=0.3, gamma=0.1),
    "SVC scale": SVC(C=0.3),
    "SVR": SVR(gamma=0.1),
    "L2SVC": L2SVC(gamma=0.1),
    "HingeSVC without bias": HingeSVC(C=0.3, gamma=0.1, fit_intercept=False),
    "EpsilonSVR without bias": EpsilonSVR(gamma=0.1, fit_intercept=False),
}
machines = pytest.mark.parametrize("name", MACHINES)


def data(seed=0, n=120, classes=2):
    """Few distinct rows, each with several targets; inputs that are no binary fractions, so that sums round."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 3)) / 3.0
    score = 3 * X.sum(axis=1) + rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)), score


def target(model, y, numbers):
    return y if is_classifier(model) else numbers


def assert_tied(values, X, tested):
    """Among the tested rows there are as many distinct values as distinct inputs at most."""
    values = np.asarray(values).reshape(len(X), -1)[tested]
    _, group = np.unique(X[tested], axis=0, return_inverse=True)
    assert len(np.unique(group)) < len(tested)
    for number in np.unique(group):
        assert len(np.unique(values[group.ravel() == number], axis=0)) == 1


@machines
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(8)
def test_every_machine(name, classes, weighted):
    X, y, numbers = data(classes=classes)
    model = MACHINES[name]
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    folds = list(KFold(4).split(X))
    for method in ("exact", "bif"):
        values = cross_val_decision(
            model, X, target(model, y, numbers), cv=folds, sample_weight=weights, method=method, order=3
        )
        for _, test in folds:
            assert_tied(values, X, test)


@machines
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 1))])
@pytest.mark.parametrize("preprocessing", ["per_fold", "shared"])
def test_pipelines(name, scaler, preprocessing):
    X, y, numbers = data()
    model, folds = make_pipeline(clone(scaler), MACHINES[name]), list(KFold(3, shuffle=True, random_state=0).split(X))
    values = cross_val_decision(model, X, target(model, y, numbers), cv=folds, preprocessing=preprocessing)
    for _, test in folds:
        assert_tied(values, X, test)


@machines
def test_sparse_rows_and_one_split(name):
    X, y, numbers = data()
    model, split = MACHINES[name], ShuffleSplit(1, test_size=0.4, random_state=0)
    values = cross_val_decision(model, sparse.csr_array(X), target(model, y, numbers), cv=split)
    for _, test in split.split(X):
        assert_tied(values, X, test)


@machines
def test_precomputed_matrices(name):
    X, y, numbers = data()
    distinct, place = np.unique(X, axis=0, return_inverse=True)
    K = rbf_kernel(distinct, gamma=0.1)[np.ix_(place.ravel(), place.ravel())]
    model, folds = clone(MACHINES[name]).set_params(kernel="precomputed"), list(KFold(4).split(X))
    values = cross_val_decision(model, K, target(model, y, numbers), cv=folds)
    for _, test in folds:
        assert_tied(values, X, test)


@machines
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(6)
def test_leave_one_out_of_rows_with_equal_targets_and_weights(name, weighted):
    X, y, numbers = data(n=60)
    model, numbers = MACHINES[name], np.round(numbers)
    weights = 1.0 + np.arange(60) % 2 if weighted else None
    goal = target(model, y, numbers)
    for method in ("exact", "bif"):
        values = cross_val_decision(model, X, goal, cv=LeaveOneOut(), sample_weight=weights, method=method, order=2)
        everything = np.column_stack([X, goal, np.ones(60) if weights is None else weights])
        assert_tied(values, everything, np.arange(60))
    assert len(np.unique(values)) > len(np.unique(X, axis=0))  # rows with other targets are not made equal


@machines
def test_values_that_a_search_keeps(name):
    X, y, numbers = data()
    model, folds = MACHINES[name], list(KFold(4).split(X))
    grid = {"alpha": [0.1, 1.0, 10.0]} if hasattr(model, "alpha") else {"C": [0.1, 1.0, 10.0]}
    search = KernelSearchCV(model, grid, cv=folds).fit(X, target(model, y, numbers))
    for _, test in folds:
        assert_tied(search.oof_decision_, X, test)
    if not isinstance(model, KernelRidge):  # our own estimators, and LIBSVM
        predict = search.best_estimator_.decision_function if is_classifier(model) else search.best_estimator_.predict
        assert_tied(predict(X), X, np.arange(len(X)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (SVC(tol=1e-10), {"C": [0.03, 0.3, 3.0], "gamma": [0.01, 0.1, 1.0]}),
        (SVC(tol=1e-10, class_weight={0: 3.0}), {"C": [0.3, 3.0], "gamma": [0.1, 1.0]}),
        (LSSVC(), {"alpha": [0.01, 1.0, 100.0], "gamma": [0.01, 0.1, 1.0]}),
        (LSSVC(fit_intercept=False), {"alpha": [0.01, 1.0, 100.0], "gamma": [0.1, 1.0]}),
        (L2SVC(), {"C": [0.03, 0.3, 3.0], "gamma": [0.1, 1.0]}),
    ],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_scores_of_ranks_are_those_of_grid_search(model, grid, scaled):
    """Copies of a row are held out together: else those of free support vectors have the value 1, all of them."""
    rng = np.random.default_rng(0)
    distinct, groups = rng.normal(size=(50, 3)), rng.permutation(np.arange(200) % 50)
    X = distinct[groups]
    y = (X[:, 0] + rng.normal(size=200) > 0.3).astype(int)
    if scaled:
        model = make_pipeline(StandardScaler(), model)
        grid = {f"{model.steps[-1][0]}__{name}": values for name, values in grid.items()}
    options = {
        "scoring": ["average_precision", "roc_auc", "accuracy"], "refit": False,
        "cv": list(GroupKFold(4).split(X, y, groups)),
    }  # fmt: skip
    ours = KernelSearchCV(model, grid, **options).fit(X, y).cv_results_
    theirs = GridSearchCV(model, grid, **options).fit(X, y).cv_results_
    for name in theirs:
        if name.startswith(("split", "mean_t")):
            np.testing.assert_allclose(ours[name], theirs[name], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_average_precision_is_that_of_values_rounded_to_their_ties(alpha):
    """The oracle trains on distinct rows alone: values of equal rows are one number by construction."""
    X, y, _ = data(n=200)
    folds, scores = list(KFold(5).split(X)), []
    distinct, place = np.unique(X, axis=0, return_inverse=True)
    for train, test in folds:
        model = LSSVC(alpha, gamma=0.1).fit(X[train], y[train])
        scores.append(average_precision_score(y[test], model.decision_function(distinct)[place.ravel()[test]]))
    search = KernelSearchCV(LSSVC(gamma=0.1), {"alpha": [alpha]}, cv=folds, scoring="average_precision", refit=False)
    found = search.fit(X, y).cv_results_
    np.testing.assert_allclose([found[f"split{k}_test_score"][0] for k in range(5)], scores, atol=1e-12)


def test_criteria_give_equal_rows_equal_labels():
    """Two identical rows whose true value is zero: rounding would give them the labels that they have."""
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    y = np.array([0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    K, folds = rbf_kernel(X, gamma=0.3), [(np.r_[0:4, 8:12], np.arange(4, 8))]
    model = LSSVC(0.1, kernel="precomputed", fit_intercept=False)
    assert criteria.CV()(K, y, model, cv=folds) == 0.5
    assert criteria.CV()(K, y, SVC(kernel="precomputed"), cv=folds) == 0.5
