"""Where the command line writes: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

WRONG, USAGE, INTERRUPTED = 1, 2, 130


def note(text: str) -> None:
    """Narration, on stderr."""
    typer.echo(text, err=True)


def fail(text: str, *, usage: bool = False) -> NoReturn:
    """End with an explanation instead of a traceback: 1 if data or request are wrong, 2 for wrong usage."""
    note(f"onefit: {text}")
    raise typer.Exit(USAGE if usage else WRONG)


@contextmanager
def explained() -> Iterator[None]:
    """Errors of data and requests as one sentence and exit code 1; Ctrl-C as exit code 130."""
    try:
        yield
    except BrokenPipeError:  # the reader of stdout has gone, which typer knows how to end
        raise
    except ModuleNotFoundError as missing:
        fail(f"this needs {missing.name}, which is not installed: pip install 'onefit[cli]'")
    except MemoryError as error:
        fail(f"out of memory: {error}. Fewer rows need less: memory grows with their square.")
    except (ValueError, OSError) as error:
        fail(" ".join(str(error).split("\n")) if isinstance(error, ValueError) else str(error))
    except KeyboardInterrupt:
        note("onefit: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def echo_json(value: Any) -> None:
    """A result on stdout for programs to read; numbers that JSON has no name for are null."""
    typer.echo(json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False))


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


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """A table as text, every column as wide as its longest cell."""
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
