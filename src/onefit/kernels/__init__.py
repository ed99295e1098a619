"""Kernels: a base matrix, an element-wise map, and an algebra."""

from .._public import publish
from .base import Kernel, Product, Scaled, Sum
from .dot_product import Cosine, Linear, Polynomial, Sigmoid
from .element_wise import ElementWise
from .feature_wise import ARD, Columns, Metric
from .naming import from_params
from .other import AdditiveChi2, Chi2, Function, Given, Precomputed
from .parameters import NotDifferentiableError
from .stationary import Gaussian, Laplacian, Matern, RationalQuadratic
from .weighted_sum import WeightedSum

__all__ = [
    "ARD",
    "AdditiveChi2",
    "Chi2",
    "Columns",
    "Cosine",
    "ElementWise",
    "Function",
    "Gaussian",
    "Given",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Metric",
    "NotDifferentiableError",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "WeightedSum",
    "from_params",
]

__dir__ = publish(__name__)
