"""Cells survive kills, two writers and mistakes."""

import resource
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from onefit.studies.catalogue import STUDIES, VARIANTS
from onefit.studies.cell_journal import Finished, Journal

PROTOCOL, OTHER = STUDIES["bif:1"].protocol, STUDIES["sm:2"].protocol
RESULT = Finished([("", "5-CV", 12.5), ("1", "5-BIF", 1e-7 / 3)], None, 0.25)
FAILURE = Finished([], "ValueError: no", 0.5)

WRITER = """
import sys
from pathlib import Path
from onefit.studies.catalogue import STUDIES, VARIANTS
from onefit.studies.cell_journal import Finished, Journal
journal, first = Journal(Path(sys.argv[1])), int(sys.argv[2])
for number in range(first, first + int(sys.argv[3])):
    journal.add(STUDIES["bif:1"].protocol, "heart", number, Finished([("", "5-CV", number / 3)], None, 1.0))
    print(number, flush=True)
"""


def writer(path, first, count):
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_cells_come_back_as_they_were(tmp_path):
    journal = Journal(tmp_path / "deep" / "cells.sqlite")
    journal.add(PROTOCOL, "heart", 3, RESULT)
    journal.add(PROTOCOL, "sonar", 0, FAILURE)
    journal.add(OTHER, "heart", 3, FAILURE)
    assert Journal(journal.path).read(PROTOCOL) == {("heart", 3): RESULT, ("sonar", 0): FAILURE}
    assert journal.remaining(PROTOCOL, "heart", 3) is None
    assert journal.remaining(PROTOCOL, "sonar", 0) is None
    assert journal.remaining(PROTOCOL, "sonar", 0, retry_failed=True) == PROTOCOL
    assert journal.remaining(PROTOCOL, "heart", 4) == PROTOCOL


def test_a_method_is_measured_alone_when_it_is_new_or_has_another_revision(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "cells.sqlite")
    first, *others = PROTOCOL.methods
    journal.add(replace(PROTOCOL, methods=(first,)), "heart", 0, Finished([("", first.name, 1.5)], None, 1.0))
    assert journal.remaining(PROTOCOL, "heart", 0).methods == tuple(others)
    assert journal.read(PROTOCOL)["heart", 0].records == [("", first.name, 1.5)]
    renamed = replace(first, name="another heading")
    assert journal.read(replace(PROTOCOL, methods=(renamed,)))["heart", 0].records == [("", "another heading", 1.5)]
    monkeypatch.setattr(type(first.criterion), "revision", 7)
    assert journal.read(PROTOCOL) == {}
    assert journal.remaining(PROTOCOL, "heart", 0) == PROTOCOL


def test_a_variant_finds_what_its_table_has_measured_and_measures_the_rest(tmp_path):
    """ks:2+errors has other losses in CV, CVKS and ELOO, and the kernels of RKS, BR and SPS in common with ks:2."""
    table, variant = STUDIES["ks:2"].protocol, VARIANTS["ks:2+errors"].protocol
    assert table.name == variant.name
    journal = Journal(tmp_path / "cells.sqlite")
    records = [("1", method.name, float(number)) for number, method in enumerate(table.methods)]
    journal.add(table, "heart", 0, Finished(records, None, 8.0))
    assert {name for _, name, _ in journal.read(variant)["heart", 0].records} == {"RKS", "BR", "SPS"}
    others = journal.remaining(variant, "heart", 0)
    assert {method.name for method in others.methods} == {"5-CVKS", "10-CVKS", "5-CV", "10-CV", "ELOO"}
    journal.add(others, "heart", 0, Finished([], None, 10.0))
    assert journal.read(table)["heart", 0].records == records
    spent, more = journal.seconds(table), journal.seconds(variant)
    assert (sum(spent.values()), sum(more.values())) == (8.0, 13.0)
    assert sum({**spent, **more}.values()) == 18.0


def test_methods_of_one_name_keep_their_settings(tmp_path):
    protocol = STUDIES["ks:fig2"].protocol
    records = [(method.setting, method.name, float(number)) for number, method in enumerate(protocol.methods)]
    journal = Journal(tmp_path / "cells.sqlite")
    journal.add(protocol, "heart", 0, Finished(records, None, 1.0))
    assert journal.read(protocol)["heart", 0].records == records


def test_reading_changes_no_byte(tmp_path):
    journal = Journal(tmp_path / "cells.sqlite")
    journal.add(PROTOCOL, "heart", 0, RESULT)
    before = journal.path.read_bytes()
    assert len(Journal(journal.path).read(PROTOCOL)) == 1
    assert journal.path.read_bytes() == before


def test_the_first_result_stays(tmp_path):
    journal = Journal(tmp_path / "cells.sqlite")
    journal.add(PROTOCOL, "heart", 0, FAILURE)
    journal.add(PROTOCOL, "heart", 0, RESULT)
    journal.add(PROTOCOL, "heart", 0, FAILURE)
    journal.add(PROTOCOL, "heart", 0, Finished([("", "5-CV", 0.0)], None, 9.0))
    assert journal.read(PROTOCOL) == {("heart", 0): RESULT}


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_that_it_had_finished(tmp_path):
    path, generator = tmp_path / "cells.sqlite", np.random.default_rng(0)
    reported = set()
    for first in range(0, 4000, 1000):
        process = writer(path, first, 1000)
        reported.add(int(process.stdout.readline()))  # it is at work
        time.sleep(generator.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        # the last line may be cut short
        reported |= {int(line) for line in process.stdout.read().splitlines()[:-1]}
        process.wait()
        known = Journal(path).read(PROTOCOL)
        assert {("heart", number) for number in reported} <= set(known)
        assert all(cell.records == [("", "5-CV", number / 3)] for (_, number), cell in known.items())
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.slow
def test_two_writers(tmp_path):
    path = tmp_path / "cells.sqlite"
    both = [writer(path, 0, 60), writer(path, 30, 60)]
    assert [process.wait() for process in both if process.communicate()] == [0, 0]
    assert set(Journal(path).read(PROTOCOL)) == {("heart", number) for number in range(90)}


def test_files_that_are_no_journal_are_refused_and_kept(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("a diary, not a database" * 100)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=path.name):
            Journal(path)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE cells",
        "ALTER TABLE cells RENAME COLUMN records TO notes",
        "UPDATE cells SET records = substr(records, 1, 9)",
        "UPDATE cells SET records = 7",
    ],
)
def test_a_journal_of_another_shape_is_named(tmp_path, damage):
    path = tmp_path / "cells.sqlite"
    Journal(path).add(PROTOCOL, "heart", 0, RESULT)
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    with pytest.raises(ValueError, match=f"{path}.*another folder"):
        Journal(path).read(PROTOCOL)


def test_a_journal_that_was_cut_off_is_refused(tmp_path):
    """SQLite takes the missing end for zeros: cells would seem not to be there, and be written over."""
    path = tmp_path / "cells.sqlite"
    journal = Journal(path)
    for number in range(4):
        journal.add(PROTOCOL, "heart", number, RESULT)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=path.name):
        Journal(path)


def test_a_full_disk_is_explained(tmp_path):
    journal = Journal(tmp_path / "cells.sqlite")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, limit[1]))
    try:
        with pytest.raises(ValueError, match=journal.path.name):
            journal.add(PROTOCOL, "heart", 0, Finished([("", "5-CV", 0.1)] * 2000, None, 1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    journal.add(PROTOCOL, "heart", 0, RESULT)
    assert journal.read(PROTOCOL) == {("heart", 0): RESULT}
