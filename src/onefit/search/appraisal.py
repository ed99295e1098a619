"""Criteria of all candidates of a path, from evidence that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .._exceptions import NotUnderstoodError
from ..criteria.base import Criterion, needs_no_machine
from ..machines.evidence import Evidence


def column_names(criteria: Sequence[Criterion]) -> list[str]:
    """The criteria's names, numbered from the second of a name on."""
    seen: dict[str, int] = {}
    names = []
    for criterion in criteria:
        seen[criterion.name] = seen.get(criterion.name, 0) + 1
        names.append(criterion.name if seen[criterion.name] == 1 else f"{criterion.name}_{seen[criterion.name]}")
    return names


@dataclass
class Appraisal:
    """Evaluates criteria in an order that shares most; ``kept`` holds those of the kernel for all of its paths.

    ``strict`` criteria raise what goes wrong; others get NaN, and a remark.
    """

    criteria: Sequence[Criterion]
    evidence: Evidence
    kept: dict[Criterion, float]
    strict: Sequence[bool]
    values: dict[str, np.ndarray] = field(default_factory=dict)  # (E,) of each criterion
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = column_names(self.criteria)
        self.evidence.spectral = any("spectrum" in criterion.reads for criterion in self.criteria)

    def before_holding_out(self) -> None:
        """Criteria of the Gram matrix first, since a factorisation overwrites it; then those of fits on all rows."""
        if any("gram" in criterion.reads for criterion in self.criteria):
            self.evidence.gram.read_sums()
        self._evaluate(lambda reads: not reads - {"gram", "labels"})
        self._evaluate(lambda reads: "heldout" not in reads and "left_out" in reads)  # others read what these ask for
        self._evaluate(lambda reads: "heldout" not in reads)

    def after_holding_out(self) -> None:
        """Criteria of out-of-fold values."""
        self._evaluate(lambda reads: True)

    def _evaluate(self, wanted: Callable[[set[str]], bool]) -> None:
        for name, criterion, strict in zip(self.names, self.criteria, self.strict):
            if name in self.values or not wanted(set(criterion.reads)):
                continue
            known = len(self.evidence.reasons)
            try:
                self.values[name] = self._value(criterion)
            except (ValueError, NotUnderstoodError) as error:
                if strict:
                    raise ValueError(str(error)) from error
                self.values[name] = np.full(self.evidence.size, np.nan)
                self.remarks.append(f"{name}: {error}")
            self.remarks += [f"{name}: {reason}" for reason in self.evidence.reasons[known:]]

    def _value(self, criterion: Criterion) -> np.ndarray:
        if not needs_no_machine(criterion):
            return criterion.path(self.evidence)
        if criterion not in self.kept:
            self.kept[criterion] = float(criterion.path(self.evidence)[0])
        return np.full(self.evidence.size, self.kept[criterion])
