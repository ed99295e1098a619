"""Random scorings, and which of them vary continuously with a machine's values."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import make_scorer, zero_one_loss

LABELS = ["accuracy", "balanced_accuracy", "f1_macro", "errors"]
RANKS = ["roc_auc", "average_precision"]
CONTINUOUS = ["r2", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_max_error"]


def mean_size(estimator, X, y):
    """A scorer of one's own, which reads decision values."""
    return float(np.abs(estimator.decision_function(X)).mean())


def two_errors(estimator, X, y):
    """A scorer that returns several metrics."""
    missed = np.asarray(y) - estimator.predict(X)
    return {"bias": -abs(float(missed.mean())), "spread": -float(missed.std())}


def two_shares(estimator, X, y):
    """A scorer that returns several shares of right labels."""
    right = estimator.predict(X) == np.asarray(y)
    return {"right": float(right.mean()), "first": float(right[0])}


SCORERS = {"errors": make_scorer(zero_one_loss, greater_is_better=False)}


def draw(rng, y, classifier, single_rows):
    """``scoring`` and ``refit`` of a search."""
    if single_rows:  # means over rows, which do not depend on how rows are put together
        names = ["accuracy"] if classifier else ["neg_mean_absolute_error", "neg_mean_squared_error"]
        return {"scoring": str(rng.choice(names))}
    kind = rng.choice(["default", "name", "several", "own"], p=[0.2, 0.5, 0.2, 0.1])
    if kind == "default":
        return {"scoring": None}
    if kind == "own":
        if classifier:
            return {"scoring": mean_size} if rng.random() < 0.5 else {"scoring": two_shares, "refit": "right"}
        return {"scoring": two_errors, "refit": "spread"}
    names = _names(y, classifier)
    if kind == "name":
        name = str(rng.choice(names))
        return {"scoring": SCORERS.get(name, name)}
    chosen = [str(name) for name in rng.choice(names, size=2, replace=False)]
    return {"scoring": {name: SCORERS.get(name, name) for name in chosen}, "refit": chosen[0]}


def _names(y, classifier):
    if not classifier:
        return CONTINUOUS if np.ndim(y) == 1 else CONTINUOUS[:-1]
    return LABELS + RANKS * 2 if len(np.unique(y)) == 2 else LABELS


def is_continuous(scoring, classifier):
    """Whether scores move with every value a little, rather than with labels and ranks by jumps."""
    return not classifier or scoring is mean_size
