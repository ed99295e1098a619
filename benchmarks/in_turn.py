"""Time onefit's searches with L2SVC and with SVC in turn, on one thread, so that what slows the computer meets both.

One process differs from another by some percent: the pairs are spread over several.

Example::

    python benchmarks/in_turn.py --n 2000 --processes 2 --pairs 7
"""

import argparse
import multiprocessing
import time
import warnings
from statistics import median

from threadpoolctl import threadpool_limits

import support_vector
from onefit import KernelSearchCV

MACHINES = "l2svc", "svc"


def seconds(machine: str, n: int) -> float:
    """Of one search, the refit left out."""
    task = support_vector.make_task(machine, n, small=False)
    start = time.perf_counter()
    KernelSearchCV(task.machine, task.grid, cv=task.folds, refit=False).fit(task.X, task.y)
    return time.perf_counter() - start


def timed_pairs(n: int, count: int) -> list[tuple[float, float]]:
    """Seconds of both machines, which take turns at being first, after a search that is not counted."""
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for machine in MACHINES:
            seconds(machine, n)
        pairs = []
        for k in range(count):
            order = MACHINES[:: 1 if k % 2 == 0 else -1]
            taken = {machine: seconds(machine, n) for machine in order}
            pairs.append((taken["l2svc"], taken["svc"]))
    return pairs


def describe(pairs: list[tuple[float, float]]) -> str:
    """Ratios of the pairs, and of the fastest runs."""
    ratios, fastest = sorted(a / b for a, b in pairs), [min(side) for side in zip(*pairs)]
    return (
        f"L2SVC / SVC {median(ratios):.3f} in the median of {len(pairs)} pairs ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
        f"fastest runs {fastest[0]:.2f} s / {fastest[1]:.2f} s = {fastest[0] / fastest[1]:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=4, help="one after the other")
    parser.add_argument("--pairs", type=int, default=13, help="in each process")
    options = parser.parse_args()
    everything = []
    for number in range(options.processes):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pairs = pool.apply(timed_pairs, (options.n, options.pairs))
        print(f"n = {options.n}, process {number + 1}: {describe(pairs)}", flush=True)
        everything += pairs
    print(f"n = {options.n}, all: {describe(everything)}")


if __name__ == "__main__":
    main()
