"""A learner brings its own solver on explicit features: searches on landmarks know no machine by its name."""

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import onefit
from onefit.data import Folds, Targets
from onefit.gram import FeatureGram
from onefit.solvers.logistic.learner import Logistic
from onefit.solvers.primal.iterative import ByNewton

SEARCH = Path(onefit.__file__).parent / "search"


@pytest.mark.parametrize("name", ["feature_solver", "approximate", "forecast", "plan"])
def test_searches_on_features_name_no_learner(name):
    tree = ast.parse((SEARCH / f"{name}.py").read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level}
    assert not [module for module in imported if module and module.startswith("solvers") and "learner" in module]
    assert not [module for module in imported if module and module.startswith("solvers.svm")]


class ExponentialLoss:
    """``exp(-y f)``, which no machine of onefit has."""

    piecewise = False

    def value(self, y, f):
        return np.exp(-y * f)

    def slope(self, y, f):
        return -y * np.exp(-y * f)

    def curvature(self, y, f):
        return y**2 * np.exp(-y * f)


@dataclass(frozen=True)
class Boosting(Logistic):
    primal = ByNewton(10, ExponentialLoss())


@pytest.mark.parametrize("bias", [True, False])
def test_a_learner_with_another_loss_needs_its_loss_only(bias):
    rng = np.random.default_rng(0)
    Z, C = rng.normal(size=(60, 3)), 0.7
    y = np.where(Z[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)

    def objective(p, rows):
        f = Z[rows] @ p[:3] + (p[3] if bias else 0.0)
        return 0.5 * p[:3] @ p[:3] + C * np.exp(-y[rows] * f).sum()

    train, test = np.arange(20, 60), np.arange(20)
    learner, targets, gram = Boosting(bias), Targets(y[:, None]), FeatureGram(Z)
    held = learner.heldout(gram.with_folds(Folds.from_splits([(train, test)], 60)), targets, np.array([C]))
    fitted = learner.fitted(gram, targets, np.array([C]))
    for values, rows, at in ((fitted[0, :, 0], np.arange(60), np.arange(60)), (held.test[0][0, :, 0], train, test)):
        p = minimize(objective, np.zeros(4), args=(rows,), method="BFGS", options={"gtol": 1e-9}).x
        np.testing.assert_allclose(values, Z[at] @ p[:3] + (p[3] if bias else 0.0), atol=1e-6)
