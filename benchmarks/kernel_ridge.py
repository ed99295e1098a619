"""Time one search for a kernel width and a ridge by several programs, and check that their answers agree.

All of them evaluate the same grid of Gaussian kernel ridge regressions on the same folds, one after the other,
in one process and on one thread:

grid      scikit-learn's GridSearchCV, which trains every candidate on every fold
himalaya  one eigendecomposition per width and fold
numpy     one eigendecomposition per width and the block hold-out identity, in a dozen lines of plain NumPy
onefit    KernelSearchCV
loo       KernelSearchCV with LeaveOneOut instead of the folds

Examples::

    python benchmarks/kernel_ridge.py --small
    python benchmarks/kernel_ridge.py --n 2000 --peers numpy onefit
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import ctypes
import gc
import re
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from threadpoolctl import threadpool_limits

from onefit import KernelSearchCV
from picture import write_bars

TOLERANCE = 1e-6
"""Largest accepted difference between two scores; the target has variance one."""

WELL_CONDITIONED = 1e8
"""Ridges are compared up to this condition number of K + alpha I: eight digits of a solution are then safe."""


@dataclass(frozen=True)
class Task:
    """Data and grid, the same for all."""

    X: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    gammas: np.ndarray  # (W,)
    alphas: np.ndarray  # (A,)
    n_folds: int

    @property
    def grid(self) -> dict[str, np.ndarray]:
        """What GridSearchCV calls param_grid."""
        return {"gamma": self.gammas, "alpha": self.alphas}

    @property
    def folds(self) -> KFold:
        """Contiguous folds: the rows are in random order already."""
        return KFold(self.n_folds)

    @property
    def well_conditioned(self) -> np.ndarray:
        """Which ridges to compare; a Gaussian Gram matrix has no eigenvalue above n."""
        return (len(self.y) + self.alphas) / self.alphas <= WELL_CONDITIONED


@dataclass(frozen=True)
class Answer:
    """Negative mean squared errors of each width, ridge and fold, and the chosen pair."""

    scores: np.ndarray  # (W, A, folds)
    best: tuple[float, float]  # gamma, alpha
    search: KernelSearchCV | None = None


@dataclass(frozen=True)
class Measurement:
    """An answer and what it took."""

    answer: Answer
    seconds: float
    peak: float  # bytes above the start of the step; NaN where the system does not tell


def make_task(n: int, small: bool, d: int = 20, seed: int = 0) -> Task:
    """Standard normal rows, and a smooth function of two directions plus noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    directions = np.linalg.qr(random.standard_normal((d, 2)))[0]
    u, v = (X @ directions).T
    y = np.sin(1.5 * u) + 0.5 * u * v + 0.3 * random.standard_normal(n)
    y = (y - y.mean()) / y.std()
    if small:
        return Task(X, y, 2.0 ** np.arange(-9, 0, 2), 10.0 ** np.arange(-3, 2), 5)
    return Task(X, y, 2.0 ** np.arange(-10, 11), 10.0 ** np.arange(-7, 8), 10)


# --- The peers: one function each, from a task to an answer. None refits the winner on all rows. ---


def with_grid_search(task: Task) -> Answer:
    """scikit-learn: as many trainings as candidates times folds."""
    search = GridSearchCV(
        KernelRidge(kernel="rbf"),
        task.grid,
        scoring="neg_mean_squared_error",
        cv=task.folds,
        refit=False,
        error_score="raise",
    )
    return _read_search(search.fit(task.X, task.y), task)


