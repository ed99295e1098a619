"""Public names belong to the package that exports them, wherever their files are.

Saved models name a class by its ``__module__``: with ``onefit`` or a public package of it there, they load after a file
was moved or renamed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def set_module(name: str) -> Callable[[T], T]:
    """Decorate a class or function that the module ``name`` exports."""

    def decorate(value: T) -> T:
        value.__module__ = name
        return value

    return decorate


def publish(package: str) -> Callable[[], list[str]]:
    """Let a package own the names in its ``__all__``; its ``__dir__``, which lists no others, is returned."""
    module: Any = sys.modules[package]
    for name in module.__all__:
        if getattr(getattr(module, name), "__module__", "").startswith("onefit."):
            set_module(package)(getattr(module, name))
    return lambda: sorted(module.__all__)
