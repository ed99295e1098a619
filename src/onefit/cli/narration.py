"""The log and the warnings of a search, on stderr while it works."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..datasets.visible import visible
from .screen import in_short, note

LONGEST = 300
"""Characters of a warning that are shown: scikit-learn's may list the scores of all candidates."""


@contextmanager
def narrated(title: str) -> Iterator[None]:
    """Rounds of a search and warnings as lines; on a terminal also which kernel was finished last."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        with _listening(note, lambda text: None):
            yield
        return
    with (
        console.status(title) as status,
        _listening(
            lambda text: console.print(visible(text), highlight=False, markup=False, soft_wrap=True),
            lambda text: status.update(Text(f"{title}: {visible(text)}")),  # not markup, which parameters may look like
        ),
    ):
        yield


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Warnings as lines without the place in the code that they come from."""
    with _listening(note, lambda text: None):
        yield


@contextmanager
def _listening(say: Callable[[str], None], whisper: Callable[[str], None]) -> Iterator[None]:
    """``say`` is told every round and every warning, once each; ``whisper`` every kernel."""
    logger = logging.getLogger("onefit")
    told: set[str] = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            say(text)

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            (once if record.levelno >= logging.INFO else whisper)(record.getMessage())

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
