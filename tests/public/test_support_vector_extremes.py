"""Held-out values at tiny and huge penalties, on Gram matrices without content or of low rank, against training."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, EpsilonSVR, HingeSVC, KernelSearchCV, criteria

from ..oracles.problems import partition, row_weights, seeds
from ..oracles.support_vector import GRAMS, curve, gaussian, gram, labels
from .held_out import assert_values_are_trained, search_values, trained_value

MACHINES = {
    "SVC": SVC(kernel="precomputed"),
    "L2SVC": L2SVC(kernel="precomputed"),
    "L2SVC without bias": L2SVC(kernel="precomputed", fit_intercept=False),
    "SVR": SVR(kernel="precomputed", epsilon=0.05),
    "SVR of absolute errors": SVR(kernel="precomputed", epsilon=0.0),
    "HingeSVC without bias": HingeSVC(kernel="precomputed", fit_intercept=False),
    "EpsilonSVR without bias": EpsilonSVR(kernel="precomputed", epsilon=0.05, fit_intercept=False),
}
BADLY_SCALED = [
    (SVC(kernel="linear"), 30, 0),
    (SVC(kernel="linear"), 1, 100),
    (SVC(kernel="poly", coef0=1.0, gamma=0.25), 1, 0),
    (SVR(kernel="linear"), 30, 0),
    (SVR(kernel="linear"), 1, 100),
    (L2SVC(kernel="linear"), 30, 0),
]
"""Machines, and what rows are multiplied with and moved by."""
machines = pytest.mark.parametrize("machine", MACHINES)


def targets(machine, seed, X, share=0.4):
    return curve(seed, X) if "SVR" in machine else labels(seed, X, share)


@seeds
@machines
@pytest.mark.parametrize("name", GRAMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalties", [[1e-10, 1e-7, 2.0**-12], [0.01, 0.3, 10.0]], ids=["tiny", "ordinary"])
def test_every_kind_of_gram_matrix(seed, machine, name, weighted, penalties):
    n = (14, 40, 61)[seed]
    K, X = gram(name, seed, n)
    weights = np.where(np.arange(n) % 5 == 2, 0.0, row_weights(seed, n)) if weighted else None
    splits = partition(seed, n, [4, n // 3, n - 4 - n // 3])
    y = targets(machine, seed, X)
    assert_values_are_trained(MACHINES[machine], {"C": penalties}, K, y, splits, weights, most=3, atol=1e-6)


@seeds
@pytest.mark.parametrize("sizes", [(58, 77), (20, 21), (5, 60), (77, 58)])
def test_ties_of_a_narrow_kernel(seed, sizes):
    """Rows of the smaller class are at their bound C, those of the larger share as much: only the bias is left.

    Overlapping splits of 5, 10 and 20 folds, from the smallest penalty on.
    """
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    K = gaussian(rng.uniform(-1, 1, size=(n, 13)), 32.0)  # diagonal but for 1e-15 or so
    y = rng.permutation(np.repeat([1.0, -1.0], sizes))
    splits = [s for t in (5, 10, 20) for s in partition(seed, n, [len(p) for p in np.array_split(np.arange(n), t)])]
    splits = [(train, test) for train, test in splits if y[train].sum() != 0]  # else any bias between two is right
    penalties = [1e-7, 2.0**-12, 2.0**-11, 2.0**-10, 2.0**-7]
    found, _ = search_values(SVC(kernel="precomputed"), {"C": penalties}, K, y, splits)
    for k, (train, test) in enumerate(splits):
        larger = np.sign(y[train].sum())
        ratio = (y[train] == -larger).sum() / (y[train] == larger).sum()
        bias = larger * (1 - np.array(penalties) * ratio)
        ones = np.cos(1.0 + np.arange(len(test))).sum() / np.sqrt(len(test))
        np.testing.assert_allclose(found[:, k], bias * ones, atol=1e-8)


@seeds
@machines
@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e6])
def test_the_penalty_is_the_scale_of_the_gram_matrix(seed, machine, factor):
    """A penalty C for K is a penalty ``factor C`` for ``K / factor``."""
    K, X = gram("medium", seed, 40)
    y, splits, penalties = targets(machine, seed, X), list(KFold(4).split(X)), np.array([0.1, 2.0])
    one, _ = search_values(MACHINES[machine], {"C": penalties}, K, y, splits)
    other, _ = search_values(MACHINES[machine], {"C": factor * penalties}, K / factor, y, splits)
    np.testing.assert_allclose(other, one, atol=1e-7)


@seeds
@machines
@pytest.mark.parametrize("C", [1e4, 1e6, 1e8])
def test_splits_without_the_rows_that_contradict_others(seed, machine, C):
    """On all rows coefficients are huge, without four of them they are not: nothing of the former may remain."""
    X = np.unique(np.round(2 * np.random.default_rng(seed).uniform(-1, 1, size=(24, 3))) / 2, axis=0)
    n = len(X)
    twice = np.r_[:n, :4]
    K = (X[twice] @ X[twice].T + 1) ** 2 + np.eye(n)[np.ix_(twice, twice)]
    y = targets(machine, seed, np.column_stack([X, X[:, 0]]))[twice]
    y[n:] = -y[:4]
    splits = [(np.arange(n), np.arange(n, n + 4)), (np.r_[4 : n + 4], np.arange(4))]
    found, _ = search_values(MACHINES[machine], {"C": [C]}, K, y, splits)
    for k, (train, test) in enumerate(splits):
        expected, error = trained_value(MACHINES[machine], {"C": C}, K, y, train, test)
        assert found[0, k] == pytest.approx(expected, abs=1e-6 + error)


@seeds
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_targets_far_from_zero(seed, offset):
    """A bias takes all of it."""
    K, X = gram("narrow", seed, 40)
    y, splits = curve(seed, X), list(KFold(5).split(X))
    machine, grid = SVR(kernel="precomputed", epsilon=0.05), {"C": [2.0**-12, 1e-2, 1.0]}
    far, _ = search_values(machine, grid, K, y + offset, splits)
    near, _ = search_values(machine, grid, K, y, splits)
    constant = np.array([offset * np.cos(1.0 + np.arange(len(t))).sum() / np.sqrt(len(t)) for _, t in splits])
    np.testing.assert_allclose(far - constant, near, atol=1e-6 + 1e-13 * offset)


@seeds
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
def test_every_point_in_both_classes(seed, C):
    """Nothing can be learned: all values are zero."""
    X = np.random.default_rng(seed).normal(size=(30, 3))
    K = gaussian(np.repeat(X, 2, axis=0), 0.5)
    rows = np.arange(60)
    splits = [(np.r_[:40], np.r_[40:60]), (np.r_[20:60], np.r_[:20]), (rows[rows % 6 > 1], rows[rows % 6 <= 1])]
    for machine in ("SVC", "L2SVC"):
        found, _ = search_values(MACHINES[machine], {"C": [C]}, K, np.tile([1, -1], 30), splits)
        np.testing.assert_allclose(found, 0.0, atol=1e-7)


@seeds
@pytest.mark.parametrize("C", [1e6, 1e8, 1e12])
def test_a_hard_margin_does_not_feel_the_penalty(seed, C):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    y = np.where(X.sum(axis=1) > 0, 1, -1)
    X += 0.5 * y[:, None]
    found, search = search_values(SVC(kernel="linear"), {"C": [1e4, C]}, X, y, list(KFold(4).split(X)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    assert search.cv_results_["exactness"].tolist() == ["exact"] * 2
    assert search.ledger_["fold solution"] == 4  # the second penalty repeats the first


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
class TestRounding:
    """Penalties so large that rounding is seen: such values are not called exact."""

    @staticmethod
    def rows(seed, n=200):
        """Two classes that no hyperplane separates."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 4))
        return X, np.sign(X[:, 0] + 0.5 * rng.normal(size=n))

    @seeds
    @pytest.mark.parametrize(("machine", "scale", "offset"), BADLY_SCALED)
    def test_what_is_called_exact_has_its_digits(self, seed, machine, scale, offset):
        X, y = self.rows(seed)
        X, penalties, splits = scale * X + offset, [1.0, 1e2, 1e4, 3e4], list(KFold(5).split(X))
        found, search = search_values(machine, {"C": penalties}, X, y, splits)
        exact = np.flatnonzero(search.cv_results_["exactness"] == "exact")
        assert len(exact) >= 1
        for k in exact:
            train, test = splits[k]
            expected, error = trained_value(machine, {"C": penalties[k]}, X, y, train, test)
            if penalties[k] < 3e4 or not 1e-5 < error < np.inf:  # there the reference may have no more digits either
                assert found[k, k] == pytest.approx(expected, rel=1e-5, abs=1e-5)

    @pytest.mark.parametrize("machine", [SVC(kernel="linear"), L2SVC(kernel="linear"), SVR(kernel="linear")])
    @pytest.mark.parametrize("step", [None, FunctionTransformer(), StandardScaler(with_std=False)])
    def test_a_search_tells(self, machine, step):
        X, y = self.rows(0)
        estimator = machine if step is None else make_pipeline(step, machine)
        name = "C" if step is None else f"{type(machine).__name__.lower()}__C"
        found = KernelSearchCV(estimator, {name: [1e-6, 1e-3, 1e6]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
        assert found["exactness"].tolist() == ["exact", "exact", "approximate"]
        assert found["status"][:2].tolist() == ["ok", "ok"]
        assert found["status"][2].startswith("rounding is seen")

    def test_a_criterion_tells_too(self):
        X, y = self.rows(0)
        search = KernelSearchCV(SVC(kernel="linear"), {"C": [1.0, 1e8]}, cv=4, refit=False, criterion="cvks")
        status = search.fit(1e2 * X, y).cv_results_["status"]
        assert status[0] == "ok"
        assert status[1].startswith("rounding is seen")

    def test_scaled_features_are_told_of_nothing(self):
        X, y = self.rows(0)
        pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear"))
        found = KernelSearchCV(pipeline, {"svc__C": [1e-3, 1.0, 1e4]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
        assert found["exactness"].tolist() == ["exact"] * 3
        assert found["status"].tolist() == ["ok"] * 3

    @seeds
    def test_rounded_values_prove_nothing(self, seed):
        """A candidate of which rounding is seen is not the reason why another one is given up."""
        X, y = self.rows(seed)
        grid, certified = {"C": [1e6, 1e-3, 1e-5]}, criteria.CV(certify=True, prune=True)
        pruned = KernelSearchCV(SVC(kernel="linear"), grid, cv=4, criterion=certified, refit=False).fit(1e3 * X, y)
        plain = KernelSearchCV(SVC(kernel="linear"), grid, cv=4, refit=False).fit(1e3 * X, y)
        assert pruned.cv_results_["exactness"][0] in ("approximate", "pruned")
        sound = plain.cv_results_["exactness"] == "exact"
        scores = plain.cv_results_["mean_test_score"]
        best = scores[sound].max()
        for k in np.flatnonzero(sound):
            if pruned.cv_results_["exactness"][k] == "pruned":
                assert scores[k] < best
            else:
                assert pruned.cv_results_["mean_test_score"][k] == pytest.approx(scores[k], abs=1e-12)
