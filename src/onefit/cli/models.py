"""Models in files: the estimator by skops, which runs no code of the file, and what is known about it as JSON."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS = "onefit.json"
SCHEMA = "schema.json"
FORMAT = 1
SMALL_JSON = 4 * 2**20
"""Bytes that a JSON text may always have. Larger ones must not expand: parsed, a byte can take 25, and skops stores
them as they are."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of compressing of which no more is expanded than the archive says."""
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
"""Errors that damaged archives and JSON texts raise; too deep nesting and encrypted parts are RuntimeErrors."""
ESTIMATORS = (
    "DateEncoder", "EpsilonSVR", "HingeSVC", "KernelLogisticRegression", "L2SVC", "LSSVC", "LSSVR", "LandmarkFeatures",
    "LinearEpsilonSVR", "LinearHingeSVC", "LinearL2SVC", "LinearLSSVC", "LinearLogisticRegression",
    "RandomFourierFeatures",
)  # fmt: skip
KERNELS = (
    "ARD", "AdditiveChi2", "Chi2", "Columns", "Cosine", "Gaussian", "Laplacian", "Linear", "Matern", "Polynomial",
    "RationalQuadratic", "Sigmoid", "WeightedSum",
)  # fmt: skip
TRUSTED = frozenset({
    "numpy.dtype", "numpy.ravel", "onefit.gram.FourierMap", "onefit.gram.LandmarkMap",
    *(f"onefit.{name}" for name in ESTIMATORS), *(f"onefit.kernels.{name}" for name in KERNELS),
})  # fmt: skip
"""Types that a model may hold besides those that skops itself trusts: data and formulas, nothing that can be called
with code of the file's choosing."""

MOST_NESTED = 4
"""Levels of lists and objects within the facts; those of --save have two."""


def save(path: Path, model: Any, facts: dict[str, Any]) -> None:
    """Write a fitted model and what is known about it."""
    import skops.io

    contents = io.BytesIO(skops.io.dumps(model))
    with zipfile.ZipFile(contents, "a") as archive:
        archive.writestr(FACTS, json.dumps({"format": FORMAT, **facts}, indent=1, ensure_ascii=False))
    path.write_bytes(contents.getvalue())


def load(path: Path) -> tuple[Any, dict[str, Any]]:
    """The model and its facts. A file with types that are not known to be harmless is refused, and they are named."""
    import skops.io

    facts = read_facts(path)
    data = path.read_bytes()  # what is judged is what is loaded, whoever writes the file meanwhile
    _check_parts(path, data)
    try:
        unknown = skops.io.get_untrusted_types(data=data)
        refused = sorted(set(unknown) - TRUSTED)
        if not refused:
            return skops.io.loads(data, trusted=unknown), facts
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path} is damaged, or of another version of skops: {error}") from error
    raise ValueError(f"{path} holds types that are not trusted and was not loaded: {', '.join(refused)}.")


def read_facts(path: Path) -> dict[str, Any]:
    """Read the facts about a model without loading it."""
    from ..datasets.files import existing_file

    facts = _read_json(existing_file(path), path, FACTS)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"{path} has a format that this version does not know: it reads format {FORMAT}.")
    return facts


def _read_json(source: Path | io.BytesIO, path: Path, name: str) -> Any:
    """One of the JSON texts of the model in ``source``, which is the file ``path`` or its contents."""
    try:
        with zipfile.ZipFile(source) as archive:
            info = archive.getinfo(name)
            readable = info.compress_type in METHODS and info.file_size <= max(SMALL_JSON, path.stat().st_size)
            if readable:
                return json.loads(archive.read(info))
    except (*UNREADABLE, KeyError):
        raise ValueError(f"{path} is no model that `onefit select --save` has written.") from None
    raise ValueError(
        f"{path}: {name} expands to {info.file_size:,} bytes, more than the file has, or in a way that skops does not "
        "write: it is not read."
    )


