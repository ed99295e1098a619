"""Saved models: predictions of new tables, and files that are not trusted."""

import json
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer

from onefit import LSSVC, datasets
from onefit.cli.models import load, save


@pytest.fixture
def model(onefit, mixed):
    """``model.skops``, trained on the mixed table."""
    assert onefit("select", mixed, "--learner", "lssvm", "--cv", 3, "--save", "model.skops").exit_code == 0
    return "model.skops"


def test_logistic_regression_is_saved_and_loaded(onefit, mixed):
    options = ("--learner", "klr", "--kernel", "linear", "--scoring", "neg_log_loss", "--cv", 3)
    result = onefit("select", mixed, *options, "--save", "klr.skops", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert (facts["learner"], facts["exactness"]) == ("KernelLogisticRegression", "exact")
    assert set(onefit("predict", "klr.skops", mixed).stdout.split()) <= {"no", "yes"}


def test_columns_are_found_by_name(onefit, mixed, model, tmp_path):
    text = [line.split(",") for line in mixed.read_text().splitlines()]
    order = [2, 0, 1]  # without the target
    (tmp_path / "new.csv").write_text("\n".join(",".join(cells[k] for k in order) for cells in text))
    known = onefit("predict", model, mixed)
    new = onefit("predict", model, "new.csv")
    assert new.stdout == known.stdout
    assert set(new.stdout.split()) == {"no", "yes"}
    assert "accuracy on these rows" in known.stderr
    assert "accuracy" not in new.stderr


def test_predictions_in_a_file(onefit, mixed, model, tmp_path):
    result = onefit("predict", model, mixed, "--out", "out.csv")
    assert result.stdout == ""
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "prediction"
    assert lines[1:] == onefit("predict", model, mixed).stdout.split()


def test_new_values_and_wrong_tables(onefit, model, tmp_path):
    (tmp_path / "one.csv").write_text("age,dose,sex\n33,NA,x\n41,2.5,\n")
    assert len(onefit("predict", model, "one.csv").stdout.split()) == 2
    (tmp_path / "numbers.csv").write_text("age,dose,sex\n33,4,1\n41,2.5,2\n")
    assert len(onefit("predict", model, "numbers.csv").stdout.split()) == 2
    (tmp_path / "lacks.csv").write_text("age,sex\n33,f\n34,m\n")
    (tmp_path / "text.csv").write_text("age,dose,sex\n33,high,f\n34,low,m\n")
    for name, message in (("lacks.csv", "'dose'"), ("text.csv", "column 'dose' holds text"), ("no.csv", "not exist")):
        result = onefit("predict", model, name)
        assert result.exit_code == 1
        assert message in result.stderr


def test_a_target_that_is_not_known_is_not_scored(onefit, mixed, prices, tmp_path):
    whole = "x,y\n" + "".join(f"{row},{row % 2}\n" for row in range(20))
    (tmp_path / "whole.csv").write_text(whole)
    half = {"mixed.csv": "yes", "prices.csv": None, "whole.csv": "1"}
    for name, other in half.items():
        assert onefit("select", name, "--cv", 2, "--kernel", "linear", "--save", "m.skops").exit_code == 0
        assert "score" in json.loads(onefit("predict", "m.skops", name, "--json").stdout)
        head, first, *rest = (tmp_path / name).read_text().splitlines()
        for value in ("", *([] if other != "1" else ["0.5"])):
            (tmp_path / "new.csv").write_text("\n".join([head, f"{first.rsplit(',', 1)[0]},{value}", *rest]))
            result = onefit("predict", "m.skops", "new.csv", "--json")
            assert "score" not in json.loads(result.stdout)
            assert "no score" in result.stderr
    (tmp_path / "one.csv").write_text("\n".join(prices.read_text().splitlines()[:2]))
    onefit("select", prices, "--cv", 2, "--kernel", "linear", "--save", "m.skops")
    assert "score" not in json.loads(onefit("predict", "m.skops", "one.csv", "--json").stdout)  # R² of one row


def test_the_target_may_have_quotes_in_its_name(onefit, tmp_path):
    rows = "".join(f"{row},{'no' if row < 10 else 'yes'}\n" for row in range(20))
    (tmp_path / "quotes.csv").write_text(f"x,'y'\n{rows}")
    onefit("select", "quotes.csv", "--cv", 2, "--kernel", "linear", "--save", "m.skops")
    assert json.loads(onefit("inspect", "m.skops", "--json").stdout)["target"] == "'y'"
    assert "accuracy on these rows" in onefit("predict", "m.skops", "quotes.csv").stderr


def test_missing_and_infinite_numbers(onefit, prices, tmp_path):
    onefit("select", prices, "--cv", 2, "--kernel", "linear", "--save", "m.skops")
    for cell, message in (("", "column 'x2' has no value in row 2"), ("inf", "column 'x2' has inf in row 2")):
        (tmp_path / "new.csv").write_text(f"x1,x2\n1,2\n3,{cell}\n")
        result = onefit("predict", "m.skops", "new.csv")
        assert result.exit_code == 1
        assert message in result.stderr


def test_columns_without_any_value(onefit, prices, tmp_path):
    head, *rows = prices.read_text().splitlines()
    (tmp_path / "empty.csv").write_text("\n".join([f"none,{head}", *(f",{row}" for row in rows)]))
    assert onefit("select", "empty.csv", "--cv", 2, "--kernel", "linear", "--save", "m.skops").exit_code == 0
    new = onefit("predict", "m.skops", "empty.csv")
    assert "Warning" not in new.stderr
    onefit("select", prices, "--cv", 2, "--kernel", "linear", "--save", "m.skops")
    without = onefit("predict", "m.skops", prices)
    np.testing.assert_allclose(list(map(float, new.stdout.split())), list(map(float, without.stdout.split())))


@pytest.mark.parametrize("words", [("model.skops", "mixed.csv", "--out", "mixed.csv"),
                                   ("model.skops", "mixed.csv", "--out", "./model.skops")])  # fmt: skip
def test_predictions_never_replace_what_they_are_made_from(onefit, mixed, model, words):
    before = [mixed.read_bytes(), mixed.with_name(model).read_bytes()]
    result = onefit("predict", *words)
    assert result.exit_code == 1
    assert "give another file" in result.stderr
    assert [mixed.read_bytes(), mixed.with_name(model).read_bytes()] == before


def test_libsvm_rows_may_leave_out_the_last_columns(onefit, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3))
    text = [f"{1 if x[0] > 0 else -1} " + " ".join(f"{k + 1}:{v:.3f}" for k, v in enumerate(x)) for x in rows]
    (tmp_path / "train.svm").write_text("\n".join(text))
    (tmp_path / "test.svm").write_text("1 1:2.0\n-1 1:-2.0 2:0.1\n")
    assert onefit("select", "train.svm", "--learner", "lssvm", "--cv", 3, "--save", "m.skops").exit_code == 0
    result = onefit("predict", "m.skops", "test.svm")
    assert result.stdout.split() == ["1", "-1"]
    assert "accuracy on these rows: 1" in result.stderr


