"""The facts of a model file, checked before anything reads them: somebody else may have written them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_NESTED = 4
"""Levels of lists and objects within the facts; those of --save have two."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0


def _all(test: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, list) and all(map(test, value))


def _is_pair(value: Any) -> bool:
    return _all(_is_number, value) and len(value) == 2


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "data": ("a text", _is_text),
    "rows": ("a whole number", _is_count),
    "task": ("classification or regression", lambda value: value in ("classification", "regression")),
    "target": ("a text or null", lambda value: value is None or _is_text(value)),
    "features": ("a list of texts", lambda value: _all(_is_text, value)),
    "categorical": ("a list of whole numbers", lambda value: _all(_is_count, value)),
    "classes": (
        "null, a list of texts or a list of whole numbers",
        lambda value: value is None or (bool(value) and (_all(_is_text, value) or _all(_is_whole, value))),
    ),
    "learner": ("a text", _is_text),
    "kernel": ("a text", _is_text),
    "params": (
        "an object of texts and numbers",
        lambda value: isinstance(value, dict) and all(map(_is_plain, value.values())),
    ),
    "metric": ("a text", _is_text),
    "score": ("a number", _is_number),
    "standard_error": ("a number or null", lambda value: value is None or _is_number(value)),
    "folds": ("a whole number", _is_count),
    "exactness": ("a text", _is_text),
    "onefit": ("a text", _is_text),
    "code": ("a text", _is_text),
}
"""Facts that ``predict`` and ``inspect`` read: what each must be, and its test."""


ADDED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "roles": ("a list of texts", lambda value: _all(_is_text, value)),
    "positive": ("a text, a whole number or null", lambda value: value is None or _is_text(value) or _is_whole(value)),
    "id": ("a text or null", lambda value: value is None or _is_text(value)),
    "encoding": ("a text or null", lambda value: value is None or _is_text(value)),
    "calibration": (
        "null or a list of pairs of numbers",
        lambda value: value is None or (isinstance(value, list) and all(_is_pair(pair) for pair in value)),
    ),
    "imputes": ("true or false", lambda value: isinstance(value, bool)),
}
"""Facts that models of earlier versions lack."""


def check_facts(path: Path, facts: dict[str, Any]) -> None:
    """Refuse a model file whose facts lack what the commands read, or are of other types."""
    if lacking := sorted(set(KINDS) - set(facts)):
        raise _damaged(path, f"lacks {', '.join(lacking)}")
    for name, (kind, test) in {**KINDS, **ADDED}.items():
        if name in facts and not test(facts[name]):
            raise _damaged(path, f"has something else than {kind} as {name}")
    if facts["task"] == "classification" and facts["classes"] is None:
        raise _damaged(path, "names no classes")
    if any(position >= len(facts["features"]) for position in facts["categorical"]):
        raise _damaged(path, f"names {len(facts['features'])} features, and more as categorical")
    if facts.get("calibration") and len(facts["calibration"]) not in (1, len(facts["classes"] or ())):
        raise _damaged(path, "has not one curve of probabilities for each class")
    if _is_nested(facts, MOST_NESTED):
        raise _damaged(path, f"is nested more than {MOST_NESTED} levels deep")


def _damaged(path: Path, what: str) -> ValueError:
    from .models import FACTS

    return ValueError(f"{path} is damaged: {FACTS} {what}.")


def _is_nested(value: Any, levels: int) -> bool:
    """Whether lists and objects go deeper than so many levels."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return parts is not None and (levels == 0 or any(_is_nested(part, levels - 1) for part in parts))