def _check_parts(path: Path, data: bytes) -> None:
    """Refuse a model whose arrays expand too far, each counted as often as it is read."""
    from ..datasets.files import check_expansion

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if other := [info.filename for info in archive.infolist() if info.compress_type not in METHODS]:
            raise ValueError(f"{path}: {other[0]} is compressed in a way that skops does not write: it is not read.")
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    total = 0
    waiting = [_read_json(io.BytesIO(data), path, SCHEMA)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            name = value.get("file")
            total += sizes.get(name, 0) if isinstance(name, str) else 0
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    check_expansion(path, total, "its arrays take")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0


def _all(test: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, list) and all(map(test, value))


def _is_pair(value: Any) -> bool:
    return _all(_is_number, value) and len(value) == 2


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "data": ("a text", _is_text),
    "rows": ("a whole number", _is_count),
    "task": ("classification or regression", lambda value: value in ("classification", "regression")),
    "target": ("a text or null", lambda value: value is None or _is_text(value)),
    "features": ("a list of texts", lambda value: _all(_is_text, value)),
    "categorical": ("a list of whole numbers", lambda value: _all(_is_count, value)),
    "classes": (
        "null, a list of texts or a list of whole numbers",
        lambda value: value is None or (bool(value) and (_all(_is_text, value) or _all(_is_whole, value))),
    ),
    "learner": ("a text", _is_text),
    "kernel": ("a text", _is_text),
    "params": (
        "an object of texts and numbers",
        lambda value: isinstance(value, dict) and all(map(_is_plain, value.values())),
    ),
    "metric": ("a text", _is_text),
    "score": ("a number", _is_number),
    "standard_error": ("a number or null", lambda value: value is None or _is_number(value)),
    "folds": ("a whole number", _is_count),
    "exactness": ("a text", _is_text),
    "onefit": ("a text", _is_text),
    "code": ("a text", _is_text),
}
"""Facts that ``predict`` and ``inspect`` read: what each must be, and its test."""


ADDED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "roles": ("a list of texts", lambda value: _all(_is_text, value)),
    "positive": ("a text, a whole number or null", lambda value: value is None or _is_text(value) or _is_whole(value)),
    "id": ("a text or null", lambda value: value is None or _is_text(value)),
    "encoding": ("a text or null", lambda value: value is None or _is_text(value)),
    "calibration": (
        "null or a list of pairs of numbers",
        lambda value: value is None or (isinstance(value, list) and all(_is_pair(pair) for pair in value)),
    ),
    "expected": ("null or a pair of numbers", lambda value: value is None or _is_pair(value)),
    "imputes": ("true or false", lambda value: isinstance(value, bool)),
}
"""Facts that models of earlier versions lack."""


def check_facts(path: Path, facts: dict[str, Any]) -> None:
    """Refuse a model file whose facts lack what the commands read, or are of other types."""
    if lacking := sorted(set(KINDS) - set(facts)):
        raise _damaged(path, f"lacks {', '.join(lacking)}")
    for name, (kind, test) in {**KINDS, **ADDED}.items():
        if name in facts and not test(facts[name]):
            raise _damaged(path, f"has something else than {kind} as {name}")
    if facts["task"] == "classification" and facts["classes"] is None:
        raise _damaged(path, "names no classes")
    if any(position >= len(facts["features"]) for position in facts["categorical"]):
        raise _damaged(path, f"names {len(facts['features'])} features, and more as categorical")
    if facts.get("calibration") and len(facts["calibration"]) not in (1, len(facts["classes"] or ())):
        raise _damaged(path, "has not one curve of probabilities for each class")
    if _is_nested(facts, MOST_NESTED):
        raise _damaged(path, f"is nested more than {MOST_NESTED} levels deep")


def _damaged(path: Path, what: str) -> ValueError:
    return ValueError(f"{path} is damaged: {FACTS} {what}.")


def _is_nested(value: Any, levels: int) -> bool:
    """Whether lists and objects go deeper than so many levels."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return parts is not None and (levels == 0 or any(_is_nested(part, levels - 1) for part in parts))
