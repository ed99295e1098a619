"""
Criteria side by side, and screening
====================================

Cross-validation is one way to choose a kernel. ``compare`` lets others choose on the same grid, from the same
matrices, and cross-validates what they choose.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import KernelSearchCV, compare

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:300]
y = y[:300]
grid = {"gamma": np.logspace(-5, 1, 13), "C": [0.1, 1.0, 10.0, 100.0]}
chosen = ["cv", "span", "xi_alpha", "gacv", "sm", "ckta", "fsm"]
result = compare(SVC(), grid, X, y, chosen, cv=5)
print(result)

# %%
# ``cv_rank`` is the place, among all 52 candidates, of what a criterion chooses. Criteria of the machine (span,
# xi-alpha, GACV) see the penalty; the spectral measure, the alignment and FSM see the kernel matrix only: they cannot
# choose C, take the first one, and are ranked with it. FSM always prefers the narrowest kernel. Each curve is the best
# value over C, scaled to run from worst (0) to best (1).

figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
widths = np.array([candidate["gamma"] for candidate in result.candidates])
for name in ("cv", "span", "sm", "ckta", "fsm"):
    values = result.values[name] if result.greater_is_better[name] else -result.values[name]
    curve = np.array([np.nanmax(values[widths == gamma]) for gamma in grid["gamma"]])
    axes.plot(grid["gamma"], (curve - curve.min()) / np.ptp(curve), marker=".", label=name)
axes.set(xscale="log", xlabel="gamma", ylabel="worst to best", title="What criteria say about widths")
axes.legend()
plt.show()

# %%
# A criterion that needs no machine can *screen*: only the kernels that it likes best are cross-validated. The other
# candidates stay in the table, labelled and without scores.

wide = {"gamma": np.logspace(-5, 1, 13), "C": np.logspace(-1, 3, 9)}
everything = KernelSearchCV(SVC(), wide, cv=5).fit(X, y)
screened = KernelSearchCV(SVC(), wide, cv=5, screen=("ckta", 4)).fit(X, y)
labels, counts = np.unique(screened.cv_results_["exactness"].astype(str), return_counts=True)
print(dict(zip(labels.tolist(), counts.tolist())))
print(f"best of all kernels {everything.best_score_:.4f}, best of four {screened.best_score_:.4f}")
