"""Whether a Gram matrix can be one."""

from __future__ import annotations

import numpy as np

from ..core.evidence import Evidence


def refuse_indefinite(evidence: Evidence, name: str) -> None:
    """Raise if two rows alone show that K is not positive semi-definite: a 2 x 2 minor below zero.

    O(n²), and nothing for kernels that are known to be positive; criteria that read the spectrum see more.
    """
    if evidence.ws.kernel.positive:
        return
    if evidence.once("minors", lambda: _negative_minor(evidence)):
        raise indefinite(name)


def refuse_negative_eigenvalues(evidence: Evidence, name: str) -> None:
    """Raise if K has a negative eigenvalue. Takes the spectrum unless the kernel is known to be positive."""
    if not evidence.ws.kernel.positive and evidence.spectrum().smallest < 0:
        raise indefinite(name)


def indefinite(name: str) -> ValueError:
    """The error."""
    return ValueError(f"The criterion {name} needs a positive semi-definite Gram matrix: this one is indefinite.")


def _negative_minor(evidence: Evidence) -> bool:
    rows = evidence.ws.rows()
    diagonal = rows.diagonal
    rounding = evidence.n * np.finfo(np.float64).eps * float(np.abs(diagonal).max(initial=0.0))
    if (diagonal < -rounding).any():
        return True
    roots = np.sqrt(np.maximum(diagonal, 0.0) + rounding)
    return any(bool((np.abs(block) > roots[part][:, None] * roots * (1 + 1e-9)).any()) for part, block in rows.blocks())
