"""
Pipelines, and what leaks
=========================

A scaler that has seen the test rows leaks. ``KernelSearchCV`` fits a Pipeline's transformers anew on every fold, as
``GridSearchCV`` does. Each fold then has kernel matrices of its own, which costs more; ``preprocessing="shared"``
fits the transformers once on all rows, is cheaper, and says so in every row of the results.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import KernelSearchCV

X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__gamma": np.logspace(-4, 1, 11), "svc__C": np.logspace(-1, 3, 9)}
folds = StratifiedKFold(5, shuffle=True, random_state=0)


def timed(search):
    """The fitted search, and the seconds of processor time that it took."""
    start = time.process_time()
    search.fit(X, y)
    return search, time.process_time() - start


KernelSearchCV(model, {"svc__C": [1.0]}, cv=2).fit(X[::4], y[::4])  # imports what is imported late

# %%
# With transformers per fold the scores are those of ``GridSearchCV``.

slow, slow_seconds = timed(GridSearchCV(model, grid, cv=folds))
fast, fast_seconds = timed(KernelSearchCV(model, grid, cv=folds))
same = np.isclose(slow.cv_results_["mean_test_score"], fast.cv_results_["mean_test_score"])
print(f"GridSearchCV {slow_seconds:.2f} s, KernelSearchCV {fast_seconds:.2f} s")
print(f"equal mean scores: {same.sum()} of {len(same)}; labels: {sorted(set(fast.cv_results_['exactness']))}")

# %%
# With one scaler for all rows they are close to it, and labelled approximate.

shared, shared_seconds = timed(KernelSearchCV(model, grid, cv=folds, preprocessing="shared"))
moved = np.abs(shared.cv_results_["mean_test_score"] - fast.cv_results_["mean_test_score"])
print(f"shared {shared_seconds:.2f} s; labels: {sorted(set(shared.cv_results_['exactness']))}")
print(f"largest change of a mean score: {moved.max():.4f}, of the best one: {moved[fast.best_index_]:.4f}")

figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(fast.cv_results_["mean_test_score"], shared.cv_results_["mean_test_score"], "o", alpha=0.5)
axes.axline((0.9, 0.9), slope=1, color="k", lw=1)
axes.set(xlabel="scaled within every fold", ylabel="scaled once", title="Mean accuracy of every candidate")
plt.show()

# %%
# A transformer that reads the target would leak the labels of the test rows: sharing it is refused.

supervised = make_pipeline(StandardScaler(), SelectKBest(k=5), SVC())
try:
    KernelSearchCV(supervised, grid, cv=folds, preprocessing="shared").fit(X, y)
except ValueError as refusal:
    print("ValueError:", refusal)
