"""Where the command line writes: results on stdout, everything else on stderr."""

from __future__ import annotations

from typing import NoReturn

import typer

WRONG, USAGE, INTERRUPTED = 1, 2, 130


def note(text: str) -> None:
    """Narration, on stderr."""
    typer.echo(text, err=True)


def fail(text: str, *, usage: bool = False) -> NoReturn:
    """End with an explanation instead of a traceback: 1 if data or request are wrong, 2 for wrong usage."""
    note(f"onefit: {text}")
    raise typer.Exit(USAGE if usage else WRONG)
