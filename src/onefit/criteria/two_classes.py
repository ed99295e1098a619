"""Targets of two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..machines.evidence import Evidence


def class_indicator(evidence: Evidence, name: str) -> NDArray[np.bool_]:
    """Which rows are of the larger of two labels (n,); a ValueError for any other number of classes."""
    labels = evidence.labels
    assert labels is not None
    if labels.n_classes != 2:
        found = "real values" if labels.n_classes is None else labels.n_classes
        raise ValueError(f"The {name} needs two classes: the target has {found}.")
    return np.asarray(labels.positive[:, 0] > 0)
