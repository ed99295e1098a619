"""Criteria: one formula in one file each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .._public import publish
from .alo import ALO
from .base import Criterion
from .bif import BIF
from .br import BR
from .ckta import CKTA
from .cv import CV
from .cv_variance import CVVariance
from .cvks import CVKS
from .er import ER
from .fsm import FSM
from .gacv import GACV
from .gcv import GCV
from .graph_cut import ncut
from .kta import KTA
from .lml import LML
from .loo import LOO
from .mean_discrepancy import mean_discrepancy
from .pep import PEP
from .radius_margin import RadiusMargin
from .rks import RKS
from .sm import SM
from .span import Span
from .sps import SPS
from .stability import kernel_stability
from .xi_alpha import XiAlpha

REGISTRY: dict[str, type[Criterion]] = {
    criterion.name: criterion
    for criterion in (
        CV, BIF, LOO, ALO, GCV, RKS, CVKS, CVVariance, SPS, ER, BR, LML,
        Span, RadiusMargin, XiAlpha, GACV, SM, KTA, CKTA, FSM, PEP,
    )
}  # fmt: skip
"""Every criterion by name: a new one is a new file and its place in this line."""


def resolve(criterion: str | Criterion) -> Criterion:
    """A criterion from its name, however that is spelt, or itself.

    Parameters
    ----------
    criterion : str or Criterion
        A name, in any spelling, or a criterion, which is returned as it is.

    Returns
    -------
    Criterion
        With its default parameters if a name was given.

    Examples
    --------
    >>> from onefit import criteria
    >>> criteria.resolve("bif").order, criteria.resolve("RadiusMargin") == criteria.resolve("radius_margin")
    (5, True)
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str):
        for name, kind in REGISTRY.items():
            if name.replace("_", "") == criterion.lower().replace("_", "").replace("-", ""):
                return kind()
    raise ValueError(f"Unknown criterion {criterion!r}: use one of {', '.join(REGISTRY)}, or a criterion object.")


def resolve_all(criterion: Any, *, scale_penalty: bool = False) -> list[Criterion]:
    """Criteria from one, or from a list of them; ``scale_penalty`` holds for all that hold rows out.

    Parameters
    ----------
    criterion : str, Criterion or list of these
        One or several; a ValueError if there are none.
    scale_penalty : bool, default=False
        Whether penalties follow the number of training rows in all that hold rows out.

    Returns
    -------
    list of Criterion

    Examples
    --------
    >>> from onefit import criteria
    >>> [criterion.name for criterion in criteria.resolve_all(["cv", criteria.SM()])]
    ['cv', 'sm']
    """
    given = criterion if isinstance(criterion, list | tuple) else [criterion]
    if not given:
        raise ValueError("criterion is an empty list: there is nothing to select by.")
    found = [resolve(one) for one in given]
    if scale_penalty:
        found = [replace(cast(Any, one), scale_penalty=True) if hasattr(one, "scale_penalty") else one for one in found]
    return found


__all__ = [
    "ALO",
    "BIF",
    "BR",
    "CKTA",
    "CV",
    "CVKS",
    "ER",
    "FSM",
    "GACV",
    "GCV",
    "KTA",
    "LML",
    "LOO",
    "PEP",
    "REGISTRY",
    "RKS",
    "SM",
    "SPS",
    "CVVariance",
    "Criterion",
    "RadiusMargin",
    "Span",
    "XiAlpha",
    "kernel_stability",
    "mean_discrepancy",
    "ncut",
    "resolve",
    "resolve_all",
]

__dir__ = publish(__name__)
