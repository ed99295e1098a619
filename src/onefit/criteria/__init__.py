"""Criteria: one formula in one file each."""

from __future__ import annotations

from .base import Criterion
from .bif import BIF
from .cv import CV

REGISTRY: dict[str, type[Criterion]] = {criterion.name: criterion for criterion in (CV, BIF)}
"""Every criterion by name: a new one is a new file and its place in this line."""


def resolve(criterion: str | Criterion) -> Criterion:
    """A criterion from its name or itself.

    >>> from onefit import criteria
    >>> criteria.resolve("bif").order
    5
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str) and criterion in REGISTRY:
        return REGISTRY[criterion]()
    raise ValueError(f"Unknown criterion {criterion!r}: use one of {', '.join(REGISTRY)}, or a criterion object.")


__all__ = ["BIF", "CV", "REGISTRY", "Criterion", "resolve"]
