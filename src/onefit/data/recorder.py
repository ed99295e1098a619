"""An estimator that stands for the machine inside of a wrapper, to see what the wrapper hands it."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers the rows and targets that it is trained on (``X``, ``y``), and the rows it is to predict (``asked``).

    Wrappers train clones of what they contain: a clone of a recorder is the recorder itself. ``answer`` is what it
    predicts.
    """

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def __sklearn_clone__(self) -> Recorder:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Recorder:
        """Remember rows and targets."""
        self.X, self.y = X, y
        return self

    def predict(self, X: Any) -> Any:
        """Remember rows, and give the answer."""
        self.asked = X
        return self.answer
