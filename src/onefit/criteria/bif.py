"""Cross-validation by Bouligand influence functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.machine import Series
from .base import Criterion
from .held_out import held_out_loss


@dataclass(frozen=True)
class BIF(Criterion):
    """t-fold cross-validation approximated by the influence-function series of order r.

    For the square loss the series converges to exact cross-validation wherever no fold exceeds half of the
    data, geometrically but slowly for small penalties; ``order=np.inf`` is its sum. The paper prints the
    weight -1/(t-1), right for equal folds only; here it is that of each fold's size.

    Cost    one fit and O(r l_i²) per fold; O(r n²) with ``scale_penalty``.
    Oracle  dense matrix powers.
    Source  Liu, Jiang, Liao & Wang, fast cross-validation by BIF.
    """

    order: float = 5
    h: float | None = None
    start: str = "smoothed"
    scale_penalty: bool = False
    aggregate: str = "points"

    name = "bif"
    reads = ("heldout",)
    greater_is_better = False

    def __post_init__(self) -> None:
        assert self.series  # which checks its parameters

    @property
    def series(self) -> Series:  # type: ignore[override]
        """What is asked of the learner."""
        return Series(self.order, self.h, self.start)

    def __call__(self, K: Any, y: Any, estimator: Any, cv: Any = None) -> float:
        """The mean loss on held-out rows."""
        return held_out_loss(
            K, y, estimator, cv, series=self.series, scale_penalty=self.scale_penalty, aggregate=self.aggregate
        )
