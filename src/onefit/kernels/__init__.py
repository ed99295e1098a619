"""Kernels: a base matrix, an element-wise map, and an algebra."""

from .base import ElementWise, Kernel, Product, Scaled, Sum
from .dot_product import Cosine, Linear, Polynomial, Sigmoid
from .naming import from_params
from .other import AdditiveChi2, Chi2, Function, Precomputed
from .stationary import Gaussian, Laplacian, Matern

__all__ = [
    "AdditiveChi2",
    "Chi2",
    "Cosine",
    "ElementWise",
    "Function",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "from_params",
]
