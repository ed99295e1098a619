"""A progress bar with the time left, on stderr; lines of text where there is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..datasets.visible import visible
from .screen import note

QUIET = 10.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[str, str | None], None]]:
    """Yields ``advance(what was done, its error or None)``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(title, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total)

        def advance(what: str, error: str | None) -> None:
            progress.update(task, advance=1, description=f"{title} {what}")
            if error is not None:
                text = visible(f"{title} {what} failed: {error}")
                progress.console.print(text, style="red", highlight=False, markup=False)

        yield advance


class _Lines:
    """A line now and then: how many are done, and how long the rest will take."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0
        self.start = self.told = time.monotonic()

    def __call__(self, what: str, error: str | None) -> None:
        self.done += 1
        now = time.monotonic()
        if error is not None:
            note(f"{self.title} {what} failed: {error}")
        if self.done < self.total and now - self.told < QUIET:
            return
        self.told = now
        left = (now - self.start) / self.done * (self.total - self.done)
        note(f"{self.title} {self.done}/{self.total} ({what}), about {left:.0f} s left")
