"""
Out-of-fold values: curves and probabilities
============================================

A search knows the decision value of every row from a machine that was trained without it. ROC curves, thresholds and
probabilities follow from these values, without training anything again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_moons
from sklearn.metrics import RocCurveDisplay, brier_score_loss
from sklearn.svm import SVC

from onefit import KernelSearchCV, calibrated, cross_val_decision

X, y = make_moons(1200, noise=0.35, random_state=0)
train, test = slice(0, 400), slice(400, None)
grid = {"gamma": np.logspace(-2, 1, 7), "C": np.logspace(-2, 2, 9)}
search = KernelSearchCV(SVC(), grid, cv=10, scoring="roc_auc").fit(X[train], y[train])
best = search.best_params_
print(f"gamma {best['gamma']:.3g}, C {best['C']:.3g}, area under the curve {search.best_score_:.4f}")

# %%
# ``calibrated`` fits Platt's curve to the out-of-fold values; probabilities of new rows come from the best estimator's
# decision values through this curve.

model = calibrated(search)
probability = model.predict_proba(X[test])[:, 1]
print(f"Brier score on {len(probability)} new rows: {brier_score_loss(y[test], probability):.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
RocCurveDisplay.from_predictions(y[train], search.oof_decision_, ax=left, name="out of fold")
RocCurveDisplay.from_predictions(y[test], search.decision_function(X[test]), ax=left, name="new rows")
CalibrationDisplay.from_predictions(y[test], probability, n_bins=8, ax=right, name="calibrated")
plt.show()

# %%
# For a single estimator ``cross_val_decision`` gives the same values. Retraining on every fold, to compare, agrees to
# the tolerance at which LIBSVM stops.

exact = cross_val_decision(search.best_estimator_, X[train], y[train], cv=10)
retrained = cross_val_decision(search.best_estimator_, X[train], y[train], cv=10, method="retrain")
print("the search's own values:", bool(np.allclose(exact, search.oof_decision_)))
print(f"largest difference to retraining: {np.abs(exact - retrained).max():.1e}")
