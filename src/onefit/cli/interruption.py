"""How the command line is ended from outside: Ctrl-C, and SIGTERM in the same way."""

from __future__ import annotations

import signal
from types import FrameType

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
