"""The published results of the benchmark of criteria: whole splits, cells that come out again, and the page's words."""

import re
from pathlib import Path

import pytest

from onefit import datasets
from onefit.datasets.sources import NotThereError, file_in_folder
from onefit.report.study.regret_page import interval
from onefit.studies.regret.data_sets import SETS
from onefit.studies.regret.findings import decisions, defaults, findings, statements
from onefit.studies.regret.methods import BEST, MACHINES, methods_for
from onefit.studies.regret.run import cells, measure
from onefit.studies.result_lines import read

DOCS = Path(__file__).parents[2] / "docs"
LINES = read(DOCS / "results" / "criteria.csv")


def test_every_split_is_there_as_a_whole():
    splits, sizes = ({int(line[column]) for line in LINES} for column in ("split", "rows"))
    measured = {line["method"] for line in LINES}
    wanted = {
        (name, machine, rows, split, method)
        for name, machine, rows, split in cells(SETS, list(MACHINES), sorted(sizes), sorted(splits))
        for method in methods_for(machine, len(datasets.info(name).classes))
        if method in measured
    }
    found = [(x["set"], x["machine"], int(x["rows"]), int(x["split"]), x["method"]) for x in LINES]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert splits == set(range(len(splits)))


def test_a_cell_comes_out_again():
    """The smallest set, so that it takes no time; any other by the command that the page prints."""
    try:
        file_in_folder(datasets.info("labor"))
    except NotThereError as reason:
        pytest.skip(f"no benchmark sets: {reason}")
    methods = [BEST, "cv10", "cv5", "gcv", "ckta+cv10"]
    cell = "labor", "LSSVC", "300", "1"
    for line in measure(("labor", "LSSVC", 300, 1), methods):
        wanted = *cell, line["method"]
        (published,) = [
            x for x in LINES if (x["set"], x["machine"], x["rows"], x["split"], x["method"]) == wanted
        ]  # fmt: skip
        for column in ("error", "gamma", "penalty"):
            assert published[column] == line[column]


@pytest.fixture(scope="module")
def found():
    return findings(LINES)


@pytest.fixture(scope="module")
def documentation():
    """The page on criteria, in one line."""
    return " ".join((DOCS / "criteria.md").read_text(encoding="utf-8").split())


@pytest.mark.slow
def test_the_documentation_has_the_answers_of_the_page(found, documentation):
    for one in statements(found.main):
        assert interval(one.interval) in documentation
    for one in defaults(found.main):
        cells = one.what, one.ours, one.other, _plain(interval(one.change))
        assert f"| {' | '.join(cells)} |" in documentation
    for one in decisions({300: found.parts[300]}):
        assert f"`{one.method}`, {_plain(interval(one.excess))}, {one.seconds:.2f}" in documentation
    for one in decisions({100: found.parts[100]}):
        assert f"`{one.method}`" in documentation
    assert f"{len({line['split'] for line in LINES})} splits" in documentation


@pytest.mark.slow
def test_every_interval_of_the_documentation_is_one_of_the_page(found, documentation):
    common = set.intersection(*(set(table.sets) for table in found.everything.values()))
    tables = [table for rows, table in found.everything.items() for table in (table, *found.parts[rows])]
    tables += [table.only(lambda name: name in common) for table in found.everything.values()]
    summaries = [one for table in tables for one in table.summary]
    known = {_plain(interval(number)) for one in summaries for number in (one.excess, one.regret)}
    known |= {_plain(interval(one.change)) for one in defaults(found.main)}
    printed = re.findall(r"[+−]?\d+\.\d\d \[[+−]?\d+\.\d\d, [+−]?\d+\.\d\d\]", documentation)
    assert len(printed) > 60
    assert not set(printed) - known
    corrected = {f"{one.adjusted:.2f}" for one in summaries}
    assert set(re.findall(r"p = (\d\.\d\d)", documentation)) <= corrected


def _plain(text):
    """An interval as the documentation prints it: zero has no sign."""
    return re.sub(r"[+−]0\.00", "0.00", text)
