"""Random wrappers around the estimators of random searches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, StandardScaler

from . import scorers, searches, splitters

try:
    from imblearn.over_sampling import SMOTE, RandomOverSampler
    from imblearn.pipeline import Pipeline as ResamplingPipeline
    from imblearn.under_sampling import RandomUnderSampler, TomekLinks
except ImportError:  # searches are drawn without samplers
    ResamplingPipeline = None


def draw(seed):
    """The search of this number, with one or two wrappers around its estimator."""
    rng = np.random.default_rng([31, seed])
    search = searches.draw(seed)
    while search.machine.kernel == "precomputed":
        seed += 10_000
        search = searches.draw(seed)
    if is_classifier(search.estimator):
        kinds = [nested, one_vs_rest] + [resampled] * (ResamplingPipeline is not None)
    else:
        kinds = [nested, transformed_target, transformed_target, each_output, transformed_outputs]
    return rng.choice(kinds)(rng, search)


def _around(search, estimator, prefix, weights_prefix=""):
    """A search over ``estimator``, in which the old one stands at ``prefix``."""
    grids = search.grid if isinstance(search.grid, list) else [search.grid]
    renamed = [{f"{prefix}__{name}": values for name, values in grid.items()} for grid in grids]
    weights = {
        f"{weights_prefix}{name}" if name.endswith("sample_weight") else name: values
        for name, values in search.fit_params.items()
    }
    place = f"{prefix}__{search.place}".removesuffix("__")
    return replace(search, estimator=estimator, grid=renamed, fit_params=weights, place=place)


def _without_weights(search):
    return replace(search, fit_params={k: v for k, v in search.fit_params.items() if not k.endswith("sample_weight")})


def turn():
    """A transformer that leaves distances of rows as they are, for which the parameters of machines were drawn."""
    return PCA(svd_solver="full")


def nested(rng, search):
    """A Pipeline inside of another one."""
    steps = [("turn", turn())] if rng.random() < 0.5 and not hasattr(search.X, "iloc") else []
    if hasattr(search.X, "toarray"):
        steps = []
    inner = search.estimator if isinstance(search.estimator, Pipeline) else Pipeline([("machine", search.estimator)])
    if inner is not search.estimator:
        search = _around(search, inner, "machine", "machine__")
    return _around(search, Pipeline([*steps, ("inner", inner)]), "inner", "inner__")


def transformed_target(rng, search):
    """A TransformedTargetRegressor around the estimator, or at the end of a Pipeline."""
    if search.estimator is search.machine and rng.random() < 0.3 and not hasattr(search.X, "toarray"):
        inner = _around(search, _target(rng, search, search.estimator), "regressor")
        return _around(inner, Pipeline([("turn", turn()), ("target", inner.estimator)]), "target", "target__")
    return _around(search, _target(rng, search, search.estimator), "regressor")


def _target(rng, search, regressor):
    kind = rng.choice(["standard", "range", "power", "quantiles", "function", "none"])
    if kind == "function":  # the targets are between -300 and 300
        return TransformedTargetRegressor(regressor, func=np.arcsinh, inverse_func=np.sinh)
    made = {
        "standard": StandardScaler(),
        "range": MinMaxScaler(),
        "power": PowerTransformer(),
        "quantiles": QuantileTransformer(n_quantiles=5),
        "none": None,
    }
    return TransformedTargetRegressor(regressor, transformer=made[kind], check_inverse=False)


def each_output(rng, search):
    """A MultiOutputRegressor, mostly of two outputs; of one dimension now and then, which it refuses."""
    if np.ndim(search.y) == 1 and rng.random() < 0.95:
        y = np.column_stack([search.y, np.abs(search.y)])
        scoring = scorers.draw(rng, y, False, single_rows=splitters.tests_single_rows(search.options["cv"]))
        options = {key: value for key, value in search.options.items() if key not in ("scoring", "refit")}
        search = replace(search, y=y, options={**options, **scoring})
    return _around(search, MultiOutputRegressor(search.estimator), "estimator")


def transformed_outputs(rng, search):
    """A MultiOutputRegressor inside of a TransformedTargetRegressor."""
    inner = each_output(rng, search)
    return _around(inner, _target(rng, inner, inner.estimator), "regressor")


def one_vs_rest(rng, search):
    """A OneVsRestClassifier around the estimator, or at the end of a Pipeline; it takes no weights."""
    search = _without_weights(search)
    inner = _around(search, OneVsRestClassifier(search.estimator), "estimator")
    if search.estimator is search.machine and rng.random() < 0.3 and not hasattr(search.X, "toarray"):
        return _around(inner, Pipeline([("turn", turn()), ("classes", inner.estimator)]), "classes")
    return inner


def resampled(rng, search):
    """A Pipeline of imbalanced-learn whose last step but one is a sampler; it takes no weights."""
    search = _without_weights(search)
    samplers = [RandomUnderSampler(random_state=3), RandomOverSampler(random_state=3), TomekLinks()]
    samplers += [SMOTE(random_state=3, k_neighbors=2)]
    steps = search.estimator.steps if isinstance(search.estimator, Pipeline) else [("machine", search.estimator)]
    if search.estimator is search.machine:
        search = _around(search, search.estimator, "machine")
    estimator = ResamplingPipeline([*steps[:-1], ("sampler", samplers[rng.integers(len(samplers))]), steps[-1]])
    return replace(search, estimator=estimator)
