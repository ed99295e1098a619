"""Tables as people have them: names of rows, dates, many labels, written text, weights, time, other encodings."""

import json
from datetime import date, timedelta

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, cross_val_score

from onefit import datasets
from onefit.cli.preparation import QuantileKFold
from onefit.cli.roles import Role, role_of, why_it_names_rows

QUICK = ("--learner", "lssvm", "--kernel", "linear", "--cv", 3)


@pytest.fixture
def members(tmp_path):
    """90 rows: a name of the row, two columns of dates, many labels, written text, a weight; who has left."""
    rng = np.random.default_rng(0)
    lines = ["member,joined,seen,town,words,size,weight,left"]
    for row in range(90):
        days = int(rng.integers(0, 900))
        joined, seen = date(2021, 1, 1) + timedelta(days), date(2024, 1, 1) + timedelta(int(rng.integers(0, 200)))
        town = f"town{row % 45}"
        words = f"{'fast kind' if row % 3 else 'slow rude'} people answer {row}"
        size, weight = rng.normal(), 1 + row % 3
        left = "yes" if days / 450 + size + (row % 3 == 0) > 1.6 else "no"
        cells = [
            f"M{row:03d}",
            joined,
            "" if row == 5 else seen.strftime("%d.%m.%Y"),
            town,
            words,
            f"{size:.3f}",
            weight,
        ]
        lines.append(",".join(map(str, [*cells, left])))
    (tmp_path / "members.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "members.csv"


def run_code(text):
    names = {}
    exec(text, names)
    return names


def test_every_column_finds_its_place(onefit, members):
    result = onefit("select", members, *QUICK, "--weights", "weight", "--save", "m.skops", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert dict(zip(facts["features"], facts["roles"])) == {
        "joined": "date", "seen": "date", "town": "many labels", "words": "text", "size": "number",
    }  # fmt: skip
    assert "'member' is left out: nearly every row has a text of its own; --use member" in result.stderr
    names = run_code(facts["code"])
    inputs = names["model"][:-1].transform(names["X"]).shape[1]
    assert inputs == 4 + 4 + 40 + 50 + 1
    predicted = json.loads(onefit("predict", "m.skops", members, "--json").stdout)["predictions"]
    assert predicted == names["model"].predict(names["X"].copy()).tolist()
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    weights = {"params": {"lssvc__sample_weight": names["weights"]}}
    scores = cross_val_score(names["model"], names["X"], names["y"], cv=folds, **weights)
    assert facts["score"] == pytest.approx(scores.mean(), abs=1e-12)


def test_new_rows_may_lack_dates_and_have_other_texts(onefit, members, tmp_path):
    onefit("select", members, *QUICK, "--save", "m.skops")
    head = "joined,seen,town,words,size,weight\n"
    (tmp_path / "new.csv").write_text(head + "2025-01-01,,nowhere,,0.5,1\n,01.02.2024,,kind,1,1\n")
    assert len(onefit("predict", "m.skops", "new.csv").stdout.split()) == 2
    (tmp_path / "bad.csv").write_text(head + "soon,,nowhere,,0.5,1\n2025-01-01,,,,1,1\n")
    assert "'soon' cannot be read as a date" in onefit("predict", "m.skops", "bad.csv").stderr


def test_columns_by_option(onefit, members):
    options = ("--drop", "town,words", "--drop", "weight", "--id", "size", "--use", "member")
    facts = json.loads(onefit("select", members, *QUICK, *options, "--json").stdout)
    assert facts["features"] == ["member", "joined", "seen"]
    assert facts["id"] == "size"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--drop", "twon"], "--drop twon is no column of members.csv. Did you mean 'town'"),
        (["--id", "left"], "--id left is the target"),
        (["--use", "town", "--drop", "town"], "--use town: another option"),
        (["--weights", "town"], "--weights town holds text"),
        (["--weights", "size"], "a weight is a number of at least 0"),
        (["--folds", "group"], "--groups"),
        (["--folds", "time"], "several columns have dates"),
        (["--folds", "time", "--time", "seen"], "row 6 has no value"),
        (["--folds", "time", "--time", "joined", "--groups", "town"], "does not keep groups together"),
        (["--time", "seen"], "--folds time"),
        (["--positive", "maybe"], "use no or yes"),
        (["--encoding", "klingon"], "no text encoding 'klingon'"),
        (["--target", "size", "--class-weight", "balanced"], "--class-weight balanced is for classes"),
        (["--target", "size", "--positive", "1"], "this is regression"),
    ],
)
def test_what_is_refused(onefit, members, options, message):
    result = onefit("select", "members.csv", *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_later_rows_from_earlier_ones(onefit, tmp_path):
    rng = np.random.default_rng(0)
    days = rng.permutation(60)
    rows = [
        f"{date(2024, 1, 1) + timedelta(int(d))},{np.sin(d / 5):.4f},{np.sin((d + 1) / 5) + 0.01 * d:.4f}" for d in days
    ]
    (tmp_path / "series.csv").write_text("day,now,next\n" + "\n".join(rows) + "\n")
    result = onefit("select", "series.csv", "--folds", "time", "--cv", 4, "--kernel", "linear", "--json")
    assert result.exit_code == 0, result.stderr
    assert "rows are put in the order of 'day'" in result.stderr
    facts = json.loads(result.stdout)
    table = datasets.read("series.csv")
    order = np.argsort(table.X[:, 0].astype(str))
    model = run_code(facts["code"])["model"]
    scores = cross_val_score(model, table.X[order], table.y[order], cv=TimeSeriesSplit(4))
    assert facts["score"] == pytest.approx(scores.mean(), abs=1e-9)


def test_the_positive_class_is_that_of_the_score(onefit, members):
    options = ("--scoring", "f1", "--class-weight", "balanced", "--drop", "town,words,member")
    for positive in ("yes", "no"):
        facts = json.loads(onefit("select", members, *QUICK, *options, "--positive", positive, "--json").stdout)
        names = run_code(facts["code"])
        scores = cross_val_score(
            names["model"], names["X"], names["y"], cv=StratifiedKFold(3, shuffle=True, random_state=0),
            scoring=make_scorer(f1_score, pos_label=positive),
        )  # fmt: skip
        assert facts["metric"] == "f1"
        assert facts["positive"] == positive
        assert facts["score"] == pytest.approx(scores.mean(), abs=1e-12)
        assert "class_weight='balanced'" in facts["code"]


def test_text_in_another_encoding(onefit, tmp_path):
    rows = "".join(f"{'да' if row % 3 else 'нет'},{row % 7},{'Казань' if row % 2 else 'Москва'}\n" for row in range(40))
    (tmp_path / "russian.csv").write_bytes(("ответ,число,город\n" + rows).encode("cp1251"))
    assert "cp1251" in onefit("select", "russian.csv").stderr
    result = onefit("select", "russian.csv", "--encoding", "cp1251", *QUICK, "--save", "m.skops", "--json")
    assert json.loads(result.stdout)["classes"] == ["Казань", "Москва"]
    assert set(onefit("predict", "m.skops", "russian.csv").stdout.split()) <= {"Казань", "Москва"}


def test_what_only_names_rows():
    n = 30
    several = [f"a{k % 9}" for k in range(n)]
    sentences = [f"number {k} of many sentences" for k in range(n * 2)]
    assert why_it_names_rows("who", np.array([f"u{k}" for k in range(50)], dtype=object), True)
    assert not why_it_names_rows("who", np.array(several, dtype=object), True)
    assert not why_it_names_rows("who", np.array(sentences, dtype=object), True)
    assert why_it_names_rows("x", np.random.default_rng(0).permutation(n) + 1.0, False)
    assert not why_it_names_rows("year", np.arange(n) + 1990.0, False)  # few, and not from 1
    assert why_it_names_rows("customer_id", np.arange(n) * 17.0, False)
    assert not why_it_names_rows("price", np.arange(n) * 17.0, False)
    assert not why_it_names_rows("x", np.arange(5.0), False)
    assert role_of(np.array(sentences, dtype=object), True) is Role.TEXT
    assert role_of(np.array(["2024-01-01", None], dtype=object), True) is Role.DATE


def test_folds_of_numbers_have_alike_targets():
    y = np.random.default_rng(0).exponential(size=100)
    folds = QuantileKFold(5, shuffle=True, random_state=0)
    means = [y[test].mean() for _, test in folds.split(y[:, None], y)]
    assert sorted(np.concatenate([test for _, test in folds.split(y[:, None], y)])) == list(range(100))
    random = np.random.default_rng(1).permutation(100).reshape(5, 20)
    assert np.std(means) < np.std([y[test].mean() for test in random])
