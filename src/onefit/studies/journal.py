"""Finished cells in an SQLite file: a killed run loses none of them and repeats none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .selection import Record
from .spec import Protocol

APPLICATION = 0x6F6E6566  # "onef": tells our files from other SQLite files
_TABLE = """
CREATE TABLE IF NOT EXISTS cells (
    fingerprint TEXT NOT NULL, dataset TEXT NOT NULL, split INTEGER NOT NULL,
    records TEXT, error TEXT, seconds REAL NOT NULL,
    PRIMARY KEY (fingerprint, dataset, split)
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Finished:
    """A cell of the journal: what it found, or the error that ended it."""

    records: list[Record]
    error: str | None
    seconds: float


class Journal:
    """The cells of one or several protocols in one file.

    Every cell is a transaction of its own, so a process may be killed at any moment, and several may write: the first
    finished result of a cell stays, and a failure never replaces one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"The folder {path.parent} cannot be made: {error}. Give another one.") from error
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")  # of two processes only one makes the table
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if application == APPLICATION:  # reading must not change a byte of the file
                (damage,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if damage != "ok":  # a file that was cut off may look as if cells were not done yet
                    raise sqlite3.DatabaseError(damage)
                return
            if tables:
                raise ValueError(f"{path} is not a journal of onefit's studies: give another folder.")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(_TABLE)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction; whatever SQLite refuses is a ValueError that names the file."""
        try:
            with closing(sqlite3.connect(self.path, timeout=60.0)) as connection, connection:
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # messages of SQLite may quote damaged text
            why = " ".join(str(error).split())
            raise ValueError(
                f"The journal {self.path} cannot be used: {why}. Make room, move it away, or give another folder."
            ) from error

    def add(self, protocol: Protocol, dataset: str, split: int, finished: Finished) -> None:
        """Keep a cell; if it is there already, only a result instead of a failure changes it."""
        records = None if finished.error is not None else json.dumps(finished.records, separators=(",", ":"))
        with self._connection() as connection:
            connection.execute(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                "records = excluded.records, error = excluded.error, seconds = excluded.seconds "
                "WHERE cells.records IS NULL",
                (protocol.fingerprint, dataset, split, records, finished.error, finished.seconds),
            )

    def read(self, protocol: Protocol) -> dict[tuple[str, int], Finished]:
        """The cells of a protocol by (data set, split)."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT dataset, split, records, error, seconds FROM cells WHERE fingerprint = ?",
                (protocol.fingerprint,),
            ).fetchall()
        return {
            (dataset, split): Finished(self._records(records, dataset, split), error, seconds)
            for dataset, split, records, error, seconds in rows
        }

    def _records(self, text: str | None, dataset: str, split: int) -> list[Record]:
        try:
            return [(setting, method, value) for setting, method, value in json.loads(text or "[]")]
        except (TypeError, ValueError) as error:
            message = f"The journal {self.path} is damaged: split {split} of {dataset} cannot be read ({error})."
            raise ValueError(f"{message} Move it away, or give another folder.") from error

    def is_done(self, protocol: Protocol, dataset: str, split: int) -> bool:
        """Whether a cell has a result, perhaps of another process."""
        with self._connection() as connection:
            row = connection.execute(
                "SELECT 1 FROM cells WHERE fingerprint = ? AND dataset = ? AND split = ? AND records IS NOT NULL",
                (protocol.fingerprint, dataset, split),
            ).fetchone()
        return row is not None
