"""Models in files: the estimator by skops, which runs no code of the file, and what is known about it as JSON.

A model file is a zip that ``skops.io.load`` reads; ``onefit.json`` inside is for the command line.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
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
TRUSTED = frozenset(
    {
        "numpy.dtype",
        "numpy.ravel",
        "onefit.DateEncoder",
        "onefit.EpsilonSVR",
        "onefit.HingeSVC",
        "onefit.KernelLogisticRegression",
        "onefit.L2SVC",
        "onefit.LSSVC",
        "onefit.LSSVR",
        "onefit.LandmarkFeatures",
        "onefit.LinearEpsilonSVR",
        "onefit.LinearHingeSVC",
        "onefit.LinearL2SVC",
        "onefit.LinearLSSVC",
        "onefit.LinearLogisticRegression",
        "onefit.RandomFourierFeatures",
        "onefit.gram.FourierMap",
        "onefit.gram.LandmarkMap",
        "onefit.kernels.Cosine",
        "onefit.kernels.Linear",
        "onefit.kernels.Polynomial",
        "onefit.kernels.Sigmoid",
        "onefit.kernels.ARD",
        "onefit.kernels.Columns",
        "onefit.kernels.AdditiveChi2",
        "onefit.kernels.Chi2",
        "onefit.kernels.Gaussian",
        "onefit.kernels.Laplacian",
        "onefit.kernels.Matern",
        "onefit.kernels.RationalQuadratic",
        "onefit.kernels.WeightedSum",
    }
)
"""Types that a model may hold besides those that skops itself trusts: data and formulas, nothing that can be called
with code of the file's choosing."""


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
