"""
Support vector regression, three parameters
===========================================

Width, penalty and the tolerance ``epsilon`` of an SVR are searched together, scored by two metrics. The predictions
that the scores were made of are kept.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from onefit import KernelSearchCV

X, y = load_diabetes(return_X_y=True)
X = StandardScaler().fit_transform(X)
grid = {"gamma": np.logspace(-4, -1, 7), "C": np.logspace(0, 3, 7), "epsilon": [3.0, 10.0, 30.0, 60.0]}
search = KernelSearchCV(SVR(), grid, cv=5, scoring=["r2", "neg_mean_absolute_error"], refit="r2").fit(X, y)
print({name: f"{value:.3g}" for name, value in search.best_params_.items()})
print(f"R² {search.best_score_:.3f}")
print(f"its mean absolute error {-search.cv_results_['mean_test_neg_mean_absolute_error'][search.best_index_]:.1f}")

# %%
# ``oof_decision_`` holds the prediction of every row by the machine that was trained without its fold.

predicted = search.oof_decision_
print(f"R² pooled over all rows {r2_score(y, predicted):.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(y, predicted, ".", alpha=0.6)
left.axline((150, 150), slope=1, color="k", lw=1)
left.set(xlabel="target", ylabel="out-of-fold prediction")
right.plot(predicted, y - predicted, ".", alpha=0.6)
right.axhspan(-search.best_params_["epsilon"], search.best_params_["epsilon"], alpha=0.2, label="within epsilon")
right.axhline(0, color="k", lw=1)
right.set(xlabel="out-of-fold prediction", ylabel="residual")
right.legend()
plt.show()
