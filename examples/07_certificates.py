"""
Certified cross-validation
==========================

To know a score of labels one need not solve every fold to the end: it is enough to *prove* on which side of zero every
held-out value lies. ``criteria.CV(certify=True)`` stops a fold there, and ``prune=True`` gives up candidates whose best
possible score is below one that is proved. The winner is that of exact cross-validation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from onefit import KernelSearchCV, ValidationSurfaceDisplay, criteria

X, y = make_classification(400, 10, n_informative=5, flip_y=0.1, random_state=0)
grid = {"gamma": np.logspace(-4, 1, 11), "C": np.logspace(-1, 3, 9)}
exact = KernelSearchCV(SVC(), grid, cv=10).fit(X, y)
proving = criteria.CV(certify=True, prune=True)
proved = KernelSearchCV(SVC(), grid, criterion=proving, cv=10).fit(X, y)
for name, search in (("exact", exact), ("proved", proved)):
    best = search.best_params_
    print(f"{name:>6}: gamma {best['gamma']:.3g}, C {best['C']:.3g}, accuracy {search.best_score_:.4f}")

# %%
# Candidates are certified, or exact if a fold had to be solved to the end before everything was proved; then the
# scores are those of retraining. What is pruned keeps the score that was known when it was given up.

labels = proved.cv_results_["exactness"].astype(str)
kept = labels != "pruned"
difference = proved.cv_results_["mean_test_score"] - exact.cv_results_["mean_test_score"]
for label in np.unique(labels):
    print(f"{label:>9}: {(labels == label).sum():3d} candidates")
print("largest difference where nothing was pruned:", np.abs(difference[kept]).max())

# %%
# Where in the grid they are: grey candidates are pruned, ✓ marks certified ones, and the star is the winner.

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
ValidationSurfaceDisplay.from_search(proved, ax=axes)
plt.show()
