"""Time peers that need a Python of their own against onefit, on the same data, folds and grid; one thread.

liquidSVM  support vector machines; its 1.0.1 builds from source (`pip install liquidSVM`)
RLScore    least squares; the C sources of its 0.8.1 compile up to Python 3.6

Peers run in processes of their own, which time themselves without start-up and imports. liquidSVM's machine has no
bias and a loose stopping rule, so only the accuracies of the winners are compared.

Example::

    python benchmarks/other_pythons.py --liquidsvm PATH/bin/python --rlscore PATH/bin/python
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import kernel_ridge
import support_vector

PEERS = Path(__file__).parent / "peers"


def elsewhere(python: str, script: str, **task: np.ndarray) -> tuple[np.ndarray, float]:
    """(scores of each width, penalty and fold; seconds) of a script run by another Python."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "task.npz", Path(folder) / "found.npz"
        np.savez(given, **task)
        subprocess.run([python, PEERS / script, given, found], check=True, stdout=subprocess.DEVNULL)
        with np.load(found) as answer:
            return answer["scores"], float(answer["seconds"])


def against_liquidsvm(python: str, n: int) -> None:
    """The grid of ``support_vector.py``."""
    task = support_vector.make_task("svc", n, small=False)
    theirs, seconds = elsewhere(
        python, "liquid_svm.py", X=task.X, y=task.y, gammas=task.gammas, penalties=task.Cs, n_folds=10
    )
    start = time.perf_counter()
    ours = support_vector.by_onefit(task)
    own = time.perf_counter() - start
    best = max(ours.mean(axis=1)), theirs.mean(axis=2).max()
    print(f"SVC, n = {n}: liquidSVM {seconds:.2f} s, onefit {own:.2f} s: {seconds / own:.1f}x")
    print(f"  best accuracies: onefit {best[0]:.4f} (with a bias, exact), liquidSVM {best[1]:.4f} (none)")


def against_rlscore(python: str, n: int) -> None:
    """The grid of ``kernel_ridge.py``."""
    task = kernel_ridge.make_task(n, small=False)
    theirs, seconds = elsewhere(
        python, "rls_core.py", X=task.X, y=task.y, gammas=task.gammas, penalties=task.alphas, n_folds=task.n_folds
    )
    ours = kernel_ridge.measure(kernel_ridge.with_onefit, task)
    difference = np.abs(ours.answer.scores - theirs)[:, task.well_conditioned].max()
    print(f"KernelRidge, n = {n}: RLScore {seconds:.2f} s, onefit {ours.seconds:.2f} s: {seconds / ours.seconds:.1f}x")
    print(f"  largest difference of a split's score at well-conditioned ridges: {difference:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liquidsvm", metavar="PYTHON", help="a Python that can import liquidSVM")
    parser.add_argument("--rlscore", metavar="PYTHON", help="a Python that can import rlscore")
    parser.add_argument("--n", type=int, default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.liquidsvm:
            support_vector.by_onefit(support_vector.make_task("svc", 60, small=True))  # compile
            against_liquidsvm(options.liquidsvm, options.n)
        if options.rlscore:
            against_rlscore(options.rlscore, options.n)


if __name__ == "__main__":
    main()
