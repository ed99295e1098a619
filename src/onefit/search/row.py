"""The outcome of one candidate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..machines import Exactness

OPEN_BIAS = "the bias is not determined: no coefficient is free, and the scores depend on where in its interval it is"
"""Status of rows whose values have the middle of the interval of all optimal biases."""


@dataclass
class Row:
    """The outcome for one candidate. Score arrays have one entry per split (leave-one-out: one in all)."""

    candidate: int
    test: dict[str, np.ndarray] = field(default_factory=dict)
    train: dict[str, np.ndarray] = field(default_factory=dict)
    exactness: Exactness = Exactness.EXACT
    error_bound: float = np.nan
    status: str = "ok"
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    failures: dict[int, str] = field(default_factory=dict)  # split -> why it could not be trained on
    values: list[np.ndarray] | None = None  # out-of-fold values (l, c) of each split
    retrain: str | None = None  # why the candidate has to be retrained after all
    criteria: dict[str, float] = field(default_factory=dict)  # natural values
    curve: dict[str, np.ndarray] = field(default_factory=dict)  # scores (sizes, splits) with the first landmarks only

    @classmethod
    def unreached(cls, candidate: int) -> Row:
        """The row of a candidate for which there was no time."""
        return cls(candidate, exactness=Exactness.UNREACHED, status="not reached")

    @property
    def scored(self) -> bool:
        """Whether some metric has a number for every split."""
        return any(np.isfinite(scores).all() for scores in self.test.values())

    @property
    def open_bias(self) -> bool:
        """Whether its scores depend on a bias that the data leave open, and no training has told which one it is."""
        return OPEN_BIAS in self.status and self.exactness != Exactness.RETRAINED

    @property
    def finished(self) -> bool:
        """Whether a journal keeps the row: not if it failed, was not reached, or is still to be retrained."""
        return bool(self.test) and self.exactness not in (Exactness.FAILED, Exactness.UNREACHED)

    @property
    def left_out(self) -> bool:
        """Whether the candidate was left out on purpose: missing scores are no failure."""
        return self.exactness in (Exactness.PRUNED, Exactness.UNREACHED)

    def add_status(self, *remarks: str) -> None:
        """Say more of the outcome."""
        known = () if self.status == "ok" else (self.status,)
        self.status = "; ".join([*known, *remarks])

    def agrees(self, other: Row) -> bool:
        """Whether another row has the same scores on every split, those of training rows included."""
        return all(
            mine.keys() == theirs.keys()
            and all(np.allclose(mine[name], theirs[name], rtol=1e-6, atol=1e-6, equal_nan=True) for name in mine)
            for mine, theirs in ((self.test, other.test), (self.train, other.train))
        )

    def confirm(self) -> None:
        """Take note that training on every fold gives the same scores."""
        self.exactness, self.status = Exactness.EXACT, "confirmed by training on every fold"

    def fail(self, reason: str, splits: list[int]) -> None:
        """Mark some splits as impossible to train on."""
        self.failures.update(dict.fromkeys(splits, reason))
        self.exactness, self.status, self.values = Exactness.FAILED, reason.strip().splitlines()[-1], None
