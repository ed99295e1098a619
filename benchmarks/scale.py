"""Searches over many rows with landmarks: time, memory, equality and accuracy, beside scikit-learn's Nystroem.

Every measurement is a process of its own, so that its peak memory is its own. CPU seconds are those of all threads.

equality   every split score of a search against GridSearchCV of Ridge on the same features
ratio      KernelSearchCV beside GridSearchCV of make_pipeline(Nystroem(), Ridge()): some of its fits are timed, and
           multiplied by their number
growth     the same search for growing n and m
disk       rows of a file that is larger than the memory budget
newton     L2SVC, with the number of passes over the rows
accuracy   hold-out scores on benchmark data beside gradient boosting, a linear model and Nystroem at its defaults

Examples::

    python benchmarks/scale.py ratio --n 100000 --m 500
    python benchmarks/scale.py growth --n 1000000 --m 1000 --widths 21
    python benchmarks/scale.py disk --n 10000000 --m 1000 --widths 5
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("ONEFIT_DATA", "../shared/data"))
ACCURACY = ("a9a", "cadata", "covtype_10k", "skin_nonskin")


def synthetic(n, d=20, seed=0):
    """Rows whose target is smooth in some features, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


def grid(options, penalty="alpha"):
    """Widths around 1 / d, and penalties."""
    return {"gamma": np.logspace(-3, 0, options.widths) / 2, penalty: np.logspace(-4, 3, options.ridges)}


def search(options, X, y, estimator=None, penalty="alpha", **more):
    """One search with landmarks."""
    from onefit import LSSVR, KernelSearchCV, Landmarks

    estimator = LSSVR() if estimator is None else estimator
    approximation = Landmarks(options.m, random_state=0)
    return KernelSearchCV(estimator, grid(options, penalty), cv=options.folds, approximation=approximation, **more).fit(
        X, y
    )


def measured(run):
    """What a function returns, with seconds, CPU seconds and the growth of the largest memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    found = run()
    facts = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak_mb_above_data": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3,
    }
    return found, facts


def equality(options):
    """The largest relative difference of a split score from training on the same features."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    from onefit import LandmarkFeatures, kernels

    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y))
    landmarks, worst, start = found.best_estimator_.named_steps["features"].landmarks, 0.0, time.process_time()
    for gamma in grid(options)["gamma"]:
        Z = LandmarkFeatures(landmarks, kernels.Gaussian(gamma)).fit_transform(X)
        brute = GridSearchCV(Ridge(), {"alpha": grid(options)["alpha"]}, cv=options.folds).fit(Z, y)
        rows = [k for k, params in enumerate(found.cv_results_["params"]) if params["gamma"] == gamma]
        for i in range(found.n_splits_):
            expected = brute.cv_results_[f"split{i}_test_score"]
            worst = max(worst, np.abs(found.cv_results_[f"split{i}_test_score"][rows] / expected - 1).max())
    return {**facts, "largest_relative_difference": worst, "brute_force_cpu": time.process_time() - start}


def ratio(options):
    """CPU seconds of a search, and of GridSearchCV with Nystroem and Ridge by some of its fits."""
    from sklearn.base import clone
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import KFold
    from sklearn.pipeline import make_pipeline

    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y))
    model, fits, start = (
        make_pipeline(Nystroem(n_components=options.m, random_state=0), Ridge()),
        0,
        time.process_time(),
    )
    for train, test in list(KFold(options.folds).split(X))[: options.timed]:
        clone(model).set_params(nystroem__gamma=0.05).fit(X[train], y[train]).score(X[test], y[test])
        fits += 1
    one = (time.process_time() - start) / fits
    all_fits = options.widths * options.ridges * options.folds
    return {
        **facts, "score": found.best_score_, "one_fit_cpu": one, "fits": all_fits, "timed": fits,
        "grid_search_cpu_hours": one * all_fits / 3600, "ratio": one * all_fits / facts["cpu"],
    }  # fmt: skip


def growth(options):
    """One search over rows in memory."""
    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y))
    return {**facts, "score": found.best_score_, **{f"best_{k}": float(v) for k, v in found.best_params_.items()}}


def disk(options):
    """One search over rows of a file, which is written first."""
    from onefit import datasets

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "rows.npy")
        table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(options.n, 21))
        for number, start in enumerate(range(0, options.n, 1 << 20)):
            X, y = synthetic(min(1 << 20, options.n - start), seed=number)
            table[start : start + len(y)] = np.column_stack([X, y])
        del table
        X, y = datasets.scan(path)
        found, facts = measured(lambda: search(options, X, y))
        return {**facts, "score": found.best_score_, "file_mb": path.stat().st_size / 1e6}


def newton(options):
    """L2SVC on landmarks."""
    from onefit import L2SVC

    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y > 0, L2SVC(), "C"))
    return {**facts, "score": found.best_score_, "passes": found.ledger_["pass"]}


def accuracy(options):
    """Hold-out scores on benchmark data."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from onefit import LSSVC, LSSVR, KernelSearchCV, Landmarks, datasets

    found = {}
    for name in options.data:
        path = next(iter(sorted(DATA.rglob(f"{name}*"))), None)
        if path is None:
            found[name] = f"skipped: not in {DATA}"
            continue
        table = datasets.read(path)
        X, y, classes = np.asarray(table.X, dtype=float), table.y, len(np.unique(table.y)) <= 50
        parts = train_test_split(X, y, test_size=0.25, random_state=0)
        machine, linear = (LSSVC(), RidgeClassifier()) if classes else (LSSVR(), Ridge())
        boosting = HistGradientBoostingClassifier() if classes else HistGradientBoostingRegressor()
        name_of, d = type(machine).__name__.lower(), X.shape[1]
        own = {f"{name_of}__gamma": np.logspace(-2, 1, 7) / d, f"{name_of}__alpha": np.logspace(-3, 2, 6)}
        approximation = Landmarks(options.m, random_state=0)
        models = {
            "onefit": KernelSearchCV(
                make_pipeline(StandardScaler(), machine), own, cv=5, approximation=approximation, preprocessing="shared"
            ),
            "boosting": boosting,
            "linear": make_pipeline(StandardScaler(), linear),
            "nystroem": make_pipeline(StandardScaler(), Nystroem(random_state=0), linear),
        }
        found[name] = {
            who: round(float(model.fit(parts[0], parts[2]).score(parts[1], parts[3])), 4)
            for who, model in models.items()
        }
    return found


PARTS = {part.__name__: part for part in (equality, ratio, growth, disk, newton, accuracy)}


def main():
    """Run one part in a process of its own, and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--m", type=int, default=300)
    parser.add_argument("--widths", type=int, default=5)
    parser.add_argument("--ridges", type=int, default=15)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--timed", type=int, default=2, help="fits of scikit-learn that are timed")
    parser.add_argument("--folder", default=None, help="where a large file may be written")
    parser.add_argument("--data", nargs="*", default=ACCURACY)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        raise SystemExit(subprocess.run([sys.executable, __file__, *sys.argv[1:], "--inside"], check=False).returncode)
    warnings.simplefilter("ignore")
    asked = {name: getattr(options, name) for name in ("n", "m", "widths", "ridges", "folds")}
    print(json.dumps({"part": options.part, **asked, **PARTS[options.part](options)}, default=float))


if __name__ == "__main__":
    main()
