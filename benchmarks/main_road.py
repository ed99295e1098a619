"""Time searches of the kind that people run by GridSearchCV and by KernelSearchCV; check that the answers agree.

Every usage is one ordinary search: most have a scaler in a Pipeline, five folds, several classes or a regression, on
data that ship with scikit-learn or are generated. Both programs run in one process, on one thread, refit and scoring
included; CPU seconds are compared. A ratio is what GridSearchCV takes, divided by what KernelSearchCV takes.

Examples::

    python benchmarks/main_road.py
    python benchmarks/main_road.py --only digits svr
    python benchmarks/main_road.py --csv main_road.csv
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC
from threadpoolctl import threadpool_limits

from onefit import KernelSearchCV

WIDTHS, BOXES, RIDGES = np.logspace(-4, 1, 10), np.logspace(-2, 3, 10), np.logspace(-4, 2, 10)


@dataclass(frozen=True)
class Usage:
    """A search: its name, data, estimator and grid, and what else is passed to both programs."""

    name: str
    data: Callable
    estimator: object
    grid: dict
    options: dict = field(default_factory=dict)
    handed_over: bool = False  # nothing to gain: scikit-learn trains, and that must not cost more


def classes(n, d, n_classes=2, noise=0.1, seed=0):
    """Rows of several classes, some labels of which are wrong."""
    return datasets.make_classification(
        n, d, n_informative=max(3, d // 2), n_redundant=2, n_classes=n_classes,
        n_clusters_per_class=1 + (n_classes < 5), flip_y=noise, random_state=seed,
    )  # fmt: skip


def binary_features(n, d=120, seed=0):
    """Rows of zeros and ones with 14 ones each, as in the adult data."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    for row in X:
        row[rng.choice(d, 14, replace=False, p=np.arange(1, d + 1) / (d * (d + 1) / 2))] = 1.0
    score = X @ rng.normal(size=d) + 0.8 * rng.normal(size=n)
    return X, (score > np.quantile(score, 0.75)).astype(int)


def friedman(n, seed=0):
    return datasets.make_friedman1(n, 10, noise=1.0, random_state=seed)


def blobs(n):
    return datasets.make_blobs(n, 10, centers=2, cluster_std=4.0, random_state=0)


def bundled(name):
    return lambda: getattr(datasets, f"load_{name}")(return_X_y=True)


def scaled(machine):
    return make_pipeline(StandardScaler(), machine)


def usages() -> list[Usage]:
    svc = {"svc__gamma": WIDTHS, "svc__C": BOXES}
    svr = {"svr__gamma": np.logspace(-3, 0, 6), "svr__C": np.logspace(-1, 2, 6), "svr__epsilon": [0.05, 0.2]}
    ridge = {"kernelridge__gamma": WIDTHS, "kernelridge__alpha": RIDGES}
    five = {"gamma": np.logspace(-3, 1, 5), "C": np.logspace(-1, 3, 5)}
    krr = scaled(KernelRidge(kernel="rbf"))
    return [
        Usage("scaler + SVC 10 x 10, cancer (569)", bundled("breast_cancer"), scaled(SVC()), svc),
        Usage("scaler + SVC 10 x 10, 270 rows", lambda: classes(270, 13), scaled(SVC()), svc),
        Usage("scaler + SVC 10 x 10, 1,000 noisy rows", lambda: classes(1000, 24, noise=0.3), scaled(SVC()), svc),
        Usage("scaler + SVC 10 x 10, 1,600 rows of 0/1", lambda: binary_features(1600), scaled(SVC()), svc),
        Usage("scaler + SVC 10 x 10, wine (3 classes)", bundled("wine"), scaled(SVC()), svc),
        Usage("scaler + SVC 10 x 10, 4 classes (850)", lambda: classes(850, 18, 4), scaled(SVC()), svc),
        Usage("scaler + SVC balanced, roc_auc, 10 x 10 (600)", lambda: classes(600, 10),
              scaled(SVC(class_weight="balanced")), svc, {"scoring": "roc_auc"}),
        Usage("scaler + PCA + SVC, 3 x 6 x 6, cancer", bundled("breast_cancer"),
              make_pipeline(StandardScaler(), PCA(), SVC()),
              {"pca__n_components": [5, 10, 20], "svc__gamma": WIDTHS[2:8], "svc__C": BOXES[2:8]}),
        Usage("SVC(gamma='scale'), 8 C, 2,500 easy rows, scaler", lambda: blobs(2500),
              scaled(SVC()), {"svc__C": np.logspace(-2, 2, 8)}),
        Usage("SVC 5 x 5, 1,000 rows", lambda: classes(1000, 20), SVC(), five),
        Usage("SVC 5 x 5, 2,000 rows", lambda: classes(2000, 20), SVC(), five),
        Usage("SVC(poly) 4 x 5, 500 rows", lambda: classes(500, 10), scaled(SVC(kernel="poly", coef0=1.0)),
              {"svc__degree": [2, 3], "svc__gamma": [0.03, 0.1], "svc__C": np.logspace(-2, 1, 5)}),
        Usage("SVC 8 x 9, digits (10 classes)", bundled("digits"), SVC(),
              {"gamma": np.logspace(-5, -2, 8), "C": np.logspace(-1, 3, 9)}),
        Usage("scaler + SVC 3 x 3, digits", bundled("digits"), scaled(SVC()),
              {"svc__gamma": [1e-3, 1e-2, 1e-1], "svc__C": [0.1, 1, 10]}),
        Usage("SVC 3 x 3, 20 classes (1,000)", lambda: classes(1000, 20, 20, noise=0.0), SVC(),
              {"gamma": [0.01, 0.05, 0.2], "C": [0.1, 1, 10]}),
        Usage("SVC 4 x 4, iris", bundled("iris"), SVC(), {"gamma": [0.01, 0.1, 1, 10], "C": [0.1, 1, 10, 100]}),
        Usage("scaler + SVR 6 x 6 x 2, diabetes (442)", bundled("diabetes"), scaled(SVR()),
              {**svr, "svr__C": np.logspace(0, 3, 6), "svr__epsilon": [1.0, 10.0]}),
        Usage("scaler + SVR 6 x 6 x 2, 1,400 rows", lambda: friedman(1400), scaled(SVR()), svr),
        Usage("scaler + SVR 10 x 10, 500 rows", lambda: friedman(500), scaled(SVR()),
              {"svr__gamma": WIDTHS, "svr__C": BOXES}),
        Usage("scaler + KernelRidge 10 x 10, diabetes", bundled("diabetes"), krr, ridge),
        Usage("scaler + KernelRidge 10 x 10, 1,400 rows", lambda: friedman(1400), krr, ridge),
        Usage("KernelRidge 10 x 10, 1,000 rows", lambda: friedman(1000), KernelRidge(kernel="rbf"),
              {"gamma": WIDTHS, "alpha": RIDGES}),
        Usage("target transformed, scaler + SVR 8 x 6, diabetes", bundled("diabetes"),
              TransformedTargetRegressor(scaled(SVR()), transformer=PowerTransformer()),
              {"regressor__svr__gamma": np.logspace(-3, 0, 8), "regressor__svr__C": np.logspace(-1, 2, 6)}),
        Usage("SVC(linear), 3 C, digits", bundled("digits"), SVC(kernel="linear"), {"C": [0.01, 0.1, 1.0]}),
        Usage("SVC(poly), 3 C, 2,000 easy rows", lambda: blobs(2000), SVC(kernel="poly", gamma=0.01),
              {"C": [0.1, 1, 10]}),
        Usage("NuSVC 4 x 4 (retrained), cancer", bundled("breast_cancer"), scaled(NuSVC()),
              {"nusvc__nu": [0.05, 0.1, 0.2, 0.3], "nusvc__gamma": [1e-3, 1e-2, 1e-1, 1]}, handed_over=True),
    ]  # fmt: skip


