"""Grids that follow the data: where to look for widths and penalties when nobody says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR
from sklearn.utils import check_array, check_consistent_length, get_tags

from .._exceptions import NotUnderstoodError
from .._public import set_module
from ..data.blocks import RowScan
from ..data.folds import take_rows
from ..data.streamed_fit import streamable_rows
from ..data.views import checked_rows
from ..kernels import bases, from_params
from ..kernels.naming import NAMES
from ..machines.registry import Model, estimators_that_offer, is_known
from ..search.routing import split_pipeline
from ..search.strategies import Axis, DegreeAxis, Family, LogAxis

SAMPLE = 1000
"""Rows that medians are taken over: half a million pairs, whose median is known to a percent."""

NOTHING = 1e-12
"""Share of the largest distance below which two rows are equal but for rounding."""

PENALTY_REACH = 6
"""Powers of four from the unit of C to the end of an extended grid: beyond 4,096 units a machine interpolates, and each
candidate takes longer than the one before."""

SUPPORT_VECTOR_KERNELS = ("linear", "poly", "rbf", "sigmoid")
_ALIASES = {"gaussian": "rbf", "polynomial": "poly"}


@set_module("onefit")
def default_grid(estimator, X, y, *, kernels: str | Sequence[str] | None = None) -> dict | list[dict]:
    """A grid for ``KernelSearchCV`` or ``GridSearchCV`` that fits the scale of the data.

    Parameters
    ----------
    estimator : estimator
        ``SVC``, ``SVR``, ``HingeSVC``, ``EpsilonSVR``, ``L2SVC``, ``KernelLogisticRegression``, ``KernelRidge``,
        ``LSSVC``, ``LSSVR``, or a Pipeline that ends in one; then the names have the step's prefix, and scales are
        those of the transformed X.
    X, y
        The data. The grid depends on the scale of X (in regression also of y) and on the number of rows, and on
        nothing random: medians are those of all pairs of rows, or of 1000 rows drawn with a fixed seed.
    kernels : str or sequence of str, default=None
        Names such as "gaussian" ("rbf"), "poly", "laplacian", "linear"; None is the estimator's own kernel.

    Returns
    -------
    dict, or list of dict if ``kernels`` are given
        Lists of numbers with three digits, as ``param_grid`` takes them.

    Notes
    -----
    *Widths.* A kernel of distances is informative where it tells typical pairs apart, neither all alike nor all
    different: at the inverse median of what its exponent multiplies (squared distances for the Gaussian, city-block
    distances for the Laplacian). Pairs of equal rows say nothing about scale and do not count. From there lengths go up
    in four steps of two, where the kernel is nearly linear, and down to those of nearest neighbours (median over the
    rows), where it is nearly diagonal: one step in many dimensions, at most six in few. Widths are equivariant: X times
    c gives gamma over c² (Laplacian: c).

    *Polynomials.* ``gamma`` is around the inverse median squared norm, so that ``gamma x·x'`` is about one and all
    monomials up to the degree count alike; degrees 2, 3, 4. ``coef0`` is one if the estimator's is not positive:
    without it monomials of lower degree are missing.

    *Penalties.* Multiplying a kernel by s is the same as multiplying C, or dividing ``alpha``, by s. The unit is
    therefore the kernel's variance: half the median squared distance of two rows in its feature space, at the central
    parameters. C goes from 1/16 to 1024 of these units, in regression times the spread of y, to which the dual
    coefficients are proportional; ``alpha`` in powers of ten from 1e-6, next to interpolation, to a tenth of n, where
    the largest eigenvalues are shrunk away.

    *Tube.* ``epsilon`` is 1, 1/4 and 1/16 of the noise: the median absolute difference of the targets of nearest
    neighbours, scaled to the standard deviation of a Gaussian. The best tube is proportional to the noise.

    Where the data have no scale (one row, equal rows, a constant target) the unit is one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import default_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> default_grid(SVC(), X, y)["C"][:3]
    [0.0989, 0.395, 1.58]
    >>> default_grid(SVC(), X, y, kernels=["linear"])[0]["kernel"]
    ['linear']
    """
    check_consistent_length(X, y)
    grids = [family.grid() for family in families(estimator, X, y, kernels)]
    return grids[0] if kernels is None else grids


def families(estimator, X, y, kernels=None, fit_params: dict | None = None) -> list[Family]:
    """The grids as parameters on scales of their own, one for each kernel. What has no grid is a ValueError."""
    try:
        model = split_pipeline(estimator, fit_params)
    except NotUnderstoodError as reason:
        raise ValueError(f"There is no default grid for this estimator: {reason}.") from reason
    machine = model.final
    names = _kernels_of(machine, kernels)
    sample = _Sample.of_model(model, X, y)
    return [_family(machine, name, sample, kernels is not None).renamed(model.prefix) for name in names]


def kernel_grid(machine, kernel, X, y) -> dict[str, list]:
    """A grid of widths of a Kernel object and of penalties, as that of ``default_grid``, for checked rows X.

    Kernels without a single width have a grid of penalties only.
    """
    sample = _Sample.of(X, y if "epsilon" in machine.get_params() else None)
    kernels = [kernel]
    if kernel.width_factor is not None and len(kernel.bases) == 1:
        (base,) = kernel.bases
        root = bases.root(base)
        values = base(sample.X) * kernel.width_factor
        if root is bases.dot:
            axis = _product_axis(np.diagonal(values))
        else:
            axis = _length_axis(np.abs(values), 4.0 if root is bases.sqdist else 2.0)
        kernels = [kernel.rescaled(factor) for factor in axis.values()]
        kernel = kernel.rescaled(axis.unit)
    axes = _penalty_axes(machine, sample, sample.spread(kernel))
    return {"kernel": kernels, **{name: axis.values() for name, axis in axes.items()}}


def _kernels_of(machine, kernels) -> list:
    """The kernels to look at, by name or as they are."""
    known = SUPPORT_VECTOR_KERNELS if isinstance(machine, SVC | SVR) else NAMES
    kind = type(machine).__name__
    if not is_known(machine):
        able = ", ".join(estimators_that_offer([]))
        raise ValueError(f"There is no default grid for {kind}: only for {able}, and Pipelines that end in one.")
    if kernels is None:
        asked = [machine.kernel]
    else:
        asked = list(dict.fromkeys([kernels] if isinstance(kernels, str) else kernels))
        if not asked:
            raise ValueError("kernels must hold at least one name.")
    names = [_ALIASES.get(name, name) if isinstance(name, str) else name for name in asked]
    if "precomputed" in names or get_tags(machine).input_tags.pairwise:
        raise ValueError(
            "There is no default grid for a precomputed kernel, whose parameters are not known: "
            'give a param_grid such as {"C": [0.1, 1, 10]} or {"alpha": [0.1, 1, 10]}.'
        )
    for name in names:
        if isinstance(name, str) and name not in known:
            able = ", ".join(each for each in known if each != "precomputed")
            raise ValueError(f"{kind} has no kernel {name!r}: use one of {able}.")
    return names


@dataclass(frozen=True)
class _Sample:
    """Some rows of the data, with the number of all of them."""

    X: Any
    y: Any  # of a regression, otherwise None
    n: int

    @classmethod
    def of_model(cls, model: Model, X, y) -> _Sample:
        """Rows as the machine of a model sees them; of rows in a file transformers learn from the sample alone."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if isinstance(X, RowScan):
            rows = _draw(n)
            X, y = take_rows(streamable_rows(X, model.transformers), rows), np.asarray(y)[rows]
        X = checked_rows(model.transformed(X, y))
        return replace(cls.of(X, y if "epsilon" in model.final.get_params() else None), n=n)

    @classmethod
    def of(cls, X, y) -> _Sample:
        n = X.shape[0]
        if y is not None:
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
            if y.ndim != 1:
                raise ValueError(f"Support vector regression has one target; y has shape {y.shape}.")
        rows = _draw(n)
        return cls(take_rows(X, rows), None if y is None else y[rows], n)

    def spread(self, kernel) -> float:
        """Half the median squared distance of two rows in the kernel's feature space: its variance."""
        K = kernel(self.X)
        diagonal = np.diagonal(K)
        return _median_of_pairs(0.5 * (diagonal[:, None] + diagonal) - K)

    def target_spread(self) -> float:
        """The standard deviation of the target, robustly; 1 for a constant one."""
        deviation = 1.4826 * float(np.median(np.abs(self.y - np.median(self.y))))
        return deviation or float(np.std(self.y)) or 1.0

    def noise(self) -> float:
        """The standard deviation of the target given X, from nearest neighbours; at most that of the target."""
        if len(self.y) < 2:
            return self.target_spread()
        distances = bases.sqdist(self.X)
        np.fill_diagonal(distances, np.inf)
        differences = np.abs(self.y - self.y[distances.argmin(axis=1)])
        noise = 1.4826 / np.sqrt(2.0) * float(np.median(differences))
        return min(noise, self.target_spread()) or 0.1 * self.target_spread()


