"""liquidSVM's validation accuracies of a grid; run by ``other_pythons.py`` in the Python that has liquidSVM.

Its machine has no bias and stops at a loose tolerance. Folds are contiguous blocks, as KFold's are.
"""

import sys
import sysconfig
import time

import numpy as np

# liquidSVM 1.0.1 looks for its library under a name that Python gave up after 3.4.
sysconfig.get_config_vars()["SO"] = sysconfig.get_config_var("EXT_SUFFIX")

import liquidSVM  # noqa: E402

FOLD, GAMMA, LAMBDA, VALIDATION_ERROR = 2, 3, 5, 7
"""Columns of the table of trainings."""


def main(path_in, path_out):
    task = np.load(path_in)
    gammas, Cs, n_folds = task["gammas"], task["penalties"], int(task["n_folds"])
    widths = 1 / np.sqrt(gammas)  # liquidSVM's kernel is exp(-|x - z|^2 / width^2)
    start = time.perf_counter()
    model = liquidSVM.mcSVM(
        task["X"],
        task["y"],
        mcType="AvA_hinge",
        folds=n_folds,
        FOLDS_KIND="BLOCKS",
        gammas=[round(float(width), 8) for width in widths],
        c_values=[float(C) for C in Cs],
        threads=1,
        display=0,
    )
    seconds = time.perf_counter() - start
    rows = model.errTrain
    order = np.lexsort((rows[:, FOLD], -rows[:, LAMBDA], -rows[:, GAMMA]))  # widths fall as gammas rise
    scores = 1 - rows[order, VALIDATION_ERROR].reshape(len(gammas), len(Cs), n_folds)
    np.savez(path_out, scores=scores, seconds=seconds)


main(*sys.argv[1:])
