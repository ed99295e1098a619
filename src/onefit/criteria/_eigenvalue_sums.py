"""Sums of the leading eigenvalues of a Gram matrix and of the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._checks import is_count
from ..machines.evidence import Evidence
from .base import frozen_list


def check_components(components: Any) -> Any:
    """A number of eigenvalues, "sqrt", or a list of these to choose from."""
    components = frozen_list(components)
    if components == ():
        raise ValueError("components is an empty list: there is nothing to choose from.")
    for number in components if isinstance(components, tuple) else (components,):
        if number != "sqrt" and not is_count(number):
            raise ValueError(f'components must be "sqrt" or a positive whole number, got {components!r}.')
    return components


def head_and_tail(evidence: Evidence, components: Any) -> tuple[float, float]:
    """Sums of the leading eigenvalues and of all others; negative ones, and rounding, count as zero."""
    eigenvalues = np.maximum(evidence.eigenvalues(), 0.0)
    eigenvalues[eigenvalues <= evidence.n * np.finfo(np.float64).eps * eigenvalues[0]] = 0.0
    t = math.isqrt(evidence.n) if components == "sqrt" else int(components)
    return float(eigenvalues[:t].sum()), float(eigenvalues[t:].sum())
