"""Labels that every score carries."""

from __future__ import annotations

from enum import StrEnum


class Exactness(StrEnum):
    """How a score relates to really retraining on every fold."""

    EXACT = "exact"
    CERTIFIED = "certified"
    APPROXIMATE = "approximate"
    RETRAINED = "retrained"
    PRUNED = "pruned"
    FAILED = "failed"
    UNREACHED = "not reached"
