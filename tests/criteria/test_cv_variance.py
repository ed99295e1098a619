"""Cross-validation and its variance: retraining on every fold, and expectations over all samples."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.svm import SVC, SVR

from onefit import LSSVC, LSSVR, KernelSearchCV, bounds, criteria

from ..oracles.problems import points, seeds, smooth_targets
from ..oracles.support_vector import single_precision
from .problems import GRAMS, N, three_labels, two_labels

MODELS = {
    "KernelRidge": KernelRidge(alpha=0.3, kernel="precomputed"),
    "LSSVR": LSSVR(0.3, kernel="precomputed"),
    "SVR": SVR(kernel="precomputed", tol=1e-12),
    "LSSVC": LSSVC(0.3, kernel="precomputed"),
    "SVC": SVC(kernel="precomputed", tol=1e-12),
}
fast_seed = pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
models = pytest.mark.parametrize("name", list(MODELS))


def target(name, seed):
    if is_classifier(MODELS[name]):
        return three_labels(seed) if name == "LSSVC" else two_labels(seed, 0.5)
    return smooth_targets(seed, points(seed, N))[:, 0]


def errors(K, y, model, splits):
    """Errors of all splits, by training on each."""
    found = []
    for train, test in splits:
        trained = clone(model).fit(K[np.ix_(train, train)], y[train])
        predicted = trained.predict(K[np.ix_(test, train)])
        found.append(np.mean(predicted != y[test]) if is_classifier(model) else np.mean((predicted - y[test]) ** 2))
    return np.array(found)


def variance_of_mean(found, correlation):
    """By the covariance matrix of the folds, entry by entry."""
    k = len(found)
    spread = sum((e - found.mean()) ** 2 for e in found) / (k - 1)
    single = spread / (1 - correlation)
    return sum(single if i == j else correlation * single for i in range(k) for j in range(k)) / k**2


SPLITTERS = {
    "folds": (StratifiedKFold(4), 1 / 4),
    "shuffled": (ShuffleSplit(7, test_size=12, random_state=0), 12 / N),
    "repeated": (RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), 1 / 4),
    "leave-one-out": (LeaveOneOut(), 1 / N),
}


@fast_seed
@models
@pytest.mark.parametrize("splitter", list(SPLITTERS))
def test_criterion_is_retraining_on_every_fold(seed, name, splitter):
    K, y, model = single_precision(GRAMS["narrow"](seed)), target(name, seed), MODELS[name]
    cv, share = SPLITTERS[splitter]
    if splitter == "folds" and not is_classifier(model):
        cv = KFold(4)
    found = errors(K, y, model, cv.split(K, y))
    for correlation in (None, 0.0, 0.6):
        expected = found.mean() + 3.0 * variance_of_mean(found, share if correlation is None else correlation)
        value = criteria.CVVariance(eta=3.0, correlation=correlation)(K, y, model, cv=cv)
        assert value == pytest.approx(expected, rel=1e-9)


def test_the_default_is_the_correction_of_nadeau_and_bengio():
    K, y, model = GRAMS["wide"](0), target("KernelRidge", 0), MODELS["KernelRidge"]
    found = errors(K, y, model, KFold(4).split(K))
    expected = found.mean() + (1 / 4 + 8 / 24) * found.var(ddof=1)
    assert criteria.CVVariance()(K, y, model, cv=KFold(4)) == pytest.approx(expected, rel=1e-9)
    plain = criteria.CV(aggregate="folds")(K, y, model, cv=KFold(5))
    assert criteria.CVVariance(eta=0.0)(K, y, model, cv=KFold(5)) == pytest.approx(plain, rel=1e-12)
    scaled = criteria.CV(aggregate="folds", scale_penalty=True)(K, y, model, cv=KFold(5))
    value = criteria.CVVariance(eta=0.0, scale_penalty=True)(K, y, model, cv=KFold(5))
    assert value == pytest.approx(scaled, rel=1e-12)


@fast_seed
@models
def test_moments_by_repeated_cross_validation(seed, name):
    K, y, model = single_precision(GRAMS["narrow"](seed)), target(name, seed), MODELS[name]
    splitter = RepeatedStratifiedKFold if is_classifier(model) else RepeatedKFold
    splits = splitter(n_splits=4, n_repeats=3, random_state=seed).split(K, y)
    found = errors(K, y, model, splits).reshape(3, 4)
    spread = np.mean([row.var(ddof=1) for row in found])
    for correlation, share in ((None, 1 / 4), (0.5, 0.5)):
        moments = bounds.cv_moments(K, y, model, k=4, repeats=3, correlation=correlation, random_state=seed)
        assert moments.k == 4
        assert moments.mean == pytest.approx(found.mean(), rel=1e-9)
        assert moments.variance == pytest.approx(spread / (1 - share), rel=1e-9)
        assert moments.covariance == pytest.approx(share * spread / (1 - share), rel=1e-9)
    once = bounds.cv_moments(K, y, model, k=4, repeats=1, random_state=seed)
    splits = list(splitter(n_splits=4, n_repeats=1, random_state=seed).split(K, y))
    expected = once.mean + 2.0 * bounds.cv_variance(4, once.variance, once.covariance)
    assert criteria.CVVariance(eta=2.0)(K, y, model, cv=splits) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared", lambda y, f: np.abs(y - f) ** 3])
def test_moments_of_other_losses(loss):
    K, y, model = single_precision(GRAMS["narrow"](0)), two_labels(0, 0.5), MODELS["SVC"]
    literal = {"hinge": lambda y, f: np.maximum(0, 1 - y * f), "squared": lambda y, f: (y - f) ** 2}.get(loss, loss)
    found = []
    for train, test in RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0).split(K, y):
        trained = clone(model).fit(K[np.ix_(train, train)], y[train])
        found.append(literal(y[test], trained.decision_function(K[np.ix_(test, train)])).mean())
    spread = np.reshape(found, (2, 4)).var(axis=1, ddof=1).mean()
    moments = bounds.cv_moments(K, y, model, k=4, repeats=2, random_state=0, loss=loss)
    assert moments.mean == pytest.approx(np.mean(found), rel=1e-9)
    assert moments.variance - moments.covariance == pytest.approx(spread, rel=1e-9)


def samples():
    """All ways of drawing six targets from two values, equally likely."""
    return [np.array(values) for values in itertools.product([0.0, 1.0], repeat=6)]


def fold_errors(y):
    """Errors of the mean of the training rows on three folds."""
    parts = np.array_split(np.arange(6), 3)
    return [np.mean((y[part] - np.delete(y, part).mean()) ** 2) for part in parts]


def test_the_difference_of_the_moments_is_unbiased():
    """Over all samples, of a machine that predicts the mean of its training rows."""
    truth = np.cov(np.array([fold_errors(y) for y in samples()]).T, bias=True)
    K, model = np.zeros((6, 6)), LSSVR(kernel="precomputed")
    found = [bounds.cv_moments(K, y, model, k=3, repeats=2, random_state=0) for y in samples()]
    differences = [moments.variance - moments.covariance for moments in found]
    assert np.mean(differences) == pytest.approx(truth[0, 0] - truth[0, 1], rel=1e-9)


def test_the_variance_is_unbiased_for_independent_folds():
    """A machine that predicts zero: cross-validation is the mean of y², whatever the folds."""
    K, model = np.zeros((6, 6)), KernelRidge(kernel="precomputed")
    truth = np.var([np.mean(y**2) for y in samples()])
    for correlation, factor in ((0.0, 1.0), (None, 5 / 2)):
        estimates = []
        for y in samples():
            moments = bounds.cv_moments(K, y, model, k=3, repeats=2, correlation=correlation, random_state=0)
            estimates.append(bounds.cv_variance(3, moments.variance, moments.covariance))
        assert np.mean(estimates) == pytest.approx(factor * truth, rel=1e-9)


@seeds
def test_laws(seed):
    K, y, model = GRAMS["wide"](seed), target("KernelRidge", seed), MODELS["KernelRidge"]
    mean, penalised = (criteria.CVVariance(eta=eta)(K, y, model, cv=4) for eta in (0.0, 1.0))
    expected = 9.0 * mean + 81.0 * (penalised - mean)
    assert criteria.CVVariance()(K, 3.0 * y, model, cv=4) == pytest.approx(expected, rel=1e-9)


def test_eta_is_chosen_by_a_search():
    X = points(0, 40)
    y = smooth_targets(0, X)[:, 0]
    grid = {"gamma": [0.1, 0.5], "alpha": [0.1, 1.0]}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, criterion=criteria.CVVariance(eta=[0.1, 10.0]), cv=4)
    (chosen,) = search.fit(X, y).criteria_
    assert chosen.eta in (0.1, 10.0)


def test_arguments_that_make_no_sense():
    K, y, model = GRAMS["wide"](0), target("KernelRidge", 0), MODELS["KernelRidge"]
    with pytest.raises(ValueError, match="two splits"):
        criteria.CVVariance()(K, y, model, cv=[(np.arange(10, N), np.arange(10))])
    with pytest.raises(ValueError, match="correlation"):
        criteria.CVVariance(correlation=1.0)
    with pytest.raises(ValueError, match="correlation"):
        bounds.cv_moments(K, y, model, correlation=-0.1)
    with pytest.raises(ValueError, match="eta"):
        criteria.CVVariance(eta=-1.0)
    with pytest.raises(ValueError, match="singular"):
        bounds.cv_moments(np.ones((N, N)), y, KernelRidge(alpha=0.0, kernel="precomputed"))
