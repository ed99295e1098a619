"""What a score is compared with, when it misleads, and how a saving is estimated."""

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from onefit import datasets
from onefit.cli.evaluate import _verdict
from onefit.cli.savings import Savings
from onefit.cli.yardsticks import expected, optimism
from onefit.report import Yardstick
from onefit.report.evaluation import Interval

QUICK = ("--learner", "lssvm", "--kernel", "linear", "--cv", 3)


def test_guessing_and_trees_on_the_same_folds(onefit, prices):
    facts = json.loads(onefit("select", prices, *QUICK, "--reference", "--json").stdout)
    table, folds = datasets.read(prices), KFold(3, shuffle=True, random_state=0)
    for name, model in (("baseline", DummyRegressor()), ("reference", HistGradientBoostingRegressor(random_state=0))):
        scores = cross_val_score(model, table.X, table.y, cv=folds)
        assert facts[name]["score"] == pytest.approx(scores.mean(), abs=1e-12)
        assert facts[name]["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(3), abs=1e-12)
    assert "reference" not in onefit("select", prices, *QUICK, "--no-reference").stdout


def test_a_table_with_all_kinds_of_columns_has_a_reference(onefit, mixed):
    facts = json.loads(onefit("select", mixed, *QUICK, "--reference", "--json").stdout)
    table = datasets.read(mixed)
    guess = cross_val_score(DummyClassifier(), table.X, table.y, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    assert facts["baseline"]["score"] == pytest.approx(guess.mean(), abs=1e-12)
    assert 0.4 < facts["reference"]["score"] <= 1


def test_rare_classes_are_noticed(onefit, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.3f},{'sick' if row % 20 == 0 else 'well'}" for row in range(100)]
    (tmp_path / "rare.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    result = onefit("select", "rare.csv", *QUICK)
    assert "warning: class 'sick' has 5 % of the rows, and always predicting 'well' has accuracy 0.95" in result.stderr
    assert "no different, within two standard errors" in result.stdout
    assert "warning" not in onefit("select", "rare.csv", *QUICK, "--scoring", "roc_auc").stderr


def test_far_targets_are_noticed(onefit, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y = x + rng.normal(size=100)
    y[[3, 60]] = 500.0
    (tmp_path / "far.csv").write_text("x,y\n" + "\n".join(f"{a:.3f},{b:.3f}" for a, b in zip(x, y)) + "\n")
    said = onefit("select", "far.csv", *QUICK).stderr
    assert "warning: 2 of 100 targets, such as 500, are further than 10 interquartile ranges from the median" in said
    assert "make up 100 % of the squared deviations" in said
    assert "warning" not in onefit("select", "far.csv", *QUICK, "--scoring", "neg_median_absolute_error").stderr
    (tmp_path / "near.csv").write_text("x,y\n" + "\n".join(f"{a:.3f},{2 * a:.3f}" for a in x) + "\n")
    assert "warning" not in onefit("select", "near.csv", *QUICK).stderr


def test_differences_are_paired():
    scores = np.array([0.5, 0.7, 0.9])
    better = Yardstick("other", scores - [0.1, 0.12, 0.11])
    gain, error = better.difference(scores)
    assert gain == pytest.approx(0.11)
    assert error == pytest.approx(0.01 / np.sqrt(3))
    assert better.verdict(scores).startswith("the model is better by 0.11")
    assert "no different" in Yardstick("other", scores - [0.1, -0.1, 0.05]).verdict(scores)
    assert "worse" in Yardstick("other", scores + np.array([0.1, 0.12, 0.11])).verdict(scores)


def test_a_saving_is_a_range():
    savings = Savings(trainings=100, searched=2.0, worked=1.0, timed=(0.1, 0.2, 0.3, 0.2))
    low, high = savings.estimate
    half = 2.3533634 * np.std([0.1, 0.2, 0.3, 0.2], ddof=1) / 2  # the 95 % quantile of t with three degrees of freedom
    assert low == pytest.approx(100 * (0.2 - half), rel=1e-6)
    assert high == pytest.approx(100 * (0.2 + half), rel=1e-6)
    assert f"{low:.2g} to {high:.2g} times less".replace("+0", "") in str(savings).replace(",", "")
    assert "no time saved" in str(Savings(1, 2.0, 1.0, timed=(0.1, 0.2)))
    assert "up to" in str(Savings(10, 2.0, 1.0, timed=(0.01, 0.3)))
    assert "not timed" in str(Savings(10, 2.0, 1.0))


@pytest.mark.parametrize("seed", range(5))
def test_no_fold_chooses_the_candidate_that_it_scores(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(5, 8)).round(1)
    scores[rng.integers(5), 3] = np.nan  # a candidate that failed somewhere is not chosen anywhere

    def chosen(folds):
        means = [-np.inf if k == 3 else np.mean([scores[j, k] for j in folds]) for k in range(8)]
        return int(np.argmax(np.round(means, 9)))

    best = chosen(range(5))
    gains = [scores[fold, best] - scores[fold, chosen(set(range(5)) - {fold})] for fold in range(5)]
    np.testing.assert_allclose(optimism(scores), gains, atol=1e-12)
    assert min(gains) >= 0
    told = rng.normal(size=5)
    score, error = expected(told, scores)
    assert score == pytest.approx(np.mean(told - gains), abs=1e-12)
    assert error == pytest.approx(np.std(told - gains, ddof=1) / np.sqrt(5), abs=1e-12)


def test_the_best_of_noise_is_expected_to_be_no_better_than_noise():
    rng = np.random.default_rng(0)
    draws = [rng.normal(size=(10, 50)) for _ in range(200)]
    best = [scores[:, scores.mean(axis=0).argmax()] for scores in draws]
    told = np.array([expected(mine, scores)[0] for mine, scores in zip(best, draws)])
    assert np.mean(best) > 0.5
    assert abs(told.mean()) < 4 * told.std() / np.sqrt(200)


def test_one_candidate_or_one_fold_leaves_nothing_to_correct():
    assert expected(np.ones(5), np.ones((5, 1))) is None
    assert expected(np.ones(1), np.ones((1, 5))) is None
    assert expected(np.ones(0), np.empty((0, 7))) is None


@pytest.mark.parametrize(
    ("value", "words"), [(0.80, "agrees with"), (0.748, "agrees with"), (0.744, "differs from"), (0.9, "differs from")]
)
def test_a_verdict_is_about_the_difference(value, words):
    """Standard errors of 0.02 and 0.025 make 0.032 of the difference, and 0.81 less two of these is 0.746."""
    facts = {"metric": "accuracy", "score": 0.9, "standard_error": 0.01, "expected": [0.81, 0.02]}
    told = _verdict(facts, Interval("accuracy", value, value - 0.05, value + 0.05))
    assert words in told
    assert "accuracy 0.81 ± 0.02" in told
    old = _verdict({**facts, "expected": None}, Interval("accuracy", 0.9, 0.85, 0.95))
    assert "agrees with" in old
    assert "0.9 ± 0.01" in old


def test_what_new_rows_may_be_expected_to_score(onefit, prices):
    facts = json.loads(onefit("select", prices, "--cv", 3, "--json", "--save", "model.skops").stdout)
    score, error = facts["expected"]
    assert score <= facts["score"]
    assert f"{score:.4g} ± {error:.2g} expected" in onefit("select", prices, "--cv", 3).stdout
    assert f"R² {score:.4g} ± {error:.2g}" in onefit("evaluate", "model.skops", prices).stdout
