"""A file of finished rows that survives the searches that wrote it.

One SQLite file holds any number of searches, told apart by their fingerprints. Rows are committed the moment a kernel
is done: a process may be killed at any time, and several may write at once. Every row has a checksum, so that a damaged
file is refused instead of believed.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn

from .. import __version__
from .._public import set_module
from ..machines import Exactness
from .content_hash import content_hash
from .request import Request
from .strategies import Strategy
from .tasks import LinearMachine, Row

LOGGER = logging.getLogger("onefit")

_DOUBLE = np.dtype("<f8")


@dataclass(frozen=True)
class StoredRow:
    """A row without its candidate: fields as JSON, and as doubles the arrays that were kept.

    These are the out-of-fold values of the splits, then coefficients and constants of the machine.
    """

    outcome: str
    values: bytes | None


def store_row(row: Row) -> StoredRow:
    """Everything of a row but how its values are read. Numbers are written so that they are read back unchanged."""
    fields = {
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
        "curve": {name: np.asarray(scores, dtype=float).tolist() for name, scores in row.curve.items()},
    }
    arrays: list[np.ndarray] = []
    if row.values is not None:
        fields["shapes"] = [part.shape for part in row.values]
        arrays += row.values
    if row.machine is not None:
        arrays += [row.machine.coef, row.machine.intercept]
        fields["machine"] = [part.shape for part in arrays[-2:]]
    return StoredRow(json.dumps(fields), b"".join(part.astype(_DOUBLE).tobytes() for part in arrays) or None)


def restore_row(candidate: int, stored: StoredRow) -> Row:
    """The row again, for the candidate of this number."""
    fields = json.loads(stored.outcome)
    for scores in (fields["test"], fields["train"], fields.setdefault("curve", {})):
        scores.update({name: np.array(values, dtype=float) for name, values in scores.items()})
    fields["exactness"] = Exactness(fields["exactness"])
    fields["failures"] = {int(split): reason for split, reason in fields["failures"].items()}
    shapes, of_machine = fields.pop("shapes", None), fields.pop("machine", [])
    arrays = _split(stored.values, [*(shapes or ()), *of_machine])
    machine = LinearMachine(arrays[-2], arrays[-1]) if of_machine else None
    return Row(candidate, **fields, values=None if shapes is None else arrays[: len(shapes)], machine=machine)


def _split(values: bytes | None, shapes: list[list[int]]) -> list[np.ndarray]:
    """Arrays of these shapes from the numbers of all of them."""
    numbers = np.frombuffer(values or b"", dtype=_DOUBLE).astype(float)
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    if ends[-1] != len(numbers):
        raise ValueError(f"{len(numbers)} numbers where there should be {ends[-1]}")
    return [numbers[first:end].reshape(shape) for first, end, shape in zip(ends, ends[1:], shapes)]


def readable(params: dict[str, Any]) -> str:
    """Parameters as JSON for readers; what JSON does not know is written as text."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in params.items()}
    known = (bool, int, float, str, type(None))
    return json.dumps({name: value if isinstance(value, known) else str(value) for name, value in plain.items()})


APPLICATION = 0x1F17_CAFE
"""Marks a SQLite file as a journal of searches."""

FORMAT = 2
"""Version of the tables below: 1 had neither checksums nor out-of-fold values."""

PATIENCE = 60.0
"""Seconds that a process waits for another one's transaction."""

