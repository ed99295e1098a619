"""Who gets which metadata: the estimator, the splitter, the scorers, the steps of a Pipeline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from ..core.machine import NotUnderstoodError
from ..search.scoring import accepts_sample_weight


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
    if routing_enabled():
        routed = process_routing(search, "fit", **params)
        return Routed(dict(routed.estimator.fit), dict(routed.splitter.split), dict(routed.scorer.score))
    rest = {name: value for name, value in params.items() if name != "groups"}
    splitter = {"groups": params.get("groups")}  # also None: a splitter may insist on the argument
    scorer_metadata = {"sample_weight": rest["sample_weight"]} if "sample_weight" in rest else {}
    return Routed(rest, splitter, scorer_metadata)


def _requests(obj, method, params) -> set[str]:
    return set(get_routing_for_object(obj).consumes(method, params.keys()))


def scorer_params(search, routed: Routed, name: str, scorer, multi) -> dict[str, Any]:
    """Metadata of one scorer. ``multi`` is scikit-learn's multi-metric scorer, or None for a single one."""
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
    warnings.warn(
        f"The scoring {label} does not support sample_weight, which may lead to statistically incorrect results "
        f"when fitting {search} with sample_weight. ",
        stacklevel=4,
    )
    return {}


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
