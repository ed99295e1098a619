"""
Certified cross-validation
==========================

To know a score of labels one need not solve every fold to the end: it is enough to *prove* on which side of zero every
held-out value lies. ``criteria.CV(certify=True)`` stops a fold there, and ``prune=True`` gives up candidates whose best
possible score is below one that is proved. The winner is that of exact cross-validation.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from onefit import KernelSearchCV, criteria

X, y = make_classification(400, 10, n_informative=5, flip_y=0.1, random_state=0)
gammas, Cs = np.logspace(-4, 1, 11), np.logspace(-1, 3, 9)
grid = {"gamma": gammas, "C": Cs}
exact = KernelSearchCV(SVC(), grid, cv=10).fit(X, y)
proved = KernelSearchCV(SVC(), grid, criterion=criteria.CV(certify=True, prune=True), cv=10).fit(X, y)
for name, search in (("exact", exact), ("proved", proved)):
    best = search.best_params_
    print(f"{name:>6}: gamma {best['gamma']:.3g}, C {best['C']:.3g}, accuracy {search.best_score_:.4f}")

# %%
# A certified score of labels has an error bound of zero. That of a pruned candidate says how far its score could still
# have gone, and what was known is not less than the truth.

labels = proved.cv_results_["exactness"].astype(str)
kept = labels != "pruned"
difference = proved.cv_results_["mean_test_score"] - exact.cv_results_["mean_test_score"]
for label in np.unique(labels):
    print(f"{label:>9}: {(labels == label).sum():3d} candidates")
print("largest difference where nothing was pruned:", np.abs(difference[kept]).max())

# %%
# Where in the grid it was done how:

kinds = np.array(["certified", "exact", "pruned"])
codes = np.searchsorted(kinds, labels).reshape(len(Cs), len(gammas))
figure, axes = plt.subplots(figsize=(6.5, 4))
colours = ListedColormap(["#0072b2", "#56b4e9", "#e6e6e6"])
mesh = axes.pcolormesh(gammas, Cs, codes, shading="nearest", cmap=colours, vmin=-0.5, vmax=2.5)
axes.plot(proved.best_params_["gamma"], proved.best_params_["C"], "k*", markersize=14)
axes.set(xscale="log", yscale="log", xlabel="gamma", ylabel="C", title="How each candidate was judged")
figure.colorbar(mesh, ticks=range(len(kinds))).ax.set_yticklabels(kinds)
plt.show()
