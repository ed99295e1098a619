"""From a file to a chosen model: the answer is that of scikit-learn, and everything that was done is said."""

import json

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from onefit import KernelSearchCV, datasets


def run_code(text):
    """What the printed code defines."""
    names = {}
    exec(text, names)
    return names


def test_a_table_with_text_and_missing_values(onefit, mixed):
    result = onefit("select", mixed, "--learner", "lssvm", "--cv", 5, "--json")
    assert result.exit_code == 0
    facts = json.loads(result.stdout)
    assert facts["target"] == "outcome"
    assert facts["classes"] == ["no", "yes"]
    for remark in ("the last column 'outcome'", "median: 'age', 'dose'", "one-hot encoded", "5 folds"):
        assert remark in result.stderr
    names = run_code(facts["code"])
    scores = cross_val_score(
        names["model"], names["X"], names["y"], cv=StratifiedKFold(5, shuffle=True, random_state=0)
    )
    assert facts["score"] == pytest.approx(scores.mean(), abs=1e-12)
    assert facts["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(5), abs=1e-12)
    assert facts["exactness"] == "exact"


@pytest.mark.slow
def test_the_code_rebuilds_the_saved_model(onefit, mixed, prices, animals):
    for path, *options in (
        (mixed, "--learner", "lssvm"),
        (mixed, "--learner", "klr", "--scoring", "neg_log_loss"),
        (prices, "--kernel", "laplacian", "--scale", "minmax"),
        (prices, "--learner", "krr", "--scale", "none"),
        (animals, "--target", "animal", "--learner", "lssvm"),
    ):
        result = onefit("select", path, *options, "--cv", 3, "--save", "model.skops", "--json")
        assert result.exit_code == 0, result.stderr
        names = run_code(json.loads(result.stdout)["code"])
        predicted = json.loads(onefit("predict", "model.skops", path, "--json").stdout)["predictions"]
        new = names["X"].copy()  # NumPy multiplies an array with itself by another routine, which rounds otherwise
        np.testing.assert_array_equal(names["model"].predict(new), predicted)


def test_the_text_says_what_matters(onefit, prices):
    result = onefit("select", prices, "--cv", 3, "--reference")
    assert result.exit_code == 0
    head, _, code = result.stdout.partition("\n\n")
    assert [line.split()[0] for line in head.splitlines() if line[0] != " "] == [
        "model", "parameters", "score", "new", "baseline", "exactness", "chosen", "cost",
    ]  # fmt: skip
    assert "LSSVR with the rbf kernel" in head
    assert "R²" in head
    assert "±" in head
    assert "of processor time" in head
    assert "GridSearchCV" in head
    code, _, reference = code.rpartition("\n\n")
    assert reference.startswith("reference   ")
    assert run_code(code)["model"].score(datasets.read(prices).X, datasets.read(prices).y) > 0.9
    assert "regression: the target has fractions" in result.stderr
    assert "round 1" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr


def test_the_score_is_that_of_a_solver_with_a_small_tol(onefit, prices):
    words = ("select", prices, "--learner", "svr", "--kernel", "linear", "--cv", 3)
    facts = json.loads(onefit(*words, "--json").stdout)
    names = run_code(facts["code"])
    folds = KFold(3, shuffle=True, random_state=0)
    careful = names["model"].set_params(svr__tol=1e-9)
    assert facts["score"] == pytest.approx(cross_val_score(careful, names["X"], names["y"], cv=folds).mean(), abs=1e-7)
    assert "for this candidate with a small tol" in onefit(*words).stdout


def test_the_choice_is_that_of_a_search_in_python(onefit, animals):
    facts = json.loads(
        onefit("select", animals, "--target", "animal", "--learner", "lssvm", "--cv", 4, "--json").stdout
    )
    names = run_code(facts["code"])
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    search = KernelSearchCV(names["model"], "auto", cv=folds, preprocessing="shared").fit(names["X"], names["y"])
    assert facts["params"] == {name.removeprefix("lssvc__"): value for name, value in search.best_params_.items()}
    assert facts["candidates"] == len(search.cv_results_["params"])
    assert facts["trainings_replaced"] == 4 * facts["candidates"]


def test_a_criterion_of_kernels_leaves_the_penalty_to_cross_validation(onefit, prices):
    result = onefit("select", prices, "--criterion", "ckta", "--cv", 3)
    assert result.exit_code == 0
    assert "by ckta =" in result.stdout
    assert "the penalty was chosen by cross-validation" in result.stdout
    facts = json.loads(onefit("select", prices, "--criterion", "ckta", "--cv", 3, "--json").stdout)
    names = run_code(facts["code"])
    names["model"].set_params(lssvr__alpha=1.0)
    from sklearn.model_selection import KFold

    worse = cross_val_score(names["model"], names["X"], names["y"], cv=KFold(3, shuffle=True, random_state=0))
    assert facts["score"] >= worse.mean()


def test_groups_stay_together_and_are_no_input(onefit, mixed):
    text = mixed.read_text().splitlines()
    rows = [f"g{number % 4}," + line for number, line in enumerate(text[1:])]
    mixed.write_text("\n".join(["clinic," + text[0], *rows]))
    result = onefit("select", mixed, "--groups", "clinic", "--learner", "lssvm", "--json")
    facts = json.loads(result.stdout)
    assert facts["folds"] == 4
    assert "4 groups: 4 folds instead of 10" in result.stderr
    assert facts["features"] == ["age", "dose", "sex"]
    assert run_code(facts["code"])["X"].shape == (60, 3)


def test_the_embedded_set_is_the_default(onefit):
    result = onefit("select", "--learner", "lssvm", "--cv", 2, "--budget", "1ms", "--json")
    facts = json.loads(result.stdout)
    assert facts["data"] == "wdbc"
    assert facts["finished"] < facts["candidates"]
    assert "time budget" in result.stderr


def test_a_report_is_written(onefit, mixed, tmp_path):
    result = onefit("select", mixed, "--learner", "lssvm", "--cv", 3, "--reference", "--report", "report.html")
    assert result.exit_code == 0
    page = (tmp_path / "report.html").read_text()
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines() if line[:1].isalpha())
    metric, score, _, error = lines["score"].split()[:4]
    assert f'<h3>{metric}</h3>\n<p class="big">{score} <small>± {error}</small></p>' in page
    label, _, reason = lines["exactness"].partition(": ")
    assert f'<p class="big">{label}</p>\n<p>{reason}</p>' in page
    assert "HistGradientBoosting" in page
    assert page.startswith("<!doctype html>")
    assert "mixed.csv" in page


