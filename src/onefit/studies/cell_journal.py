"""Finished cells in an SQLite file: a killed run loses none of them and repeats none."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .cell import Record
from .fingerprint import conditions, digest, method_text
from .spec import Method, Protocol

APPLICATION = 0x6F6E6566  # "onef": tells our files from other SQLite files
_TABLES = (
    """
CREATE TABLE IF NOT EXISTS cells (
    conditions TEXT NOT NULL, method TEXT NOT NULL, dataset TEXT NOT NULL, split INTEGER NOT NULL,
    records TEXT, error TEXT, seconds REAL NOT NULL,
    PRIMARY KEY (conditions, method, dataset, split)
) WITHOUT ROWID
""",
    "CREATE TABLE IF NOT EXISTS texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
)
"""Numbers of one method each; ``conditions`` and ``method`` are digests of texts, which are kept to be read."""


Task = tuple[str, int]
"""(data set, number of the split)."""


@dataclass(frozen=True)
class Finished:
    """A (data set, split) of a protocol: what its methods found, or the error that ended it, and CPU seconds."""

    records: list[Record]
    error: str | None
    seconds: float


class Journal:
    """The numbers of one or several protocols in one file, method by method.

    Every (data set, split) is a transaction of its own, so a process may be killed at any moment, and several may
    write: the first result of a method stays, and a failure never replaces one. A method that is added to a protocol,
    or whose criterion has a new revision, is measured alone.
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
            for table in _TABLES:
                connection.execute(table)

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
        """Keep what the methods of a protocol found; what is there already is only changed by a result for a failure.

        Seconds are those of all methods together, and kept in equal shares.
        """
        given, share = conditions(protocol), finished.seconds / len(protocol.methods)
        with self._connection() as connection:
            connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest(given), given))
            for method in protocol.methods:
                text = method_text(protocol, method)
                records = None if finished.error is not None else _records_of(method, finished)
                connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest(text), text))
                connection.execute(
                    "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                    "records = excluded.records, error = excluded.error, seconds = excluded.seconds "
                    "WHERE cells.records IS NULL",
                    (digest(given), digest(text), dataset, split, records, finished.error, share),
                )

    def read(self, protocol: Protocol) -> dict[Task, Finished]:
        """The numbers of some or all methods of a protocol, by (data set, split)."""
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT method, dataset, split, records, error, seconds FROM cells WHERE conditions = ?",
                (digest(conditions(protocol)),),
            ).fetchall()
        known = {(method, dataset, split): rest for method, dataset, split, *rest in rows}
        tasks = sorted({(dataset, split) for _, dataset, split in known})
        return {task: cell for task in tasks if (cell := self._cell(protocol, known, task)) is not None}

    def seconds(self, protocol: Protocol) -> dict[tuple[str, int, str], float]:
        """CPU seconds by (data set, split, method), where the method has the name that fingerprints give it."""
        texts = {digest(text): text for text in (method_text(protocol, method) for method in protocol.methods)}
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT dataset, split, method, seconds FROM cells WHERE conditions = ?",
                (digest(conditions(protocol)),),
            ).fetchall()
        return {(dataset, split, texts[method]): spent for dataset, split, method, spent in rows if method in texts}

    def _cell(self, protocol: Protocol, known: dict[tuple[str, str, int], Any], task: Task) -> Finished | None:
        records: list[Record] = []
        errors, seconds = [], []
        for method in protocol.methods:
            row = known.get((digest(method_text(protocol, method)), *task))
            if row is None:
                continue
            text, error, spent = row
            records += self._records(text, method, *task)
            seconds.append(spent)
            if text is None:
                errors.append(error)
        if not seconds:
            return None
        return Finished(records, errors[0] if errors else None, math.fsum(seconds))

    def _records(self, text: str | None, method: Method, dataset: str, split: int) -> list[Record]:
        try:
            return [(setting, method.name, value) for setting, value in json.loads(text or "[]")]
        except (TypeError, ValueError) as error:
            message = f"The journal {self.path} is damaged: split {split} of {dataset} cannot be read ({error})."
            raise ValueError(f"{message} Move it away, or give another folder.") from error

    def remaining(self, protocol: Protocol, dataset: str, split: int, *, retry_failed: bool = False) -> Protocol | None:
        """The protocol with the methods that have no result of a split yet, nor a failure unless that is retried.

        None if there are none.
        """
        wanted = "records IS NOT NULL" if retry_failed else "1"
        with self._connection() as connection:
            rows = connection.execute(
                f"SELECT method FROM cells WHERE conditions = ? AND dataset = ? AND split = ? AND {wanted}",
                (digest(conditions(protocol)), dataset, split),
            ).fetchall()
        known = {method for (method,) in rows}
        methods = tuple(m for m in protocol.methods if digest(method_text(protocol, m)) not in known)
        return replace(protocol, methods=methods) if methods else None


def _records_of(method: Method, finished: Finished) -> str:
    """The (setting, value) pairs of a method as text; methods of one name differ in their setting."""
    own = [
        (setting, value)
        for setting, name, value in finished.records
        if name == method.name and method.setting in ("", setting)
    ]
    return json.dumps(own, separators=(",", ":"))
