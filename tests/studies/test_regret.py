"""The benchmark of criteria: cells against scikit-learn, and what is read from the file of results."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid

from onefit import datasets
from onefit.studies.regret import data_sets
from onefit.studies.regret.analysis import pooled, regrets
from onefit.studies.regret.findings import decisions, defaults, findings, statements, strata
from onefit.studies.regret.methods import BEST, CLASSIFIERS, MACHINES, METHODS, grid_of, methods_for
from onefit.studies.regret.run import Trial, cells, measure, run
from onefit.studies.result_lines import read
from onefit.studies.sampling import seed_of

CASES = [("wdbc", "SVC"), ("iris", "LSSVC"), ("wdbc", "L2SVC"), ("diabetes-progression", "KernelRidge"),
         ("diabetes-progression", "SVR")]  # fmt: skip


def test_sets_are_independent():
    entries = [datasets.info(name) for name in data_sets.SETS]
    assert len(entries) >= 40
    assert len({entry.name for entry in entries}) == len(entries)
    assert [entry.task for entry in entries] == (
        ["classification"] * len(data_sets.CLASSIFICATION) + ["regression"] * len(data_sets.REGRESSION)
    )
    assert not [name for name in data_sets.SETS if name.endswith(("_scale", "_12", ".train", ".test", ".t"))]
    for twins in (["a1a", "a2a", "a9a"], ["pima", "diabetes"], ["bupa", "liver-disorders"]):
        assert len(set(twins) & set(data_sets.SETS)) == 1
    assert not set(data_sets.SETS) & {"breast-cancer", "breast-w"}


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
@pytest.mark.parametrize(("name", "machine"), CASES)
def test_choices_and_errors_are_those_of_scikit_learn(name, machine):
    split = data_sets.split_of(name, 40, 0)
    trial = Trial(split, machine, seed_of("regret-folds", name, 40, 0))
    grid = {"gamma": trial.grid["gamma"][4:9], **{k: v[2:7] for k, v in trial.grid.items() if k != "gamma"}}
    trial.grid = grid
    reference = GridSearchCV(MACHINES[machine], grid, cv=trial.folds(10), scoring=trial.scoring, refit=False)
    reference.fit(split.X, split.y)

    def error(params):
        model = clone(MACHINES[machine]).set_params(**params).fit(split.X, split.y)
        wrong = model.predict(split.X_test) - split.y_test
        return 100 * np.mean(wrong != 0 if split.classifies else wrong**2)

    chosen = reference.cv_results_["params"][np.argmax(np.round(reference.cv_results_["mean_test_score"], 6))]
    line = trial.line("cv10")
    assert (line["gamma"], line["penalty"]) == (chosen["gamma"], chosen["alpha" if "alpha" in chosen else "C"])
    assert line["error"] == pytest.approx(error(chosen), rel=1e-3, abs=1e-9)
    best = min(error(params) for params in ParameterGrid(grid))
    assert trial.line(BEST)["error"] == pytest.approx(best, rel=1e-3, abs=1e-9)
    assert trial.line("defaults")["error"] == pytest.approx(error({}), rel=1e-3, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), [("wdbc", "SVC"), ("diabetes-progression", "KernelRidge")])
def test_every_method_that_is_listed_has_a_choice(name, machine):
    classes = len(datasets.info(name).classes)
    methods = [method for method in methods_for(machine, classes) if method != "alo"]
    lines = measure((name, machine, 30, 1), methods)
    assert [line["method"] for line in lines] == methods
    assert not [line for line in lines if "failure" in line]
    smallest = float(lines[0]["error"])
    own = ("cv10-auto", "cv10-default-grid", "defaults")  # candidates that are not in the common grid
    assert all(float(line["error"]) >= smallest for line in lines if line["method"] not in own)


def test_a_criterion_without_a_value_is_a_line_with_its_reason(monkeypatch):
    monkeypatch.setitem(METHODS, "span", METHODS["span"].__class__("span"))
    best, failed = measure(("iris", "SVC", 30, 0), [BEST, "span"])
    assert "failure" not in best
    assert "span needs two classes" in failed["failure"]
    assert "error" not in failed


def test_the_grid_goes_from_smooth_to_rough():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for machine in MACHINES:
        grid = grid_of(machine, X)
        assert grid["gamma"] == sorted(grid["gamma"])
        assert len(grid["gamma"]) == 13
        assert 1 / (3 * X.var()) in grid["gamma"]
        assert grid.get("C", [1]) == sorted(grid.get("C", [1]))
        assert grid.get("alpha", [1]) == sorted(grid.get("alpha", [1]), reverse=True)


def test_cells_come_split_by_split_and_no_size_twice():
    found = list(cells(["labor", "wine", "pyrim"], list(MACHINES), [300, 100], range(2)))
    assert [split for _, _, _, split in found] == sorted(split for _, _, _, split in found)
    assert {(name, rows) for name, _, rows, _ in found} == {
        ("labor", 300),
        ("wine", 300),
        ("pyrim", 300),
        ("wine", 100),
    }
    assert {machine for name, machine, _, _ in found if name != "pyrim"} == set(CLASSIFIERS)


def test_a_cell_is_the_same_again(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    for path in (first, second):
        run(path, ["iris"], ["LSSVC"], [BEST, "cv5", "gcv"], [30], [2])
    run(first, ["iris"], ["LSSVC"], [BEST, "cv5", "gcv"], [30], [2])
    columns = ("set", "split", "method", "error", "gamma", "penalty")
    same = [[tuple(line[c] for c in columns) for line in read(path)] for path in (first, second)]
    assert same[0] == same[1]
    assert len(same[0]) == 3


def made_lines(splits=2):
    """Errors by a rule: method number k is k/10 above the reference, except on wine; the best is one below it."""
    lines = []
    for name in ("heart", "wine", "iris", "sonar", "pyrim", "mpg"):
        machines = CLASSIFIERS if name in data_sets.CLASSIFICATION else ("KernelRidge", "SVR")
        for machine in machines:
            for rows in (300, 100):
                for split in range(splits):
                    names = methods_for(machine, len(datasets.info(name).classes))
                    for k, method in enumerate(names):
                        above = -1.0 if method == BEST else 0.1 * (k - 1) * (name != "wine")
                        cell = {"set": name, "machine": machine, "rows": str(rows), "split": str(split)}
                        seconds = 0.0 if method in (BEST, "defaults") else 2.0 / k
                        lines.append({**cell, "method": method, "error": str(10 + split + above),
                                      "seconds": str(seconds), "failure": ""})  # fmt: skip
    return lines


def test_regrets_are_means_over_splits():
    table = regrets(made_lines(), "SVC", 300)
    assert table.sets == ("heart", "sonar", "iris", "wine")
    assert table.splits == (2, 2, 2, 2)
    k = table.column("cv3")
    assert table.excess[:, k] == pytest.approx([0.2, 0.2, 0.2, 0.0])
    assert table.regret[:, k] == pytest.approx([1.2, 1.2, 1.2, 1.0])
    assert np.exp(table.log_seconds[0, k]) == pytest.approx(1 / 3)
    assert np.isnan(table.excess[2:, table.column("span")]).all()  # two classes only
    (cv3,) = [one for one in table.summary if one.method == "cv3"]
    assert (cv3.sets, cv3.excess.mean, cv3.worst) == (4, pytest.approx(0.15), pytest.approx(0.2))
    assert cv3.practical.within == 1.0


def test_a_split_counts_where_the_reference_has_it_too():
    lines = [line for line in made_lines() if (line["method"], line["split"]) != ("cv10", "1")]
    assert regrets(lines, "SVC", 300).splits == (1, 1, 1, 1)


def test_machines_are_averaged_before_data_sets():
    lines = made_lines()
    for line in lines:
        if line["machine"] == "LSSVC" and line["method"] == "cv5" and line["set"] == "heart":
            line["error"] = str(float(line["error"]) + 3.0)
    parts = [regrets(lines, machine, 300) for machine in MACHINES]
    together = pooled(parts)
    assert together.sets == ("heart", "sonar", "iris", "wine", "mpg", "pyrim")
    assert together.excess[0, together.column("cv5")] == pytest.approx(0.1 + 1.0)
    assert "span" not in together.methods
    assert "cv10-margin" not in together.methods


def test_findings_have_the_answer():
    found = findings(made_lines())
    chosen = {(one.machine, one.rows, one.budget): one for one in decisions(found.parts)}
    assert chosen["SVC", 300, "as long as ten folds take"].method == "cv10"
    assert chosen["SVC", 300, "half of that"].method == "cv5"
    assert len(statements(found.main)) == 3
    assert statements(found.main)[0].interval.mean == pytest.approx(1.0)
    kinds = {(one.kind, one.name): one for one in strata(found.everything)}
    assert kinds["task", "several classes"].sets == 2
    assert kinds["training rows", "100"].sets == kinds["training rows", "300"].sets == 6
    changes = {one.other: one for one in defaults(found.main)}
    assert changes["3"].change.mean == pytest.approx(0.1 * 5 / 6)
    assert changes["estimators as they are made"].seconds == 0.0


def test_a_method_that_chooses_what_tenfold_cross_validation_does_is_no_better_for_being_faster():
    lines = made_lines()
    for line in lines:
        if line["method"] == "cv_variance":
            line["error"] = str(10 + int(line["split"]))
    parts = findings(lines).parts
    (found,) = [one for one in parts[300] if one.title == "SVC"]
    assert [one.excess.high for one in found.summary if one.method in ("cv10", "cv_variance")] == [0.0, 0.0]
    chosen = {(one.machine, one.rows, one.budget): one.method for one in decisions(parts)}
    assert chosen["SVC", 300, "as long as ten folds take"] == "cv10"


def test_a_file_without_its_reference_is_refused():
    with pytest.raises(ValueError, match="no cell"):
        findings([line for line in made_lines(1) if line["method"] != "cv10"])
