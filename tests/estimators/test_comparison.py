"""Criteria side by side."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import LSSVC, KernelSearchCV, compare, criteria

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
GRID = {"gamma": [0.01, 0.1, 1.0, 10.0], "alpha": [0.01, 1.0]}
NAMES = ["cv", "gcv", "lml", "ckta", criteria.RKS(eta=0.1), criteria.RKS(eta=10.0)]


@pytest.fixture
def comparison(regression):
    return compare(KernelRidge(kernel="rbf"), GRID, *regression, NAMES, cv=KFold(4))


def test_rows_say_what_each_criterion_chooses(comparison, regression):
    X, y = regression
    brute = GridSearchCV(KernelRidge(kernel="rbf"), GRID, cv=KFold(4)).fit(X, y).cv_results_
    np.testing.assert_allclose(comparison.cv_scores, brute["mean_test_score"], rtol=1e-8)
    assert [row["criterion"] for row in comparison.rows] == ["cv", "gcv", "lml", "ckta", "rks", "rks_2"]
    for criterion, row in zip(NAMES, comparison.rows):
        search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, criterion=criterion, cv=KFold(4)).fit(X, y)
        place = brute["params"].index(row["params"])
        assert row["params"] == search.best_params_
        assert row["cv_score"] == pytest.approx(brute["mean_test_score"][place])
        assert row["cv_rank"] == brute["rank_test_score"][place]
        assert row["seconds"] > 0
    ranks = {row["criterion"]: row["rank"] for row in comparison.rows}
    scores = {row["criterion"]: row["cv_score"] for row in comparison.rows}
    assert ranks["cv"] == 1
    assert ranks == {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def test_values_are_natural(comparison):
    (gcv,) = [row for row in comparison.rows if row["criterion"] == "gcv"]
    assert gcv["value"] == comparison.values["gcv"].min() > 0
    assert comparison.greater_is_better == {
        "cv": True, "gcv": False, "lml": True, "ckta": True, "rks": False, "rks_2": False,
    }  # fmt: skip


def test_as_text_and_as_a_frame(comparison):
    lines = str(comparison).splitlines()
    assert lines[0].split() == ["criterion", "params", "value", "cv_score", "cv_rank", "rank", "seconds"]
    assert len(lines) == 1 + len(NAMES)
    frame = comparison.to_frame()
    assert frame["criterion"].tolist() == [row["criterion"] for row in comparison.rows]
    assert list(frame.columns) == lines[0].split()


def test_random_splits_are_drawn_once(regression):
    X, y = regression
    result = compare(KernelRidge(kernel="rbf"), GRID, X, y, ["cv", "cvks"], cv=KFold(4, shuffle=True))
    np.testing.assert_array_equal(result.values["cv"], result.cv_scores)


def test_lists_of_parameters_and_pipelines(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__gamma": [0.1, 1.0], "svc__C": [1.0, 10.0]}
    result = compare(model, grid, X, y, ["span", criteria.CVKS(eta=[0.1, 1.0])], cv=3)
    assert {name for row in result.rows for name in row["params"]} == {"svc__gamma", "svc__C"}


def test_lists_of_parameters_with_groups_and_with_splits(two_classes):
    X, y = two_classes
    grid, groups = {"gamma": [0.1, 1.0]}, np.arange(len(y)) % 6
    listed = [criteria.RKS(eta=[0.1, 1.0]), criteria.CVKS(eta=[0.1, 1.0])]
    result = compare(SVC(), grid, X, y, listed, cv=GroupKFold(3), groups=groups)
    assert [row["criterion"] for row in result.rows] == ["rks", "cvks"]
    result = compare(SVC(), grid, X, y, listed[:1], cv=iter(list(KFold(3).split(X))))
    assert result.rows[0]["params"] in result.candidates
    with pytest.raises(ValueError, match="give a splitter"):
        compare(SVC(), grid, X, y, listed, cv=iter(list(KFold(3).split(X))))


def test_one_criterion_by_name(regression):
    (row,) = compare(KernelRidge(kernel="rbf"), GRID, *regression, "gcv").rows
    assert row["criterion"] == "gcv"


def test_refusals(regression):
    with pytest.raises(ValueError, match="one metric"):
        compare(KernelRidge(), GRID, *regression, ["cv"], scoring=["r2", "max_error"])
    with pytest.raises(ValueError, match="SVC"):
        compare(KernelRidge(), GRID, *regression, ["cv", "span"])
    with pytest.raises(ValueError, match="Unknown criterion"):
        compare(KernelRidge(), GRID, *regression, ["x"])


def test_a_criterion_without_any_value_does_not_lose_the_others(two_classes):
    X, y = two_classes
    estimator, grid = LSSVC(kernel="sigmoid", coef0=-1.0), {"gamma": [0.5, 1.0], "alpha": [1.0, 10.0]}
    assert np.linalg.eigvalsh(np.tanh(0.5 * X @ X.T - 1))[0] < -0.01
    result = compare(estimator, grid, X, y, ["sps", "cv", "ckta"], cv=3)
    assert [row["criterion"] for row in result.rows] == ["cv", "ckta"]
    assert list(result.values) == list(result.greater_is_better) == ["cv", "ckta"]
    assert result.failures == {
        "sps": "The criterion sps needs a positive semi-definite Gram matrix: this one is indefinite."
    }
    with pytest.raises(ValueError, match="positive semi-definite"):
        compare(estimator, grid, X, y, ["sps"], cv=3)


def test_criteria_are_refused_before_any_search(regression, monkeypatch):
    def fit(*_, **__):
        raise AssertionError("work before the error")

    monkeypatch.setattr(KernelSearchCV, "fit", fit)
    with pytest.raises(ValueError, match="span is defined for SVC, HingeSVC, L2SVC"):
        compare(KernelRidge(), GRID, *regression, ["cv", "gcv", "span"])


class TestPlot:
    """Panels, curves and chosen points."""

    @pytest.fixture(autouse=True)
    def _needs_matplotlib(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.slow
    def test_a_panel_for_each_criterion(self, comparison, tmp_path):
        figure = comparison.plot()
        panels = [axes for axes in figure.axes if axes.get_visible()]
        assert len(panels) == len(NAMES)
        for row, panel in zip(comparison.rows, panels):
            curve, point = panel.lines
            assert curve.get_xdata().tolist() == GRID["gamma"]
            assert point.get_xdata()[0] == row["params"]["gamma"]
            assert point.get_ydata()[0] == row["value"]
            best = max if comparison.greater_is_better[row["criterion"]] else min
            assert best(curve.get_ydata()) == row["value"]
            assert row["criterion"] in panel.get_title()
        figure.savefig(tmp_path / "curves.svg")

    def test_another_parameter(self, comparison):
        assert comparison.plot("alpha").axes[0].get_xlabel() == "alpha"
        with pytest.raises(ValueError, match="no numbers"):
            comparison.plot("degree")

    def test_choices_without_the_parameter_have_no_point(self, two_classes):
        grid = [{"gamma": [0.1, 1.0]}, {"kernel": ["linear"]}]
        result = compare(SVC(C=10.0), grid, *two_classes, ["pep", "kta"], cv=3)
        figure = result.plot("gamma")
        for row, panel in zip(result.rows, figure.axes):
            assert len(panel.lines) == 1 + ("gamma" in row["params"])
        assert "gamma" not in result.rows[0]["params"]
