"""Displays: what they hold, where they draw, what they refuse."""

import sys

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata
from sklearn.metrics.pairwise import rbf_kernel

from onefit import (
    LSSVR,
    CriterionCurveDisplay,
    CriticalDifferenceDisplay,
    KernelLearnCV,
    LearnedKernelDisplay,
    LearningPathDisplay,
    SpectrumDisplay,
    ValidationSurfaceDisplay,
    compare,
)
from onefit.kernels import ARD, Gaussian

from .searches import KINDS, data, search_of

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


class TestSurface:
    @pytest.mark.slow
    @pytest.mark.parametrize("kind", sorted(set(KINDS) - {"hostile"}))
    def test_draws_every_kind(self, kind):
        display = ValidationSurfaceDisplay.from_search(search_of(kind)[0])
        display.figure_.canvas.draw()
        assert display.im_.get_array().shape == display.values.shape

    def test_values_are_scores_by_parameter(self):
        search, _, _ = search_of("binary")
        display = ValidationSurfaceDisplay.from_search(search)
        results = search.cv_results_
        means = {(p["gamma"], p["C"]): mean for p, mean in zip(results["params"], results["mean_test_score"])}
        expected = [[means[gamma, C] for C in search.param_grid["C"]] for gamma in search.param_grid["gamma"]]
        np.testing.assert_array_equal(display.values, expected)
        star = [text.get_position() for text in display.ax_.texts if "★" in text.get_text()]
        best = search.best_params_
        assert star == [(search.param_grid["C"].index(best["C"]), search.param_grid["gamma"].index(best["gamma"]))]

    def test_pruned_cells_have_no_colour_and_a_symbol(self):
        search, _, _ = search_of("certified")
        display = ValidationSurfaceDisplay.from_search(search, colorbar=False)
        pruned = int((search.cv_results_["exactness"] == "pruned").sum())
        assert int(np.isnan(display.values).sum()) == pruned
        assert sum("–" in text.get_text() for text in display.ax_.texts) == pruned

    def test_smaller_is_better_reverses_the_colours(self):
        display = ValidationSurfaceDisplay.from_search(search_of("smaller_is_better")[0])
        assert display.im_.cmap.name == "viridis_r"

    def test_uses_the_axes_it_is_given_and_draws_again(self):
        figure, (first, second) = plt.subplots(1, 2)
        display = ValidationSurfaceDisplay.from_search(search_of("list_of_grids")[0], panel=1, ax=first)
        assert display.ax_ is first
        assert display.figure_ is figure
        assert display.plot(ax=second).ax_ is second

    def test_refuses_a_panel_that_is_not_there(self):
        with pytest.raises(ValueError, match="panel must be one of 0 to 2, got 3"):
            ValidationSurfaceDisplay.from_search(search_of("list_of_grids")[0], panel=3)


class TestCurves:
    def test_of_a_search(self):
        search, _, _ = search_of("binary")
        display = CriterionCurveDisplay.from_search(search)
        assert display.parameter == "gamma"
        assert display.ax_.get_xscale() == "log"
        assert len(display.ax_.collections) == 1  # the band
        np.testing.assert_array_equal(display.lines_[0].get_xdata(), search.param_grid["gamma"])

    def test_without_standard_errors_there_is_no_band(self):
        display = CriterionCurveDisplay.from_search(search_of("leave_one_out")[0], "alpha")
        assert len(display.ax_.collections) == 0

    def test_of_a_comparison(self):
        X, y = data(2)
        search, _, _ = search_of("fit_free")
        comparison = compare(search.estimator, search.param_grid, X, y, ["cv", "sm", "loo"], cv=4)
        display = CriterionCurveDisplay.from_comparison(comparison)
        assert [line.get_label() for line in display.lines_] == ["cv", "sm", "loo"]
        for name, curve in display.curves.items():
            assert curve.values.min() == 0.0
            assert curve.values[curve.best] == curve.values.max() == 1.0, name

    def test_refuses_what_is_not_in_the_grid(self):
        with pytest.raises(ValueError, match="'epsilon'"):
            CriterionCurveDisplay.from_search(search_of("binary")[0], "epsilon")
        with pytest.raises(ValueError, match="no numbers for 'kernel'"):
            CriterionCurveDisplay.from_search(search_of("kernel_objects")[0], "kernel")


