"""Whether two searches are the same: a digest of everything that their results depend on.

Values are told apart by what they are, never by where they lie in memory or how they are pickled, so that the digest is
the same in the next process. Functions are their code, defaults and closure; what they call is not followed.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..data.blocks import RowScan

DEEPEST = 50
"""Levels of nesting beyond which a value is taken to contain itself."""


def content_hash(value: Any) -> str:
    """A digest of a value: data, parameters, estimators, scorers, functions and whatever they are made of.

    Cost    one pass over all arrays.

    >>> content_hash({"a": 1, "b": [2.0]}) == content_hash({"b": [2.0], "a": 1})
    True
    >>> content_hash(1) == content_hash(1.0)
    False
    """
    return _digest(value, 0).hex()


def _digest(value: Any, depth: int) -> bytes:
    """Digests of the parts have one length, so that different parts cannot be confused."""
    if depth > DEEPEST:
        raise ValueError(f"{type(value).__name__} is nested too deeply to be told apart from others.")
    found = hashlib.sha256()
    for part in _parts(value, depth):
        found.update(part if isinstance(part, bytes) else _digest(part.value, depth + 1))
    return found.digest()


@dataclasses.dataclass(frozen=True)
class _Nested:
    """A part that is a value again."""

    value: Any


def _parts(value: Any, depth: int) -> Iterator[bytes | _Nested]:
    """Parts that a value consists of, its kind first."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield f"{type(value).__name__}:{value!r}".encode()
    elif isinstance(value, np.ndarray):
        yield from _array_parts(value)
    elif sparse.issparse(value):
        matrix: Any = value
        rows = matrix.tocsr()
        yield b"sparse:"
        yield from map(_Nested, (rows.shape, rows.data, rows.indices, rows.indptr))
    elif hasattr(value, "columns") and hasattr(value, "to_numpy"):  # a data frame of any make
        yield b"frame:"
        yield _Nested([str(name) for name in value.columns])
        columns = value.iloc if hasattr(value, "iloc") else value
        yield from (_Nested(columns[:, number].to_numpy()) for number in range(value.shape[1]))
    elif hasattr(value, "to_numpy"):  # a column of one
        yield b"column:"
        yield _Nested(value.to_numpy())
    elif isinstance(value, Mapping):
        yield b"mapping:"
        yield from sorted(_digest(key, depth + 1) + _digest(item, depth + 1) for key, item in value.items())
    elif isinstance(value, list | tuple | range):
        yield b"sequence:"
        yield from map(_Nested, value)
    elif isinstance(value, set | frozenset):
        yield b"set:"
        yield from sorted(_digest(item, depth + 1) for item in value)
    else:
        yield from _object_parts(value)


def _array_parts(array: np.ndarray) -> Iterator[bytes | _Nested]:
    if array.dtype.hasobject:
        yield f"objects:{array.shape}:".encode()
        yield from map(_Nested, array.ravel().tolist())
    else:
        yield f"array:{array.dtype.str}:{array.shape}:".encode()
        yield np.ascontiguousarray(array).tobytes()


def _object_parts(value: Any) -> Iterator[bytes | _Nested]:
    if isinstance(value, types.FunctionType):
        yield b"function:"
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = (value.__module__, value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells)
        yield from map(_Nested, parts)
    elif isinstance(value, types.CodeType):
        yield b"code:"
        yield from map(_Nested, (value.co_code, value.co_consts, value.co_names))
    elif isinstance(value, types.MethodType):
        yield b"method:"
        yield from map(_Nested, (value.__self__, value.__func__))
    elif isinstance(value, functools.partial):
        yield b"partial:"
        yield from map(_Nested, (value.func, value.args, value.keywords))
    elif isinstance(value, type):
        yield f"class:{value.__module__}.{value.__qualname__}".encode()
    else:
        yield from _instance_parts(value)


def _instance_parts(value: Any) -> Iterator[bytes | _Nested]:
    kind = type(value)
    yield f"instance:{kind.__module__}.{kind.__qualname__}:".encode()
    if isinstance(value, RowScan):
        yield _Nested(value.identity)
    elif hasattr(value, "get_params"):
        yield _Nested(value.get_params(deep=False))
    elif dataclasses.is_dataclass(value):
        yield _Nested({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    elif hasattr(value, "__dict__") and vars(value):
        yield _Nested(vars(value))
    elif " at 0x" not in repr(value):
        yield repr(value).encode()
    else:
        raise ValueError(f"{value!r} cannot be told apart from others of its kind in the next run.")
