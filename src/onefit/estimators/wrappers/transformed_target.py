"""TransformedTargetRegressor: the machine sees a transformed target, scores read predictions on the original scale."""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.utils.metadata_routing import process_routing

from ..._exceptions import NotUnderstoodError
from ...machines.wrappers import Layer
from ...search.routing import routing_enabled


def transformed_target(estimator: TransformedTargetRegressor, params: dict[str, Any]) -> Layer:
    """The regressor; all metadata are its own."""
    if estimator.regressor is None:
        raise NotUnderstoodError("regressor=None of TransformedTargetRegressor is a LinearRegression")
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).regressor.fit)
    return Layer(estimator.regressor, "regressor", params, transforms_target=True)
