"""Write the figures of docs/performance.md and README.md from main_road.csv and measured.csv, which benchmarks wrote.

The documentation's first page shows those of the README.

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
README = HERE.parent / "README.md"
MEASURED = "<!-- measured: start -->", "<!-- measured: end -->"
EXAMPLE = "<!-- example: written by benchmarks/page.py -->", "<!-- end of example -->"
FIGURES = "<!-- figures: the documentation shows what is between these lines -->", "<!-- end of figures -->"
SHOWN = {
    "scaler + SVC 10 x 10, 1,000 noisy rows": "scaler + `SVC`, 10 x 10, 1,000 noisy rows",
    "scaler + SVC 10 x 10, 4 classes (850)": "scaler + `SVC`, 10 x 10, 4 classes, 850 rows",
    "scaler + SVC balanced, roc_auc, 10 x 10 (600)": "scaler + balanced `SVC` by `roc_auc`, 10 x 10, 600 rows",
    "SVC 8 x 9, digits (10 classes)": "`SVC`, 8 x 9, digits (10 classes, 1,797 rows)",
    "scaler + SVR 10 x 10, 500 rows": "scaler + `SVR`, 10 x 10, 500 rows",
    "scaler + KernelRidge 10 x 10, 1,400 rows": "scaler + `KernelRidge`, 10 x 10, 1,400 rows",
    "SVC 3 x 3, 20 classes (1,000)": "`SVC`, 3 x 3, 20 classes, 1,000 rows",
    "SVC(gamma='scale'), 8 C, 2,500 easy rows, scaler": "scaler + `SVC`, 8 values of C, 2,500 easy rows",
}
"""Ordinary searches that the README shows, fast and slow ones, and their names there."""
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
    "svc-4000": (
        "SVC, 4,000 rows",
        "The same grid, of which `GridSearchCV` was given every third width and C, and its seconds were scaled up: "
        "`python benchmarks/support_vector.py --n 4000 --every 3`, beside other work",
    ),
    "svc-8000": ("SVC, 8,000 rows", "In the same way: `python benchmarks/support_vector.py --n 8000 --every 3`"),
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
    parts = [f"## Ordinary searches\n\n{ROAD}\n\n{head}", *lines, f"\nGeometric mean of the ratios: {mean(rows):.1f}."]
    return "\n".join(parts)


def mean(rows: list[dict[str, str]]) -> float:
    """The geometric mean of the ratios."""
    return math.exp(sum(math.log(float(r["ratio"])) for r in rows) / len(rows))


def example(rows: list[dict[str, str]]) -> str:
    """What the README's example took."""
    grid, ours = (r for r in rows if r["experiment"] == "pipeline")
    return (
        "Measured on one thread of a two-core machine: these 2,080 trainings took `GridSearchCV` "
        f"{grid['seconds']} s and\n`KernelSearchCV` {ours['seconds']} s, with {ours['agreement']}.\n"
        "Other ordinary searches, five folds, CPU seconds with scoring and refit:"
    )


def figures(ordinary: list[dict[str, str]], rows: list[dict[str, str]]) -> str:
    """The README's table, and how much is gained in the mean."""
    lines = [
        f"| {SHOWN[r['usage']]} | {short(r['GridSearchCV'])} s | {short(r['onefit'])} s | {short(r['ratio'])}x |"
        for r in ordinary
        if r["usage"] in SHOWN
    ]
    (bare,) = (r["ratio"] for r in rows if r["experiment"] == "svc-1000" and r["program"] == "onefit")
    gain = (
        f"The geometric mean over {len(ordinary)} such searches is {mean(ordinary):.1f}; without a Pipeline,\n"
        f"ten folds, 21 widths x 8 C on 1,000 rows it is {short(bare)}x."
    )
    head = "| search | GridSearchCV | onefit | gain |\n| --- | --: | --: | --: |"
    return "\n".join(["", head, *lines, "", gain, ""])


def short(value: str) -> str:
    """A measured number with two digits, or three before the point."""
    return f"{float(value):.0f}" if float(value) >= 10 else f"{float(value):.2g}"


def between(page: str, marks: tuple[str, str], text: str) -> str:
    """The page with a text between two marks."""
    before, rest = page.split(marks[0])
    return f"{before}{marks[0]}\n{text}\n{marks[1]}{rest.split(marks[1])[1]}"


def read(name: str) -> list[dict[str, str]]:
    """The rows of a file of this folder."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(page: str) -> str:
    """The page of performance with the tables of what was measured last."""
    return between(page, MEASURED, f"{road(read('main_road.csv'))}\n\n{tables(read('measured.csv'))}")


def written_readme(page: str) -> str:
    """The README with the figures of what was measured last."""
    rows = read("measured.csv")
    return between(between(page, EXAMPLE, example(rows)), FIGURES, figures(read("main_road.csv"), rows))


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(written_readme(README.read_text(encoding="utf-8")), encoding="utf-8")
