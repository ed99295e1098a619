"""Kernels that are one base matrix and one element-wise map: values, parameters and derivatives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .base import Kernel, Lookup
from .bases import HOMOGENEITY, Base, cityblock, of_changed_features, scale_features, sqdist
from .parameters import Gamma, NotDifferentiableError, check_gamma, resolve_gamma
from .row_pairs import RowPairs


class ElementWise(Kernel):
    """A kernel that is one base matrix and one element-wise map.

    ``width`` names the parameter that multiplies the base, and to which power; ``shape_parameters`` are others.
    """

    base: ClassVar[Base]
    width: ClassVar[tuple[str, int] | None] = None
    shape_parameters: Any = ()

    @property
    def own_base(self) -> Base:
        """The base matrix that is read."""
        return type(self).base

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset([self.own_base])

    @property
    def positive(self) -> bool:
        return False  # families that are override this

    @property
    def stationary(self) -> bool:
        return type(self).base in (sqdist, cityblock)

    @abstractmethod
    def map(self, values: Array) -> None:
        """Turn base values into kernel values, in place."""

    def slope(self, values: Array) -> Array:
        """``dk/dbase``, a fresh array."""
        raise NotDifferentiableError(f"{self} has no derivatives.")

    def shape_slopes(self, values: Array) -> Iterator[Array]:
        """``dk/dlog`` of each of the ``shape_parameters``, from base values."""
        return iter(())

    def evaluate(self, lookup: Lookup) -> Array:
        values = lookup(self.own_base)
        self.map(values)
        return values

    @property
    def _widths(self) -> Array:
        """The values of the parameter that multiplies the base: none if it is zero."""
        if self.width is None:
            return np.empty(0)
        values = np.atleast_1d(getattr(self, self.width[0]))
        if values.dtype.kind not in "fi":
            raise ValueError(f"{self.width[0]}={values[0]!r} depends on the data: call kernel.bound first.")
        return values if len(values) > 1 or values[0] > 0 else values[:0]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        widths = self._widths
        name = "" if self.width is None else self.width[0]
        names = (name,) if len(widths) == 1 else tuple(f"{name}[{j}]" for j in range(len(widths)))
        return (*names, *self.shape_parameters)

    @property
    def log_parameters(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log([*self._widths, *(getattr(self, name) for name in self.shape_parameters)])

    @property
    def is_width(self) -> NDArray[np.bool_]:
        return np.arange(len(self.parameter_names)) < len(self._widths)

    def with_log_parameters(self, values: Array) -> Kernel:
        numbers = [float(value) for value in np.exp(values)]
        count = len(self._widths)
        changed: dict[str, Any] = dict(zip(self.shape_parameters, numbers[count:]))
        if self.width is not None and count:
            name = self.width[0]
            changed[name] = tuple(numbers[:count]) if isinstance(getattr(self, name), tuple) else numbers[0]
        learned: Kernel = replace(cast(Any, self), **changed)
        return learned

    @property
    def width_factor(self) -> float | None:
        if self.width is None or not len(self._widths):
            return None
        name, power = self.width
        if isinstance(getattr(self, name), tuple):
            return 1.0
        return float(self._widths[0] ** power) * (1.0 if power > 0 else 0.5)

    def rescaled(self, factor: float) -> Kernel:
        assert self.width is not None
        name, power = self.width
        value = getattr(self, name)
        times = float(factor ** (1.0 / power))
        changed = {name: tuple(times * one for one in value) if isinstance(value, tuple) else times * value}
        kernel: Kernel = replace(cast(Any, self), **changed)
        return kernel

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        values = rows.base(self.own_base)
        shapes = [float(np.vdot(G, slope)) for slope in self.shape_slopes(values)]
        if not len(self._widths):
            return np.array(shapes)
        return np.array([*self._width_pullback(rows, G, values), *shapes])

    def _width_pullback(self, rows: RowPairs, G: Array, values: Array) -> Array:
        """The parameter multiplies the base: ``dk/dlog`` of it is base times slope, times its power."""
        assert self.width is not None
        return np.array([self.width[1] * float(np.einsum("ij,ij,ij->", G, self.slope(values), values))])

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        S = self.slope(rows.base(self.own_base))
        S *= B
        return rows.input_gradient(type(self).base, S)


class BaseItself(ElementWise):
    """A kernel that is its base matrix."""

    def map(self, values: Array) -> None:
        """Leave the values as they are."""


class WithGamma(ElementWise):
    """An element-wise map with a parameter ``gamma``, a number that may depend on the data or one for each feature.

    A dataclass declares it. Scales of features are part of the base.
    """

    gamma: Gamma
    width = ("gamma", 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_gamma(self.gamma))

    @property
    def _factors(self) -> tuple[float, ...]:
        """Factors of the features, for one gamma per feature."""
        power = 1.0 / HOMOGENEITY[type(self).base]
        return tuple(float(gamma**power) for gamma in cast(tuple[float, ...], self.gamma))

    @property
    def own_base(self) -> Base:
        base = type(self).base
        return of_changed_features(base, scale_features, self._factors) if isinstance(self.gamma, tuple) else base

    @property
    def follows_data(self) -> bool:
        return self.gamma == "scale"

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        if isinstance(self.gamma, tuple) and len(self.gamma) != n_features:
            raise ValueError(f"gamma has {len(self.gamma)} numbers for {n_features} features.")
        resolved: Kernel = replace(cast(Any, self), gamma=resolve_gamma(self.gamma, n_features, variance))
        return resolved

    def _width_pullback(self, rows: RowPairs, G: Array, values: Array) -> Array:
        if not isinstance(self.gamma, tuple):
            return super()._width_pullback(rows, G, values)
        # d log factor = d log gamma / homogeneity
        return self.feature_pullback(rows, G) / HOMOGENEITY[type(self).base]

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        if not isinstance(self.gamma, tuple):
            return super().input_gradient(rows, B)
        scaled = replace(cast(Any, self), gamma=1.0).input_gradient(rows.changed(scale_features, self._factors), B)
        return np.asarray(scaled * np.array(self._factors))
