"""The log, the warnings and the progress of a command, on stderr while it works."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..datasets.visible import visible
from .screen import in_short, note

LONGEST = 300
"""Characters of a warning that are shown: scikit-learn's may list the scores of all candidates."""

QUIET = 10.0
"""Seconds between two lines about the progress where there is no terminal."""


@contextmanager
def narrated(title: str, *, quiet: bool = False) -> Iterator[None]:
    """Rounds of a search and warnings as lines, and how many candidates are finished and how long the rest will take.

    On a terminal that is a line that changes, elsewhere one every ten seconds. ``quiet`` leaves out the former.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        with _listening(_silence if quiet else note, _now_and_then(title)):
            yield
        return

    def say(text: str) -> None:
        console.print(visible(text), highlight=False, markup=False, soft_wrap=True)

    with (
        console.status(title) as status,
        _listening(
            _silence if quiet else say,
            lambda text: status.update(Text(f"{title}: {visible(text)}")),  # not markup, which parameters may look like
        ),
    ):
        yield


def _silence(text: str) -> None:
    """Say nothing."""


def _now_and_then(title: str) -> Callable[[str], None]:
    """Notes of what is whispered, one in ten seconds."""
    told = time.monotonic()

    def whisper(text: str) -> None:
        nonlocal told
        if time.monotonic() - told >= QUIET:
            told = time.monotonic()
            note(f"{title}: {text}")

    return whisper


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Warnings as lines without the place in the code that they come from."""
    with _listening(note, lambda text: None):
        yield


class _Round:
    """The candidates of a round, how many of them are finished, and seconds for each of them.

    These are the mean, or those of the last kernel if it took longer: support vector machines with narrow kernels,
    which come last, take several times as long as with wide ones.
    """

    def __init__(self) -> None:
        self.candidates = self.finished = 0
        self.start = self.last = time.monotonic()
        self.pace = 0.0

    def hear(self, record: logging.LogRecord) -> str:
        """How far the round is after a message of the search."""
        now = time.monotonic()
        if hasattr(record, "candidates"):
            self.candidates, self.finished, self.start, self.last = record.candidates, 0, now, now
        if new := getattr(record, "finished", 0):
            self.finished += new
            self.pace = max((now - self.start) / self.finished, (now - self.last) / new)
            self.last = now
        if not 0 < self.finished <= self.candidates:
            return record.getMessage()
        left, kernel = self.pace * (self.candidates - self.finished), record.getMessage().partition(": ")[0]
        done = f"{self.finished} of {self.candidates} candidates of this round"
        return f"{done}, about {left:.0f} s left at the pace so far ({kernel})"


@contextmanager
def _listening(say: Callable[[str], None], whisper: Callable[[str], None]) -> Iterator[None]:
    """``say`` is told every round and every warning, once each; ``whisper`` every kernel."""
    logger = logging.getLogger("onefit")
    told: set[str] = set()
    progress = _Round()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            say(text)

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            how_far = progress.hear(record)
            if record.levelno >= logging.INFO:
                once(record.getMessage())
            else:
                whisper(how_far)

    def warn(message: Warning | str, *rest: object, **more: object) -> None:
        text = in_short(f"warning: {message}")
        once(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")

    listener, level = Listener(), logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)  # of other packages
            warnings.showwarning = warn  # type: ignore[assignment]
            yield
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)


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
