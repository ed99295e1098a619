"""Keeping the best kernels by a criterion that needs no machine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from ..core import Exactness
from ..criteria import REGISTRY, Criterion, resolve
from ..criteria.base import needs_no_machine
from .row import Row
from .tasks import KernelTask


@dataclass
class Screen:
    """A criterion and how many kernels it leaves; ``values`` of all candidates once they are known."""

    criterion: Criterion
    keep: int
    values: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, screen) -> Screen | None:
        """From what a search is given; None is no screening."""
        if screen is None:
            return None
        if not isinstance(screen, tuple | list) or len(screen) != 2:
            raise ValueError(f'screen must be None or a pair such as ("sm", 5), got {screen!r}.')
        criterion, keep = resolve(screen[0]), screen[1]
        if not needs_no_machine(criterion) or len(criterion.choices()) > 1:
            able = ", ".join(name for name, kind in REGISTRY.items() if needs_no_machine(kind()))
            raise ValueError(f"screen needs a criterion that reads the kernel only ({able}), not {criterion}.")
        if not isinstance(keep, Integral) or isinstance(keep, bool) or keep < 1:
            raise ValueError(f"screen must keep a positive whole number of kernels, got {keep!r}.")
        return cls(criterion.choices()[0], int(keep))

    def divide(self, tasks: list[KernelTask], found: dict[int, list[Row]]) -> tuple[list[KernelTask], list[Row]]:
        """(tasks to evaluate, rows of the candidates of all others). Ties go to the kernel that comes first."""
        name, sign = self.criterion.name, 1.0 if self.criterion.greater_is_better else -1.0
        values = [found[number][0].criteria.get(name, np.nan) for number in range(len(tasks))]
        for number, task in enumerate(tasks):
            self.values.update(dict.fromkeys(task.candidates, values[number]))
        order = sorted(range(len(tasks)), key=lambda number: _rank_key(sign * values[number]))
        kept = sorted(order[: self.keep])
        without = [number for number in range(len(tasks)) if np.isnan(values[number])]
        if without:
            first = found[without[0]][0]
            warnings.warn(
                f"{name} has no value for {len(without)} of {len(tasks)} kernels, which come last: {first.status}.",
                UserWarning,
                stacklevel=6,
            )
        pruned = [
            Row(candidate, exactness=Exactness.PRUNED, status=f"screened out by {name}")
            for number in order[self.keep :]
            for candidate in tasks[number].candidates
        ]
        return [tasks[number] for number in kept], pruned


def _rank_key(value: float) -> float:
    return np.inf if np.isnan(value) else -value
