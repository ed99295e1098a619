"""
Kernel ridge regression: widths and ridges
==========================================

For every width one factorisation serves all ridges and all folds. What that saves is measured here, on the machine
that built this page, in processor time.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.preprocessing import StandardScaler

from onefit import KernelSearchCV, ValidationSurfaceDisplay, one_standard_error

X, y = load_diabetes(return_X_y=True)
X, y = StandardScaler().fit_transform(X), y - y.mean()  # KernelRidge has no intercept; LSSVR does
gammas, alphas = np.logspace(-4, 0, 9), np.logspace(-3, 3, 13)
grid = {"gamma": gammas, "alpha": alphas}


def timed(search):
    """The fitted search, and the seconds of processor time that it took."""
    start = time.process_time()
    search.fit(X, y)
    return search, time.process_time() - start


slow, slow_seconds = timed(GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5))
fast, fast_seconds = timed(KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5))
print(f"{len(gammas) * len(alphas)} candidates x 5 folds on {len(X)} rows")
print(f"GridSearchCV {slow_seconds:.2f} s, KernelSearchCV {fast_seconds:.2f} s")
print(f"{slow_seconds / fast_seconds:.0f} times faster")
difference = np.abs(slow.cv_results_["mean_test_score"] - fast.cv_results_["mean_test_score"]).max()
print(f"largest difference of any mean score: {difference:.1e}")
print(fast.ledger_)

# %%
# Leave-one-out costs no more than five folds, because it comes from the same factorisations. ``GridSearchCV`` would
# train 442 times for each of the 117 candidates.

left_out, seconds = timed(
    KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=LeaveOneOut(), scoring="neg_mean_squared_error")
)
best = left_out.best_params_
print(f"leave-one-out in {seconds:.2f} s: gamma {best['gamma']:.3g}, alpha {best['alpha']:.3g}")

# %%
# The surface is flat around its top. ``refit=one_standard_error`` takes the smoothest candidate that is within a
# standard error of the best; in the picture it is the diamond, and the best one the star.

smooth, _ = timed(KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, refit=one_standard_error))
for name, search in (("best", fast), ("smoothest", smooth)):
    print(f"{name}: gamma {search.best_params_['gamma']:.3g}, alpha {search.best_params_['alpha']:.3g}")

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
ValidationSurfaceDisplay.from_search(fast, ax=axes)
plt.show()
