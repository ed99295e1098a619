"""The bytes and the text of a file, or an error that names the file and the line."""

from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path

GZIP, BZIP2, PARQUET = b"\x1f\x8b", b"BZh", b"PAR1"
"""How such files begin, whatever they are called."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def fault(path: Path, message: str, line: int | None = None) -> ValueError:
    """The error for a file that cannot be read as what it claims to be."""
    where = f"{path}, line {line}" if line is not None else f"{path}"
    return ValueError(f"{where}: {message}")


def existing_file(path: str | Path) -> Path:
    """The path, once it is known to be a file with something in it."""
    path = Path(path).expanduser()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; a file is needed.")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if not path.is_file():
        raise fault(path, "is a pipe or a device; save the data into a file, which is read more than once.")
    if path.stat().st_size == 0:
        raise fault(path, "the file is empty; rows of data are needed.")
    return path


def read_bytes(path: Path) -> bytes:
    """The contents, decompressed if they begin as gzip or bzip2 data do."""
    raw = path.read_bytes()
    if raw.startswith(GZIP):
        return _decompressed(path, gzip.GzipFile(path))
    if raw.startswith(BZIP2):
        return _decompressed(path, bz2.BZ2File(path))
    if path.suffix in (".gz", ".bz2"):
        raise fault(path, f"is called {path.suffix} but does not hold such compressed data.")
    return raw


def _decompressed(path: Path, stream: gzip.GzipFile | bz2.BZ2File) -> bytes:
    chunks = []
    try:
        with stream:
            while chunk := stream.read1(1 << 20):
                chunks.append(chunk)
    except (EOFError, OSError, zlib.error) as error:
        lines = sum(chunk.count(b"\n") for chunk in chunks)
        raise fault(path, f"the compressed data are cut off or damaged here ({error}).", lines + 1) from error
    contents = b"".join(chunks)
    if not contents:
        raise fault(path, "the compressed file is empty.")
    return contents


def decode(path: Path, contents: bytes) -> str:
    """Text from UTF-8 (with or without a byte order mark) or UTF-16 with its mark."""
    if contents.startswith(_UTF16):
        try:
            return contents.decode("utf-16")
        except UnicodeDecodeError as error:
            raise fault(path, f"begins as UTF-16 text does, but is not: {error}.") from error
    refuse_binary(path, contents)
    try:
        return contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        byte = contents[error.start]
        raise fault(path, f"byte 0x{byte:02x} is not UTF-8 text; save the file as UTF-8.", line) from error


def refuse_binary(path: Path, contents: bytes) -> None:
    """An error for contents with a zero byte, which no text has."""
    position = contents.find(b"\0")
    if position >= 0:
        line = contents.count(b"\n", 0, position) + 1
        raise fault(path, "holds binary data, not text; CSV, TSV, LIBSVM, ARFF and Parquet files can be read.", line)
