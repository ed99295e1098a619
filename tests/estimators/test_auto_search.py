"""Searches that make, extend and refine their grids by themselves."""

import logging

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, ParameterGrid, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

import onefit.search.strategies
from onefit import L2SVC, LSSVC, LSSVR, GridEdgeWarning, KernelSearchCV, criteria, default_grid, one_standard_error
from onefit.search.strategies import MAX_ROUNDS, DegreeAxis, Family, LogAxis, Zooming

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")


def assert_sound(search, X, y, cv):
    """One table of all rounds on the same folds, whose best candidate is the best of all."""
    results = search.cv_results_
    rounds, scores = results["round"], results["mean_test_score"]
    assert (np.diff(rounds) >= 0).all()
    assert rounds[0] == 0
    assert 1 <= rounds[-1] <= MAX_ROUNDS
    assert search.best_score_ == np.nanmax(scores)
    assert results["rank_test_score"][search.best_index_] == 1
    keys = [tuple(sorted(params.items())) for params in results["params"]]
    assert len(set(keys)) == len(keys)  # nothing twice
    first = list(ParameterGrid(default_grid(search.estimator, X, y)))
    assert results["params"][: len(first)] == first
    assert (rounds == 0).sum() == len(first)
    again = cross_val_score(search.best_estimator_, X, y, cv=cv)
    np.testing.assert_allclose(search.best_score_, again.mean(), atol=2 / len(y) if y.dtype.kind != "f" else 1e-4)


@pytest.mark.parametrize("machine", [SVC(), LSSVC(), L2SVC(), SVC(kernel="linear")], ids=str)
@pytest.mark.quick(1)
def test_classes(two_classes, three_classes, machine):
    for X, y in (two_classes, three_classes):
        search = KernelSearchCV(machine, "auto", cv=3).fit(X, y)
        assert_sound(search, X, y, 3)
        assert search.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "machine", [KernelRidge(kernel="rbf"), LSSVR(), LSSVR(kernel="poly"), KernelRidge(kernel="laplacian")], ids=str
)
def test_regressions(regression, machine):
    X, y = regression
    search = KernelSearchCV(machine, "auto", cv=3).fit(X, y)
    assert_sound(search, X, y, 3)
    assert search.best_score_ > 0.8
    assert search.oof_decision_.shape == y.shape


def test_support_vector_regression(regression):
    X, y = regression
    search = KernelSearchCV(SVR(), "auto", cv=3).fit(X[:50], y[:50])
    assert_sound(search, X[:50], y[:50], 3)


def test_pipelines(regression):
    X, y = regression
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    search = KernelSearchCV(pipe, "auto", cv=3).fit(X * [1.0, 1e3, 1e-3, 1.0], y)
    assert_sound(search, X * [1.0, 1e3, 1e-3, 1.0], y, 3)
    assert set(search.best_params_) == {"kernelridge__alpha", "kernelridge__gamma"}


def test_folds_are_drawn_once(regression):
    """A splitter that gives other folds every time is asked once."""
    X, y = regression
    calls = []

    class Splitter(KFold):
        def split(self, X, y=None, groups=None):
            calls.append(1)
            return super().split(X, y, groups)

    search = KernelSearchCV(LSSVR(), "auto", cv=Splitter(3, shuffle=True)).fit(X, y)
    assert len(calls) == 1
    assert search.cv_results_["round"].max() >= 1


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("machine", [KernelRidge(kernel="rbf"), LSSVR(kernel="laplacian")], ids=str)
@pytest.mark.quick(2)
def test_scores_do_not_depend_on_the_scale(regression, machine, factor):
    X, y = regression
    plain = KernelSearchCV(machine, "auto", cv=3).fit(X, y)
    for scaled_X, scaled_y in ((factor * X, y), (X, factor * y)):
        scaled = KernelSearchCV(machine, "auto", cv=3).fit(scaled_X, scaled_y)
        assert scaled.best_score_ == pytest.approx(plain.best_score_, abs=2e-3)


def test_classification_does_not_depend_on_the_scale(two_classes):
    X, y = two_classes
    plain, scaled = (KernelSearchCV(SVC(), "auto", cv=3).fit(factor * X, y) for factor in (1.0, 1e6))
    assert scaled.best_score_ == pytest.approx(plain.best_score_, abs=2 / len(y))


