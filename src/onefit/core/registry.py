"""Which estimators the fast path understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _register_known_estimators
from .machine import Machine, NotUnderstoodError

_READERS: dict[type, Callable[[Any], Machine]] = {}


def register_reader(estimator_class: type, reader: Callable[[Any], Machine]) -> None:
    """Teach the fast path a class of estimators: ``reader(estimator)`` returns its Machine."""
    _READERS[estimator_class] = reader


def read_machine(estimator: Any) -> Machine:
    """The machine that an estimator with its parameters is; NotUnderstoodError names what stands in the way.

    Only the classes themselves are read, not classes derived from them, which may do anything.
    """
    _register_known_estimators()
    reader = _READERS.get(type(estimator))
    if reader is None:
        known = ", ".join(sorted(cls.__name__ for cls in _READERS))
        raise NotUnderstoodError(f"{type(estimator).__name__} has no fast path ({known} have)")
    return reader(estimator)
