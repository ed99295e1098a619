"""What a criterion is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class Criterion(ABC):
    """One formula: a frozen value that is called as ``criterion(K, y, estimator, cv=folds)``.

    ``name`` is what ``KernelSearchCV(criterion=…)`` takes; ``reads`` what it needs of a learner;
    ``greater_is_better`` its direction. ``order`` is that of the held-out values it is built on (infinity:
    exact).
    """

    name: ClassVar[str]
    reads: ClassVar[tuple[str, ...]]
    greater_is_better: ClassVar[bool] = False
    order: float

    @abstractmethod
    def __call__(self, K: Any, y: Any, estimator: Any, cv: Any = None) -> float:
        """The natural value for a Gram matrix, targets and an estimator with ``kernel="precomputed"``."""
