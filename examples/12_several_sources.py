"""
Several sources of data
=======================

Columns that come from different instruments deserve kernels of their own. A weighted sum of them has one weight for
each source, which cross-validation can learn: sources that say nothing about the target lose theirs.
"""

import numpy as np
import pandas as pd

from onefit import LSSVR, KernelLearnCV, LearnedKernelDisplay
from onefit.kernels import Columns, Gaussian, WeightedSum

rng = np.random.default_rng(0)
n = 150
frame = pd.DataFrame({f"spectrum{j}": rng.normal(size=n) for j in range(6)})
frame["temperature"], frame["pressure"] = rng.normal(size=n), rng.normal(size=n)
y = np.sin(2.0 * frame["temperature"]) * frame["pressure"] + 0.2 * frame["spectrum0"] + 0.1 * rng.normal(size=n)

sources = {
    "spectrum": Columns(Gaussian(0.1), [f"spectrum{j}" for j in range(6)]),
    "conditions": Columns(Gaussian(0.5), ["temperature", "pressure"]),
    "everything": Gaussian(0.1),
}
for method in ("uniform", "align", "alignf", "gradient"):
    search = KernelLearnCV(LSSVR(), WeightedSum(list(sources.values())), method=method, random_state=0).fit(frame, y)
    weights = np.array(search.best_estimator_.kernel.weights)
    shares = ", ".join(f"{name} {share:.2f}" for name, share in zip(sources, weights / weights.sum()))
    print(f"{method:>8}: outer R² {search.outer_score_:.3f} with {shares}")

LearnedKernelDisplay.from_kernel(search.best_estimator_.kernel, names=list(sources))
