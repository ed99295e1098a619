"""The Python code that rebuilds a model: read the data, put the parts together, fit."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .data import Data


def rebuilding_code(data: Data, model: Any, landmarks: Any = None) -> str:
    """Lines to copy and paste; they end with ``model`` fitted on all rows, on ``landmarks`` if there are some."""
    imports = {("onefit", "datasets")}
    built, fit = f"model = {expression(model, imports)}", "model.fit(X, y{})"
    if landmarks is not None:
        imports |= {("onefit", "KernelSearchCV"), ("onefit", "Landmarks")}
        drawn = f"Landmarks({landmarks.n_landmarks}, {landmarks.method!r}, random_state={landmarks.random_state})"
        fit = (
            f"search = KernelSearchCV(model, {{{{}}}}, cv=2, approximation={drawn}).fit(X, y{{}})\n"
            "model = search.best_estimator_"
        )
    modules = sorted({module for module, _ in imports}, key=lambda module: (module == "onefit", module))
    lines = [f"from {module} import {', '.join(sorted(n for m, n in imports if m == module))}" for module in modules]
    reading = _reading(data)
    numpy = ["import numpy as np"] if any("np." in line for line in [*reading, built]) else []
    weights = "" if data.weights is None else f", {model.steps[-1][0]}__sample_weight=weights"
    return "\n".join([*numpy, *lines, "", *reading, "", built, fit.format(weights)])


def _reading(data: Data) -> list[str]:
    """X and y as the model was trained on them, and the weights of the rows if there are any."""
    if data.registered and not data.left_out:
        return [f'X, y = datasets.load("{data.registered}")']
    target = "" if data.asked_target is None else f", target={data.asked_target!r}"
    encoding = "" if data.encoding is None else f", encoding={data.encoding!r}"
    source = f'fetch("{data.registered}")' if data.registered else f"read({data.name!r}{target}{encoding})"
    X = "table.X" if not data.left_out else f"np.delete(table.X, {list(data.left_out)}, axis=1)"
    if data.left_out and not data.categorical:
        X += ".astype(float)"
    y = "table.y.astype(int)" if np.asarray(data.y).dtype.kind == "i" else "table.y"
    lines = [f"table = datasets.{source}", f"X, y = {X}, {y}"]
    return (
        lines if data.weights_column is None else [*lines, f"weights = table.X[:, {data.weights_column}].astype(float)"]
    )


def expression(value: Any, imports: set[tuple[str, str]], depth: int = 0) -> str:
    """An estimator as one would type it; ``imports`` is told what it needs, as (module, name)."""
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from ..report.text import python

    if isinstance(value, Pipeline):
        imports.add(("sklearn.pipeline", "make_pipeline"))
        steps = [expression(step, imports, depth + 1) for _, step in value.steps]
        return _call("make_pipeline(", steps, ")", depth)
    if isinstance(value, ColumnTransformer):
        imports.add(("sklearn.compose", "ColumnTransformer"))
        parts = [
            f"({name!r}, {expression(part, imports, depth + 1)}, {columns!r})"
            for name, part, columns in value.transformers
        ]
        dense = ", sparse_threshold=0" if value.sparse_threshold == 0 else ""
        return _call("ColumnTransformer([", parts, f"]{dense})", depth)
    if isinstance(value, BaseEstimator):
        kind = type(value)
        public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
        imports.add((".".join(public), kind.__name__))
        given = _changed(value)
        return f"{kind.__name__}({', '.join(f'{name}={expression(part, imports)}' for name, part in given.items())})"
    if value is np.ravel:
        return "np.ravel"
    return python(value)


def _call(start: str, parts: list[str], end: str, depth: int) -> str:
    """A call on one line if it is short, otherwise on several, further in by ``depth``."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= 80 and "\n" not in line and depth:
        return line
    margin = 4 * depth * " "
    inside = "".join(f"\n{margin}    {part}," for part in parts)
    return f"{start}{inside}\n{margin}{end}"


def _changed(estimator: Any) -> dict[str, Any]:
    """Parameters that are not the default."""
    defaults = {name: p.default for name, p in inspect.signature(type(estimator).__init__).parameters.items()}
    params = estimator.get_params(deep=False)
    return {name: params[name] for name in defaults if name in params and not _same(params[name], defaults[name])}


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and (value == default or (value != value and default != default))