_TABLES = (
    """CREATE TABLE searches (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, started TEXT NOT NULL, facts TEXT NOT NULL,
        checksum TEXT NOT NULL)""",
    """CREATE TABLE outcomes (
        search INTEGER NOT NULL REFERENCES searches, stage TEXT NOT NULL, key TEXT NOT NULL, params TEXT NOT NULL,
        outcome TEXT NOT NULL, oof BLOB, checksum TEXT NOT NULL,
        PRIMARY KEY (search, stage, key))""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)

_ANEW = "Give another file, or delete this one and begin anew."


@set_module("onefit")
class JournalWarning(UserWarning):
    """A search goes on without its journal."""


@set_module("onefit")
class JournalError(ValueError):
    """A file cannot be used as a journal: it is damaged, in use, or something else."""


class Journal:
    """A file of searches; made if it is not there, refused with a JournalError if it is something else or damaged.

    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> with TemporaryDirectory() as folder:
    ...     with Journal(f"{folder}/searches.sqlite") as journal:
    ...         record = journal.record("fingerprint of a search", {"estimator": "SVC()"})
    ...         record.add("kernel", [Row(0, {"score": np.array([0.5, 1.0])})], [{"C": 1.0}])
    ...         known = record.known("kernel", {0: {"C": 1.0}, 1: {"C": 2.0}})
    >>> {number: row.test["score"].tolist() for number, row in known.items()}
    {0: [0.5, 1.0]}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        with self._explained("opened"):
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        try:
            with self._explained("used"):
                self._prepare()
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

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Whatever SQLite refuses is a JournalError that names the file; its messages may quote damaged text."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise JournalError(f"The journal {self.path!r} cannot be {what}: {error}. {_ANEW}") from error

    def _damaged(self, why: object) -> JournalError:
        return JournalError(f"The journal {self.path!r} is damaged: {why}. {_ANEW}")

    def _prepare(self) -> None:
        """Make the tables, or see that they are ours and sound."""
        if not self._is_ours():
            with self.transaction():
                if not self._is_ours():  # another process may have been faster
                    for statement in _TABLES:
                        self._db.execute(statement)
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise JournalError(
                f"The journal {self.path!r} has format {version}, of another version of onefit; "
                f"this one reads format {FORMAT}. {_ANEW}"
            )
        (sound,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise self._damaged(" ".join(str(sound).split()))

    def _is_ours(self) -> bool:
        """Whether it has our tables; an error if it has others."""
        # tables first: whoever sees those that another process has just made sees its mark, too
        tables = self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        if application == APPLICATION:
            return True
        if application or tables:
            raise JournalError(f"The journal {self.path!r} is a database of something else: give another file.")
        return False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; other processes wait. The lock is taken at once, since waiting to upgrade one may fail."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:  # also Ctrl-C just before or after COMMIT
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def record(self, mark: str, facts: dict[str, Any]) -> Record:
        """The record of the search with this fingerprint, begun now if it is new; ``facts`` are for readers."""
        entry = (mark, datetime.now(UTC).isoformat(timespec="seconds"), json.dumps(facts))
        with self._explained("written"), self.transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO searches (fingerprint, started, facts, checksum) VALUES (?, ?, ?, ?)",
                (*entry, content_hash(entry)),
            )
            (number,) = db.execute("SELECT id FROM searches WHERE fingerprint = ?", (mark,)).fetchone()
        return Record(self, mark, number)

    def read(self, mark: str, clause: str, *values: object) -> Iterator[tuple[str, str, StoredRow]]:
        """(key, parameters as JSON, row) of the outcomes that a WHERE clause selects, of the search with this mark."""
        query = f"""SELECT stage, key, params, outcome, oof, checksum FROM outcomes
                    WHERE search = (SELECT id FROM searches WHERE fingerprint = ?) AND {clause}"""
        with self._explained("read"):
            for *entry, checksum in self._db.execute(query, (mark, *values)):
                if checksum != content_hash([mark, *entry]):
                    raise self._damaged(
                        f"the outcome of {entry[2]} does not have the checksum that was written with it"
                    )
                _, key, params, outcome, oof = entry
                yield key, params, StoredRow(outcome, oof)

    def restored(self, candidate: int, stored: StoredRow) -> Row:
        """The row of a candidate; a JournalError if it is none, although it has its checksum."""
        try:
            return restore_row(candidate, stored)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._damaged(f"an outcome cannot be read ({type(error).__name__}: {error})") from error

    def finished(self, mark: str) -> list[tuple[dict[str, Any], Row]]:
        """(parameters as far as JSON knows them, row) of the candidates of a search, as they were finished.

        Of a candidate that was retrained after its kernel had been evaluated it is the later row.
        """
        rows = self.read(mark, "stage != 'screening' ORDER BY rowid")
        found = {key: (params, stored) for key, params, stored in rows}
        return [(json.loads(params), self.restored(number, row)) for number, (params, row) in enumerate(found.values())]

    def searches(self) -> list[dict[str, Any]]:
        """Every search: ``fingerprint``, when it ``started``, how many candidates are ``finished``, and its facts."""
        query = """SELECT fingerprint, started, facts, checksum, (SELECT count(DISTINCT key) FROM outcomes
                   WHERE search = searches.id AND stage != 'screening') FROM searches ORDER BY id"""
        with self._explained("read"):
            rows = self._db.execute(query).fetchall()
        for *entry, checksum, _ in rows:
            if checksum != content_hash(entry):
                raise self._damaged(f"the search that began {entry[1]} does not have its checksum")
        return [
            {"fingerprint": mark, "started": started, "finished": finished, **json.loads(facts)}
            for mark, started, facts, _, finished in rows
        ]


@dataclass
class Record:
    """The part of a journal that belongs to one search. Stages keep outcomes of different kinds apart."""

    journal: Journal
    mark: str
    search: int
    broken: bool = False

    def known(self, stage: str, candidates: dict[int, dict]) -> dict[int, Row]:
        """The rows of those candidates (number -> parameters) that are finished."""
        journal, known = self.journal, {}
        for number, params in candidates.items():
            for _, _, stored in journal.read(self.mark, "stage = ? AND key = ?", stage, content_hash(params)):
                known[number] = journal.restored(number, stored)
        return known

    def add(self, stage: str, rows: Iterable[Row], params: Iterable[dict]) -> None:
        """Commit finished rows, with their candidates' parameters. What another process has committed is kept.

        A full disk is no reason to lose a search: it goes on without the journal, with a warning.
        """
        if self.broken:
            return
        entries = [self._entry(stage, row, chosen) for row, chosen in zip(rows, params)]
        try:
            with self.journal.transaction() as db:
                db.executemany("INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?)", entries)
        except sqlite3.Error as error:
            self.broken = True
            message = f"The journal {self.journal.path!r} cannot be written ({error}): the search goes on without it."
            warnings.warn(message, JournalWarning, stacklevel=2)

    def _entry(self, stage: str, row: Row, params: dict) -> tuple[object, ...]:
        """A row of the table, with a checksum of everything in it and of the search that it belongs to."""
        stored = store_row(row)
        entry = (stage, content_hash(params), readable(params), stored.outcome, stored.values)
        return self.search, *entry, content_hash([self.mark, *entry])


def record_of(journal: Journal, request: Request, strategy: Strategy, candidates: list[dict]) -> Record:
    """The record of a search in a journal, old or new, with a word in the log about what it knows."""
    mark = content_hash(_ingredients(request, strategy, candidates))
    record = journal.record(mark, _facts(request, strategy, candidates))
    finished = {search["fingerprint"]: search["finished"] for search in journal.searches()}
    if finished[mark]:
        LOGGER.info(f"the journal knows {finished[mark]} candidates of this search")
    elif len(finished) > 1:
        LOGGER.info("the journal knows other searches only: data, folds or options were different")
    return record


def _ingredients(request: Request, strategy: Strategy, candidates: list[dict]) -> dict:
    """Everything that the rows depend on."""
    options = ("estimator", "screen", "preprocessing", "error_score", "return_train_score", "approximation")
    return {
        "versions": (__version__, sklearn.__version__),
        "data": (request.X, request.y),
        "folds": [(fold.test, fold.removed, fold.given_train) for fold in request.folds],
        "metadata": (request.fit_params, request.score_params),
        "criteria": (request.criterion, request.columns, request.scale_penalty),
        "candidates": (type(strategy), candidates),
        "scoring": None if request.scoring is None else request.scoring.given,
        **({} if request.seen is None else {"rows before": request.seen.mark}),
        **{name: getattr(request, name) for name in options},
    }


def _facts(request: Request, strategy: Strategy, candidates: list[dict]) -> dict:
    """Facts that a reader of the journal wants to know of the search."""
    scoring = None if request.scoring is None else request.scoring.given
    return {
        "estimator": str(request.estimator),
        "criterion": request.criterion.name,
        "scoring": scoring if isinstance(scoring, str) else str(scoring),
        "candidates": len(candidates) if strategy.rounds == 1 else None,
        "rows": request.folds.n,
        "folds": len(request.folds),
        "onefit": __version__,
    }
