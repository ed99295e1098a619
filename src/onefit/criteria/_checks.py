"""Gram matrices and labels for which some criteria are not defined."""

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


def refuse_indefinite(evidence: Evidence, name: str) -> None:
    r"""Raise if a row shows that K is not positive semi-definite: :math:`K_{ij}^2 > K_{ii} \max_j K_{jj}`.

    O(n) once the rows have been read, and nothing for kernels that are known to be positive; criteria that read the
    spectrum see more.
    """
    if evidence.gram.positive:
        return
    rows = evidence.gram
    largest = np.maximum(rows.largest, -rows.smallest)
    longest = float(np.abs(rows.diagonal).max(initial=0.0))
    rounding = evidence.n * np.finfo(np.float64).eps * longest
    if (rows.diagonal < -rounding).any() or (largest**2 > (np.maximum(rows.diagonal, 0.0) + rounding) * longest).any():
        raise indefinite(name)


def refuse_negative_eigenvalues(evidence: Evidence, name: str) -> None:
    """Raise if K has a negative eigenvalue. Takes the spectrum unless the kernel is known to be positive."""
    if not evidence.gram.positive and evidence.spectrum().smallest < 0:
        raise indefinite(name)


def indefinite(name: str) -> ValueError:
    """The error."""
    return ValueError(f"The criterion {name} needs a positive semi-definite Gram matrix: this one is indefinite.")