def test_a_model_shows_itself(onefit, model):
    result = onefit("inspect", model)
    assert result.exit_code == 0
    assert "LSSVC with the rbf kernel" in result.stdout
    assert "classification of no, yes" in result.stdout
    assert "model.fit(X, y)" in result.stdout
    assert json.loads(onefit("inspect", model, "--json").stdout)["features"] == ["age", "dose", "sex"]


def test_types_that_can_run_code_are_refused(onefit, tmp_path):
    path = tmp_path / "bad.skops"
    save(path, FunctionTransformer(func=datasets.load), {"features": []})
    result = onefit("predict", path, "iris")
    assert result.exit_code == 1
    assert "not trusted" in result.stderr
    assert "onefit.datasets.load" in result.stderr


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear", "sigmoid", "cosine"])
def test_estimators_come_back(tmp_path, two_classes, kernel):
    X, y = two_classes
    fitted = LSSVC(kernel=kernel, alpha=0.1).fit(X, y)
    save(tmp_path / "m.skops", fitted, {"features": []})
    model, facts = load(tmp_path / "m.skops")
    new = X + 0.5  # NumPy multiplies an array with itself by another routine, which rounds otherwise
    np.testing.assert_array_equal(model.decision_function(new), fitted.decision_function(new))
    assert facts["features"] == []


def test_facts_that_are_cut_short(onefit, mixed, model, tmp_path):
    with zipfile.ZipFile(tmp_path / model) as good, zipfile.ZipFile(tmp_path / "cut.skops", "w") as cut:
        for name in good.namelist():
            facts = json.loads(good.read(name)) if name == "onefit.json" else {}
            facts.pop("features", None)
            cut.writestr(name, json.dumps(facts) if facts else good.read(name))
    for words in (("predict", "cut.skops", mixed), ("inspect", "cut.skops")):
        result = onefit(*words)
        assert result.exit_code == 1
        assert "lacks features" in result.stderr


def test_files_that_are_no_models(onefit, tmp_path):
    (tmp_path / "text.skops").write_text("no model")
    (tmp_path / "plain.skops").write_bytes(skops.io.dumps(LSSVC()))
    with zipfile.ZipFile(tmp_path / "hollow.skops", "w") as archive:
        archive.writestr("onefit.json", '{"format": 1}')
    with zipfile.ZipFile(tmp_path / "future.skops", "w") as archive:
        archive.writestr("onefit.json", '{"format": 99}')
    for name in ("text", "plain", "hollow", "future"):
        result = onefit("predict", f"{name}.skops", "iris")
        assert result.exit_code == 1
        assert f"{name}.skops" in result.stderr
    assert onefit("inspect", "text.skops").exit_code == 1
