"""Stand-in estimators that answer a scorer with values that are already known."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..data.coding import class_probabilities


class _StandIn(BaseEstimator):
    """Knows the values of the very rows that it is handed with, and remembers what else it was asked for."""

    def __init__(self, rows=None, decision=None, prediction=None, classes=None):
        self.rows = rows
        self.decision = decision
        self.prediction = prediction
        self.classes = classes
        self.asked = set()

    def __sklearn_is_fitted__(self):
        return True

    def __getattr__(self, name):
        if not name.startswith("_") and "asked" in self.__dict__:
            self.asked.add(name)
        raise AttributeError(f"out-of-fold values have no attribute {name!r}")

    def __getitem__(self, key):
        self.asked.add(f"step {key!r}")
        raise TypeError("out-of-fold values are no Pipeline")

    def get_params(self, deep=True):
        """Parameters are those of the estimator, which is not here."""
        self.asked.add("get_params")
        raise AttributeError("out-of-fold values have no parameters")

    def predict(self, X):
        """The known predictions of the rows X."""
        return self._known(X, self.prediction)

    def _known(self, X, values):
        if X is not self.rows:
            self.asked.add("predictions for other rows")
            raise ValueError("out-of-fold values are known for the tested rows only")
        return values.copy()


class StandInRegressor(RegressorMixin, _StandIn):
    """Knows ``predict``."""


class StandInLabels(ClassifierMixin, _StandIn):
    """Knows ``predict`` and the classes, to find out whether a scorer is content with labels."""

    @property
    def classes_(self):
        """The classes that were trained on."""
        return self.classes


class StandInClassifier(ClassifierMixin, _StandIn):
    """Knows ``decision_function`` and ``predict``."""

    @property
    def classes_(self):
        """The classes that were trained on."""
        return self.classes

    def decision_function(self, X):
        """The known decision values of the rows X."""
        return self._known(X, self.decision)


class StandInWithProbabilities(StandInClassifier):
    """Knows ``decision_function``, ``predict`` and, by the ``link`` of the machine, ``predict_proba``."""

    def __init__(self, rows=None, decision=None, prediction=None, classes=None, link=None):
        super().__init__(rows, decision, prediction, classes)
        self.link = link

    def predict_proba(self, X):
        """The probabilities of the classes for the rows X."""
        return class_probabilities(self._known(X, self.decision), self.link)
