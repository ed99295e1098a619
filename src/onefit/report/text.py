"""Numbers and parameters as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

_NUMPY_NUMBER = re.compile(r"np\.(?:float|int|bool)\w*\(([^()]*)\)")

LONGEST = 120
"""Characters of a value that are shown; parameters can be arrays."""


def number(value: Any, digits: int = 4) -> str:
    """A number with so many digits; a dash for what is not one.

    >>> number(0.95312345), number(12), number(1e-9), number(float("nan")), number(None), number(123456.7)
    ('0.9531', '12', '1e-09', '–', '–', '123,457')
    """
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return "–"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    large = 10.0**digits <= abs(value) < 1e9  # whole numbers are easier to read than powers of ten
    return f"{float(value):,.0f}" if large else f"{float(value):.{digits}g}"


def plain(value: Any) -> str:
    """A parameter's value on one line, shortened if need be.

    >>> plain(0.1), plain("rbf"), plain(None), plain([np.float64(1.5), 2])
    ('0.1', 'rbf', 'None', '[1.5, 2]')
    """
    if isinstance(value, Real) and not isinstance(value, bool | Integral):
        return f"{float(value):.6g}"
    text = python(value) if not isinstance(value, str) else " ".join(value.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def python(value: Any) -> str:
    """A value as one would type it: arrays as lists, NumPy's numbers as numbers.

    >>> python({"C": np.array([0.1, 1.0]), "kernel": ["rbf"]}), python(np.float64(2.0))
    ("{'C': [0.1, 1.0], 'kernel': ['rbf']}", '2.0')
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {python(part)}" for key, part in value.items()) + "}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if type(value) in (list, tuple):
        inside = ", ".join(python(part) for part in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    return " ".join(_NUMPY_NUMBER.sub(r"\1", repr(value)).split())


def tick(value: Any) -> str:
    """A parameter's value at the side of a table.

    >>> tick(3.16227766e-05), tick(10), tick("scale")
    ('3.162e-05', '10', 'scale')
    """
    if isinstance(value, Real) and not isinstance(value, bool | Integral):
        return f"{float(value):.4g}"
    return plain(value)


def settings(params: Mapping[str, Any]) -> str:
    """Parameters as in a call.

    >>> settings({"svc__C": 10, "svc__gamma": 0.01})
    'svc__C=10, svc__gamma=0.01'
    """
    return ", ".join(f"{name}={plain(value)}" for name, value in params.items()) or "no parameters"


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0.00021), seconds(0.5), seconds(12.34), seconds(150)
    ('0.21 ms', '500 ms', '12.3 s', '150 s')
    """
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"


def last_part(name: str) -> str:
    """A parameter's name without the steps of a Pipeline before it.

    >>> last_part("svc__gamma")
    'gamma'
    """
    return name.rsplit("__", 1)[-1]
