"""Write the tables of docs/performance.md from main_road.csv and measured.csv: what the benchmarks here printed.

Example::

    python benchmarks/page.py
"""

import csv
import math
from itertools import groupby
from operator import itemgetter
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
ROAD = """CPU seconds, refit and scoring included, five folds, on data that ship with scikit-learn or are generated:
`python benchmarks/main_road.py --csv benchmarks/main_road.csv`. Winners are the same or tied in all of them; up to 4 %
of the split scores of `SVC` differ, since LIBSVM stops at its `tol` and takes any bias of an interval."""
EXPERIMENTS = {
    "pipeline": (
        "SVC behind a scaler",
        "The breast cancer data, 208 candidates x 10 folds, the scaler fitted anew on every fold: "
        "the example of the README",
    ),
    "svc-1000": (
        "SVC, 1,000 rows",
        "168 candidates (21 Gaussian widths, 8 values of C) x 10 folds, 20 columns: "
        "`python benchmarks/support_vector.py --n 1000`",
    ),
    "svc-2000": ("SVC, 2,000 rows", "The same grid: `python benchmarks/support_vector.py --n 2000`"),
    "svr": (
        "SVR, 1,000 rows",
        "28 candidates (7 widths, 4 values of C) x 10 folds, 20 columns: "
        "`python benchmarks/support_vector.py --machine svr`",
    ),
    "ridge": (
        "Kernel ridge regression, 1,000 rows",
        "315 candidates (21 widths, 15 ridges) x 10 folds, 20 columns: `python benchmarks/kernel_ridge.py`",
    ),
}
"""Title and description of each experiment."""


def tables(rows: list[dict[str, str]]) -> str:
    """A heading, a sentence and a table for each experiment."""
    parts = []
    for key, group in groupby(rows, itemgetter("experiment")):
        title, description = EXPERIMENTS[key]
        lines = [f"| {r['program']} | {r['seconds'] or '–'} | {r['ratio']} | {r['agreement']} |" for r in group]
        head = "| | seconds | times faster | scores |\n| --- | --- | --- | --- |"
        parts.append("\n".join([f"## {title}\n\n{description}.\n\n{head}", *lines]))
    return "\n\n".join(parts)


def road(rows: list[dict[str, str]]) -> str:
    """The table of ordinary searches, and the geometric mean of its ratios."""
    lines = [f"| {r['usage']} | {r['GridSearchCV']} | {r['onefit']} | {r['ratio']} |" for r in rows]
    head = "| search | GridSearchCV | onefit | times faster |\n| --- | --: | --: | --: |"
    mean = math.exp(sum(math.log(float(r["ratio"])) for r in rows) / len(rows))
    parts = [f"## Ordinary searches\n\n{ROAD}\n\n{head}", *lines, f"\nGeometric mean of the ratios: {mean:.1f}."]
    return "\n".join(parts)


def updated(page: str, ordinary: list[dict[str, str]], rows: list[dict[str, str]]) -> str:
    """The page with the tables between its marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n{road(ordinary)}\n\n{tables(rows)}\n{END}{rest.split(END)[1]}"


def read(name: str) -> list[dict[str, str]]:
    """The rows of a file of this folder."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(page: str) -> str:
    """The page with the tables of what was measured last."""
    return updated(page, read("main_road.csv"), read("measured.csv"))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
