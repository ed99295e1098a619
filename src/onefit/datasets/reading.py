"""One call for every format."""

from __future__ import annotations

from pathlib import Path

from .libsvm import read_libsvm
from .table import Table


def read(path: str | Path, *, target: str | int | None = None, n_features: int | None = None) -> Table:
    """A table from a file."""
    return read_libsvm(path, n_features=n_features)
