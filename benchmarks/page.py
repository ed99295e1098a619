"""Write the tables of docs/performance.md from measured.csv, which holds what the benchmarks of this folder printed.

Example::

    python benchmarks/page.py
"""

import csv
from itertools import groupby
from operator import itemgetter
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
EXPERIMENTS = {
    "svc-1000": (
        "SVC, 1,000 rows",
        "168 candidates (21 Gaussian widths, 8 values of C) x 10 folds, 20 columns: "
        "`python benchmarks/support_vector.py --n 1000`",
    ),
    "svc-2000": ("SVC, 2,000 rows", "The same grid: `python benchmarks/support_vector.py --n 2000`"),
    "pipeline": (
        "SVC behind a scaler",
        "The breast cancer data, 208 candidates x 10 folds, the scaler fitted anew on every fold: "
        "the example of the README",
    ),
    "svr": (
        "SVR, 1,000 rows",
        "28 candidates (7 widths, 4 values of C) x 10 folds, 20 columns: "
        "`python benchmarks/support_vector.py --machine svr`; one of three runs, whose ratios were 15.3, 15.6 and 19.6",
    ),
    "l2svc": (
        "L2SVC, 1,000 rows",
        "The grid and the folds of SVC; GridSearchCV trains onefit's L2SVC, which scikit-learn does not have with "
        "kernels: `python benchmarks/support_vector.py --machine l2svc --peers grid onefit`. On average 824 "
        "coefficients are free, of SVC 238. Beside that of SVC the search took 0.91 times as long in the median of 52 "
        "pairs of runs in four processes (medians 0.88 to 0.92), and 0.93 times with 2,000 rows (14 pairs, two "
        "processes): "
        "`python benchmarks/in_turn.py`",
    ),
    "ridge": (
        "Kernel ridge regression, 1,000 rows",
        "315 candidates (21 widths, 15 ridges) x 10 folds, 20 columns: `python benchmarks/kernel_ridge.py`",
    ),
    "ridge-2000": (
        "Kernel ridge regression, 2,000 rows",
        "The same grid: `python benchmarks/kernel_ridge.py --n 2000 --peers grid numpy onefit`",
    ),
    "liquidsvm-1000": (
        "SVC beside liquidSVM, 1,000 rows",
        "The grid and the folds of the first table, in a run of its own; liquidSVM has no bias and stops early: "
        "`python benchmarks/other_pythons.py --liquidsvm PYTHON`",
    ),
    "liquidsvm-2000": ("SVC beside liquidSVM, 2,000 rows", "The same with `--n 2000`"),
    "rlscore-1000": (
        "Kernel ridge regression beside RLScore, 1,000 rows",
        "The grid and the folds of kernel ridge regression above, in a run of its own; RLScore in Python 3.6 with "
        "NumPy 1.19: `python benchmarks/other_pythons.py --rlscore PYTHON`",
    ),
    "rlscore-2000": ("Kernel ridge regression beside RLScore, 2,000 rows", "The same with `--n 2000`"),
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


def updated(page: str, rows: list[dict[str, str]]) -> str:
    """The page with the tables between its marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n{tables(rows)}\n{END}{rest.split(END)[1]}"


def measured() -> list[dict[str, str]]:
    """The rows of measured.csv."""
    with (HERE / "measured.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), measured()), encoding="utf-8")
