"""Whether a Gram matrix can be one."""

from __future__ import annotations

import numpy as np

from ..machines.evidence import Evidence


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
