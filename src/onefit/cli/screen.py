"""Where the command line writes: results on stdout, everything else on stderr; and how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

WRONG, USAGE = 1, 2

EXTRAS = {"pyarrow": "data", "pooch": "data", "matplotlib": "plot", "scikit_posthocs": "studies", "jinja2": "report"}
"""Extras that install what a command may find missing; ``cli`` has the others."""


def echo(text: str) -> None:
    """A result, on stdout. Control characters, which names and labels of a file may hold, are shown as escapes."""
    typer.echo(_safe(text))


def note(text: str) -> None:
    """Narration, on stderr, with control characters as escapes."""
    typer.echo(_safe(text), err=True)


def _safe(text: str) -> str:
    from ..datasets.visible import visible  # readers take a moment to import: --help does without

    return visible(text, keep="\n")


def fail(text: str, *, usage: bool = False) -> NoReturn:
    """End with an explanation instead of a traceback: 1 if data or request are wrong, 2 for wrong usage."""
    note(f"onefit: {text}")
    raise typer.Exit(USAGE if usage else WRONG)


@contextmanager
def explained() -> Iterator[None]:
    """Errors of data and requests as one sentence and exit code 1; Ctrl-C as exit code 130, SIGTERM as 143."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):  # the reader of stdout has gone: typer knows how to end
        raise
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        extra = EXTRAS.get(name, "cli")
        fail(f"this needs {name}, which is not installed: pip install 'onefit[{extra}]'")
    except ImportError as missing:  # raised by us, with an explanation
        fail(str(missing))
    except MemoryError as error:
        why = str(error).rstrip(".") or "an array could not be allocated"
        fail(f"out of memory: {why}. Fewer rows need less: memory grows with their square.")
    except (ValueError, OSError) as error:
        fail(in_short(str(error)) if isinstance(error, ValueError) else str(error))
    except KeyboardInterrupt:
        note("onefit: interrupted")
        raise typer.Exit(exit_code()) from None
    except Exception as error:
        fail(_unforeseen(error))


def in_short(text: str) -> str:
    """A message on one line. Of a traceback in it, as scikit-learn's messages have them, only the last line is kept.

    >>> in_short("Scoring failed. Details:\\nTraceback (most recent call last):\\n  File ...\\nValueError: no")
    'Scoring failed. Details: ValueError: no'
    """
    before, traceback, after = text.partition("Traceback (most recent call last):")
    if traceback:
        before = before.split("Below are more details")[0]
        text = f"{before} {after.strip().splitlines()[-1]}"
    return " ".join(text.split())


def _unforeseen(error: Exception) -> str:
    """One sentence on an error of onefit itself, with its place: users should not have to read a traceback."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    return in_short(f"this should not happen: {type(error).__name__}: {error} ({where}). Please report the command.")


def echo_json(value: Any) -> None:
    """A result on stdout for programs to read; numbers that JSON has no name for are null.

    What a terminal would act upon is escaped, so that programs read it unchanged.
    """
    from ..datasets.visible import UNSAFE

    text = json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    typer.echo(UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


def counted(number: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """A table as text, every column as wide as its longest cell."""
    from ..datasets.visible import visible

    rows = [tuple(map(visible, row)) for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def check_writable(path: Path | None, option: str) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{option} {path} is a directory; give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{option} {path}: the folder {path.parent} does not exist.")
    new, place = not path.exists(), path.resolve()  # the path may be a link, which is to stay
    try:
        place.open("ab").close()
    except OSError as error:
        raise ValueError(f"{option} {path} cannot be written ({error.strerror}): give another file.") from None
    if new:
        place.unlink()


def check_distinct(files: dict[str, str | Path | None]) -> None:
    """Refuse one file in two places, where the later one would destroy the other; by the names of the options."""
    seen: dict[Path, str] = {}
    for option, path in files.items():
        if path is not None:
            place = Path(path).expanduser().resolve()
            if place in seen:
                raise ValueError(f"{option} {path} is the file of {seen[place]} too: give another file.")
            seen[place] = option


_ended_by = signal.SIGINT


def end_like_ctrl_c() -> None:
    """Let SIGTERM, which service managers and batch systems send, end a command as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _ended_by
    _ended_by = signal.Signals(number)
    raise KeyboardInterrupt


def exit_code() -> int:
    """Exit code of a command that was interrupted: 128 and the number of the signal, 130 or 143."""
    return 128 + _ended_by
