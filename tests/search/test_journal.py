"""The file of finished searches: what it keeps, what it refuses."""

import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import onefit.search.journal
from onefit import JournalError, JournalWarning
from onefit.machines import Exactness
from onefit.search.journal import Journal, restore_row, store_row
from onefit.search.tasks import Row


def a_row(candidate=3):
    row = Row(candidate, {"score": np.array([0.1, np.nan, -np.inf])}, {"score": np.array([1 / 3, 2.0, 5e-324])})
    row.exactness, row.error_bound, row.status = Exactness.CERTIFIED, np.nan, "so so: äöü"
    row.failures, row.criteria, row.fit_seconds = {1: "why"}, {"sm": np.float64(1e300)}, 0.25
    row.values = [np.array([[0.1, -0.0], [5e-324, np.nan]]), np.array([[1 / 3, -np.inf]])]
    return row


def test_rows_are_read_back_unchanged():
    row = a_row()
    again = restore_row(7, store_row(row))
    assert again.candidate == 7
    for name in ("test", "train"):
        np.testing.assert_array_equal(getattr(again, name)["score"], getattr(row, name)["score"])
    for name in ("exactness", "status", "failures", "criteria", "fit_seconds", "retrain"):
        assert getattr(again, name) == getattr(row, name)
    assert np.isnan(again.error_bound)
    assert [part.tobytes() for part in again.values] == [part.tobytes() for part in row.values]
    assert [part.shape for part in again.values] == [(2, 2), (1, 2)]
    assert restore_row(7, store_row(Row(0))).values is None


def test_searches_and_stages_live_side_by_side(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        first, second = journal.record("one", {"rows": 5}), journal.record("two", {"rows": 6})
        params = {0: {"C": 1.0}, 1: {"C": 2.0}}
        first.add("kernel", [a_row(0)], [params[0]])
        second.add("kernel", [a_row(1)], [params[1]])
        assert list(first.known("kernel", params)) == [0]
        assert list(second.known("kernel", params)) == [1]
        assert not first.known("retraining", params)
        assert journal.record("one", {}).search == first.search
    with Journal(tmp_path / "journal.sqlite") as journal:
        ((params, row),) = journal.finished("two")
        assert (params, row.status) == ({"C": 2.0}, a_row().status)
        assert journal.finished("three") == []
        assert [(found["fingerprint"], found["rows"], found["finished"]) for found in journal.searches()] == [
            ("one", 5, 1),
            ("two", 6, 1),
        ]


def test_what_was_committed_first_is_kept(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        record = journal.record("one", {})
        record.add("kernel", [Row(0, status="first")], [{"C": 1.0}])
        record.add("kernel", [Row(0, status="second")], [{"C": 1.0}])
        assert record.known("kernel", {0: {"C": 1.0}})[0].status == "first"


def test_nothing_but_text_and_doubles_is_stored(tmp_path):
    """Whatever the parameters are, the file has no pickle to load."""
    with Journal(tmp_path / "journal.sqlite") as journal:
        params = {"kernel": np.exp, "class_weight": {np.int64(0): 1.0}, "C": np.float64(2.0)}
        journal.record("one", {}).add("kernel", [a_row()], [params])
    rows = sqlite3.connect(tmp_path / "journal.sqlite").execute("SELECT * FROM outcomes").fetchall()
    ((_, _, _, params, _, values, _),) = rows
    assert all(isinstance(cell, str | int) or cell is values for row in rows for cell in row)
    assert json.loads(params)["C"] == 2.0
    np.testing.assert_array_equal(np.frombuffer(values, "<f8"), np.concatenate([v.ravel() for v in a_row().values]))


class TestRefusals:
    def test_a_file_of_something_else(self, tmp_path):
        path = tmp_path / "notes.txt"
        path.write_text("not a database at all, but long enough to be looked at twice " * 20)
        with pytest.raises(ValueError, match=r"notes.txt' cannot be used: file is not a database"):
            Journal(path)
        assert path.read_text().startswith("not a database")

    def test_a_database_of_something_else(self, tmp_path):
        other = sqlite3.connect(tmp_path / "other.sqlite")
        other.execute("CREATE TABLE people (name)")
        other.commit()
        with pytest.raises(ValueError, match="database of something else"):
            Journal(tmp_path / "other.sqlite")
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("people",)]

    def test_a_damaged_journal(self, tmp_path):
        path = tmp_path / "journal.sqlite"
        with Journal(path) as journal:
            record = journal.record("one", {})
            for number in range(300):
                record.add("kernel", [a_row(number)], [{"C": float(number)}])
        content = bytearray(path.read_bytes())
        content[4096:12288] = os.urandom(8192)
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"journal.sqlite' (is damaged|cannot be used)"):
            Journal(path)

    @pytest.mark.parametrize("version", [1, 99])
    def test_a_journal_of_another_format(self, tmp_path, version):
        Journal(tmp_path / "journal.sqlite").close()
        sqlite3.connect(tmp_path / "journal.sqlite").execute(f"PRAGMA user_version = {version}")
        with pytest.raises(JournalError, match=rf"journal.sqlite' has format {version}.*Give another file"):
            Journal(tmp_path / "journal.sqlite")

    def test_places_where_there_can_be_no_file(self, tmp_path):
        for path in (tmp_path, tmp_path / "missing" / "journal.sqlite"):
            with pytest.raises(JournalError, match="unable to open"):
                Journal(path)

    def test_a_journal_that_another_process_keeps_locked(self, tmp_path, monkeypatch):
        Journal(tmp_path / "journal.sqlite").close()
        other = sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(onefit.search.journal, "PATIENCE", 0.05)
        with pytest.raises(JournalError, match=r"journal.sqlite' cannot be used: database is locked"):
            Journal(tmp_path / "journal.sqlite")
        other.close()

    def test_a_journal_that_can_only_be_read(self, tmp_path):
        with Journal(tmp_path / "journal.sqlite") as journal:
            journal._db.execute("PRAGMA query_only = 1")
            with pytest.raises(JournalError, match=r"journal.sqlite' cannot be written"):
                journal.record("one", {})


