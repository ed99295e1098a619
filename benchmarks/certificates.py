"""How exact is exact? One search of an SVC, exact, certified, pruned and by influence functions, beside GridSearchCV.

The same grid (21 Gaussian widths x 8 values of C) on the same ten folds, one after the other, in one process and on one
thread, scoring included and the refit not:

grid       scikit-learn's GridSearchCV
exact      KernelSearchCV
certified  criteria.CV(certify=True)
pruned     criteria.CV(certify=True, prune=True)
bif 1, 5, inf   criteria.BIF(order=…)

For each: seconds, ratio to GridSearchCV, differences to the exact scores, whether the winner is the same, and by when
held-out labels were proved, in the whole grid and at the best candidate. ``--data heart_scale`` reads a file from the
folder ``ONEFIT_DATA`` instead of making rows up.

Examples::

    python benchmarks/certificates.py --n 1000
    python benchmarks/certificates.py --data heart_scale sonar_scale --skip grid
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from onefit import KernelSearchCV, criteria
from support_vector import make_task, split_scores

GRID = {"gamma": 2.0 ** np.arange(-10, 11), "C": 2.0 ** np.arange(-4, 11, 2)}
CRITERIA = {
    "exact": criteria.CV(),
    "certified": criteria.CV(certify=True),
    "pruned": criteria.CV(certify=True, prune=True),
    "bif 1": criteria.BIF(order=1),
    "bif 5": criteria.BIF(order=5),
    "bif inf": criteria.BIF(order=np.inf),
}
PROVED = ("proved in round 0", "proved in round 1", "proved in round 2", "proved later", "proved by solving")


def read_rows(name: str):
    """A benchmark set, scaled to [-1, 1]."""
    X, y = load_svmlight_file(str(Path(os.environ.get("ONEFIT_DATA", "../shared/data")) / "libsvm" / name))
    return MinMaxScaler((-1, 1)).fit_transform(X.toarray()), y


def run(name: str, X, y, folds):
    """(seconds, search) of one of the ways."""
    start = time.perf_counter()
    if name == "grid":
        search = GridSearchCV(SVC(), GRID, cv=folds, refit=False)
    else:
        search = KernelSearchCV(SVC(), GRID, criterion=CRITERIA[name], cv=folds, refit=False)
    search.fit(X, y)
    return time.perf_counter() - start, search


def describe(name: str, seconds: float, search, exact, grid_seconds) -> str:
    """One line of the table."""
    results = search.cv_results_
    ratio = f"{grid_seconds / seconds:6.1f}x" if grid_seconds else "      -"
    labels = results.get("exactness", np.array(["retrained"] * len(results["params"]))).astype(str)
    judged = labels != "pruned"
    means = np.abs(results["mean_test_score"] - exact["mean_test_score"])
    cells = np.abs(split_scores(results) - split_scores(exact))[judged] > 1e-9
    tied = np.isclose(exact["mean_test_score"][search.best_index_], exact["mean_test_score"].max())
    return (
        f"{name:<10} {seconds:8.2f} s {ratio}  {cells.mean():7.2%}  {means[judged].max():.4f}  "
        f"{'same' if tied else 'other':<6}  {dict(zip(*np.unique(labels, return_counts=True)))}"
    )


def rounds(search) -> str:
    """By when held-out labels were proved, as shares."""
    counts = np.array([search.ledger_[event] for event in PROVED], dtype=float)
    return ", ".join(f"{event[7:]} {share:.1%}" for event, share in zip(PROVED, counts / max(counts.sum(), 1)))


def compare(title: str, X, y, folds, names) -> None:
    """The table for one data set."""
    print(f"\n{title}: {len(y)} rows, {X.shape[1]} columns, 168 candidates x 10 folds, one thread")
    print("                 time   ratio    cells    means  winner  labels")
    with threadpool_limits(1):
        grid = run("grid", X, y, folds) if "grid" in names else None
        found = {name: run(name, X, y, folds) for name in names if name != "grid"}
    exact = found["exact"][1].cv_results_
    if grid is not None:
        print(describe("grid", *grid, exact, grid[0]))
    for name, (seconds, search) in found.items():
        print(describe(name, seconds, search, exact, grid and grid[0]), flush=True)
    best = found["exact"][1].best_params_
    alone = KernelSearchCV(SVC(), {key: [value] for key, value in best.items()}, criterion=CRITERIA["certified"])
    alone.set_params(cv=folds, refit=False).fit(X, y)
    print(f"  labels of the whole grid: {rounds(found['certified'][1])}" if "certified" in found else "")
    print(f"  labels of the best candidate {best}: {rounds(alone)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="*", default=[1000])
    parser.add_argument("--data", nargs="*", default=[])
    parser.add_argument("--skip", nargs="*", default=[], choices=["grid", *CRITERIA])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in ("grid", *CRITERIA) if name not in options.skip]
    warm_up = make_task("svc", 60, True)
    for criterion in CRITERIA.values():  # import what is imported late
        KernelSearchCV(SVC(), warm_up.grid, criterion=criterion, cv=3).fit(warm_up.X, warm_up.y)
    for name in options.data:
        compare(name, *read_rows(name), StratifiedKFold(10, shuffle=True, random_state=0), names)
    for n in options.n if not options.data else []:
        task = make_task("svc", n, False)
        compare("made up", task.X, task.y, KFold(10), names)


if __name__ == "__main__":
    main()
