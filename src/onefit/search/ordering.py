"""The order in which tasks are run, and which of them share base matrices."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby

from .tasks import KernelTask

WAVE = 4
"""Kernels that do not know of each other's scores when candidates are pruned."""


def order_tasks(tasks: Sequence[KernelTask]) -> list[KernelTask]:
    """Tasks on the same inputs and base matrices next to each other, so that few base matrices are alive at once."""
    first_seen: dict[object, int] = {}
    for task in tasks:
        first_seen.setdefault(task.group, len(first_seen))
    return sorted(tasks, key=lambda task: first_seen[task.group])


def spread_tasks(tasks: Sequence[KernelTask]) -> list[KernelTask]:
    """Ordered tasks from coarse to fine within each group: a search that ends early has seen the whole grid.

    Groups stay together, so that no more base matrices are alive at once than in grid order.
    """
    groups = [list(group) for _, group in groupby(tasks, key=lambda task: task.group)]
    return [group[number] for group in groups for number in coarse_to_fine(len(group))]


def coarse_to_fine(count: int) -> list[int]:
    """The numbers below ``count``: the middle one, then the middles of both halves, and so on.

    >>> coarse_to_fine(7)
    [3, 1, 5, 0, 2, 4, 6]
    """
    order, parts = [], deque([(0, count)])
    while parts:
        first, end = parts.popleft()
        if first < end:
            middle = (first + end) // 2
            order.append(middle)
            parts += [(first, middle), (middle + 1, end)]
    return order


def waves(count: int) -> Iterator[list[int]]:
    """Numbers of tasks that are run at the same time when candidates are pruned, from the middle of the grid outwards.

    The best kernel is rarely at the end of a grid, and the sooner a good score is proved the more can be pruned. Waves
    are the same whatever the number of workers, so that results are.
    """
    order = sorted(range(count), key=lambda i: (abs(2 * i - count + 1), i))
    for first in range(0, count, WAVE):
        yield order[first : first + WAVE]


def divide(tasks: Sequence[KernelTask], workers: int) -> list[list[int]]:
    """Numbers of tasks, divided so that each part is of one group and a group has at most one part for each worker.

    A part computes its base matrices once. Neighbouring kernels take about equally long, so they go to different parts.
    """
    groups: dict[object, list[int]] = {}
    for number, task in enumerate(tasks):
        groups.setdefault(task.group, []).append(number)
    parts = [numbers[first::workers] for numbers in groups.values() for first in range(workers)]
    return [part for part in parts if part]
