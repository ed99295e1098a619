"""What a criterion is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ..core.machine import Series


class Criterion(ABC):
    """One formula: a frozen value that is called as ``criterion(K, y, estimator, cv=folds)``.

    ``name`` is what ``KernelSearchCV(criterion=…)`` takes; ``reads`` what it needs of a learner;
    ``greater_is_better`` its direction. ``series`` approximates the held-out values that it is built on (None: they
    are exact).
    """

    name: ClassVar[str]
    reads: ClassVar[tuple[str, ...]]
    greater_is_better: ClassVar[bool] = False
    series: Series | None = None

    @abstractmethod
    def __call__(self, K: Any, y: Any, estimator: Any, cv: Any = None) -> float:
        """The natural value for a Gram matrix, targets and an estimator with ``kernel="precomputed"``."""
