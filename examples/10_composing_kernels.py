"""
Composing kernels
=================

Kernels are values: ``+`` and ``*`` combine them, and a grid can hold any number of combinations. The distances that
they have in common are computed once. Here a trend with a wave on it is predicted beyond the data, for which a narrow
Gaussian kernel alone is not made.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from onefit import LSSVR, KernelSearchCV
from onefit.kernels import Gaussian, Linear, Matern, Polynomial

rng = np.random.default_rng(0)
t = np.linspace(0.0, 10.0, 240)[:, None]
y = 0.8 * t[:, 0] + np.sin(2.0 * t[:, 0]) + 0.2 * rng.normal(size=len(t))
known = t[:, 0] < 8.0

kernels = {
    "Gaussian": Gaussian(1.0),
    "Linear": Linear(),
    "Gaussian + Linear": Gaussian(1.0) + Linear(),
    "Gaussian + 10 Linear": Gaussian(1.0) + 10.0 * Linear(),
    "Matern + Linear": Matern(1.0, nu=2.5) + Linear(),
    "Gaussian * Linear": Gaussian(0.1) * Polynomial(1),
}
grid = {"kernel": list(kernels.values()), "alpha": np.logspace(-3, 2, 11)}
search = KernelSearchCV(LSSVR(), grid, cv=TimeSeriesSplit(6), scoring="neg_mean_squared_error")
search.fit(t[known], y[known])
print(search.best_params_["kernel"], f"with alpha {search.best_params_['alpha']:.3g}")
print(search.ledger_)

# %%
# The best ridge for each kernel, and what it predicts where there was nothing to learn from.

results = search.cv_results_
for name, kernel in kernels.items():
    rows = [k for k, params in enumerate(results["params"]) if params["kernel"] == kernel]
    best = max(rows, key=lambda k: results["mean_test_score"][k])
    model = LSSVR(**results["params"][best]).fit(t[known], y[known])
    beyond = np.mean((y[~known] - model.predict(t[~known])) ** 2)
    print(f"{name:>20}: cross-validated error {-results['mean_test_score'][best]:6.3f}, beyond the data {beyond:6.3f}")

figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
axes.plot(t[known], y[known], ".", color="0.6", label="known")
axes.plot(t[~known], y[~known], ".", color="0.85", label="not shown to any model")
axes.plot(t, search.predict(t), lw=2, label="chosen by the search")
alone = LSSVR(kernel=kernels["Gaussian"], alpha=0.01).fit(t[known], y[known])
axes.plot(t, alone.predict(t), lw=1.5, label="Gaussian")
axes.legend()
plt.show()
