"""Kernels that see the features in their own way: one scale for each, some columns only, or a matrix."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._arrays import Array, Mask
from .base import Derived, Kernel, Lookup
from .bases import Base, Change, check_columns, map_features, of_changed_features, scale_features, select_features
from .parameters import check_several
from .row_pairs import RowPairs


class _OfFeatures(Derived):
    """A kernel of rows whose features are seen in another way; what it reads are base matrices of such rows."""

    @property
    @abstractmethod
    def _change(self) -> tuple[Change, tuple[Any, ...]] | None:
        """How the kernel inside sees the rows: ``change(X, by)``; None: as they are."""

    @abstractmethod
    def _of_features(self, gradient: Array, by: tuple[Any, ...], n_features: int) -> Array:
        """A gradient with respect to the changed features (n, r) as one with respect to the features (n, d)."""

    def _base(self, base: Base) -> Base:
        """The base matrix as a function of the rows themselves."""
        return base if self._change is None else of_changed_features(base, *self._change)

    def _rows(self, rows: RowPairs) -> RowPairs:
        """The rows as the kernel inside sees them."""
        return rows if self._change is None else rows.changed(*self._change)

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset(self._base(base) for base in self.kernel.bases)

    def evaluate(self, lookup: Lookup) -> Array:
        return self.kernel.evaluate(lambda base: lookup(self._base(base)))

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return self.kernel.largest_off_diagonal(lambda base: smallest(self._base(base)))

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        return self.kernel.pullback(self._rows(rows), G)

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        found = self.kernel.input_gradient(self._rows(rows), B)
        return found if self._change is None else self._of_features(found, self._change[1], rows.X.shape[1])


@dataclass(frozen=True)
class ARD(_OfFeatures):
    """A kernel of rows whose features are multiplied by ``scales``: ``kernel(s * x, s * x')``.

    One scale for each feature (automatic relevance determination), or for each group of features. Scales stand for the
    width of a ``kernel`` that has one (``gamma``, ``length_scale``), which is then not learned.

    Parameters
    ----------
    kernel : Kernel
        A kernel of distances or inner products, or sums and products of such.
    groups : sequence of sequences of int, default=None
        Columns that share a scale; every column is in one group. None: each column has its own.
    scales : sequence of float, default=None
        One for each group, or feature. None: all one, the kernel itself.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.kernels import ARD, Gaussian
    >>> X = np.array([[0.0, 5.0], [1.0, 7.0]])
    >>> float(ARD(Gaussian(0.5), scales=[1.0, 0.0])(X)[0, 1]) == float(np.exp(-0.5))
    True
    >>> ARD(Gaussian(0.5)).bound(n_features=2).parameter_names
    ('scales[0]', 'scales[1]')
    """

    kernel: Kernel
    groups: tuple[tuple[int, ...], ...] | None = None
    scales: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"ARD takes an object of onefit.kernels, got {self.kernel!r}.")
        if self.groups is not None:
            object.__setattr__(self, "groups", _checked_groups(self.groups))
        if self.scales is not None:
            object.__setattr__(self, "scales", check_several("scales", self.scales))
            if self.groups is not None and len(self.groups) != len(self.scales):
                raise ValueError(f"ARD has {len(self.groups)} groups and {len(self.scales)} scales.")

    def bound(self, n_features: int, variance: float | None = None) -> ARD:
        """Fix what depends on the data; without scales all are one."""
        covered = n_features if self.groups is None else sum(map(len, self.groups))
        if self.groups is not None and covered != n_features:
            raise ValueError(f"The groups have {covered} features, X has {n_features}.")
        if self.scales is not None and self.groups is None and len(self.scales) != n_features:
            raise ValueError(f"ARD has {len(self.scales)} scales for {n_features} features.")
        scales = (1.0,) * (n_features if self.groups is None else len(self.groups))
        return replace(
            self, kernel=self.kernel.bound(n_features, variance), scales=scales if self.scales is None else self.scales
        )

    @property
    def factors(self) -> Array | None:
        """Factor of each feature (d,); None if there are no scales yet."""
        if self.scales is None or self.groups is None:
            return None if self.scales is None else np.array(self.scales)
        factors = np.empty(sum(map(len, self.groups)))
        for group, scale in zip(self.groups, self.scales):
            factors[list(group)] = scale
        return factors

    @property
    def _change(self) -> tuple[Change, tuple[Any, ...]] | None:
        return None if self.factors is None else (scale_features, tuple(self.factors.tolist()))

    def _of_features(self, gradient: Array, by: tuple[Any, ...], n_features: int) -> Array:
        return np.asarray(gradient * np.array(by))

    @property
    def _learned_inside(self) -> Mask:
        return ~self.kernel.is_width

    @property
    def parameter_names(self) -> tuple[str, ...]:
        inside = [name for name, kept in zip(self.kernel.parameter_names, self._learned_inside) if kept]
        return (*inside, *(f"scales[{j}]" for j in range(len(self._known_scales))))

    @property
    def _known_scales(self) -> tuple[float, ...]:
        if self.scales is None:
            raise ValueError("The number of features is not known yet: call kernel.bound(n_features, variance) first.")
        return self.scales

    @property
    def log_parameters(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.concatenate([self.kernel.log_parameters[self._learned_inside], np.log(self._known_scales)])

    def with_log_parameters(self, values: Array) -> ARD:
        inside, kept = self.kernel.log_parameters, self._learned_inside
        inside[kept] = values[: kept.sum()]
        scales = tuple(np.exp(values[kept.sum() :]).tolist())
        return replace(self, kernel=self.kernel.with_log_parameters(inside), scales=scales)

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        inside = self._learned_inside
        scaled = self._rows(rows)
        own = self.kernel.pullback(scaled, G)[inside] if inside.any() else np.empty(0)
        features = self.kernel.feature_pullback(scaled, G)
        if self.groups is not None:
            features = np.array([features[list(group)].sum() for group in self.groups])
        return np.concatenate([own, features])


@dataclass(frozen=True)
class Columns(_OfFeatures):
    """A kernel of some columns of the rows: one of several sources of data.

    Parameters
    ----------
    kernel : Kernel
    columns : int, sequence of int, slice or mask
        Positions of the columns, negative ones from the end, as ColumnTransformer takes them; a slice has an end.
        ``KernelLearnCV`` also takes names, of the columns of a data frame after the transformers of a Pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.kernels import Columns, Linear
    >>> Columns(Linear(), [1])(np.array([[5.0, 1.0], [7.0, 2.0]])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    kernel: Kernel
    columns: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _checked_columns(self.columns))

    @property
    def _positions(self) -> tuple[int, ...]:
        if any(isinstance(column, str) for column in self.columns):
            raise ValueError(f"{self.columns!r} are names, which arrays have not: KernelLearnCV finds them in a frame.")
        return self.columns

    def named(self, names: list[str]) -> Columns:
        """The kernel with positions in place of names of columns."""
        missing = [column for column in self.columns if isinstance(column, str) and column not in names]
        if missing:
            raise ValueError(f"The data have no column {missing[0]!r}: they have {', '.join(names) or 'no names'}.")
        return replace(self, columns=tuple(names.index(c) if isinstance(c, str) else c for c in self.columns))

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        """Fix what depends on the data: the variance is that of all columns."""
        check_columns(self._positions, n_features)
        columns = tuple(column % n_features for column in self._positions)
        return replace(self, kernel=self.kernel.bound(len(columns), variance), columns=columns)

    @property
    def _change(self) -> tuple[Change, tuple[Any, ...]]:
        return select_features, self._positions

    def _of_features(self, gradient: Array, by: tuple[Any, ...], n_features: int) -> Array:
        found = np.zeros((len(gradient), n_features))
        np.add.at(found.T, list(by), gradient.T)
        return found

    def rank(self, n_features: int) -> float:
        return self.kernel.rank(len(self.columns))


@dataclass(frozen=True)
class Metric(_OfFeatures):
    """A kernel of rows that are multiplied by a matrix, ``kernel(x L, x' L)``: distances in the metric ``L Lᵀ``.

    ``KernelLearnCV(…, start="agop")`` learns the matrix; gradients learn the parameters of the kernel inside.

    Parameters
    ----------
    kernel : Kernel
        A kernel of distances or inner products.
    matrix : array-like of shape (n_features, n_directions), default=None
        None: the identity, and the kernel itself.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.kernels import Gaussian, Metric
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> float(Metric(Gaussian(0.5), [[1.0], [-1.0]])(X)[0, 1])  # only the difference of the two features counts
    1.0
    """

    kernel: Kernel
    matrix: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"Metric takes an object of onefit.kernels, got {self.kernel!r}.")
        if self.matrix is not None:
            values = np.asarray(self.matrix, dtype=np.float64)
            if values.ndim != 2 or not values.size or not np.isfinite(values).all():
                raise ValueError(f"matrix must have two dimensions and finite numbers, got shape {values.shape}.")
            object.__setattr__(self, "matrix", tuple(map(tuple, values.tolist())))

    def bound(self, n_features: int, variance: float | None = None) -> Metric:
        """Fix what depends on the data, of which the variance is that before the matrix."""
        if self.matrix is not None and len(self.matrix) != n_features:
            raise ValueError(f"Metric has a matrix for {len(self.matrix)} features, X has {n_features}.")
        directions = n_features if self.matrix is None else len(self.matrix[0])
        return replace(self, kernel=self.kernel.bound(directions, variance))

    @property
    def _change(self) -> tuple[Change, tuple[Any, ...]] | None:
        return None if self.matrix is None else (map_features, self.matrix)

    def _of_features(self, gradient: Array, by: tuple[Any, ...], n_features: int) -> Array:
        return np.asarray(gradient @ np.array(by).T)