class TestDamage:
    """Whatever was changed in a file, it is refused by name, or nothing that was changed is believed."""

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "journal.sqlite"
        with Journal(path) as journal:
            record = journal.record("one", {"estimator": "SVC()"})
            record.add("kernel", map(a_row, range(5)), [{"C": float(number)} for number in range(5)])
        return path

    def read(self, path):
        """Everything that a journal says, in a form that can be compared."""
        with Journal(path) as journal:
            record = journal.record("one", {"estimator": "SVC()"})
            known = record.known("kernel", {number: {"C": float(number)} for number in range(5)})
            finished = journal.finished("one")
            return journal.searches(), {n: store_row(row) for n, row in known.items()}, [p for p, _ in finished]

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE outcomes SET outcome = replace(outcome, '0.1,', '0.7,') WHERE rowid = 3",
            "UPDATE outcomes SET outcome = replace(outcome, 'certified', 'exact') WHERE rowid = 3",
            "UPDATE outcomes SET outcome = 17 WHERE rowid = 3",
            "UPDATE outcomes SET outcome = x'00ff' WHERE rowid = 3",
            "UPDATE outcomes SET outcome = 'null' WHERE rowid = 3",
            "UPDATE outcomes SET params = '{}' WHERE rowid = 3",
            "UPDATE outcomes SET key = 'other' WHERE rowid = 3",
            "UPDATE outcomes SET oof = NULL WHERE rowid = 3",
            "UPDATE outcomes SET oof = zeroblob(length(oof)) WHERE rowid = 3",
            "UPDATE outcomes SET checksum = 'x' WHERE rowid = 3",
            "UPDATE searches SET facts = replace(facts, 'SVC', 'SVR')",
            "UPDATE searches SET facts = 'no JSON'",
            "UPDATE searches SET started = 1",
            "DROP TABLE outcomes",
            "DROP TABLE searches",
            "ALTER TABLE outcomes RENAME COLUMN outcome TO result",
            "ALTER TABLE searches DROP COLUMN checksum",
        ],
    )
    def test_of_a_row_or_a_table(self, path, change):
        database = sqlite3.connect(path)
        database.execute(change)
        database.commit()
        database.close()
        with pytest.raises(
            JournalError, match=r"journal.sqlite' (is damaged|cannot be (used|read|written)).*Give anoth"
        ):
            self.read(path)

    def test_an_outcome_with_a_checksum_that_is_none(self, path):
        """Somebody may compute checksums too."""
        with Journal(path) as journal:
            stored = onefit.search.journal.StoredRow('{"test": 1}', None)
            with pytest.raises(JournalError, match=r"journal.sqlite' is damaged: an outcome cannot be read"):
                journal.restored(0, stored)

    def test_of_any_byte(self, path):
        sound, content = self.read(path), path.read_bytes()
        rng = np.random.default_rng(0)
        for _ in range(300):
            damaged = bytearray(content)
            place = rng.integers(len(damaged))
            damaged[place] ^= int(rng.integers(1, 256))
            path.write_bytes(damaged)
            try:
                _, known, _ = self.read(path)
            except JournalError as error:
                assert "journal.sqlite" in str(error)  # noqa: PT017
                continue
            assert all(row == sound[1][number] for number, row in known.items())  # what is still known is unchanged

    def test_of_the_end(self, path):
        content = path.read_bytes()
        for size in (15, 99, 100, 4095, 4096, 5000, len(content) // 2, len(content) - 4096):
            path.write_bytes(content[:size])
            with pytest.raises(JournalError, match=r"journal.sqlite"):
                self.read(path)


def test_an_empty_file_becomes_a_journal(tmp_path):
    (tmp_path / "journal.sqlite").touch()
    with Journal(tmp_path / "journal.sqlite") as journal:
        assert journal.searches() == []


def test_a_journal_that_cannot_be_written_any_more_is_left_with_a_warning(tmp_path):
    with Journal(tmp_path / "journal.sqlite") as journal:
        record = journal.record("one", {})
        journal._db.execute("PRAGMA query_only = 1")
        with pytest.warns(JournalWarning, match="goes on without it"):
            record.add("kernel", [a_row()], [{"C": 1.0}])
        record.add("kernel", [a_row()], [{"C": 1.0}])  # said once
        assert not record.known("kernel", {0: {"C": 1.0}})


@pytest.mark.slow
def test_many_processes_open_and_write_at_once(tmp_path):
    script = """
import sys
import numpy as np
from onefit.search.journal import Journal
from onefit.search.tasks import Row
with Journal(sys.argv[1]) as journal:
    record = journal.record("shared", {})
    for number in range(40):
        record.add("kernel", [Row(number, {"score": np.zeros(2)}, status=sys.argv[2])], [{"C": float(number)}])
"""
    path = str(tmp_path / "journal.sqlite")
    environment = {"PYTHONPATH": ":".join(sys.path)}
    workers = [subprocess.Popen([sys.executable, "-c", script, path, str(i)], env=environment) for i in range(3)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0, 0]
    with Journal(path) as journal:
        (search,) = journal.searches()
        assert search["finished"] == 40
        assert len(journal.record("shared", {}).known("kernel", {i: {"C": float(i)} for i in range(40)})) == 40
