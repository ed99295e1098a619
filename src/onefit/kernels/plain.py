"""Kernels as plain data, for files: what JSON can hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

from .base import Kernel, Product, Scaled, Sum
from .dot_product import Cosine, Linear, Polynomial, Sigmoid
from .features import ARD, Columns
from .other import AdditiveChi2, Chi2, Precomputed
from .stationary import Gaussian, Laplacian, Matern, RationalQuadratic
from .weighted_sum import WeightedSum

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        ARD, AdditiveChi2, Chi2, Columns, Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Precomputed, Product,
        RationalQuadratic, Scaled, Sigmoid, Sum, WeightedSum,
    )
}  # fmt: skip


def to_plain(value: Any) -> Any:
    """A kernel as a dict of its fields; tuples become lists. A ValueError for kernels that are functions."""
    if isinstance(value, Kernel):
        name = type(value).__name__
        if name not in _KINDS:
            raise ValueError(f"{value} cannot be written to a file.")
        return {"kind": name, **{f.name: to_plain(getattr(value, f.name)) for f in fields(cast(Any, value))}}
    return [to_plain(one) for one in value] if isinstance(value, tuple) else value


def from_plain(value: Any) -> Any:
    """The value that ``to_plain`` has written.

    >>> from onefit.kernels import ARD, Gaussian
    >>> kernel = ARD(Gaussian(0.5), scales=(1.0, 2.0))
    >>> from_plain(to_plain(kernel)) == kernel
    True
    """
    if isinstance(value, dict):
        rest = {name: from_plain(part) for name, part in value.items() if name != "kind"}
        return _KINDS[value["kind"]](**rest)
    return tuple(from_plain(one) for one in value) if isinstance(value, list) else value