def _length_axis(distances: np.ndarray, ratio: float) -> LogAxis:
    """The axis of a gamma that multiplies distances: from wide kernels to those that reach one neighbour only."""
    typical = _median_of_pairs(distances)
    apart = np.where(distances > NOTHING * distances.max(initial=0.0), distances, np.inf)
    nearest = apart.min(axis=1, initial=np.inf)
    nearest = float(np.median(nearest[np.isfinite(nearest)])) if np.isfinite(nearest).any() else typical
    last = int(np.clip(np.ceil(np.log(typical / nearest) / np.log(ratio)), 1, 6))
    return LogAxis(1.0 / typical, ratio, -4, last, reach=24)


def _product_axis(norms: np.ndarray) -> LogAxis:
    """The axis of a gamma that multiplies inner products."""
    return LogAxis(1.0 / _positive_median(norms), 4.0, -1, 1, reach=8)


# Steps of two in length: gamma is an inverse squared length in a Gaussian, an inverse length in a Laplacian.
_GAMMA_AXES: dict[str, Callable[[Any], LogAxis]] = {
    "rbf": lambda X: _length_axis(bases.sqdist(X), 4.0),
    "laplacian": lambda X: _length_axis(bases.cityblock(X), 2.0),
    "chi2": lambda X: _length_axis(-bases.additive_chi2(X), 2.0),
    "poly": lambda X: _product_axis(np.diagonal(bases.dot(X))),
    "sigmoid": lambda X: _product_axis(np.diagonal(bases.dot(X))),
}


