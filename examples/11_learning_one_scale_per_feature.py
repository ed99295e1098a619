"""
One scale per feature, and a brake
==================================

Two of fifteen features count. A Gaussian kernel with one width for all of them cannot know that; one with a scale for
each can learn it, by following the gradient of exact cross-validation. With as many parameters the criterion overfits:
outer folds, on which the whole search is repeated, tell at which step to stop.
"""

import matplotlib.pyplot as plt
import numpy as np

from onefit import LSSVR, KernelLearnCV, LearnedKernelDisplay, LearningPathDisplay
from onefit.kernels import ARD, Gaussian

rng = np.random.default_rng(2)
X, new = rng.normal(size=(150, 15)), rng.normal(size=(2000, 15))


def signal(X):
    return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


y = signal(X) + 0.5 * rng.normal(size=len(X))
search = KernelLearnCV(LSSVR(), ARD(Gaussian()), random_state=0).fit(X, y)
print(f"step {search.best_index_} of {search.n_iter_ - 1} was chosen, with an outer R² of {search.outer_score_:.2f}")

# %%
# Every step can be trained and tried on new rows. The value that is minimised keeps falling, the error does not.

errors = [
    np.mean((LSSVR(**params).fit(X, y).predict(new) - signal(new)) ** 2) for params in search.cv_results_["params"]
]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
LearningPathDisplay.from_search(search, ax=left)
left.plot(np.array(errors) / errors[0], "--", color="tab:red", label="error on new rows")
left.legend()
LearnedKernelDisplay.from_search(search, names=[f"x{j}" for j in range(15)], ax=right)
for step in (0, search.best_index_, search.n_iter_ - 1):
    print(f"step {step:2}: error on new rows {errors[step]:.3f}")
