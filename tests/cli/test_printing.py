"""What a data file holds, as it is printed and as it is written for a spreadsheet."""

import csv
import json
import logging

import numpy as np
import pytest

from onefit.cli import data as cli_data

EVIL = "\x1b[31mred\x1b[0m\u202e\x07"


def table(path, name, labels, rows=40):
    """A CSV file whose labels a number tells apart."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([name, "y"])
        writer.writerows([k % len(labels) + 0.01 * k / rows, labels[k % len(labels)]] for k in range(rows))
    return path


def model(onefit, path):
    result = onefit("select", path, "--cv", 2, "--kernel", "linear", "--learner", "lssvm", "--save", "m.skops")
    assert result.exit_code == 0
    return result


def test_names_and_labels_of_a_hostile_table(onefit, tmp_path):
    path = table(tmp_path / "evil.csv", f"age{EVIL}\n2", [f"no{EVIL}", "yes\nscore: 1"])
    chosen = model(onefit, path)
    shown = onefit("inspect", "m.skops")
    printed = onefit("predict", "m.skops", path)
    for result in (chosen, shown, printed):
        assert result.exit_code == 0
        for stream in (result.stdout, result.stderr):
            assert stream.replace("\n", "").isprintable()
    assert len(printed.stdout.splitlines()) == 40  # one line for each row
    assert "\\x1b[31mred" in printed.stdout
    lines = json.loads(onefit("predict", "m.skops", path, "--json").stdout)["predictions"]
    assert set(lines) == {f"no{EVIL}", "yes\nscore: 1"}


FORMULAS = ["=cmd|' /C calc'!A0", "+HYPERLINK(1)", "@SUM(1)", "-2+3", "- item", "＝1", "=-1"]
HARMLESS = ["-1.5", "+2", "-1e-3", "a=b", "1-2", "'quoted", "x@y"]


@pytest.mark.parametrize("text", FORMULAS + HARMLESS)
@pytest.mark.quick(3)
def test_formulas_are_text_in_a_spreadsheet(onefit, tmp_path, text):
    path = table(tmp_path / "labels.csv", "a", [text, "other"])
    model(onefit, path)
    assert onefit("predict", "m.skops", path, "--out", "out.csv").exit_code == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        head, *cells = [row[0] for row in csv.reader(file)]
    assert head == "prediction"
    assert set(cells) == {f"'{text}" if text in FORMULAS else text, "other"}
    assert set(onefit("predict", "m.skops", path).stdout.splitlines()) == {text, "other"}  # no spreadsheet reads this


def test_numbers_stay_numbers(onefit, prices, tmp_path):
    negative = tmp_path / "negative.csv"
    head, *rows = prices.read_text().splitlines()
    negative.write_text("\n".join([head, *(f"{row.rsplit(',', 1)[0]},-{row.rsplit(',', 1)[1]}" for row in rows)]))
    model(onefit, negative)
    onefit("predict", "m.skops", negative, "--out", "out.csv")
    head, *cells = (tmp_path / "out.csv").read_text().splitlines()
    assert np.array(cells, float).max() < 0


def test_more_rows_than_memory_has_room_for(onefit, tmp_path, monkeypatch):
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(50)) + '"never closed')
    monkeypatch.setattr(cli_data, "most_rows", lambda dense=True: 30)
    for command in ("select", "compare"):
        result = onefit(command, path)
        assert result.exit_code == 1
        assert f"{path} has more than 30 rows" in result.stderr
        assert "Use fewer rows" in result.stderr


def test_the_most_rows_are_those_of_two_square_arrays(monkeypatch):
    monkeypatch.setattr("onefit.resources.memory.parse_budget", lambda budget: 2 * 8.0 * 1000**2)
    assert cli_data.most_rows() == 1000
    assert cli_data.most_rows(dense=False) == 1000**2 // 1000  # with a thousand landmarks
    monkeypatch.setattr("onefit.resources.memory.parse_budget", lambda budget: float("inf"))
    assert cli_data.most_rows() is None


def test_columns_of_text_without_any_value(onefit, prices, tmp_path):
    """A Parquet file knows that a column is text though no row has one; the model was trained on numbers."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    onefit("select", prices, "--cv", 2, "--kernel", "linear", "--save", "m.skops")
    new = arrow.table({"x1": [1.0, 2.0], "x2": arrow.nulls(2, arrow.string())})
    parquet.write_table(new, tmp_path / "new.parquet")
    result = onefit("predict", "m.skops", "new.parquet")
    assert result.exit_code == 1
    assert "column 'x2' has no value in row 1" in result.stderr


def test_how_far_a_search_is(capsys, monkeypatch):
    from onefit.cli import narration

    clock = iter(range(0, 1000, 6))
    monkeypatch.setattr(narration.time, "monotonic", lambda: float(next(clock)))
    logger = logging.getLogger("onefit")
    with narration.narrated("searching"):
        logger.info("8 candidates on 3 folds: 2 kernels, 0 candidates to retrain", extra={"candidates": 8})
        for name in ("a", "b", "c", "d"):
            logger.debug(f"Gaussian({name}): 2 candidates, ? finished", extra={"finished": 2})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("8 candidates")
    assert any("of 8 candidates of this round, about" in line for line in lines[1:])
    assert all("0 of 8" not in line for line in lines)


def test_what_is_left_follows_a_kernel_that_took_longer_than_others(capsys, monkeypatch):
    from onefit.cli import narration

    now = [0.0]
    monkeypatch.setattr(narration.time, "monotonic", lambda: now[0])
    logger = logging.getLogger("onefit")
    with narration.narrated("searching"):
        logger.info("24 candidates on 3 folds: 4 kernels, 0 candidates to retrain", extra={"candidates": 24})
        for seconds in (20.0, 40.0, 15.0):
            now[0] += seconds
            logger.debug("Gaussian(1): 6 candidates, ? finished", extra={"finished": 6})
    lines = capsys.readouterr().err.splitlines()[1:]
    assert [line.partition("about ")[2].partition(" left")[0] for line in lines] == ["60 s", "80 s", "25 s"]
