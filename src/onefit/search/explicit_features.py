"""Pipelines with explicit features of a kernel, as Nystroem and RBFSampler make them, before a linear machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from .._exceptions import NotUnderstoodError
from ..machines.contract import Machine
from ..machines.registry import is_known, read_linear_machine
from .routing import FEATURES, features_of, transformers_key


def read_on_features(final: Any, features: Any, y: Any) -> Machine | None:
    """The linear machine behind explicit features; None if a kernel machine stands there.

    A NotUnderstoodError says why the machine is trained by its own solver, with features that candidates share
    (``shared_features``) if these are the same for all of them.
    """
    if is_known(final):
        return None
    name = type(features).__name__
    if features.random_state is None:
        raise NotUnderstoodError(
            f"{name} with random_state=None draws other features for every candidate (a number makes them the same)"
        )
    machine = read_linear_machine(final)
    if machine is None:
        raise NotUnderstoodError(
            f"{type(final).__name__} is trained by its own solver, on features of {name} that candidates share"
        )
    if is_classifier(final) and np.ndim(y) > 1:
        raise NotUnderstoodError(f"{type(final).__name__} with several labels for a row")
    return machine


def shared_features(estimator: Any, params: dict[str, Any]) -> tuple | None:
    """A key that is equal for candidates that see the same explicit features; None if they see none, or draw others."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2:
        return None
    name, last = estimator.steps[-2]
    if type(params.get(name, last)) not in FEATURES and "steps" not in params:
        return None  # without a costly clone
    model = clone(estimator).set_params(**clone(params, safe=False))
    features = features_of(model[:-1]) if hasattr(model.steps[-1][1], "fit") else None
    return (
        None
        if features is None or features.random_state is None
        else transformers_key(f"{model.steps[-1][0]}__", params)
    )
