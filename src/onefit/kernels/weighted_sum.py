"""Weighted sums of several kernels, whose weights can be learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._arrays import Array
from .base import Kernel, Lookup, Several
from .bases import Base
from .feature_wise import ARD, Columns
from .other import Given
from .parameters import check_several
from .row_pairs import RowPairs


@dataclass(frozen=True)
class WeightedSum(Several):
    """``Σ_m weights_m kernels_m(x, x')``.

    What is learned are the weights, and the scales of kernels that are ``ARD`` (of ``Columns`` or not); other
    parameters of the kernels are fixed, so that their Gram matrices are computed once.

    Parameters
    ----------
    kernels : sequence of Kernel
        ``Columns(kernel, columns)`` is a kernel of some columns only. A square array is a Gram matrix of all rows, old
        and new, as in ``Given``: X is then one column of their numbers.
    weights : sequence of float, default=None
        Not negative, one for each kernel. None: equal, with sum one.

    Examples
    --------
    >>> from onefit.kernels import Gaussian, Linear, WeightedSum
    >>> WeightedSum([Gaussian(0.1), Linear()]).weights
    (0.5, 0.5)
    >>> float(WeightedSum([Gaussian(0.1), Linear()], [1.0, 2.0])([[2.0]])[0, 0])
    9.0
    """

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        kernels = tuple(_given_or_kernel(kernel) for kernel in self.kernels)
        if not kernels:
            raise ValueError("WeightedSum takes a list of onefit.kernels, which is empty.")
        weights = (1.0 / len(kernels),) * len(kernels) if self.weights is None else self.weights
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "weights", check_several("weights", weights))
        if len(self._weights) != len(kernels):
            raise ValueError(f"There are {len(kernels)} kernels and {len(self._weights)} weights.")

    @property
    def _weights(self) -> tuple[float, ...]:
        assert self.weights is not None
        return self.weights

    def with_weights(self, weights: Iterable[float]) -> WeightedSum:
        """The sum with other weights."""
        return replace(self, weights=tuple(float(weight) for weight in weights))

    @property
    def _used(self) -> list[tuple[float, Kernel]]:
        return [(weight, kernel) for weight, kernel in zip(self._weights, self.kernels) if weight > 0]

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.kernels

    @property
    def buffers(self) -> int:
        return 1 + max(kernel.buffers for kernel in self.kernels)

    def rank(self, n_features: int) -> float:
        return sum(kernel.rank(n_features) for kernel in self.kernels)

    def bound(self, n_features: int, variance: float | None = None) -> WeightedSum:
        """Fix what depends on the data in each kernel."""
        return replace(self, kernels=tuple(kernel.bound(n_features, variance) for kernel in self.kernels))

    def evaluate(self, lookup: Lookup) -> Array:
        if not self._used:
            return 0.0 * self.kernels[0].evaluate(lookup)
        (weight, first), *others = self._used
        values = first.evaluate(lookup)
        values *= weight
        for weight, kernel in others:
            part = kernel.evaluate(lookup)
            part *= weight
            values += part
        return values

    def fresh_gram(self, rows: RowPairs) -> Array:
        """A weighted sum of matrices of which those without scales are computed once.

        Cost: O(m n²) for m kernels, whose matrices are kept.
        """
        if not self._used:
            return super().fresh_gram(rows)
        (weight, first), *others = self._used
        values = weight * _gram_of_part(rows, first)
        term = np.empty_like(values) if others else values
        for weight, kernel in others:
            values += np.multiply(weight, _gram_of_part(rows, kernel), out=term)
        return values

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return sum(weight * kernel.largest_off_diagonal(smallest) for weight, kernel in self._used)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        weights = (f"weights[{m}]" for m in range(len(self.kernels)))
        inside = (
            f"kernels[{m}].{name}"
            for m, kernel in enumerate(self.kernels)
            if _has_scales(kernel)
            for name in kernel.parameter_names
        )
        return (*weights, *inside)

    @property
    def log_parameters(self) -> Array:
        with np.errstate(divide="ignore"):
            own = np.log(self._weights)
        return np.concatenate([own, *(kernel.log_parameters for kernel in self.kernels if _has_scales(kernel))])

    def with_log_parameters(self, values: Array) -> WeightedSum:
        first, kernels = len(self.kernels), list(self.kernels)
        for m, kernel in enumerate(kernels):
            if _has_scales(kernel):
                count = len(kernel.parameter_names)
                kernels[m] = kernel.with_log_parameters(values[first : first + count])
                first += count
        return WeightedSum(tuple(kernels), tuple(np.exp(values[: len(kernels)]).tolist()))

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        own, inside = np.zeros(len(self.kernels)), []
        for m, (weight, kernel) in enumerate(zip(self._weights, self.kernels)):
            if weight > 0:
                own[m] = weight * float(np.vdot(G, _gram_of_part(rows, kernel)))
            if _has_scales(kernel):
                inside.append(weight * kernel.pullback(rows, G))
        return np.concatenate([own, *inside])

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        found = np.zeros(rows.X.shape)
        for weight, kernel in self._used:
            found += weight * kernel.input_gradient(rows, B)
        return found


def _has_scales(kernel: Kernel) -> bool:
    """Whether a kernel of a sum has parameters of its own that are learned."""
    return isinstance(kernel.kernel if isinstance(kernel, Columns) else kernel, ARD)


def _given_or_kernel(kernel: Any) -> Kernel:
    """A kernel as it is, anything with two dimensions as a Gram matrix; a ValueError for the rest."""
    if isinstance(kernel, Kernel):
        return kernel
    if hasattr(kernel, "shape") or isinstance(kernel, list | tuple):
        return Given(kernel)
    raise ValueError(f"WeightedSum takes a list of onefit.kernels, or of square arrays; one is {kernel!r}.")


def _gram_of_part(rows: RowPairs, kernel: Kernel) -> Array:
    """The Gram matrix of a kernel of a sum, computed once if it has no parameters that are learned: do not write."""
    if _has_scales(kernel):
        return kernel.evaluate(rows.fresh)
    return rows.base(kernel.matrix) if isinstance(kernel, Given) else rows.gram(kernel)
