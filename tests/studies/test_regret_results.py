"""The published results of the benchmark of criteria: whole splits, cells that come out again, and the page's words."""

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


@pytest.mark.slow
def test_the_documentation_has_the_numbers_of_the_page():
    text = " ".join((DOCS / "criteria.md").read_text(encoding="utf-8").split())
    found = findings(LINES)
    for one in (*statements(found.main), *defaults(found.main)):
        change = one.interval if hasattr(one, "interval") else one.change
        assert interval(change) in text
    for one in decisions(found.parts):
        assert f"`{one.method}`" in text
    assert f"{len({line['split'] for line in LINES})} splits" in text
