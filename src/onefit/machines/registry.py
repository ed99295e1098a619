"""Which estimators the fast path understands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .. import _register_known_estimators
from .._exceptions import NotUnderstoodError
from .contract import Learner, Machine


@dataclass(frozen=True)
class _Reader:
    """How a class of estimators is read, and the class of the learner that it is read as."""

    read: Callable[[Any], Machine]
    learner: Any


_READERS: dict[type, _Reader] = {}
_LINEAR_READERS: dict[type, _Reader] = {}  # of machines that are linear in rows, which have to be explicit features


def register_reader(estimator_class: type, reader: Callable[[Any], Machine], learner: type) -> None:
    """Teach the fast path a class of estimators: ``reader(estimator)`` returns its Machine, with such a ``learner``."""
    _READERS[estimator_class] = _Reader(reader, learner)


def register_linear_reader(estimator_class: type, reader: Callable[[Any], Machine], learner: type) -> None:
    """Teach the fast path a class of linear machines: it is taken behind transformers that make explicit features."""
    _LINEAR_READERS[estimator_class] = _Reader(reader, learner)


def read_linear_machine(estimator: Any) -> Machine | None:
    """The linear machine that an estimator is, with the linear kernel; None if it is not known to be one."""
    _register_known_estimators()
    reader = _LINEAR_READERS.get(type(estimator))
    return None if reader is None else reader.read(estimator)


def read_machine(estimator: Any) -> Machine:
    """The machine that an estimator with its parameters is; NotUnderstoodError names what stands in the way.

    Only the classes themselves are read, not classes derived from them, which may do anything.
    """
    if type(estimator) not in _READERS:
        _register_known_estimators()
    reader = _READERS.get(type(estimator))
    if reader is None:
        able = ", ".join(sorted(cls.__name__ for cls in _READERS))
        raise NotUnderstoodError(f"{type(estimator).__name__} has no fast path ({able} have)")
    return reader.read(estimator)


def is_known(estimator: Any) -> bool:
    """Whether the fast path understands its class, or one that it is derived from."""
    _register_known_estimators()
    return isinstance(estimator, tuple(_READERS))


def estimators_that_offer(capabilities: Iterable[str]) -> list[str]:
    """The names of the estimators whose learner offers all of some capabilities."""
    _register_known_estimators()
    wanted = set(capabilities)
    return [cls.__name__ for cls, reader in _READERS.items() if wanted <= reader.learner.offers]


def estimators_read_as(learner: Learner) -> list[str]:
    """The names of the estimators that are read as this kind of learner."""
    _register_known_estimators()
    return [cls.__name__ for cls, reader in _READERS.items() if reader.learner is type(learner)]
