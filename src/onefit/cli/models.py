"""Models in files: the estimator by skops, which runs no code of the file, and what is known about it as JSON.

A model file is a zip that ``skops.io.load`` reads; ``onefit.json`` inside is for the command line.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

FACTS = "onefit.json"
FORMAT = 1
NEEDED = frozenset(
    {"data", "rows", "task", "target", "features", "categorical", "classes", "learner", "kernel", "params", "metric",
     "score", "standard_error", "folds", "exactness", "onefit", "code"}
)  # fmt: skip
"""What ``predict`` and ``inspect`` read of the facts."""
TRUSTED = frozenset(
    {
        "numpy.dtype",
        "onefit.estimators.l2_svm.L2SVC",
        "onefit.estimators.ls_svm.LSSVC",
        "onefit.estimators.ls_svm.LSSVR",
        "onefit.kernels.dot_product.Cosine",
        "onefit.kernels.dot_product.Linear",
        "onefit.kernels.dot_product.Polynomial",
        "onefit.kernels.dot_product.Sigmoid",
        "onefit.kernels.other.AdditiveChi2",
        "onefit.kernels.other.Chi2",
        "onefit.kernels.stationary.Gaussian",
        "onefit.kernels.stationary.Laplacian",
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
    try:
        unknown = skops.io.get_untrusted_types(file=path)
        refused = sorted(set(unknown) - TRUSTED)
        if not refused:
            return skops.io.load(path, trusted=unknown), facts
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise ValueError(f"{path} is damaged, or of another version of skops: {error}") from error
    raise ValueError(f"{path} holds types that are not trusted and was not loaded: {', '.join(refused)}.")


def read_facts(path: Path) -> dict[str, Any]:
    """What is known about a model, without loading it."""
    from ..datasets.files import existing_file

    try:
        with zipfile.ZipFile(existing_file(path)) as archive:
            facts = json.loads(archive.read(FACTS))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError(f"{path} is no model that `onefit select --save` has written.") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"{path} has a format that this version does not know: it reads format {FORMAT}.")
    return facts


def check_complete(path: Path, facts: dict[str, Any]) -> None:
    """Refuse a model file whose facts lack what the commands read."""
    if lacking := sorted(NEEDED - set(facts)):
        raise ValueError(f"{path} is damaged: {FACTS} lacks {', '.join(lacking)}.")
