"""
Several classes
===============

An SVC of ten classes is 45 machines, one for each pair of digits. They share one Gram matrix for every width, and the
out-of-fold labels of the best candidate come with the search.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score
from sklearn.svm import SVC

from onefit import KernelSearchCV

X, y = load_digits(return_X_y=True)
X, y = X[::3] / 16.0, y[::3]
search = KernelSearchCV(SVC(), {"gamma": np.logspace(-3, 0, 7), "C": np.logspace(-1, 2, 4)}, cv=5).fit(X, y)
best = search.best_params_
print(f"{len(X)} rows: gamma {best['gamma']:.3g}, C {best['C']:.3g}, accuracy {search.best_score_:.4f}")
print(search.ledger_)

# %%
# ``oof_prediction_`` has a label for every row from a machine that was not trained with it. It is what ``predict``
# would say, by votes of pairs; the largest of the decision values in ``oof_decision_`` rarely says something else.

print("out-of-fold accuracy:", round(accuracy_score(y, search.oof_prediction_), 4))
disagree = search.oof_decision_.argmax(axis=1) != search.oof_prediction_
print("rows where the largest decision value disagrees:", disagree.sum())

figure, axes = plt.subplots(figsize=(5.5, 5), layout="constrained")
ConfusionMatrixDisplay.from_predictions(y, search.oof_prediction_, ax=axes, colorbar=False, cmap="Blues")
axes.set_title("Out-of-fold labels of the best candidate")
plt.show()
