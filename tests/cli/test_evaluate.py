"""Predictions in files and streams, and scores with intervals."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score

from onefit import datasets
from onefit.cli import alignment
from onefit.cli.measuring import measure
from onefit.cli.predicting import Predictions, SavedModel

QUICK = ("--learner", "lssvm", "--kernel", "linear", "--cv", 3)


@pytest.fixture
def model(onefit, mixed):
    """``model.skops``, trained on the mixed table and chosen by roc_auc."""
    words = ("--scoring", "roc_auc", "--save", "model.skops")
    assert onefit("select", mixed, *QUICK, *words).exit_code == 0
    return "model.skops"


def test_probabilities_decisions_and_kept_columns(onefit, mixed, model, tmp_path):
    result = onefit("predict", model, mixed, "--proba", "--decision", "--keep", "age,outcome", "--out", "out.csv")
    assert result.exit_code == 0, result.stderr
    head, *rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert head == ["age", "outcome", "prediction", "decision", "probability_no", "probability_yes"]
    table = dict(zip(head, zip(*rows)))
    chances = np.array(table["probability_yes"], dtype=float)
    np.testing.assert_allclose(chances + np.array(table["probability_no"], dtype=float), 1)
    values = np.array(table["decision"], dtype=float)
    assert (np.argsort(chances, kind="stable") == np.argsort(values, kind="stable")).all()
    assert list(table["outcome"]) == datasets.read(mixed).y.tolist()
    score = roc_auc_score(np.array(table["outcome"]) == "yes", values)
    assert f"roc_auc on these rows: {score:.4g}" in result.stderr
    as_json = json.loads(onefit("predict", model, mixed, "--proba", "--json").stdout)
    np.testing.assert_allclose(as_json["columns"]["probability_yes"], chances)
    assert as_json["score"] == pytest.approx(score)


def test_parquet_in_and_out(onefit, mixed, model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert onefit("predict", model, mixed, "--proba", "--keep", "age", "--out", "out.parquet").exit_code == 0
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["age", "prediction", "probability_no", "probability_yes"]
    assert table.column("prediction").to_pylist() == onefit("predict", model, mixed).stdout.split()
    csv = pytest.importorskip("pyarrow.csv")
    parquet.write_table(csv.read_csv(mixed), tmp_path / "mixed.parquet")
    assert onefit("predict", model, "mixed.parquet").stdout.split() == table.column("prediction").to_pylist()


def test_blocks_give_what_the_whole_does(onefit, mixed, model, monkeypatch, tmp_path):
    whole = onefit("predict", model, mixed, "--decision", "--keep", "sex")
    for size in (1, 7, 59, 60):
        monkeypatch.setattr(
            alignment.blocks_for, "__kwdefaults__", {**alignment.blocks_for.__kwdefaults__, "size": size}
        )
        part = onefit("predict", model, mixed, "--decision", "--keep", "sex")
        assert [line.split(",")[:2] for line in part.stdout.splitlines()] == [
            line.split(",")[:2] for line in whole.stdout.splitlines()
        ]
        for ours, theirs in zip(part.stdout.splitlines()[1:], whole.stdout.splitlines()[1:]):
            assert float(ours.split(",")[2]) == pytest.approx(float(theirs.split(",")[2]), abs=1e-9)
        assert part.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]  # the score


def test_rows_have_their_names(onefit, mixed, tmp_path):
    text = mixed.read_text().splitlines()
    named = [f"P{row},{line}" for row, line in enumerate(text[1:])]
    (tmp_path / "named.csv").write_text("\n".join(["patient," + text[0], *named]) + "\n")
    onefit("select", "named.csv", *QUICK, "--id", "patient", "--save", "m.skops")
    lines = onefit("predict", "m.skops", "named.csv").stdout.splitlines()
    assert lines[0] == "patient,prediction"
    assert [line.split(",")[0] for line in lines[1:]] == [f"P{row}" for row in range(60)]
    assert len(onefit("predict", "m.skops", mixed).stdout.split()) == 60  # without the column


def test_kept_columns_are_as_they_were(onefit, mixed, model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    n = 10_001  # more than a block
    columns = {"age": [30] * n, "dose": [2.5] * n, "sex": ["f"] * n, "key": list(range(n))}
    columns["late"] = [None] * (n - 1) + ["x"]
    parquet.write_table(arrow.table(columns), tmp_path / "keys.parquet")
    words = ("predict", model, "keys.parquet", "--keep", "key,late")
    lines = onefit(*words).stdout.splitlines()
    assert lines[1].startswith("0,,")
    assert lines[-1].startswith(f"{n - 1},x,")
    assert onefit(*words, "--out", "out.parquet").exit_code == 0
    kept = parquet.read_table(tmp_path / "out.parquet")
    assert kept.column("key").to_pylist() == list(range(n))
    assert kept.column("late").to_pylist()[-1] == "x"


def test_a_failed_prediction_leaves_no_file(onefit, mixed, model, tmp_path):
    (tmp_path / "bad.csv").write_text("age,dose,sex\n33,4,f\n34,high,m\n")
    assert onefit("predict", model, "bad.csv", "--out", "out.csv").exit_code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "mixed.csv", "model.skops"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("predict", "model.skops", "mixed.csv", "--keep", "shoe"), "--keep shoe is no column"),
        (("predict", "prices.skops", "prices.csv", "--proba"), "--proba is for classes"),
        (("evaluate", "model.skops", "new.csv"), "lacks the target"),
        (("evaluate", "model.skops", "other.csv"), "a class that the model was not trained on: 'maybe'"),
        (("evaluate", "model.skops", "mixed.csv", "--scoring", "nonsense"), "no such score"),
    ],
)
def test_what_is_refused(onefit, mixed, prices, model, tmp_path, words, message):
    onefit("select", prices, *QUICK, "--save", "prices.skops")
    (tmp_path / "new.csv").write_text("age,dose,sex\n33,4,f\n34,5,m\n")
    (tmp_path / "other.csv").write_text("age,dose,sex,outcome\n33,4,f,maybe\n34,5,m,yes\n")
    result = onefit(*words)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_scores_are_those_of_scikit_learn(onefit, mixed, prices, model):
    facts = json.loads(onefit("evaluate", model, mixed, "--json", "--bootstrap", 50).stdout)
    y = datasets.read(mixed).y
    predicted = onefit("predict", model, mixed).stdout.split()
    assert facts["scores"]["accuracy"]["value"] == pytest.approx(accuracy_score(y, predicted))
    assert next(iter(facts["scores"])) == "roc_auc"
    assert {"f1", "recall", "average_precision", "neg_log_loss", "neg_brier_score"} <= set(facts["scores"])
    for each in facts["scores"].values():
        assert each["low"] <= each["value"] <= each["high"]
    onefit("select", prices, *QUICK, "--save", "p.skops")
    result = onefit("evaluate", "p.skops", prices, "--bootstrap", 50)
    values = np.array(onefit("predict", "p.skops", prices).stdout.split(), dtype=float)
    assert f"{r2_score(datasets.read(prices).y, values):.4g}" in result.stdout.splitlines()[1]
    assert "agrees with what its cross-validation let expect" in result.stdout


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    facts = {"task": "classification", "classes": [0, 1], "metric": "accuracy"}
    inside = 0
    for seed in range(100):
        y = rng.integers(0, 2, 200)
        right = rng.uniform(size=200) < 0.8
        found = measure("accuracy", facts, Predictions(np.where(right, y, 1 - y)), y, replicates=100, seed=seed)
        inside += found.low <= 0.8 <= found.high
    assert inside >= 86  # 95 expected; fewer by four standard errors is no chance


def test_a_page_of_its_own(onefit, mixed, prices, model, tmp_path):
    onefit("select", prices, *QUICK, "--save", "p.skops")
    for name, data in ((model, mixed), ("p.skops", prices)):
        result = onefit("evaluate", name, data, "--bootstrap", 20, "--report", "page.html")
        assert result.exit_code == 0, result.stderr
        page = (tmp_path / "page.html").read_text()
        assert page.startswith("<!doctype html>")
        assert "onefit evaluation" in page
        assert "http" not in page.replace("http-equiv", "")


def test_models_of_earlier_versions_still_predict(onefit, mixed, model, tmp_path):
    added = {"roles", "positive", "id", "encoding", "imputes", "calibration"}
    with zipfile.ZipFile(tmp_path / model) as new, zipfile.ZipFile(tmp_path / "old.skops", "w") as old:
        for name in new.namelist():
            text = new.read(name)
            if name == "onefit.json":
                text = json.dumps({key: value for key, value in json.loads(text).items() if key not in added})
            old.writestr(name, text)
    assert onefit("predict", "old.skops", mixed).stdout == onefit("predict", model, mixed).stdout
    assert "has no probabilities" in onefit("predict", "old.skops", mixed, "--proba").stderr
    assert SavedModel.read(tmp_path / model).has_probabilities