def test_whole_numbers_are_classes_if_rows_share_them(onefit, tmp_path):
    (tmp_path / "few.csv").write_text("a,y\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(30)))
    few = json.loads(onefit("select", "few.csv", "--learner", "lssvm", "--cv", 3, "--json").stdout)
    assert few["classes"] == [0, 1]
    (tmp_path / "many.csv").write_text("a,y\n" + "".join(f"{k % 7},{3 * k}\n" for k in range(30)))
    result = onefit("select", "many.csv", "--cv", 3, "--json")
    assert json.loads(result.stdout)["task"] == "regression"
    assert "--task classification" in result.stderr


@pytest.mark.slow
def test_landmarks_stand_for_the_kernel(onefit, prices, mixed, tmp_path):
    for path, task in ((prices, "regression"), (mixed, "classification")):
        saved, report = tmp_path / f"{task}.skops", tmp_path / f"{task}.html"
        result = onefit("select", path, "--cv", 4, "--landmarks", 40, "--json", "--save", saved, "--report", report)
        assert result.exit_code == 0, result.stderr
        facts = json.loads(result.stdout)
        assert facts["exactness"] == "approximate"
        assert facts["learner"] in ("LSSVR", "LSSVC")
        names = run_code(facts["code"])
        folds = (StratifiedKFold if task == "classification" else KFold)(4, shuffle=True, random_state=0)
        scores = cross_val_score(names["model"], names["X"], names["y"], cv=folds)
        assert facts["score"] == pytest.approx(scores.mean(), rel=1e-6)
        assert onefit("predict", saved, path).exit_code == 0
        assert report.exists()


def test_landmarks_are_taken_where_gram_matrices_do_not_fit(capsys):
    from onefit.cli.data import landmarks_for

    assert landmarks_for(1000, None, "1GB") is None
    assert landmarks_for(100_000, 0, "1GB") is None
    assert landmarks_for(100, 40, "1GB").n_landmarks == 40
    assert "landmarks" not in capsys.readouterr().err
    assert landmarks_for(100_000, None, "4GB").n_landmarks == 1000
    assert "1,000 landmarks stand for them" in capsys.readouterr().err


def test_least_squares_take_landmarks_from_some_rows_on(onefit, mixed, prices, monkeypatch):
    """A search that would take many minutes takes landmarks, and says so and how to have kernel matrices."""
    monkeypatch.setattr("onefit.cli.data.DENSE_ROWS", 59)
    for path, learner in ((mixed, "LSSVC"), (prices, "LSSVR")):
        result = onefit("select", path, "--cv", 3, "--json")
        facts = json.loads(result.stdout)
        assert (facts["learner"], facts["exactness"]) == (learner, "approximate")
        assert "60 landmarks stand for them" in result.stderr
        assert "--landmarks 0" in result.stderr
    assert "the learner is lssvm" in result.stderr


@pytest.mark.parametrize(
    "options", [("--landmarks", 0), ("--learner", "svc"), ("--criterion", "span")], ids=lambda words: words[0]
)
def test_kernel_matrices_of_many_rows_where_they_are_asked_for(onefit, mixed, monkeypatch, options):
    """Landmarks neither take the place of what was asked for, nor of a machine or criterion that they do not hasten."""
    monkeypatch.setattr("onefit.cli.data.DENSE_ROWS", 59)
    result = onefit("select", mixed, "--cv", 3, "--kernel", "linear", "--json", *options)
    facts = json.loads(result.stdout)
    assert (facts["learner"], facts["exactness"]) == ("SVC", "exact")
    assert "landmarks" not in result.stderr


def test_as_many_rows_as_kernel_matrices_are_taken_of(onefit, mixed, monkeypatch):
    monkeypatch.setattr("onefit.cli.data.DENSE_ROWS", 60)
    result = onefit("select", mixed, "--cv", 3, "--kernel", "linear", "--json")
    assert json.loads(result.stdout)["exactness"] == "exact"