def _checked_columns(columns: Any) -> tuple[str | int, ...]:
    """Names or positions of columns, as a tuple; anything else is a ValueError."""
    if isinstance(columns, slice) and isinstance(columns.stop, int) and columns.stop >= 0:
        columns = range(columns.stop)[columns]
    found = tuple(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else (columns,)
    if np.asarray(columns).dtype == bool and np.ndim(columns) == 1:
        found = tuple(np.flatnonzero(columns))
    if not found:
        raise ValueError("columns must name at least one column.")
    if not all(isinstance(c, str | int | np.integer) and not isinstance(c, bool) for c in found):
        raise ValueError(f"columns must be positions, a mask, or names of a data frame, got {columns!r}.")
    return tuple(c if isinstance(c, str) else int(c) for c in found)


def _checked_groups(groups: Any) -> tuple[tuple[int, ...], ...]:
    """Tuples of columns; anything but a partition is a ValueError."""
    try:
        found = tuple(tuple(int(column) for column in group) for group in groups)
    except (TypeError, ValueError):
        raise ValueError(f"groups must be lists of columns, got {groups!r}.") from None
    listed = sorted(column for group in found for column in group)
    if not all(found) or listed != list(range(len(listed))):
        raise ValueError(f"groups must have every column once, got {groups!r}.")
    return found
