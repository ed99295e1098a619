"""Where the file of a registered set is found: in a data folder, or on the web."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from .encoding import encode
from .files import fault
from .registry import DataSet

FOLDER = "ONEFIT_DATA"
CACHE = "ONEFIT_CACHE"
_SECONDS = 30  # of silence after which a download is given up


class NotThereError(Exception):
    """A source does not have the set; the message says why."""


def data_folder() -> Path:
    """The folder that ``ONEFIT_DATA`` names; without it ``../shared/data``, if there is one, beside the current
    directory or beside the source tree that onefit is imported from."""
    named = os.environ.get(FOLDER)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise NotThereError(f"{FOLDER}={named} is not a folder")
        return folder
    tree = Path(__file__).resolve().parents[3]
    for root in (Path.cwd(), tree):
        folder = root.parent / "shared" / "data"
        if folder.is_dir():
            return folder
    raise NotThereError(f"the environment variable {FOLDER} names no folder")


def file_in_folder(entry: DataSet) -> Path:
    """The set's file in the data folder, its checksum verified."""
    folder = data_folder()
    for path in (folder / "libsvm" / entry.file, folder / entry.file):
        if path.is_file():
            _check_sum(path, entry.sha256)
            return path
    raise NotThereError(f"{folder} has neither libsvm/{entry.file} nor {entry.file}")


def _check_sum(path: Path, expected: str) -> None:
    """An error for a file whose bytes are not those of the registered set."""
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != expected:
        raise fault(path, f"its sha256 is {actual}, not {expected}: damaged, changed or another file of that name.")


def cache_folder() -> Path:
    """The folder of downloads: ``ONEFIT_CACHE``, or pooch's folder for onefit."""
    try:
        import pooch
    except ImportError as error:
        raise NotThereError("pooch is not installed (pip install 'onefit[data]')") from error
    return Path(os.environ.get(CACHE) or pooch.os_cache("onefit"))


def file_in_cache(entry: DataSet) -> Path:
    """The set's file if it was downloaded before, its checksum verified."""
    path = cache_folder() / entry.file
    if not entry.url or not path.is_file():
        raise NotThereError("it was not downloaded yet")
    _check_sum(path, entry.sha256)
    return path


def downloaded(entry: DataSet) -> Path:
    """The set's file in the cache (``ONEFIT_CACHE``, or pooch's folder for onefit), fetched if it is not there."""
    if not entry.url:
        raise NotThereError("no address is known that has this file")
    cache = cache_folder()
    import pooch

    try:
        path = pooch.retrieve(
            entry.url, f"sha256:{entry.sha256}", fname=entry.file, path=cache, downloader=_downloader(entry)
        )
    except (OSError, ValueError) as error:  # no network, no such page, another checksum
        raise NotThereError(f"{entry.url}: {error}") from error
    return Path(path)


def _downloader(entry: DataSet) -> Callable[[str, str, object], None]:
    """A downloader for pooch, which compares the checksum of what it leaves: LIBSVM text.

    Originals in another form are encoded; of LIBSVM text only superfluous blanks are dropped.
    """

    def download(url: str, output: str, manager: object) -> None:
        import pooch

        pooch.HTTPDownloader(timeout=_SECONDS)(url, output, manager)
        path = Path(output)
        path.write_bytes(encode(path, entry.encoding))

    return download
