"""Text files turned once into files that can be read from any row on, beside them.

A converted file is written under another name and takes its own only when it is complete; it carries the stamp of the
text it was made of, and is made anew when that has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ..data.blocks import FileStamp
from .files import fault

PART = 1 << 26
"""Bytes of LIBSVM text that are read at a time."""

MAX_FEATURES = 2048
"""Features of LIBSVM text that are stored as dense rows."""


def converted_csv(path: Path) -> Path:
    """A Parquet file with the contents of a CSV or TSV file."""
    return _converted(path, ".parquet", _csv_to_parquet)


def converted_libsvm(path: Path) -> Path:
    """A ``.npy`` file with the label and all features of LIBSVM text as columns."""
    return _converted(path, ".npy", _libsvm_to_npy)


def _converted(path: Path, suffix: str, convert: Callable[[Path, Path], None]) -> Path:
    """The converted file beside ``path``, made where it is missing or of another state of the text."""
    done, note = path.with_name(f"{path.name}.onefit{suffix}"), path.with_name(f"{path.name}.onefit.json")
    stamp = FileStamp.of(path)
    if done.exists() and note.exists():
        with suppress(ValueError, KeyError):
            known = json.loads(note.read_text())
            if (known["size"], known["changed"], known["ends"]) == (stamp.size, stamp.changed, stamp.ends):
                return done
    unfinished = path.with_name(f"{path.name}.onefit.{os.getpid()}{suffix}")
    try:
        convert(path, unfinished)
        stamp.check()
        os.replace(unfinished, done)
        note.write_text(json.dumps({"size": stamp.size, "changed": stamp.changed, "ends": stamp.ends}))
    except OSError as error:
        raise OSError(error.errno, f"{path} could not be converted to {done.name}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)  # nothing half-written stays
    return done


def _csv_to_parquet(path: Path, done: Path) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import csv, parquet
    except ImportError as error:
        raise ImportError(f"{path}: pyarrow scans CSV files; pip install 'onefit[data]' installs it.") from error
    delimiter = "\t" if ".tsv" in path.name or ".tab" in path.name else ","
    try:
        options = csv.ParseOptions(delimiter=delimiter)
        with csv.open_csv(path, parse_options=options) as reader, parquet.ParquetWriter(done, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    except arrow.ArrowInvalid as error:
        raise fault(path, f"is not read as CSV: {error}") from error


def _libsvm_to_npy(path: Path, done: Path) -> None:
    rows, features = 0, 0
    for X, _ in _parts(path, np.iinfo(np.int32).max):
        rows, features = rows + X.shape[0], max(features, int(X.indices.max(initial=-1)) + 1)
    if features > MAX_FEATURES:
        raise fault(path, f"has {features:,} features; up to {MAX_FEATURES:,} are scanned as dense rows.")
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows, 1 + features)}
    with done.open("wb") as file:  # a memory map would end the process where the disk is full
        np.lib.format.write_array_header_1_0(file, header)
        for X, y in _parts(path, features):
            file.write(np.column_stack([y, X.toarray()]).astype("<f8").tobytes())


def _parts(path: Path, n_features: int) -> Iterator[tuple[Any, Any]]:
    """(rows, labels) of LIBSVM text, some lines at a time."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for offset in range(0, size, PART):
            length = min(PART, size - offset)
            try:
                X, y = load_svmlight_file(file, offset=offset, length=length, n_features=n_features, zero_based=False)
            except ValueError as error:
                raise fault(path, f"is not read as LIBSVM text: {error}") from error
            if X.shape[0]:
                yield X, y