class TestSpectrum:
    def test_kernel_and_matrix(self):
        X, _ = data(2)
        K = rbf_kernel(X, gamma=0.3)
        for display in (SpectrumDisplay.from_kernel(Gaussian(0.3), X), SpectrumDisplay.from_kernel(K)):
            np.testing.assert_allclose(display.eigenvalues, np.linalg.eigvalsh(K)[::-1], atol=1e-12)
            assert display.ax_.get_yscale() == "log"

    def test_refuses_what_is_neither(self):
        X, _ = data(2)
        with pytest.raises(ValueError, match="X is needed"):
            SpectrumDisplay.from_kernel(Gaussian(0.3))
        with pytest.raises(ValueError, match="square"):
            SpectrumDisplay.from_kernel(X)


class TestCriticalDifference:
    def test_ranks_and_difference(self):
        rng = np.random.default_rng(0)
        table = rng.normal(size=(10, 5)) + np.array([0.0, 0.1, 0.2, 2.0, 3.0])
        display = CriticalDifferenceDisplay.from_scores({f"m{k}": table[:, k] for k in range(5)})
        ranks = [np.mean([sorted(-row).index(-row[k]) + 1 for row in table]) for k in range(5)]
        assert list(display.ranks.values()) == pytest.approx(ranks)
        difference = display.ranking.critical_difference
        assert difference == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 10)), abs=1e-3)  # Demšar 2006, table 5
        groups = {tuple(r for r in sorted(ranks) if first <= r < first + difference) for first in ranks}
        joined = [g for g in groups if len(g) > 1 and not any(set(g) < set(other) for other in groups)]
        assert sum(line.get_linewidth() == 3.5 for line in display.ax_.lines) == len(joined) > 0
        assert display.ranking.p_value == pytest.approx(friedmanchisquare(*table.T).pvalue)

    def test_smaller_is_better(self):
        errors = np.array([[0.1, 0.2], [0.3, 0.5], [0.2, 0.1]])
        display = CriticalDifferenceDisplay.from_scores({"a": errors[:, 0], "b": errors[:, 1]}, greater_is_better=False)
        assert list(display.ranks.values()) == pytest.approx(rankdata(errors, axis=1).mean(axis=0))

    def test_refuses_missing_values_and_single_rows(self):
        with pytest.raises(ValueError, match="missing values: b"):
            CriticalDifferenceDisplay.from_scores({"a": [1.0, 2.0], "b": [1.0, np.nan]})
        with pytest.raises(ValueError, match="got 1 and 2"):
            CriticalDifferenceDisplay.from_scores({"a": [1.0], "b": [2.0]})

    def test_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
        with pytest.raises(ImportError, match=r"onefit\[studies\]"):
            CriticalDifferenceDisplay.from_scores({"a": [1.0, 2.0], "b": [1.0, 3.0]})


def test_says_that_matplotlib_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"onefit\[plot\]"):
        SpectrumDisplay.from_kernel(np.eye(3))


class TestLearnedKernels:
    @pytest.fixture(scope="class")
    def search(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3))
        return KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, outer_cv=2, cv=2).fit(X, np.sin(2 * X[:, 0]))

    def test_a_path_has_two_lines_and_a_star(self, search):
        display = LearningPathDisplay.from_search(search)
        inner, outer, star = display.ax_.lines
        np.testing.assert_array_equal(inner.get_ydata(), search.cv_results_["inner_value"] / display.inner[0])
        assert outer.get_ydata()[0] == 1.0
        assert star.get_xdata() == [search.best_index_]

    def test_bars_are_importances_scales_or_weights(self, search):
        display = LearnedKernelDisplay.from_search(search, names=["a", "b", "c"])
        assert sorted(bar.get_width() for bar in display.bars_) == sorted(search.feature_importances_)
        assert display.ax_.get_yticklabels()[-1].get_text() == "a"
        display = LearnedKernelDisplay.from_kernel(search.best_estimator_.kernel)
        assert display.values.tolist() == list(search.best_estimator_.kernel.scales)
        with pytest.raises(ValueError, match="2 names for 3 values"):
            LearnedKernelDisplay.from_search(search, names=["a", "b"])
        with pytest.raises(ValueError, match="Bars are those"):
            LearnedKernelDisplay.from_kernel(Gaussian())