@dataclass(frozen=True)
class Result:
    usage: Usage
    grid_seconds: float
    onefit_seconds: float
    agreement: str

    @property
    def ratio(self) -> float:
        return self.grid_seconds / self.onefit_seconds


def timed(search, X, y):
    start = time.process_time()
    search.fit(X, y)
    return search, time.process_time() - start


def split_scores(search) -> np.ndarray:
    """(candidates, folds)."""
    return np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)])


def agreement(ours, theirs) -> str:
    a, b = split_scores(ours), split_scores(theirs)
    best = b.mean(axis=1)
    same = np.isclose(best.max(), best[a.mean(axis=1).argmax()], atol=1e-3)
    difference = np.abs(a - b)
    winner = "same" if same else "OTHER"
    return f"{np.mean(difference > 1e-3):.1%} differ, at most {np.nanmax(difference):.0e}; winner {winner}"


def run(usage: Usage, reference: bool = True) -> Result:
    X, y = usage.data()
    kind = StratifiedKFold if hasattr(usage.estimator, "classes_") or len(np.unique(y)) < 50 else KFold
    options = {"cv": kind(5, shuffle=True, random_state=0), **usage.options}
    ours, seconds = timed(KernelSearchCV(usage.estimator, usage.grid, **options), X, y)
    if not reference:
        return Result(usage, np.nan, seconds, "")
    theirs, grid_seconds = timed(GridSearchCV(usage.estimator, usage.grid, **options), X, y)
    return Result(usage, grid_seconds, seconds, agreement(ours, theirs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="TEXT", help="usages whose name has one of these")
    parser.add_argument("--alone", action="store_true", help="do not run GridSearchCV")
    parser.add_argument("--csv", metavar="PATH", help="write the table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    np.ones(1 << 27)  # 1 GiB is touched: a virtual machine may take long to hand out memory for the first time
    with threadpool_limits(1):
        run(Usage("warm-up", bundled("iris"), SVC(), {"C": [1, 10], "gamma": [0.1, 1]}))
        for usage in usages():
            if any(text.lower() in usage.name.lower() for text in options.only):
                result = run(usage, not options.alone)
                results.append(result)
                print(
                    f"{usage.name:<52} {result.grid_seconds:8.2f} {result.onefit_seconds:8.2f} {result.ratio:6.1f}x  "
                    f"{result.agreement}", flush=True,
                )  # fmt: skip
    ratios = [result.ratio for result in results]
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, smallest {min(ratios):.2f}")
    print(f"onefit, all together {sum(result.onefit_seconds for result in results):.1f} CPU seconds")
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["usage", "GridSearchCV", "onefit", "ratio", "agreement"])
            for r in results:
                writer.writerow(
                    [r.usage.name, f"{r.grid_seconds:.2f}", f"{r.onefit_seconds:.2f}", f"{r.ratio:.2f}", r.agreement]
                )


if __name__ == "__main__":
    main()
