"""Sums over the rows in the journal of a search: those of finished kernels, and those of passes under way.

A pass over many rows takes minutes, and its sums are all that is left of the rows. Those of a pass under way are
written at most once a minute, so that a process that is killed loses no more; those of a finished pass stay, so that
rows can be added to them later (``KernelSearchCV.update``). Every part has a checksum, as all of a journal has.
"""

from __future__ import annotations

import logging
import platform
import sqlite3
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gram.streamed import Sums
from .content_hash import content_hash
from .journal import PATIENCE, JournalError, JournalWarning

LOGGER = logging.getLogger("onefit")

INTERVAL = 60.0
"""Seconds, at least, between two times that the sums of a pass are written: 40 MB for ten folds and 1,000 landmarks."""

WHOLE = -1
"""Stands in place of a lane for the sums of all rows."""

_DOUBLE = np.dtype("<f8")

_TABLE = """CREATE TABLE IF NOT EXISTS sums (
    search TEXT NOT NULL, key TEXT NOT NULL, lane INTEGER NOT NULL, cell INTEGER NOT NULL,
    pass TEXT NOT NULL, done INTEGER NOT NULL, width INTEGER NOT NULL, columns INTEGER NOT NULL, numbers BLOB NOT NULL,
    checksum TEXT NOT NULL, PRIMARY KEY (search, key, lane, cell))"""


@dataclass(frozen=True)
class KeptSums:
    """Sums of one search, in the file of its journal; ``earlier`` is the search that its rows are added to."""

    path: str
    mark: str
    earlier: str | None = None
    computer: str = field(default_factory=platform.node)

    def of_pass(self, key: str, facts: Any) -> KeptPass | None:
        """The pass for one kernel; ``facts`` tell it from passes over other cells, targets or features.

        None on a computer that does not have the file.
        """
        if platform.node() == self.computer:
            return KeptPass(self, key, content_hash(facts))
        if self.earlier is None:
            return None
        raise JournalError(f"Rows are added to the sums in {self.path!r} on the computer that has them: use threads.")

    def forget_earlier(self) -> None:
        """Remove the sums that new rows were added to: they are part of those that there are now."""
        if self.earlier is not None:
            with self._database("written") as db:
                db.execute("DELETE FROM sums WHERE search = ?", (self.earlier,))

    def read(self, key: str, lane: int, of_pass: str | None = None) -> tuple[int, Sums] | None:
        """(blocks done, their sums) of a lane, unless they are of another pass; a JournalError if they are damaged."""
        with self._database("read") as db:
            query = "SELECT * FROM sums WHERE search = ? AND key = ? AND lane = ? ORDER BY cell"
            rows = db.execute(query, (self.mark, key, lane)).fetchall()
        if not rows:
            return None
        for *entry, numbers, checksum in rows:
            if checksum != _checksum(entry, numbers):
                raise JournalError(
                    f"The journal {self.path!r} is damaged: the sums of kernel {key} do not have the checksum that was "
                    "written with them. Give another file, or delete this one and begin anew."
                )
        *_, passed, done, width, columns, _, _ = rows[0]
        if of_pass is not None and of_pass != passed:
            LOGGER.info(f"sums of kernel {key} in the journal are of other cells or blocks: they are not used")
            return None
        return done, _restored([row[-2] for row in rows], width, columns)

    def write(self, key: str, lane: int, of_pass: str, done: int, sums: Sums) -> None:
        """Put sums in place of what there was of the lane; those of all rows take the place of all lanes.

        A full disk is no reason to lose a search: it goes on without, with a warning.
        """
        _, width, columns = sums.H.shape
        try:
            with self._database("written") as db:
                db.execute("BEGIN IMMEDIATE")
                which = "search = ? AND key = ?" if lane == WHOLE else "search = ? AND key = ? AND lane = ?"
                db.execute(f"DELETE FROM sums WHERE {which}", (self.mark, key, lane)[: which.count("?")])
                for cell in range(len(sums.G)):
                    entry = [self.mark, key, lane, cell, of_pass, done, width, columns]
                    numbers = _numbers(sums.of_cell(cell))
                    checksum = _checksum(entry, numbers)
                    db.execute("INSERT INTO sums VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*entry, numbers, checksum))
                db.execute("COMMIT")
        except JournalError as error:
            message = f"{error} Sums are not kept: what is interrupted now begins its kernel anew."
            warnings.warn(message, JournalWarning, stacklevel=2)

    @contextmanager
    def _database(self, what: str) -> Iterator[sqlite3.Connection]:
        """A connection for one purpose: lanes are threads, which share none."""
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as db:
                db.execute(_TABLE)
                yield db
        except sqlite3.Error as error:
            raise JournalError(f"The journal {self.path!r} cannot be {what}: {error}.") from error


@dataclass
class KeptPass:
    """Sums of the pass for one kernel; what accumulating them needs (see ``gram.streamed.PassRecord``)."""

    kept: KeptSums
    key: str
    facts: str
    _written: dict[int, float] = field(default_factory=dict)  # lane -> when

    def finished(self) -> Sums | None:
        """The sums of the whole pass, if it was finished."""
        found = self.kept.read(self.key, WHOLE, self.facts)
        return None if found is None else found[1]

    def begun(self, lane: int) -> tuple[int, Sums] | None:
        """(how many blocks of a lane are done, their sums), if they were kept."""
        self._written[lane] = time.monotonic()
        return self.kept.read(self.key, lane, self.facts)

    def keep(self, lane: int, done: int, sums: Sums) -> None:
        """Write the sums of the first blocks of a lane, if that was done long ago."""
        if time.monotonic() - self._written[lane] >= INTERVAL:
            self.kept.write(self.key, lane, self.facts, done, sums)
            self._written[lane] = time.monotonic()

    def finish(self, total: Sums) -> Sums:
        """Write the sums of the whole pass, with those of earlier rows."""
        if self.kept.earlier is not None:
            found = replace(self.kept, mark=self.kept.earlier).read(self.key, WHOLE)
            if found is None:
                raise JournalError(
                    f"The journal {self.kept.path!r} has no sums of kernel {self.key} any more, to which new rows "
                    "could be added: were others added to the same search?"
                )
            total += found[1]
        self.kept.write(self.key, WHOLE, self.facts, 0, total)
        return total


def _numbers(sums: Sums) -> bytes:
    return b"".join(part.astype(_DOUBLE, copy=False).tobytes() for part in sums.packed)


def _checksum(entry: list[Any], numbers: bytes) -> str:
    return content_hash([*entry, np.frombuffer(numbers, dtype=np.uint8)])


def _restored(cells: list[bytes], width: int, columns: int) -> Sums:
    """Sums of all cells from the numbers of each."""
    sizes = np.cumsum([width * (width + 1) // 2, width * columns, columns * columns])
    numbers: NDArray[np.float64] = np.stack([np.frombuffer(cell, dtype=_DOUBLE).astype(float) for cell in cells])
    triangles, H, T = np.split(numbers, sizes[:-1], axis=1)
    return Sums.unpacked(triangles, H.reshape(-1, width, columns), T.reshape(-1, columns, columns))
