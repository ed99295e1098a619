"""RLScore's held-out errors of a grid of ridge regressions; run by ``other_pythons.py`` in the Python that has RLScore.

One eigendecomposition per width, and its hold-out shortcut for every ridge and fold.
"""

import sys
import time

import numpy as np
from rlscore.learner import RLS


def main(path_in, path_out):
    task = np.load(path_in)
    X, y, gammas, alphas = task["X"], task["y"], task["gammas"], task["penalties"]
    blocks = np.array_split(np.arange(len(y)), int(task["n_folds"]))
    scores = np.empty((len(gammas), len(alphas), len(blocks)))
    start = time.perf_counter()
    for i, gamma in enumerate(gammas):
        learner = RLS(X, y, kernel="GaussianKernel", gamma=gamma, regparam=alphas[0])
        for j, alpha in enumerate(alphas):
            learner.solve(alpha)
            for k, block in enumerate(blocks):
                scores[i, j, k] = -np.mean((learner.holdout(block) - y[block]) ** 2)
    np.savez(path_out, scores=scores, seconds=time.perf_counter() - start)


main(*sys.argv[1:])
