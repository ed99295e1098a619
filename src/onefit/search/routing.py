"""Metadata routing: which keyword arguments of ``fit`` the estimator, splitter, scorers and Pipeline steps get."""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from .._exceptions import NotUnderstoodError, warn_caller
from ..data.weights import as_numbers
from .scorers import LossScorer
from .scoring import accepts_sample_weight


def routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    return bool(get_config()["enable_metadata_routing"])


@dataclass(frozen=True)
class Routed:
    """Full-length metadata for each party."""

    estimator: dict[str, Any]
    splitter: dict[str, Any]
    scorer: dict[str, Any]


def route(search, params: dict[str, Any]) -> Routed:
    """Distribute the keyword arguments of ``fit`` as GridSearchCV does, with and without metadata routing."""
    params = {name: value for name, value in params.items() if value is not None}
    for name in params:
        if name.rpartition("__")[2] == "sample_weight":
            as_numbers(params[name], name)
    if routing_enabled():
        routed = process_routing(search, "fit", **params)
        return Routed(dict(routed.estimator.fit), dict(routed.splitter.split), dict(routed.scorer.score))
    rest = {name: value for name, value in params.items() if name != "groups"}
    grids = [search.param_grid] if isinstance(search.param_grid, Mapping) else search.param_grid
    searched = {name for grid in grids if isinstance(grid, Mapping) for name in grid}
    _check_fit_params(search.estimator, rest, searched)
    splitter = {"groups": params.get("groups")}  # also None: a splitter may insist on the argument
    scorer_metadata = {"sample_weight": rest["sample_weight"]} if "sample_weight" in rest else {}
    return Routed(rest, splitter, scorer_metadata)


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


def _requests(obj, method, params) -> set[str]:
    return set(get_routing_for_object(obj).consumes(method, params.keys()))


def scorer_params(search, routed: Routed, name: str, scorer, multi) -> dict[str, Any]:
    """Metadata of one scorer. ``multi`` is scikit-learn's scorer of several metrics, or None for a single one."""
    if routing_enabled():
        if multi is None:
            return routed.scorer
        return dict(process_routing(multi, "score", **routed.scorer)[name].score)
    if not routed.scorer:
        return {}
    scoring = search.scoring if multi is None and not isinstance(scorer, LossScorer) else True
    if accepts_sample_weight(scorer, search.estimator, scoring):
        return routed.scorer
    label = f"{scorer}" if multi is None else f"{name}={scorer}"
    warn_caller(
        f"The scoring {label} does not support sample_weight, which may lead to statistically incorrect results "
        f"when fitting {search} with sample_weight. "
    )
    return {}


def split_pipeline(estimator):
    """(transformers or None, final estimator) of a Pipeline or of an estimator by itself."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    if type(estimator) is not Pipeline:
        raise NotUnderstoodError(f"{type(estimator).__name__} is derived from Pipeline and may do anything")
    final = estimator.steps[-1][1]
    if isinstance(final, Pipeline):
        raise NotUnderstoodError("a Pipeline ends in another Pipeline")
    return (estimator[:-1] if len(estimator.steps) > 1 else None), final


def final_weights(estimator, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(sample_weight of the final estimator, metadata for the transformers before it)."""
    if not isinstance(estimator, Pipeline):
        unknown = set(params) - {"sample_weight"}
        if unknown:
            raise NotUnderstoodError(f"fit takes {', '.join(sorted(unknown))}")
        return params.get("sample_weight"), {}
    last = estimator.steps[-1][0]
    if routing_enabled():
        if not params:
            return None, {}
        final = dict(process_routing(estimator, "fit", **params)[last].fit)
        wanted = _requests(estimator[:-1], "fit_transform", params) if len(estimator.steps) > 1 else ()
        before = {name: params[name] for name in wanted}
    else:
        prefix = f"{last}__"
        final = {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}
        before = {name: value for name, value in params.items() if not name.startswith(prefix)}
        if any("__" not in name for name in before):
            raise NotUnderstoodError("a Pipeline takes fit parameters as step__parameter only")
    if set(final) - {"sample_weight"}:
        raise NotUnderstoodError(f"the final step takes {', '.join(sorted(final))}")
    return final.get("sample_weight"), before


def sample_weight_of(estimator, params: dict[str, Any]) -> Any:
    """The final estimator's ``sample_weight``, whatever else ``fit`` is given; None if it cannot be told."""
    try:
        return final_weights(estimator, params)[0]
    except NotUnderstoodError:
        return None if isinstance(estimator, Pipeline) else params.get("sample_weight")
