"""Predictions of a saved model, block by block: labels or numbers, decision values, probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.calibration import probabilities
from .alignment import Block
from .models import check_facts, load


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted values of some rows; decision values and probabilities if they were asked for."""

    values: np.ndarray
    decision: np.ndarray | None = None
    probability: np.ndarray | None = None

    @staticmethod
    def joined(parts: list[Predictions]) -> Predictions:
        """All parts as one."""

        def together(name: str) -> Any:
            found = [getattr(part, name) for part in parts]
            return None if any(each is None for each in found) else np.concatenate(found)

        return Predictions(together("values"), together("decision"), together("probability"))


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model from a file, and what is known about it."""

    path: Path
    model: Any
    facts: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> SavedModel:
        """The model of a file, whose facts are checked."""
        model, facts = load(path)
        check_facts(path, facts)
        return cls(path, model, facts)

    @property
    def has_probabilities(self) -> bool:
        """Whether the model is a classifier with probabilities of its own or with curves to compute them by."""
        return hasattr(self.model, "predict_proba") or bool(self.facts.get("calibration"))

    def refuse(self, *, probability: bool, decision: bool) -> None:
        """A ValueError for values that the model does not have."""
        if (probability or decision) and self.facts["task"] == "regression":
            option = "--proba" if probability else "--decision"
            raise ValueError(f"{option} is for classes, and {self.path} predicts numbers.")
        if probability and not self.has_probabilities:
            raise ValueError(f"{self.path} has no probabilities: choose it again with `onefit select --save`.")

    def predict(self, block: Block, data: str, *, decision: bool = False, probability: bool = False) -> Predictions:
        """The predictions of a block."""
        own = hasattr(self.model, "predict_proba")
        with _explaining(self.path, data):
            values = np.asarray(self.model.predict(block.X))
            needed = decision or (probability and not own)
            found = np.asarray(self.model.decision_function(block.X)) if needed else None
            chances = None
            if probability:
                chances = self.model.predict_proba(block.X) if own else probabilities(found, self.facts["calibration"])
        return Predictions(values, found if decision else None, chances)


@contextmanager
def _explaining(path: Path, data: str) -> Iterator[None]:
    """Errors of a model, for rows that its kernel is not defined for or in a file that was changed, as one sentence."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot predict the rows of {data}: {error}") from error