def with_himalaya(task: Task) -> Answer:
    """himalaya's solver, a width at a time; its score function is the place to see the scores of all ridges."""
    from himalaya.kernel_ridge import solve_multiple_kernel_ridge_random_search

    seen = []

    def score(Y, predictions):
        seen.append(-((predictions - Y) ** 2).mean(axis=1))  # (A, 1), once a fold
        return seen[-1]

    winners = []
    for gamma in task.gammas:
        _, _, mean, alpha = solve_multiple_kernel_ridge_random_search(
            rbf_kernel(task.X, gamma=gamma)[None],
            task.y[:, None],
            n_iter=np.ones((1, 1)),  # a single kernel of weight one
            alphas=task.alphas,
            score_func=score,
            cv=task.folds,
            progress_bar=False,
            return_alphas=True,
        )
        winners.append((mean.item(), (float(gamma), alpha.item())))
    scores = np.array(seen).reshape(len(task.gammas), task.n_folds, len(task.alphas))
    return Answer(scores.transpose(0, 2, 1), max(winners)[1])


def with_numpy(task: Task) -> Answer:
    """Plain NumPy: held-out residuals of rows I are (I - H)_II^-1 (y - f)_I, for the hat matrix H of all rows."""
    y = task.y
    tests = [test for _, test in task.folds.split(task.X)]
    scores = np.empty((len(task.gammas), len(task.alphas), len(tests)))
    for i, gamma in enumerate(task.gammas):
        values, vectors = np.linalg.eigh(rbf_kernel(task.X, gamma=gamma))
        for j, alpha in enumerate(task.alphas):
            shrink = values / (values + alpha)
            fitted = vectors @ (shrink * (vectors.T @ y))
            for k, test in enumerate(tests):
                rows = vectors[test]
                remainder = np.eye(len(test)) - (rows * shrink) @ rows.T
                residuals = np.linalg.solve(remainder, (y - fitted)[test])
                scores[i, j, k] = -np.mean(residuals**2)
    i, j = np.unravel_index(scores.mean(axis=2).argmax(), scores.shape[:2])
    return Answer(scores, (float(task.gammas[i]), float(task.alphas[j])))


def with_onefit(task: Task) -> Answer:
    """KernelSearchCV on the same folds."""
    return _search_with_onefit(task, task.folds)


def with_onefit_loo(task: Task) -> Answer:
    """KernelSearchCV with leave-one-out."""
    return _search_with_onefit(task, LeaveOneOut())


def _search_with_onefit(task: Task, cv) -> Answer:
    search = KernelSearchCV(
        KernelRidge(kernel="rbf"),
        task.grid,
        scoring="neg_mean_squared_error",
        cv=cv,
        refit=False,
        error_score="raise",
    )
    return _read_search(search.fit(task.X, task.y), task)


def _read_search(search: GridSearchCV, task: Task) -> Answer:
    """Candidates are in the order of the parameters' names: alpha is the outer loop, gamma the inner one."""
    table = search.cv_results_
    splits = sum(re.fullmatch(r"split\d+_test_score", key) is not None for key in table)
    scores = np.array([table[f"split{k}_test_score"] for k in range(splits)])
    scores = scores.reshape(splits, len(task.alphas), len(task.gammas)).transpose(2, 1, 0)
    best = (float(search.best_params_["gamma"]), float(search.best_params_["alpha"]))
    return Answer(scores, best, search if isinstance(search, KernelSearchCV) else None)


PEERS: dict[str, tuple[str, Callable[[Task], Answer]]] = {
    "grid": ("GridSearchCV", with_grid_search),
    "himalaya": ("himalaya", with_himalaya),
    "numpy": ("plain NumPy", with_numpy),
    "onefit": ("onefit", with_onefit),
    "loo": ("onefit, leave-one-out", with_onefit_loo),
}
"""In the order in which they run. All but the last answer the same question; the first that runs is the reference."""


# --- Time and memory. ---


