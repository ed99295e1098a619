"""What `make demo` runs: the same two searches by GridSearchCV and by onefit, on data that ship with scikit-learn.

Takes less than a minute on one core.
"""

import time
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from onefit import KernelSearchCV

WIDTH = 92
SHADES = (("█", 0.01), ("▓", 0.03), ("▒", 0.10), ("░", 0.30))
"""A shade, and by how much of the best score a cell may fall short of it; worse cells are dots."""


@dataclass(frozen=True)
class Comparison:
    """Both searches, fitted, and their wall-clock seconds."""

    slow: GridSearchCV
    fast: KernelSearchCV
    slow_seconds: float
    fast_seconds: float

    @property
    def n_candidates(self) -> int:
        """Points of the grid."""
        return len(self.fast.cv_results_["params"])

    @property
    def n_fits(self) -> int:
        """Trainings that GridSearchCV needs before it refits the best."""
        return self.n_candidates * self.fast.n_splits_

    @property
    def largest_difference(self) -> float:
        """Of the scores of any candidate on any fold."""
        names = [f"split{k}_test_score" for k in range(self.fast.n_splits_)]
        return max(np.abs(self.fast.cv_results_[name] - self.slow.cv_results_[name]).max() for name in names)


def regression() -> Comparison:
    """Kernel ridge regression on the diabetes data."""
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), y - y.mean()  # KernelRidge has no intercept
    title("Regression: KernelRidge on diabetes", X)
    grid = {"gamma": np.logspace(-4, 1, 16), "alpha": np.logspace(-4, 3, 15)}
    return compare(KernelRidge(kernel="rbf"), grid, X, y)


def classification() -> Comparison:
    """Support vector machine on the breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    title("Classification: SVC on breast cancer", X)
    KernelSearchCV(SVC(gamma=0.1), {"C": [1.0]}, cv=2).fit(X[:40], y[:40])  # imports what is imported late
    grid = {"gamma": np.logspace(-5, 0, 16), "C": np.logspace(-2, 4, 13)}
    return compare(SVC(kernel="rbf"), grid, X, y)


def compare(estimator, grid: dict, X: np.ndarray, y: np.ndarray) -> Comparison:
    """Run both searches with the same arguments."""
    searches, seconds = [], []
    for kind in (GridSearchCV, KernelSearchCV):
        print(f"  {kind.__name__:<15} is searching ...", end=" ", flush=True)
        start = time.perf_counter()
        searches.append(kind(estimator, grid, cv=10).fit(X, y))
        seconds.append(time.perf_counter() - start)
        print(f"{seconds[-1]:6.2f} s")
    return Comparison(*searches, *seconds)


def title(text: str, X: np.ndarray) -> None:
    """A heading with the size of the data."""
    print("\n" + f"── {text}, {X.shape[0]} rows, {X.shape[1]} columns ".ljust(WIDTH, "─"))


def report(result: Comparison) -> None:
    """What was searched, what both found, what it cost."""
    print(f"\n  searched    {result.n_candidates} candidates x {result.fast.n_splits_} folds")
    for search in (result.slow, result.fast):
        best = ", ".join(f"{name}={value:.3g}" for name, value in sorted(search.best_params_.items()))
        print(f"  best        {type(search).__name__:<15} {best}, score {search.best_score_:.6f}")
    same = result.slow.best_params_ == result.fast.best_params_
    print(f"  agreement   {'same winner' if same else 'DIFFERENT WINNERS'}, ", end="")
    largest = result.largest_difference
    print(f"largest difference of a score on any fold: {largest:.0e}" if largest else "all scores on all folds equal")
    ledger = result.fast.ledger_
    print(f"  cost        {ledger['base']} distance matrix, {ledger['gram']} Gram matrices, ", end="")
    if ledger["fold solution"]:
        print(f"{ledger['fold solution']} solutions along paths of C ", end="")
    else:
        print(f"{ledger['eigendecomposition'] + ledger['cholesky']} factorisations ", end="")
    print(f"instead of {result.n_fits} fits")
    ratio = result.slow_seconds / result.fast_seconds
    print(f"  saving      {ratio:.0f}x faster: {result.fast_seconds:.2g} s instead of {result.slow_seconds:.2g} s")


def heat_map(search: KernelSearchCV) -> None:
    """Mean test scores as shades: rows are widths, columns are ridges."""
    gammas, alphas = (np.asarray(search.param_grid[name]) for name in ("gamma", "alpha"))
    scores = search.cv_results_["mean_test_score"].reshape(len(alphas), len(gammas)).T  # alpha is the outer loop
    best = divmod(search.best_index_, len(gammas))[::-1]
    print("\n  mean test score by gamma (down) and alpha (across)\n")
    print(" " * 12 + "".join(f"{_short(alpha):^5}" for alpha in alphas))
    for i, gamma in enumerate(gammas):
        cells = [_cell(scores[i, j], search.best_score_, (i, j) == best) for j in range(len(alphas))]
        print(f"  {_short(gamma):>8}  " + "".join(cells))
    legend = "  ".join(f"{shade * 2} within {share:.0%}" for shade, share in SHADES)
    print(f"\n  ◆ best  {legend}  ·· further below the best score")


def _cell(score: float, best: float, is_best: bool) -> str:
    """Five characters wide."""
    shortfall = (best - score) / abs(best)
    shade = next((shade for shade, share in SHADES if shortfall <= share), "·")
    return f"{shade * 2}◆{shade * 2}" if is_best else shade * 5


def _short(value: float) -> str:
    """At most four characters: 3e-4, 0.03, 3.2, 316."""
    if value < 0.01:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def main() -> None:
    """Both searches on one thread, the first one with a picture."""
    start = time.perf_counter()
    with threadpool_limits(1):
        result = regression()
        report(result)
        heat_map(result.fast)
        report(classification())
    print(f"\n{'─' * WIDTH}\n  Everything took {time.perf_counter() - start:.0f} s on one thread.")


if __name__ == "__main__":
    main()
