"""What searches have finished, in a file that survives them.

One SQLite file holds any number of searches, told apart by their fingerprints. Rows are committed the moment a kernel
is done, as JSON: a process may be killed at any time, and several may write at once. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..core import Exactness
from .fingerprint import fingerprint
from .tasks import Row

APPLICATION = 0x1F17_CAFE
"""Marks a SQLite file as a journal of searches."""

FORMAT = 1
"""Of the tables below."""

PATIENCE = 60.0
"""Seconds that a process waits for another one's transaction."""

_TABLES = (
    """CREATE TABLE searches (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, started TEXT NOT NULL, facts TEXT NOT NULL)""",
    """CREATE TABLE outcomes (
        search INTEGER NOT NULL REFERENCES searches, stage TEXT NOT NULL, key TEXT NOT NULL, params TEXT NOT NULL,
        outcome TEXT NOT NULL, PRIMARY KEY (search, stage, key))""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class JournalWarning(UserWarning):
    """A search goes on without its journal."""


class Journal:
    """A file of searches; made if it is not there, refused with a ValueError if it is something else.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Journal(f"{folder}/searches.sqlite") as journal:
    ...         record = journal.record("fingerprint of a search", {"estimator": "SVC()"})
    ...         record.add("kernel", [Row(0, {"score": np.array([0.5, 1.0])})], [{"C": 1.0}])
    ...         known = record.known("kernel", {0: {"C": 1.0}, 1: {"C": 2.0}})
    >>> {number: row.test["score"].tolist() for number, row in known.items()}
    {0: [0.5, 1.0]}
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = os.fspath(path)
        try:
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        except sqlite3.Error as error:
            raise ValueError(f"The journal {self.path!r} cannot be opened: {error}.") from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self.close()
            raise ValueError(f"The journal {self.path!r} cannot be used: {error}.") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _prepare(self) -> None:
        """Make the tables, or see that they are ours and sound."""
        if not self._is_ours():
            with self.transaction():
                if not self._is_ours():  # another process may have been faster
                    for statement in _TABLES:
                        self._db.execute(statement)
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise ValueError(f"The journal {self.path!r} has format {version}; this version reads format {FORMAT}.")
        (sound,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise ValueError(f"The journal {self.path!r} is damaged: {sound}.")

    def _is_ours(self) -> bool:
        """Whether it has our tables; an error if it has others."""
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        if application == APPLICATION:
            return True
        if application or self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise ValueError(f"The journal {self.path!r} is a database of something else: give another file.")
        return False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; other processes wait. The lock is taken at once, since waiting to upgrade one may fail."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def record(self, mark: str, facts: dict[str, Any]) -> Record:
        """What is known of the search with this fingerprint, begun now if it is new; ``facts`` are for readers."""
        try:
            with self.transaction() as db:
                db.execute(
                    "INSERT OR IGNORE INTO searches (fingerprint, started, facts) VALUES (?, ?, ?)",
                    (mark, datetime.now(UTC).isoformat(timespec="seconds"), json.dumps(facts)),
                )
                (number,) = db.execute("SELECT id FROM searches WHERE fingerprint = ?", (mark,)).fetchone()
        except sqlite3.Error as error:
            raise ValueError(f"The journal {self.path!r} cannot be written: {error}.") from error
        return Record(self, number)

    def outcomes(self, search: int, stage: str) -> Iterator[tuple[str, str]]:
        """(key, outcome as JSON) of all finished candidates of a search."""
        yield from self._db.execute("SELECT key, outcome FROM outcomes WHERE search = ? AND stage = ?", (search, stage))

    def finished(self, mark: str) -> list[tuple[dict[str, Any], Row]]:
        """(parameters as far as JSON knows them, row) of the candidates of a search, as they were finished."""
        query = """SELECT params, outcome FROM outcomes JOIN searches ON searches.id = search
                   WHERE fingerprint = ? AND stage != 'screening' ORDER BY outcomes.rowid"""
        found = enumerate(self._db.execute(query, (mark,)))
        rows = [(json.loads(params), row_from_json(number, outcome)) for number, (params, outcome) in found]
        return [(params, row) for params, row in rows if row.test]

    def searches(self) -> list[dict[str, Any]]:
        """Every search: ``fingerprint``, when it ``started``, how many candidates are ``finished``, and its facts."""
        query = """SELECT fingerprint, started, facts, (SELECT count(*) FROM outcomes
                   WHERE search = searches.id AND stage != 'screening') FROM searches ORDER BY id"""
        return [
            {"fingerprint": mark, "started": started, "finished": finished, **json.loads(facts)}
            for mark, started, facts, finished in self._db.execute(query)
        ]


@dataclass
class Record:
    """The part of a journal that belongs to one search. Stages keep outcomes of different kinds apart."""

    journal: Journal
    search: int
    broken: bool = False

    def known(self, stage: str, candidates: dict[int, dict]) -> dict[int, Row]:
        """The rows of those candidates (number -> parameters) that are finished."""
        outcomes = dict(self.journal.outcomes(self.search, stage))
        keys = {number: fingerprint(params) for number, params in candidates.items()} if outcomes else {}
        return {number: row_from_json(number, outcomes[key]) for number, key in keys.items() if key in outcomes}

    def add(self, stage: str, rows: Iterable[Row], params: Iterable[dict]) -> None:
        """Commit finished rows, with their candidates' parameters. What another process has committed is kept.

        A full disk is no reason to lose a search: it goes on without the journal, with a warning.
        """
        if self.broken:
            return
        entries = [
            (self.search, stage, fingerprint(chosen), _readable(chosen), row_to_json(row))
            for row, chosen in zip(rows, params)
        ]
        try:
            with self.journal.transaction() as db:
                db.executemany("INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?)", entries)
        except sqlite3.Error as error:
            self.broken = True
            message = f"The journal {self.journal.path!r} cannot be written ({error}): the search goes on without it."
            warnings.warn(message, JournalWarning, stacklevel=2)


def _readable(params: dict) -> str:
    """Parameters as JSON for readers; what JSON does not know is written as text."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in params.items()}
    known = (bool, int, float, str, type(None))
    return json.dumps({name: value if isinstance(value, known) else str(value) for name, value in plain.items()})


def row_to_json(row: Row) -> str:
    """Everything but out-of-fold values. Numbers are written so that they are read back unchanged."""
    return json.dumps(
        {
            "test": {name: np.asarray(scores, dtype=float).tolist() for name, scores in row.test.items()},
            "train": {name: np.asarray(scores, dtype=float).tolist() for name, scores in row.train.items()},
            "exactness": str(row.exactness),
            "error_bound": float(row.error_bound),
            "status": row.status,
            "fit_seconds": row.fit_seconds,
            "score_seconds": row.score_seconds,
            "failures": row.failures,
            "retrain": row.retrain,
            "criteria": row.criteria,
        }
    )


def row_from_json(candidate: int, text: str) -> Row:
    """The row again, for the candidate of this number."""
    fields = json.loads(text)
    for scores in (fields["test"], fields["train"]):
        scores.update({name: np.array(values, dtype=float) for name, values in scores.items()})
    fields["exactness"] = Exactness(fields["exactness"])
    fields["failures"] = {int(split): reason for split, reason in fields["failures"].items()}
    return Row(candidate, **fields)
