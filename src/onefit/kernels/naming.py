"""Kernels from scikit-learn's parameters, and as plain data that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

from .base import Kernel, Product, Scaled, Sum
from .dot_product import Cosine, Linear, Polynomial, Sigmoid
from .feature_wise import ARD, Columns, Metric
from .other import AdditiveChi2, Chi2, Function, Precomputed
from .stationary import Gaussian, Laplacian, Matern, RationalQuadratic
from .weighted_sum import WeightedSum

_BY_NAME: dict[str, Callable[[Any, float, float], Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "rbf": lambda gamma, degree, coef0: Gaussian(gamma),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma),
    "polynomial": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "poly": lambda gamma, degree, coef0: Polynomial(degree, gamma, coef0),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
    "cosine": lambda gamma, degree, coef0: Cosine(),
    "chi2": lambda gamma, degree, coef0: Chi2(1.0 if gamma is None else gamma),
    "additive_chi2": lambda gamma, degree, coef0: AdditiveChi2(),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}

NAMES = tuple(_BY_NAME)
"""The kernel names that estimators accept."""


def from_params(
    kernel: str | Kernel | Callable[..., float],
    *,
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1.0,
    kernel_params: Mapping[str, Any] | None = None,
) -> Kernel:
    """The Kernel that ``KernelRidge(kernel=…, gamma=…, …)`` or ``SVC(…)`` means; ``gamma`` may also be "scale".

    Parameters that a kernel does not have are ignored, as scikit-learn does, so two settings that differ
    only in those give equal kernels. A callable takes two rows and returns a number.

    Parameters
    ----------
    kernel : str, Kernel or callable
        Name that scikit-learn knows, a kernel, which is returned as it is, or a callable of two rows.
    gamma : float, "scale" or None, default=None
        Inverse width; None is ``1 / n_features``.
    degree : float, default=3
        Power of polynomials.
    coef0 : float, default=1.0
        Constant of polynomials and sigmoids.
    kernel_params : dict, default=None
        Keyword parameters of a callable.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from onefit.kernels import from_params
    >>> from_params("linear", gamma=1.0) == from_params("linear", gamma=2.0)
    True
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Function.of(kernel, kernel_params)
    if kernel not in _BY_NAME:
        raise ValueError(f"Unknown kernel {kernel!r}: use one of {', '.join(NAMES)}, a Kernel or a callable.")
    return _BY_NAME[kernel](gamma, degree, coef0)


def kernel_of(estimator: Any, *, auto: bool = True) -> Kernel:
    """The kernel that the parameters of an estimator mean; "auto" is a gamma of support vector machines only."""
    gamma = estimator.gamma
    return from_params(
        estimator.kernel,
        gamma=None if auto and isinstance(gamma, str) and gamma == "auto" else gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
        kernel_params=getattr(estimator, "kernel_params", None),
    )


_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        ARD, AdditiveChi2, Chi2, Columns, Cosine, Gaussian, Laplacian, Linear, Matern, Metric, Polynomial, Precomputed,
        Product, RationalQuadratic, Scaled, Sigmoid, Sum, WeightedSum,
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
