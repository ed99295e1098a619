"""Searches over many rows with landmarks: time, memory, equality and accuracy, beside scikit-learn's Nystroem.

Every command is a process of its own, so that its peak memory is its own. It prints a table and adds rows to a CSV file
(``--csv``). CPU seconds are those of all threads. Sizes are those of the published figures; ``--n``, ``--m``,
``--widths`` … ask for others.

equality   every split score of a search against GridSearchCV of Ridge on the same features
ratio      KernelSearchCV beside GridSearchCV of make_pipeline(Nystroem(), Ridge()): some of its fits are timed, and
           multiplied by their number
million    one search over 1,000,000 rows in memory, 21 widths, 15 ridges, 10 folds, 1,000 landmarks
disk       one search over 10,000,000 rows of a file, which is written first
growth     the same search for n / 8, n / 4, n / 2 and n rows
ridges     200 ridges instead of 15
curve      the scores with an eighth, a quarter and half of the landmarks, and without them
newton     L2SVC, with the number of passes over the rows
update     new rows beside a fit to all of them
accuracy   hold-out scores on benchmark data beside gradient boosting, a linear model and Nystroem at its defaults
cluster    two processes of a dask cluster beside two threads of one process
kills      workers of a dask cluster that are killed during the search: the same bits?
resume     a search whose process is killed and started again: the same bits, and how much was repeated?

Examples::

    python benchmarks/scale.py ratio --n 100000 --m 500
    python benchmarks/scale.py million
    python benchmarks/scale.py disk --folder /where/2.5/GB/fit
    python benchmarks/scale.py kills --kills 10 --every 60
"""

import argparse
import csv
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("ONEFIT_DATA", "../shared/data"))
ACCURACY = ("donors", "cover", "skin_nonskin", "flights")


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


def measured(run, *arguments):
    """What a function returns, with seconds, CPU seconds and the growth of the largest memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    found = run(*arguments)
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


def million(options):
    """One search over rows in memory."""
    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y))
    return {**facts, "score": found.best_score_, **{f"best_{k}": float(v) for k, v in found.best_params_.items()}}


def growth(options):
    """Searches over ever more rows."""
    rows = []
    for n in (options.n // 8, options.n // 4, options.n // 2, options.n):
        _, facts = measured(search, options, *synthetic(n))
        rows.append({**facts, "n": n, "cpu_per_million_rows": facts["cpu"] / n * 1e6})
    return rows


def write_rows(path, n):
    """A file of n rows in single precision, targets last."""
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 21))
    for number, start in enumerate(range(0, n, 1 << 18)):
        X, y = synthetic(min(1 << 18, n - start), seed=number)
        table[start : start + len(y)] = np.column_stack([X, y])


def disk(options):
    """One search over rows of a file."""
    from onefit import datasets

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "rows.npy")
        write_rows(path, options.n)
        X, y = datasets.scan(path)
        found, facts = measured(lambda: search(options, X, y, verbose=1))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        return {**facts, "peak_mb": peak, "score": found.best_score_, "file_mb": path.stat().st_size / 1e6}


def ridges(options):
    """CPU seconds with 15 ridges and with 200."""
    X, y = synthetic(options.n)
    few, many = ({**vars(options), "ridges": count} for count in (15, 200))
    facts = [measured(search, argparse.Namespace(**own), X, y)[1] for own in (few, many)]
    return [{**own, "ridges": count, "ratio": own["cpu"] / facts[0]["cpu"]} for own, count in zip(facts, (15, 200))]


def curve(options):
    """CPU seconds with and without the scores of fewer landmarks."""
    from onefit.gram import basis

    X, y = synthetic(options.n)
    parts, rows = basis.CURVE, []
    for sizes in ((), parts):
        basis.CURVE = sizes
        _, facts = measured(lambda: search(options, X, y))
        rows.append(
            {**facts, "sizes": 1 + len(sizes), "ratio": facts["cpu"] / (rows[0]["cpu"] if rows else facts["cpu"])}
        )
    return rows


def update(options):
    """CPU seconds of new rows, a tenth of all, and of a fit to all of them."""
    X, y = synthetic(options.n)
    old = options.n - options.n // 10
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found, first = measured(lambda: search(options, X[:old], y[:old], journal=f"{folder}/journal.sqlite"))
        found, added = measured(lambda: found.update(X[old:], y[old:]))
    _, whole = measured(lambda: search(options, X, y))
    what = (("fit to nine tenths", first), ("update", added), ("fit to all", whole))
    return [{"what": name, **facts, "ratio": facts["cpu"] / whole["cpu"]} for name, facts in what]


def newton(options):
    """L2SVC on landmarks."""
    from onefit import L2SVC

    X, y = synthetic(options.n)
    found, facts = measured(lambda: search(options, X, y > 0, L2SVC(), "C"))
    return {**facts, "score": found.best_score_, "passes": found.ledger_["pass"]}


def numbers_of(name, n):
    """(X, y, classes or not) of a benchmark set, some of its rows if it has more than n."""
    from onefit import datasets

    path = next(iter(sorted(DATA.rglob(f"{name}*"))))
    if path.suffix == ".npz":
        file = np.load(path)
        X, y = file["X"].astype(float), file["y"]
    elif name == "flights":
        X, y = flights(path)
    else:
        table = datasets.read(path)
        X, y = np.asarray(table.X, dtype=float), table.y
    if n is not None and len(y) > n:
        rows = np.random.default_rng(0).permutation(len(y))[:n]
        X, y = X[rows], y[rows]
    return X, y, len(np.unique(y)) <= 50


def flights(path, often=15):
    """Day, weekday, time and distance of flights, and the most frequent airports as indicators."""
    import pandas as pd

    table = pd.read_parquet(path)
    date = table["date"].dt
    columns = [date.dayofyear, date.weekday, 60 * date.hour + date.minute, table["distance"]]
    for end in ("origin", "destination"):
        columns += [table[end] == airport for airport in table[end].value_counts().index[:often]]
    return np.column_stack(columns).astype(np.float32), table["delay"].to_numpy(dtype=float)


def accuracy(options):
    """Hold-out scores on benchmark data: R², or of classes accuracy and the area under the ROC curve."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from onefit import LSSVC, LSSVR, KernelSearchCV, Landmarks, criteria

    rows = []
    for name in options.data:
        X, y, classes = numbers_of(name, options.n)
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
        machine, linear = (LSSVC(), RidgeClassifier()) if classes else (LSSVR(), Ridge())
        boosting = HistGradientBoostingClassifier() if classes else HistGradientBoostingRegressor()
        scaler = StandardScaler().fit(train)
        given = {"gamma": np.logspace(-2, 1, options.widths) / X.shape[1], "alpha": np.logspace(-3, 2, options.ridges)}
        how = {"criterion": criteria.CV(loss="squared")} if classes else {}
        models = {
            "onefit": KernelSearchCV(
                machine, given, cv=options.folds, approximation=Landmarks(options.m, random_state=0), **how
            ),
            "boosting": boosting,
            "nystroem": make_pipeline(Nystroem(random_state=0), linear),
            "linear": linear,
        }
        for who, model in models.items():
            _, facts = measured(model.fit, scaler.transform(train), y_train)
            row = {"data": name, "n": len(y_train), "model": who, **facts}
            model = getattr(model, "best_estimator_", model)  # its own score, and not that of the search
            row["score"] = model.score(scaler.transform(test), y_test)
            if classes and len(np.unique(y)) == 2:
                decide = getattr(model, "decision_function", None) or model.predict_proba
                values = decide(scaler.transform(test))
                row["roc_auc"] = roc_auc_score(y_test, values if values.ndim == 1 else values[:, 1])
            show([row])  # at once: a search over millions of rows takes minutes
            rows.append(row)
    return rows


