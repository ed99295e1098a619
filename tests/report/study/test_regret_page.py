"""The page of the benchmark of criteria."""

import csv
import io
import warnings
from html.parser import HTMLParser

import pytest

from onefit.report.study import write_regrets
from onefit.report.study.regret_figures import front
from onefit.report.study.regret_page import summary_text
from onefit.studies.regret.analysis import regrets
from tests.studies.test_regret import made_lines


class Cells(HTMLParser):
    """The first cells of all rows of all tables."""

    def __init__(self):
        super().__init__()
        self.rows, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        self.inside = tag == "th" and ("scope", "row") in attributes

    def handle_data(self, data):
        if self.inside:
            self.rows.append(data)
            self.inside = False


@pytest.mark.slow
def test_the_page_has_the_answer_first(tmp_path):
    lines = made_lines()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files = write_regrets(lines, tmp_path)
    assert {file.name for file in files} == {
        "criteria.html", "criteria-summary.csv", "criteria-pareto.svg", "criteria-ranks.svg",
    }  # fmt: skip
    text = (tmp_path / "criteria.html").read_text(encoding="utf-8")
    assert text.index("What to use") < text.index("Three statements") < text.index("How it was done")
    assert "6 data sets, 2 splits" in text
    assert "nan" not in text
    assert "Not measured yet" not in text
    cells = Cells()
    cells.feed(text)
    assert cells.rows[:2] == ["LSSVC", "LSSVC"]
    assert cells.rows.count("cv10") >= 6
    rows = list(csv.DictReader(io.StringIO((tmp_path / "criteria-summary.csv").read_text(encoding="utf-8"))))
    (found,) = [r for r in rows if (r["machine"], r["rows"], r["method"]) == ("SVC", "300", "cv3")]
    assert float(found["excess"]) == pytest.approx(0.15)
    assert float(found["seconds"]) == pytest.approx(1 / 3, rel=1e-4)


@pytest.mark.slow
def test_the_page_names_methods_that_were_not_measured(tmp_path):
    write_regrets([line for line in made_lines() if line["method"] not in ("alo", "span")], tmp_path)
    assert "Not measured yet: alo, span." in (tmp_path / "criteria.html").read_text(encoding="utf-8")


def test_the_summary_is_a_line_for_each_method():
    text = summary_text(made_lines(1))
    assert "SVR, at most 100 training rows, 2 data sets, 1 split\n" in text
    assert sum(line.startswith("cv10-auto ") for line in text.splitlines()) == 12


def test_the_front_has_what_nothing_beats_in_both():
    methods = [one for one in regrets(made_lines(), "SVC", 300).summary if one.seconds]
    best = front(methods)
    for one in methods:
        beaten = [two for two in methods if two.seconds < one.seconds and two.excess.mean < one.excess.mean]
        assert (one in best) == (not beaten), one.method
