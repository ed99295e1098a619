"""Wrappers that train one machine for each output of a regression, or for each class against the rest."""

from __future__ import annotations

from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils.metadata_routing import process_routing

from ..._exceptions import NotUnderstoodError
from ...machines.wrappers import Layer
from ...search.routing import routing_enabled


def each_output(estimator: MultiOutputRegressor, params: dict[str, Any]) -> Layer:
    """One regressor for each column of the target; all get the same metadata."""
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).estimator.fit)
    return Layer(estimator.estimator, "estimator", params, separate="outputs")


def one_vs_rest(estimator: OneVsRestClassifier, params: dict[str, Any]) -> Layer:
    """One classifier for each class, or a single one for two classes."""
    if params:
        raise NotUnderstoodError("OneVsRestClassifier is given metadata")
    return Layer(estimator.estimator, "estimator", separate="classes")