def two_clusters():
    """A thousand lengths apart: the median distance says nothing about the lengths within."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[:100] += 1e3
    return X, np.sin(2 * X[:, 1])


def test_an_optimum_far_away_is_reached(caplog, capsys):
    X, y = two_clusters()
    first = default_grid(KernelRidge(kernel="rbf"), X, y)
    with caplog.at_level(logging.INFO, logger="onefit"):
        search = KernelSearchCV(KernelRidge(kernel="rbf"), "auto", cv=5, verbose=1).fit(X, y)
    assert search.best_params_["gamma"] > 16 * max(first["gamma"])
    coarse = search.cv_results_["mean_test_score"][search.cv_results_["round"] == 0].max()
    assert coarse < 0.6
    assert search.best_score_ > 0.99
    for text in (caplog.text, capsys.readouterr().out):
        assert "round 1: the best candidate lies at the edge of the grid, which is extended: " in text
        assert "refines around" in text


def test_an_optimum_inside_is_refined(regression):
    X, y = regression
    noisy = y + np.random.default_rng(3).normal(size=len(y))
    search = KernelSearchCV(KernelRidge(kernel="rbf"), "auto", cv=5).fit(X, noisy)
    coarse = KernelSearchCV(KernelRidge(kernel="rbf"), default_grid(KernelRidge(kernel="rbf"), X, y), cv=5)
    coarse.fit(X, noisy)
    first = search.cv_results_["round"] == 0
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"][first], coarse.cv_results_["mean_test_score"], rtol=1e-9
    )
    assert search.best_score_ > coarse.best_score_


@pytest.mark.parametrize(
    "options",
    [
        {"refit": one_standard_error},
        {"refit": False},
        {"scoring": ["r2", "neg_mean_absolute_error"], "refit": "neg_mean_absolute_error"},
        {"scoring": ["r2", "neg_mean_absolute_error"], "refit": False},
        {"criterion": "gcv"},
        {"criterion": ["cv", "gcv"]},
        {"screen": ("ckta", 3)},
        {"return_train_score": True},
        {"criterion": criteria.RKS(eta=[0.1, 1.0])},
        {"n_jobs": 2},
    ],
    ids=lambda options: ", ".join(options),
)
@pytest.mark.quick(4)
def test_other_options_go_with_it(regression, options):
    search = KernelSearchCV(LSSVR(), "auto", cv=3, **options).fit(*regression)
    assert search.cv_results_["round"].max() >= 1
    n = len(search.cv_results_["params"])
    assert all(len(column) == n for column in search.cv_results_.values())


def test_several_kernels(regression):
    X, y = regression
    search = KernelSearchCV(LSSVR(), "auto", kernels=("gaussian", "linear"), cv=3).fit(X, y)
    tried, rounds = search.cv_results_["param_kernel"], search.cv_results_["round"]
    assert set(tried[rounds == 0]) == {"rbf", "linear"}
    assert set(tried[rounds > 0]) == {search.best_params_["kernel"]}
    own = [KernelSearchCV(LSSVR(kernel=kernel), "auto", cv=3).fit(X, y).best_score_ for kernel in ("rbf", "linear")]
    assert search.best_score_ == pytest.approx(max(own))


def test_pruning_uses_what_earlier_rounds_proved(two_classes):
    plain = KernelSearchCV(SVC(), "auto", cv=3).fit(*two_classes)
    pruned = KernelSearchCV(SVC(), "auto", cv=3, criterion=criteria.CV(certify=True, prune=True)).fit(*two_classes)
    assert pruned.best_params_ == plain.best_params_
    assert "pruned" in pruned.cv_results_["exactness"]


@pytest.mark.slow
def test_workers_do_not_matter(three_classes):
    one, two = (KernelSearchCV(SVC(), "auto", cv=3, n_jobs=n).fit(*three_classes) for n in (1, 2))
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_the_edge_that_is_left_is_announced(monkeypatch):
    X, y = two_clusters()
    monkeypatch.setattr(onefit.search.strategies, "MAX_ROUNDS", 0)
    with pytest.warns(GridEdgeWarning, match="gamma=.* is the largest value tried"):
        KernelSearchCV(KernelRidge(kernel="rbf"), "auto", cv=5).fit(X, y)


class TestRefusals:
    def test_precomputed(self, two_classes):
        X, y = two_classes
        with pytest.raises(ValueError, match="no default grid for a precomputed kernel"):
            KernelSearchCV(SVC(kernel="precomputed"), "auto").fit(X @ X.T, y)

    def test_other_estimators_and_words(self, two_classes):
        with pytest.raises(ValueError, match="no default grid for NuSVC"):
            KernelSearchCV(NuSVC(), "auto").fit(*two_classes)
        with pytest.raises(ValueError, match="SVC has no kernel 'laplacian'"):
            KernelSearchCV(SVC(), "auto", kernels="laplacian").fit(*two_classes)
        with pytest.raises(ValueError, match='needs param_grid="auto"'):
            KernelSearchCV(SVC(), {"C": [1.0]}, kernels=["rbf"]).fit(*two_classes)
        with pytest.raises(ValueError, match="param_grid must be a dict, a list of dicts or \"auto\", got 'automatic'"):
            KernelSearchCV(SVC(), "automatic").fit(*two_classes)


class TestDegenerateData:
    def test_few_rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(8, 2))
        search = KernelSearchCV(SVC(), "auto", cv=2).fit(X, np.arange(8) % 2)
        assert search.best_score_ >= 0.25
        assert np.isfinite(KernelSearchCV(LSSVR(), "auto", cv=2).fit(X, X[:, 0]).best_score_)

    def test_equal_rows(self):
        X, y = np.ones((20, 2)), np.arange(20.0) % 2
        search = KernelSearchCV(LSSVC(), "auto", cv=5).fit(X, y.astype(int))
        assert search.best_score_ == pytest.approx(0.5)

    def test_duplicates_and_constant_features(self, regression):
        X, y = regression
        X = np.column_stack([np.vstack([X, X]), np.ones(2 * len(X))])
        assert KernelSearchCV(LSSVR(), "auto", cv=3).fit(X, np.r_[y, y]).best_score_ > 0.8


class TestStrategy:
    """Rounds on a surface that is known, without any data."""

    @staticmethod
    def climb(surface, families):
        strategy, candidates, scores = Zooming(families), [], []
        while proposed := strategy.propose(candidates, scores):
            candidates += proposed
            scores += [surface(params) for params in proposed]
        return candidates, scores

    @pytest.mark.parametrize("optimum", [1e-9, 1e-4, 0.3, 1.0, 77.0, 1e5, 1e9])
    def test_one_hump_is_climbed_from_far(self, optimum):
        families = [Family({}, {"gamma": LogAxis(1.0, 4.0, -3, 3, reach=24), "C": LogAxis(2.0, 10.0, -2, 2, reach=9)})]
        surface = lambda p: -(np.log(p["gamma"] / optimum) ** 2) - np.log(p["C"] / 5.0) ** 2  # noqa: E731
        candidates, scores = self.climb(surface, families)
        best = candidates[int(np.argmax(scores))]
        assert abs(np.log(best["gamma"] / optimum)) < np.log(4.0)
        assert len(candidates) < 120

    def test_refinement_ends_by_itself_at_a_quarter_of_a_step(self):
        family = Family({}, {"C": LogAxis(1.0, 4.0, -3, 3, reach=8)})
        candidates, _ = self.climb(lambda p: -(np.log(p["C"]) ** 2), [family])
        near = sorted(params["C"] for params in candidates if 0.25 < params["C"] < 4)
        np.testing.assert_allclose(near, [0.5, 2**-0.5, 1.0, 2**0.5, 2.0], rtol=1e-2)

    def test_limits_are_kept(self):
        family = Family({"kernel": "poly"}, {"C": LogAxis(1.0, 4.0, -1, 1, reach=3), "degree": DegreeAxis(2, 4)})
        candidates, _ = self.climb(lambda p: p["C"] + 100 * p["degree"], [family])
        assert max(params["C"] for params in candidates) == pytest.approx(64.0)
        assert max(params["degree"] for params in candidates) == 8
        assert {params["kernel"] for params in candidates} == {"poly"}

    def test_only_the_best_kernel_is_followed(self):
        families = [Family({"kernel": k}, {"C": LogAxis(1.0, 4.0, -1, 1, reach=9)}) for k in ("linear", "rbf")]
        candidates, _ = self.climb(lambda p: np.log(p["C"]) + 10 * (p["kernel"] == "rbf"), families)
        assert {params["kernel"] for params in candidates[6:]} == {"rbf"}

    def test_nothing_to_follow(self):
        family = Family({}, {"C": LogAxis(1.0, 4.0, -1, 1, reach=9)})
        assert len(self.climb(lambda p: np.nan, [family])[0]) == 3
        flat, _ = self.climb(lambda p: 1.0, [family])
        assert max(params["C"] for params in flat) == 4.0