def measure(peer: Callable[[Task], Answer], task: Task) -> Measurement:
    """Run a peer once and note seconds and peak memory.

    The peak is that of the whole process's resident memory (VmHWM, which Linux sets back on request), so it
    counts the work space of LAPACK too, wherever that was allocated. Unlike a sampling thread it misses nothing
    and takes no time from the peer. Memory freed by the step before is given back first.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the edge of the tiny grid
        peer(make_task(40, small=True))  # lazy imports, BLAS buffers
    gc.collect()
    _give_back_free_memory()
    start_size = _reset_peak()
    start = time.perf_counter()
    answer = peer(task)
    seconds = time.perf_counter() - start
    return Measurement(answer, seconds, _status("VmHWM") - start_size)


def _give_back_free_memory() -> None:
    """Have glibc return free pages, so that the next step does not seem to live on nothing."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _reset_peak() -> float:
    """Set VmHWM back to what is in use now, and return that; NaN where it cannot be done."""
    try:
        with open("/proc/self/clear_refs", "w") as switch:
            switch.write("5")
    except OSError:
        return np.nan
    return _status("VmRSS")


def _status(field: str) -> float:
    """A size in bytes from /proc/self/status."""
    try:
        with open("/proc/self/status") as lines:
            return next(float(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration):
        return np.nan


def traced_peak(task: Task) -> float:
    """Peak bytes of all NumPy arrays in a second run of onefit.

    tracemalloc sees exactly the arrays, among them the work space that SciPy hands to LAPACK, but neither
    buffers inside OpenBLAS nor pages that the allocator keeps. It slows the run down, hence the second one.
    """
    tracemalloc.start()
    with_onefit(task)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


# --- Do the answers agree? ---


def score_differences(answer: Answer, reference: Answer, task: Task) -> tuple[float, float]:
    """Largest difference of any split's score: at well-conditioned ridges, and at all of them."""
    difference = np.abs(answer.scores - reference.scores)
    return float(difference[:, task.well_conditioned].max(initial=0.0)), float(difference.max())


def loo_difference(answer: Answer, task: Task, n_rows: int = 20) -> float:
    """Largest difference to really training the winner without a row, for some rows."""
    gamma, alpha = answer.best
    differences = []
    for row in np.linspace(0, len(task.y) - 1, n_rows).astype(int):
        kept = np.delete(np.arange(len(task.y)), row)
        model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(task.X[kept], task.y[kept])
        differences.append(model.predict(task.X[[row]])[0] - answer.search.oof_decision_[row])
    return float(np.abs(differences).max())


# --- What is printed. ---


def print_table(measured: dict[str, Measurement], task: Task) -> bool:
    """One line per peer; whether all answers agree."""
    names = [name for name in measured if name != "loo"]
    reference = measured[names[0]].answer if names else None
    label = PEERS[names[0]][0] if names else "-"
    print(f"\n{'':<22} {'seconds':>8} {'vs Grid-':>9} {'peak memory':>15} {'difference to ' + label:>26}  same")
    print(f"{'':<22} {'':>8} {'SearchCV':>9} {'MB':>8} {'n² dbl':>6} {'well-cond.':>14} {'all ridges':>11}  winner")
    agree = True
    for name, result in measured.items():
        if name == "loo":
            difference, everywhere, winner = loo_difference(result.answer, task), np.nan, "-"
        else:
            difference, everywhere = score_differences(result.answer, reference, task)
            winner = "yes" if np.allclose(result.answer.best, reference.best) else "NO"
        agree = agree and winner != "NO" and difference <= TOLERANCE  # not true of NaN either
        print(_line(name, result, measured.get("grid"), len(task.y), difference, everywhere, winner))
    _print_notes(measured, task)
    return agree


def _line(name, result, grid, n, difference, everywhere, winner) -> str:
    ratio = "-" if grid is None else f"{grid.seconds / result.seconds:.1f}x"
    memory = f"{result.peak / 1e6:>8.1f} {result.peak / (8 * n * n):>6.1f}"
    wide = "-" if name == "loo" else f"{everywhere:.1e}"
    return f"{PEERS[name][0]:<22} {result.seconds:>8.2f} {ratio:>9} {memory} {difference:>14.1e} {wide:>11}  {winner}"


def _print_notes(measured: dict[str, Measurement], task: Task) -> None:
    ridges = task.alphas[task.well_conditioned]
    print(f"\nwell-cond.: alpha >= {ridges.min():g}, condition number of K + alpha I at most {WELL_CONDITIONED:.0e}")
    if "loo" in measured:
        print("leave-one-out: difference of its winner's values to really training without a row, for 20 rows;")
        print(f"               the ratio is to GridSearchCV's {task.n_folds} folds")


def print_onefit(measured: dict[str, Measurement], task: Task) -> None:
    """What onefit chose and counted, and the memory of its arrays."""
    for name in ("onefit", "loo"):
        if name in measured:
            answer = measured[name].answer
            print(f"\n{PEERS[name][0]}: gamma={answer.best[0]:g} alpha={answer.best[1]:g}; its ledger:")
            print("\n".join("  " + line for line in str(answer.search.ledger_).splitlines()))
    if "onefit" in measured:
        print("\nonefit once more, with its arrays traced ...", flush=True)
        peak, square = traced_peak(task), 8 * len(task.y) ** 2
        print(f"  peak of its NumPy arrays: {peak / 1e6:.1f} MB, {peak / square:.1f} n x n arrays of doubles")


# --- The program. ---


def run(names: list[str], task: Task) -> dict[str, Measurement]:
    """Measure one peer after the other."""
    measured = {}
    for name in names:
        print(f"{PEERS[name][0]} ...", end=" ", flush=True)
        try:
            measured[name] = measure(PEERS[name][1], task)
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.split(".")[0] != name:
                raise
            print(f"{name} not installed: left out")
        else:
            print(f"{measured[name].seconds:.2f} s")
    return measured


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=None, help="number of rows (default: 1000, with --small 200)")
    parser.add_argument("--small", action="store_true", help="5 widths, 5 ridges, 5 folds: takes seconds")
    parser.add_argument("--skip-grid", action="store_true", help="leave out GridSearchCV and himalaya")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), help="which to run (default: all)")
    parser.add_argument("--picture", metavar="FILE", help="write a bar chart of the seconds to this SVG file")
    return parser.parse_args()


