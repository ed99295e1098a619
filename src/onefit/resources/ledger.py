"""Counts and seconds of costly computations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .._public import set_module

EVENTS = (
    "base",
    "gram",
    "block",
    "eigendecomposition",
    "band form",
    "cholesky",
    "fit",
    "full solution",
    "fold solution",
    "heldout",
    "pass",
    "scoring",
    "proved in round 0",
    "proved in round 1",
    "proved in round 2",
    "proved later",
    "proved by solving",
)


@set_module("onefit.resources")
@dataclass
class Ledger:
    """Counts and seconds of everything costly.

    ``base``: base matrices (distances, inner products); ``gram``: element-wise maps of one, ``block``: of its
    rectangular parts;
    ``eigendecomposition``, ``band form`` and ``cholesky``: factorisations of an n x n matrix; ``fit``: trainings of an
    estimator; ``full solution`` and ``fold solution``: dual problems of support vector machines, of all rows and of
    those of a split; ``heldout``: passes over a regularisation path; ``pass``: passes over all rows, a block at a time;
    ``scoring``: calls for one path; ``proved …``: held-out values that were certified, by when.

    >>> ledger = Ledger()
    >>> with ledger.record("gram"):
    ...     pass
    >>> ledger["gram"], ledger["fit"]
    (1, 0)
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EVENTS, 0))
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(EVENTS, 0.0))

    @contextmanager
    def record(self, event: str) -> Iterator[None]:
        """Count one event and time the block; an event that fails is not counted."""
        if event not in self.counts:
            raise KeyError(f"unknown event {event!r}: one of {', '.join(EVENTS)}")
        start = time.perf_counter()
        yield
        self.add(event, 1, time.perf_counter() - start)

    def add(self, event: str, count: int, seconds: float) -> None:
        """Enter what was counted and timed elsewhere."""
        self.counts[event] += count
        self.seconds[event] += seconds

    def include(self, other: Ledger) -> None:
        """Enter everything of another ledger."""
        for event in EVENTS:
            self.add(event, other.counts[event], other.seconds[event])

    def take(self) -> Ledger:
        """Everything that was entered, as a ledger of its own; this one begins anew."""
        taken = Ledger(self.counts, self.seconds)
        self.counts, self.seconds = dict.fromkeys(EVENTS, 0), dict.fromkeys(EVENTS, 0.0)
        return taken

    def __getitem__(self, event: str) -> int:
        return self.counts[event]

    def __repr__(self) -> str:
        entries = ", ".join(f"{e}: {self.counts[e]:,} ({self.seconds[e]:.3g} s)" for e in EVENTS if self.counts[e])
        return f"<Ledger {entries or 'without entries'}>"

    def _repr_html_(self) -> str:
        """The table of a notebook."""
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'>{e}</th><td>{self.counts[e]:,}</td>"
            f"<td>{self.seconds[e]:.3g}</td></tr>"
            for e in EVENTS
            if self.counts[e]
        )
        heads = "".join(f"<th scope='col'>{name}</th>" for name in ("what", "count", "seconds"))
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"

    def __str__(self) -> str:
        rows = (f"{e:<18} {self.counts[e]:>6} {self.seconds[e]:>9.3f} s" for e in EVENTS if self.counts[e])
        return "\n".join(rows)
