"""The bytes and the lines of a file, or an error that names the file and the line.

Files are read as streams, so that one that is refused early is not held in memory, whatever it would expand to.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..resources.memory import parse_budget
from .visible import visible

GZIP, BZIP2, PARQUET = b"\x1f\x8b", b"BZh", b"PAR1"
"""How such files begin, whatever they are called."""

FREE_SIZE = 16 * 2**20
"""Bytes that the contents of any file may take, however small the file: every machine has them."""

MAX_EXPANSION = 200
"""Bytes of contents for each byte of a file, above FREE_SIZE: tables of numbers compress 2- to 10-fold, and a constant
column 100-fold; gzip can reach 1,032 and bzip2 millions, which nothing but zeros and repetitions need."""

MAX_SPARSE_EXPANSION = 10_000
"""Bytes of a dense array for each byte of a sparse file: so many if one value in about 10,000 is not zero."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLOCK = 1 << 16  # bytes that are read at once


def fault(path: Path, message: str, line: int | None = None) -> ValueError:
    """The error for a file that cannot be read as what it claims to be."""
    where = f"{path}, line {line}" if line is not None else f"{path}"
    return ValueError(visible(f"{where}: {message}"))


class TooManyRowsError(ValueError):
    """A file has more rows than were allowed."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(visible(f"{path} has more than {most:,} rows, the most that were allowed."))


def existing_file(path: str | Path) -> Path:
    """The path, once it is known to be a file with something in it."""
    path = Path(path).expanduser()
    if path.is_dir():
        raise IsADirectoryError(visible(f"{path} is a directory; a file is needed."))
    if not path.exists():
        raise FileNotFoundError(visible(f"{path} does not exist."))
    if not path.is_file():
        raise fault(path, "is a pipe or a device; save the data into a file, which is read more than once.")
    if path.stat().st_size == 0:
        raise fault(path, "the file is empty; rows of data are needed.")
    return path


def check_expansion(path: Path, size: int, what: str, fold: int = MAX_EXPANSION) -> None:
    """Refuse contents that need ``size`` bytes, where the file is too small for an honest table of that size."""
    if size > max(FREE_SIZE, fold * path.stat().st_size):
        raise fault(path, f"{what} {size:,} bytes, more than {fold:,} times the size of the file: it is not read.")


def check_dense(path: Path, rows: int, columns: int) -> None:
    """Refuse a sparse file whose dense array does not fit in memory, or is far larger than such files need."""
    size = 8 * rows * columns
    if size <= FREE_SIZE:
        return
    shape = f"{rows:,} rows of {columns:,} features"
    if size > parse_budget(None):
        raise fault(path, f"{shape} do not fit in memory as a dense array; select features first.")
    check_expansion(path, size, f"{shape} would take", MAX_SPARSE_EXPANSION)


class _Source(io.RawIOBase):
    """The bytes of a file, decompressed if they begin as gzip or bzip2 data do.

    Reading ends with an error that names the line where the data are damaged, expand too far, or hold a zero byte
    where they have to be text.
    """

    def __init__(self, path: Path, text: bool) -> None:
        self._path, self._text = path, text
        self._size = self._lines = 0
        self._most = max(FREE_SIZE, MAX_EXPANSION * path.stat().st_size)
        with path.open("rb") as file:
            start = file.read(len(BZIP2))
        self._stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File
        self._compressed = start.startswith((GZIP, BZIP2))
        if start.startswith(GZIP):
            self._stream = gzip.GzipFile(path)
        elif start.startswith(BZIP2):
            self._stream = bz2.BZ2File(path)
        elif path.suffix in (".gz", ".bz2"):
            raise fault(path, f"is called {path.suffix} but does not hold such compressed data.")
        else:
            self._stream = path.open("rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        block = self._read(len(view))
        if self._compressed:
            self._check(block)
        if self._text and (position := block.find(b"\0")) >= 0:
            message = "holds binary data, not text; CSV, TSV, LIBSVM, ARFF and Parquet files can be read."
            raise fault(self._path, message, self._lines + block.count(b"\n", 0, position) + 1)
        self._lines += block.count(b"\n")
        view[: len(block)] = block
        return len(block)

    def _read(self, size: int) -> bytes:
        if not self._compressed:
            return self._stream.read(size)
        try:
            return self._stream.read(size)
        except (EOFError, OSError, zlib.error) as error:
            message = f"the compressed data are cut off or damaged here ({error})."
            raise fault(self._path, message, self._lines + 1) from error

    def _check(self, block: bytes) -> None:
        self._size += len(block)
        if not self._size:
            raise fault(self._path, "the compressed file is empty.")
        if self._size > self._most:
            raise fault(
                self._path,
                f"expands to more than {self._most:,} bytes, {MAX_EXPANSION} times its size, as no honest table does, "
                "and is not read further; decompress it by hand if you know what is in it.",
            )

    def close(self) -> None:
        if hasattr(self, "_stream"):  # not if it could not be opened
            self._stream.close()
        super().close()


def open_bytes(path: Path, *, text: bool = True) -> io.BufferedReader:
    """The contents as a stream. Zero bytes are refused in ``text``."""
    return io.BufferedReader(_Source(path, text), _BLOCK)


def head(path: Path, size: int) -> bytes:
    """The first bytes of the contents."""
    with open_bytes(path, text=False) as stream:
        return stream.read(size)


def text_lines(path: Path, encoding: str | None = None) -> Iterator[str]:
    """The lines, with their ends, of text in an encoding; None: UTF-8, or UTF-16 with its byte order mark."""
    wide = head(path, 2) in _UTF16
    known = encoding or ("utf-16" if wide else "utf-8-sig")
    with open_bytes(path, text=not _is_wide(path, known)) as stream:
        lines = io.TextIOWrapper(stream, known, newline="")
        read = 0
        try:
            for line in lines:
                read += 1
                yield line
        except UnicodeDecodeError as error:
            if encoding is None and wide:
                raise fault(path, f"begins as UTF-16 text does, but is not: {error}.") from error
            line_number = read + error.object.count(b"\n", 0, error.start) + 1
            byte = error.object[error.start]
            advice = "give its encoding, such as --encoding cp1252 or cp1251 (encoding= in Python), or save it as UTF-8"
            raise fault(path, f"byte 0x{byte:02x} is not {encoding or 'UTF-8'} text; {advice}.", line_number) from error


def _is_wide(path: Path, encoding: str) -> bool:
    """Whether characters have more than one byte each, some of them zero; an unknown encoding is an error."""
    try:
        return len("a".encode(encoding).removeprefix(codecs.BOM_UTF8)) > 1
    except (LookupError, TypeError):
        raise fault(path, f"Python knows no text encoding {visible(encoding)!r}; cp1252 and utf-8 are some.") from None
