"""Keeping the best kernels by a criterion that needs no machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from .._exceptions import warn_caller
from ..criteria import REGISTRY, Criterion, resolve
from ..criteria.base import needs_no_machine
from ..machines import Exactness
from .row import Row
from .tasks import KernelTask


@dataclass(frozen=True)
class Screen:
    """A criterion, and how many kernels it leaves."""

    criterion: Criterion
    keep: int

    @classmethod
    def of(cls, screen) -> Screen:
        """From the pair that a search is given."""
        if not isinstance(screen, tuple | list) or len(screen) != 2:
            raise ValueError(f'screen must be None or a pair such as ("sm", 5), got {screen!r}.')
        criterion, keep = resolve(screen[0]), screen[1]
        if not needs_no_machine(criterion) or len(criterion.choices()) > 1:
            able = ", ".join(name for name, kind in REGISTRY.items() if needs_no_machine(kind()))
            raise ValueError(f"screen needs a criterion that reads the kernel only ({able}), not {criterion}.")
        if not isinstance(keep, Integral) or isinstance(keep, bool) or keep < 1:
            raise ValueError(f"screen must keep a positive whole number of kernels, got {keep!r}.")
        return cls(criterion.choices()[0], int(keep))

    def value(self, rows: Sequence[Row]) -> float:
        """The criterion's value of a kernel, from the rows of its candidates."""
        return rows[0].criteria.get(self.criterion.name, np.nan)

    def divide(self, tasks: Sequence[KernelTask], found: dict[int, list[Row]]) -> tuple[list[KernelTask], list[Row]]:
        """(tasks to evaluate, rows of the candidates of all others). Ties go to the kernel that comes first.

        ``found`` are the rows of each task, by its number.
        """
        name, sign = self.criterion.name, 1.0 if self.criterion.greater_is_better else -1.0
        values = [self.value(found[number]) for number in range(len(tasks))]
        order = sorted(range(len(tasks)), key=lambda number: _rank_key(sign * values[number]))
        without = [number for number in range(len(tasks)) if np.isnan(values[number])]
        if without:
            reason = found[without[0]][0].status
            warn_caller(f"{name} has no value for {len(without)} of {len(tasks)} kernels, which come last: {reason}.")
        pruned = [
            Row(candidate, exactness=Exactness.PRUNED, status=f"screened out by {name}")
            for number in order[self.keep :]
            for candidate in tasks[number].candidates
        ]
        return [tasks[number] for number in sorted(order[: self.keep])], pruned


def _rank_key(value: float) -> float:
    return np.inf if np.isnan(value) else -value
