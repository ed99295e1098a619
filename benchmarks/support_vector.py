"""Time one search for a kernel width and C of a support vector machine by several programs; check that answers agree.

All of them evaluate the same grid on the same folds, one after the other, in one process and on one thread; CPU
seconds, scoring included and the refit not:

grid         scikit-learn's GridSearchCV, which trains every candidate on every fold
precomputed  the same on Gram matrices that are computed once per width
intelex      GridSearchCV on scikit-learn-intelex's SVC, if that is installed
onefit       KernelSearchCV

Examples::

    python benchmarks/support_vector.py --small
    python benchmarks/support_vector.py --machine svr --n 1000
    python benchmarks/support_vector.py --n 2000 --peers grid onefit
    python benchmarks/support_vector.py --n 8000 --peers onefit grid --every 3
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from onefit import L2SVC, KernelSearchCV
from picture import write_bars


@dataclass(frozen=True)
class Task:
    """Data, machine and grid, the same for all."""

    X: np.ndarray
    y: np.ndarray
    machine: object
    gammas: np.ndarray
    Cs: np.ndarray
    folds: KFold

    @property
    def grid(self):
        """What GridSearchCV calls param_grid."""
        return {"gamma": self.gammas, "C": self.Cs}


def make_task(machine: str, n: int, small: bool) -> Task:
    """Random rows in 20 dimensions; the target depends on three of them, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]
    widths, Cs = 2.0 ** np.arange(-10, 11), 2.0 ** np.arange(-4, 11, 2)
    if machine == "svr":
        widths, Cs = 2.0 ** np.arange(-10, 4, 2), 2.0 ** np.arange(-2, 5, 2)
        y, model = f + 0.3 * rng.normal(size=n), SVR(epsilon=0.1)
    else:
        y, model = np.sign(f + 0.3 * rng.normal(size=n)), L2SVC() if machine == "l2svc" else SVC()
    if small:
        widths, Cs = widths[::4], Cs[::3]
    return Task(X, y, model, widths, Cs, KFold(10))


def thinned(task: Task, every: int) -> tuple[Task, np.ndarray]:
    """A task with every k-th width and C, and where its candidates are among all of them."""
    widths, Cs = np.arange(len(task.gammas))[::every], np.arange(len(task.Cs))[::every]
    # the parameters of a grid are sorted by name: C comes before gamma
    numbers = (Cs[:, None] * len(task.gammas) + widths).ravel()
    return replace(task, gammas=task.gammas[widths], Cs=task.Cs[Cs]), numbers


def split_scores(results) -> np.ndarray:
    """(candidates, folds)."""
    return np.column_stack([results[f"split{k}_test_score"] for k in range(10)])


def by_grid(task: Task):
    return split_scores(
        GridSearchCV(task.machine, task.grid, cv=task.folds, refit=False).fit(task.X, task.y).cv_results_
    )


def by_precomputed(task: Task):
    """One Gram matrix per width; candidates in the order of GridSearchCV's grid."""
    model = type(task.machine)(**{**task.machine.get_params(), "kernel": "precomputed"})
    parts = []
    for gamma in task.gammas:
        K = rbf_kernel(task.X, gamma=gamma)
        search = GridSearchCV(model, {"C": task.Cs}, cv=task.folds, refit=False).fit(K, task.y)
        parts.append(split_scores(search.cv_results_))
    return np.stack(parts, axis=1).reshape(-1, 10)


def by_intelex(task: Task):
    """None if it is not installed."""
    try:
        import sklearnex.svm as fast
    except ImportError:
        return None
    if not hasattr(fast, type(task.machine).__name__):
        return None
    model = getattr(fast, type(task.machine).__name__)(**task.machine.get_params())
    return split_scores(GridSearchCV(model, task.grid, cv=task.folds, refit=False).fit(task.X, task.y).cv_results_)


def by_onefit(task: Task):
    search = KernelSearchCV(task.machine, task.grid, cv=task.folds, refit=False).fit(task.X, task.y)
    print("\n  where onefit's time goes:", *str(search.ledger_).splitlines(), sep="\n    ")
    labels, counts = np.unique(search.cv_results_["exactness"].astype(str), return_counts=True)
    print("  labels:", dict(zip(labels.tolist(), counts.tolist())))
    return split_scores(search.cv_results_)


PEERS = {"grid": by_grid, "precomputed": by_precomputed, "intelex": by_intelex, "onefit": by_onefit}


def agreement(ours: np.ndarray, theirs: np.ndarray, rows_per_fold: float, classifier: bool) -> str:
    """How many (candidate, fold) cells differ and by how much."""
    difference = np.abs(ours - theirs)
    best = bool(np.isclose(theirs.mean(axis=1).max(), theirs.mean(axis=1)[ours.mean(axis=1).argmax()]))
    if not classifier:
        return f"largest difference of R² {difference.max():.1e}; same winner or tied: {best}"
    unequal = difference > 1e-9
    return (
        f"{unequal.mean():.2%} of the cells differ, by at most {difference.max() * rows_per_fold:.1f} samples; "
        f"same winner or tied: {best}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", choices=["svc", "svr", "l2svc"], default="svc")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--small", action="store_true", help="a few candidates only")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="others than onefit: every K-th width and C")
    parser.add_argument("--picture", metavar="PATH", help="write a bar chart (SVG)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    by_onefit(make_task(options.machine, 60, True))  # import what is imported late
    task = make_task(options.machine, 300 if options.small else options.n, options.small)
    n = len(task.y)
    print(f"\n{options.machine}, n = {n}: {len(task.gammas)} widths x {len(task.Cs)} C x 10 folds, one thread")
    seconds, answers = {}, {}
    part, numbers = thinned(task, options.every)
    share = len(numbers) / (len(task.gammas) * len(task.Cs))  # of the candidates; seconds are scaled up
    with threadpool_limits(1):
        for name in options.peers:
            start = time.process_time()
            answer = PEERS[name](task if name == "onefit" else part)
            if answer is None:
                print(f"  {name:<12} not available")
                continue
            seconds[name] = (time.process_time() - start) / (1.0 if name == "onefit" else share)
            answers[name] = answer[numbers] if name == "onefit" else answer
            print(f"  {name:<12} {seconds[name]:8.2f} s", flush=True)
    if "onefit" in seconds:
        for name in answers:
            if name != "onefit":
                text = agreement(answers["onefit"], answers[name], n / 10, options.machine != "svr")
                print(f"  {name} / onefit: {seconds[name] / seconds['onefit']:.1f}x; {text}")
    if options.picture:
        draw(options.picture, task, seconds)


def draw(path: str, task: Task, seconds: dict[str, float]) -> None:
    """Bars of seconds, with ratios to GridSearchCV."""
    names = {"grid": "GridSearchCV", "precomputed": "with Gram matrices", "intelex": "intelex", "onefit": "onefit"}
    rows = []
    for name, value in seconds.items():
        ratio = f" ({seconds['grid'] / value:.1f}x)" if "grid" in seconds and name != "grid" else ""
        rows.append((names[name], value, f"{value:.1f} s{ratio}"))
    title = f"{len(task.gammas) * len(task.Cs)} candidates x 10 folds of {type(task.machine).__name__}"
    subtitle = f"{len(task.y)} rows, {task.X.shape[1]} columns, one thread; ratios to GridSearchCV"
    write_bars(path, title, subtitle, rows, "onefit")


if __name__ == "__main__":
    main()
