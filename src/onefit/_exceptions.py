"""The error that sends a candidate to retraining, and warnings that point at the user's own line."""

from __future__ import annotations

import inspect
import warnings


class NotUnderstoodError(ValueError):
    """The fast path cannot serve an estimator; the message says why."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line that called onefit: the first one outside of this package and of scikit-learn."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ("onefit", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