# Clusters and interruptions


def chunked(path, n, chunk=25_000):
    """Rows of a file as a dask array that workers read themselves, and targets."""
    import dask.array as da
    from dask import delayed

    def part(start):
        stop = min(start + chunk, n)
        rows = delayed(_read)(str(path), start, stop)
        return da.from_delayed(rows, shape=(stop - start, 20), dtype=np.float64)

    return da.concatenate([part(start) for start in range(0, n, chunk)]), np.load(path, mmap_mode="r")[:, -1].astype(
        float
    )


def _read(path, start, stop):
    return np.load(path, mmap_mode="r")[start:stop, :-1].astype(float)


def split_scores(found):
    """Scores (splits, candidates)."""
    return np.array([found.cv_results_[f"split{i}_test_score"] for i in range(found.n_splits_)])


def local_cluster(options, killer=None):
    """(scores, seconds) of a search on a cluster of two processes; ``killer(cluster)`` runs in a thread meanwhile."""
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        write_rows(Path(folder, "rows.npy"), options.n)
        X, y = chunked(Path(folder, "rows.npy"), options.n)
        if killer is not None:
            threading.Thread(target=killer, args=(cluster,), daemon=True).start()
        start = time.perf_counter()
        return split_scores(search(options, X, y)), time.perf_counter() - start


