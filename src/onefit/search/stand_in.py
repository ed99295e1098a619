"""Stand-in estimators that answer a scorer with values that are already known."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _StandIn(BaseEstimator):
    """Remembers what it was asked for and could not answer: that needs a retrained model."""

    def __init__(self, decision=None, prediction=None):
        self.decision = decision
        self.prediction = prediction
        self.asked = set()

    def __sklearn_is_fitted__(self):
        return True

    def __getattr__(self, name):
        if not name.startswith("_") and "asked" in self.__dict__:
            self.asked.add(name)
        raise AttributeError(f"out-of-fold values have no attribute {name!r}")

    def predict(self, X):
        """The known predictions of the rows X."""
        return self._known(X, self.prediction)

    def _known(self, X, values):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n != len(values):
            self.asked.add("predictions for other rows")
            raise ValueError(f"out-of-fold values are known for {len(values)} rows, not for {n}")
        return values


class StandInRegressor(RegressorMixin, _StandIn):
    """Knows ``predict``."""


class StandInClassifier(ClassifierMixin, _StandIn):
    """Knows ``decision_function`` and ``predict``."""

    def __init__(self, decision=None, prediction=None, classes=None):
        super().__init__(decision, prediction)
        self.classes = classes
        self.classes_ = classes

    def decision_function(self, X):
        """The known decision values of the rows X."""
        return self._known(X, self.decision)