def _draw(n: int) -> np.ndarray:
    """Positions of ``SAMPLE`` rows, ascending; of all where there are no more."""
    return np.arange(n) if n <= SAMPLE else np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))


def _median_of_pairs(values: np.ndarray) -> float:
    """The median of the positive values of different rows; 1 if there are none."""
    return _positive_median(values[np.triu_indices(len(values), 1)])


def _positive_median(values: np.ndarray) -> float:
    """Values that are zero but for rounding do not count."""
    largest = float(values.max(initial=0.0))
    positive = values[values > NOTHING * largest] if largest > 0 else values[:0]
    return float(np.median(positive)) if len(positive) else 1.0


def _family(machine, name, sample: _Sample, named: bool) -> Family:
    """The grid of one kernel."""
    fixed: dict[str, Any] = {"kernel": name} if named else {}
    axes: dict[str, Any] = {}
    params = {"gamma": machine.gamma, "degree": machine.degree, "coef0": machine.coef0}
    if isinstance(name, str) and name in _GAMMA_AXES:
        axes["gamma"] = _GAMMA_AXES[name](sample.X)
        params["gamma"] = axes["gamma"].unit
    if name == "poly":
        fixed["coef0"] = params["coef0"] = machine.coef0 if machine.coef0 > 0 else 1.0
        params["degree"] = 3
        axes["degree"] = DegreeAxis(2, 4)
    spread = sample.spread(_gram_of(machine, name, params))
    axes.update(_penalty_axes(machine, sample, spread))
    return Family(fixed, axes)


def _gram_of(machine, kernel, params: dict[str, Any]) -> Callable[[Any], np.ndarray]:
    """From rows to the Gram matrix: callables of SVC and SVR take whole matrices, those of others two rows."""
    if callable(kernel) and isinstance(machine, SVC | SVR):
        return lambda X: np.asarray(kernel(X, X), dtype=np.float64)
    gamma = None if params["gamma"] == "auto" else params["gamma"]
    return from_params(kernel, **{**params, "gamma": gamma}, kernel_params=getattr(machine, "kernel_params", None))


def _penalty_axes(machine, sample: _Sample, spread: float) -> dict[str, Axis]:
    if "alpha" in machine.get_params():
        last = max(0, int(np.ceil(np.log10(sample.n))) - 1)
        return {"alpha": LogAxis(spread, 10.0, -6, last, reach=10)}
    if "epsilon" in machine.get_params():
        penalty = LogAxis(sample.target_spread() / spread, 4.0, -2, 5, reach=PENALTY_REACH)
        return {"C": penalty, "epsilon": LogAxis(sample.noise(), 4.0, -2, 0, reach=5)}
    return {"C": LogAxis(1.0 / spread, 4.0, -2, 5, reach=PENALTY_REACH)}
