"""What a score is compared with, when it misleads, and how a saving is estimated."""

import json

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from onefit import datasets
from onefit.cli.savings import Savings
from onefit.report import Yardstick

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
