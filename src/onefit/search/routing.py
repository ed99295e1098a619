"""Metadata routing: which keyword arguments of ``fit`` the estimator, splitter, scorers and Pipeline steps get."""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import process_routing

from .._exceptions import NotUnderstoodError, warn_caller
from ..data.folds import take_metadata
from ..data.targets import as_numbers
from ..machines.registry import Model, read_model
from .content_hash import content_hash
from .scorers import LossScorer
from .scoring import accepts_sample_weight

FEATURES = (Nystroem, RBFSampler, SkewedChi2Sampler, PolynomialCountSketch)
"""Transformers that make explicit features of a kernel."""


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    return bool(get_config()["enable_metadata_routing"])


@dataclass(frozen=True)
class Routing:
    """Full-length metadata for each party."""

    estimator: dict[str, Any]
    splitter: dict[str, Any]
    scorer: dict[str, Any]

    def of_rows(self, rows: np.ndarray, n: int) -> Routing:
        """Metadata of some of n rows."""
        parties = (self.estimator, self.splitter, self.scorer)
        return Routing(*({name: take_metadata(value, rows, n) for name, value in party.items()} for party in parties))


def route(search, scoring, params: dict[str, Any]) -> Routing:
    """Distribute the keyword arguments of ``fit`` as GridSearchCV does, with and without metadata routing.

    ``scoring`` is what candidates are scored by: that of the search, or the loss of its criterion.
    """
    params = {name: value for name, value in params.items() if value is not None}
    for name in params:
        if name.rpartition("__")[2] == "sample_weight":
            as_numbers(params[name], name)
    if routing_enabled():
        scored = copy(search)
        scored.scoring = scoring
        routed = process_routing(scored, "fit", **params)
        return Routing(dict(routed.estimator.fit), dict(routed.splitter.split), dict(routed.scorer.score))
    rest = {name: value for name, value in params.items() if name != "groups"}
    grids = [search.param_grid] if isinstance(search.param_grid, Mapping) else search.param_grid
    searched = {name for grid in grids if isinstance(grid, Mapping) for name in grid}
    _check_fit_params(search.estimator, rest, searched)
    splitter = {"groups": params.get("groups")}  # also None: a splitter may insist on the argument
    scorer_metadata = {"sample_weight": rest["sample_weight"]} if "sample_weight" in rest else {}
    return Routing(rest, splitter, scorer_metadata)


def _check_fit_params(estimator, names: Iterable[str], searched: Container[str] = ()) -> None:
    """Refuse keyword arguments that ``fit`` of the estimator, or of the step of a Pipeline they name, does not take.

    Of steps that are themselves ``searched`` over it is not known here what they take.
    """
    for name in names:
        obj, argument = estimator, name
        while isinstance(obj, Pipeline) and "__" in argument:
            step, _, argument = argument.partition("__")
            if step not in obj.named_steps:
                raise ValueError(f"fit got the argument {name!r}, but the Pipeline has no step {step!r}.")
            obj = None if name.removesuffix(f"__{argument}") in searched else obj.named_steps[step]
        if getattr(type(obj), "fit", None) is Pipeline.fit:
            raise ValueError(f"fit got the argument {name!r}, but a Pipeline takes those of its steps: step__{name}.")
        if hasattr(obj, "fit") and not _takes(obj.fit, argument):
            raise ValueError(f"fit got the argument {name!r}, which {type(obj).__name__}.fit does not take.")


def _takes(function, name: str) -> bool:
    """Whether a function has an argument of this name, or takes any."""
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled, without a signature
        return True
    return name in arguments or any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values())


def scorer_params(search, routed: Routing, name: str, scorer, multi) -> dict[str, Any]:
    """Metadata of one scorer. ``multi`` is scikit-learn's scorer of several metrics, or None for a single one.

    The loss of a criterion weighs rows as the machine does, however its weights are called.
    """
    if isinstance(scorer, LossScorer):
        weights = sample_weight_of(search.estimator, routed.estimator)
        return {} if weights is None else {"sample_weight": weights}
    if routing_enabled():
        if multi is None:
            return routed.scorer
        return dict(process_routing(multi, "score", **routed.scorer)[name].score)
    if not routed.scorer:
        return {}
    scoring = search.scoring if multi is None else True
    if accepts_sample_weight(scorer, search.estimator, scoring):
        return routed.scorer
    label = f"{scorer}" if multi is None else f"{name}={scorer}"
    warn_caller(
        f"The scoring {label} does not support sample_weight, which may lead to statistically incorrect results "
        f"when fitting {search} with sample_weight. "
    )
    return {}


def features_of(transformers: Any) -> Any:
    """The last transformer, if it makes explicit features of a kernel, ``n_components`` of them; else None."""
    last = transformers.steps[-1][1] if isinstance(transformers, Pipeline) else None
    return last if type(last) in FEATURES and getattr(last, "kernel", None) != "precomputed" else None


def transformers_key(prefix: str, params: dict[str, Any]) -> tuple:
    """A key that is equal for candidates, of one estimator, that differ in the machine at a ``prefix`` only."""
    return tuple(
        (name, _hashable(value))
        for name, value in sorted(params.items())
        if name != prefix.removesuffix("__") and not name.startswith(prefix)
    )


def _hashable(value: Any) -> Any:
    """A value that stands for a parameter in a key: itself, or a digest of what cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        return content_hash(value)
    return type(value).__name__, value


def split_pipeline(estimator, fit_params: dict[str, Any] | None = None) -> Model:
    """A machine, alone or behind the transformers of Pipelines, taken apart; other wrappers are not understood."""
    model = read_model(estimator, fit_params)
    if not model.plain:
        raise NotUnderstoodError(f"more than transformers stands before the machine of {type(estimator).__name__}")
    return model


def sample_weight_of(estimator, params: dict[str, Any]) -> Any:
    """The machine's ``sample_weight``, whatever else ``fit`` is given; None if it cannot be told."""
    try:
        return read_model(estimator, params).sample_weight
    except NotUnderstoodError:
        return None if isinstance(estimator, Pipeline) else params.get("sample_weight")