def draw(path: str, measured: dict[str, Measurement], task: Task) -> None:
    """The seconds of all peers as a picture."""
    grid = measured.get("grid")
    rows = []
    for name, result in measured.items():
        if name == "loo":  # another job
            continue
        ratio = 1.0 if grid is None else grid.seconds / result.seconds
        text = f"  ({ratio:.1f}x)" if ratio < 10 else f"  ({ratio:.0f}x)"
        rows.append((PEERS[name][0], result.seconds, f"{result.seconds:.1f} s{'' if name == 'grid' else text}"))
    candidates = len(task.gammas) * len(task.alphas)
    subtitle = f"{len(task.y)} rows, {task.X.shape[1]} columns, one thread; ratios to GridSearchCV; same answers"
    write_bars(path, f"{candidates} candidates x {task.n_folds} folds of kernel ridge", subtitle, rows, "onefit")


def main() -> int:
    """Run, compare, print; 0 if all answers agree."""
    arguments = parse_arguments()
    task = make_task(arguments.n or (200 if arguments.small else 1000), arguments.small)
    skipped = {"grid", "himalaya"} if arguments.skip_grid else set()
    names = [name for name in PEERS if name in arguments.peers and name not in skipped]
    print(
        f"{len(task.y)} rows, {task.X.shape[1]} columns; {len(task.gammas)} widths x {len(task.alphas)} ridges x "
        f"{task.n_folds} folds = {len(task.gammas) * len(task.alphas) * task.n_folds} trainings; one thread"
    )
    with threadpool_limits(1):
        measured = run(names, task)
        agree = print_table(measured, task)
        print_onefit(measured, task)
    if arguments.picture:
        draw(arguments.picture, measured, task)
    print("\nall answers agree" if agree else f"\nTHE ANSWERS DISAGREE by more than {TOLERANCE:g}, or in the winner")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