def cluster(options):
    """Seconds of two threads of this process, and of two processes of a cluster."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write_rows(Path(folder, "rows.npy"), options.n)
        table = np.load(Path(folder, "rows.npy"), mmap_mode="r")
        X, y = table[:, :-1].astype(float), table[:, -1].astype(float)
    start = time.perf_counter()
    here = split_scores(search(options, X, y))
    threads = time.perf_counter() - start
    there, processes = local_cluster(options)
    return [
        {"what": "two threads", "seconds": threads, "ratio": 1.0},
        {"what": "two processes", "seconds": processes, "ratio": processes / threads,
         "largest_difference": np.abs(here - there).max()},
    ]  # fmt: skip


def kills(options):
    """Scores and seconds of a search during which workers are killed, beside one that is left alone."""
    killed = []

    def killer(cluster):
        while len(killed) < options.kills:
            time.sleep(options.every)
            pids = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            if pids:
                os.kill(pids[len(killed) % len(pids)], signal.SIGKILL)
                killed.append(time.perf_counter())

    expected, alone = local_cluster(options)
    found, seconds = local_cluster(options, killer)
    same = bool(np.array_equal(found, expected))
    return {
        "killed": len(killed),
        "seconds_alone": alone,
        "seconds": seconds,
        "ratio": seconds / alone,
        "same_bits": same,
    }


def resume(options):
    """A search over a file whose process is killed once and started again."""

    def run(journal, scores):
        inside = [sys.executable, __file__, "journaled", "--inside", "--csv", "", "--folder", folder]
        given = [f"--{name}={getattr(options, name)}" for name in ("n", "m", "widths", "ridges", "folds")]
        return subprocess.Popen([*inside, *given, "--journal", journal, "--scores", scores])

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write_rows(Path(folder, "rows.npy"), options.n)
        start = time.perf_counter()
        run(f"{folder}/whole.sqlite", f"{folder}/whole.npy").wait()
        alone = time.perf_counter() - start
        start, journal = time.perf_counter(), f"{folder}/killed.sqlite"
        process = run(journal, f"{folder}/never.npy")
        time.sleep(0.6 * alone)
        process.kill()
        process.wait()
        before = time.perf_counter() - start
        with sqlite3.connect(journal) as database:
            written = database.execute("SELECT count(*) FROM sums WHERE lane >= 0").fetchone()[0]
        start = time.perf_counter()
        run(journal, f"{folder}/again.npy").wait()
        after = time.perf_counter() - start
        same = bool(np.array_equal(np.load(f"{folder}/again.npy"), np.load(f"{folder}/whole.npy")))
    return {
        "seconds_alone": alone, "killed_after": before, "seconds_resumed": after, "repeated": before + after - alone,
        "running_sums": written, "same_bits": same,
    }  # fmt: skip


def journaled(options):
    """The search of ``resume``, over the rows of its file."""
    from onefit import datasets

    X, y = datasets.scan(Path(options.folder, "rows.npy"))
    np.save(options.scores, split_scores(search(options, X, y, journal=options.journal)))
    return []


BIG = {"n": 1_000_000, "m": 1000, "widths": 21, "ridges": 15, "folds": 10}
SIZES = {
    equality: {**BIG, "n": 20_000, "m": 300, "widths": 5},
    ratio: {**BIG, "n": 100_000, "m": 500, "widths": 5},
    million: BIG,
    growth: {**BIG, "widths": 3},
    disk: {**BIG, "n": 10_000_000, "widths": 5},
    ridges: {**BIG, "widths": 3, "n": 200_000},
    curve: {**BIG, "widths": 3, "n": 200_000},
    newton: {**BIG, "m": 500, "widths": 6, "ridges": 6, "folds": 5},
    update: {**BIG, "n": 500_000, "widths": 3},
    accuracy: {**BIG, "n": None, "widths": 7, "ridges": 11, "folds": 5},
    cluster: {**BIG, "n": 400_000, "widths": 5},
    kills: {**BIG, "n": 2_000_000, "widths": 10},
    resume: {**BIG, "n": 1_000_000, "widths": 6},
    journaled: BIG,
}
"""Sizes of the published figures, of every part."""


def show(rows):
    """Print rows as a table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name, "")) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells)]
    for line in [names, *cells]:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)), flush=True)


def _text(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def keep(path, part, rows):
    """Add rows to a CSV file: part, place, name, value."""
    if not path or not rows:
        return
    new = not Path(path).exists()
    with Path(path).open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(["part", "row", "name", "value"])
        for number, row in enumerate(rows):
            writer.writerows([part, number, name, value] for name, value in row.items())


def main():
    """Run one part in a process of its own, print what it found, and add it to a file."""
    parts = {part.__name__: part for part in SIZES}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    for name in BIG:
        parser.add_argument(f"--{name}", type=int, help="another size than the published one")
    parser.add_argument("--timed", type=int, default=2, help="fits of scikit-learn that are timed")
    parser.add_argument("--folder", default=None, help="where a large file may be written")
    parser.add_argument("--data", nargs="*", default=ACCURACY)
    parser.add_argument("--kills", type=int, default=10, help="workers that are killed")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two kills")
    parser.add_argument("--csv", default="scale.csv", help="file that rows are added to")
    for hidden in ("--journal", "--scores"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        raise SystemExit(subprocess.run([sys.executable, __file__, *sys.argv[1:], "--inside"], check=False).returncode)
    warnings.simplefilter("ignore")
    part = parts[options.part]
    for name, size in SIZES[part].items():
        if getattr(options, name) is None:
            setattr(options, name, size)
    search(argparse.Namespace(m=50, widths=1, ridges=2, folds=3), *synthetic(500))  # imports
    found = part(options)
    asked = {name: getattr(options, name) for name in BIG}
    rows = [{**asked, **row} for row in (found if isinstance(found, list) else [found])]
    show(rows)
    keep(options.csv, options.part, rows)


if __name__ == "__main__":
    main()
