"""Cells are measured once, by any number of workers, and failures are results."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from onefit.studies.catalogue import STUDIES
from onefit.studies.cell_journal import Finished, Journal
from onefit.studies.outcome import collect
from onefit.studies.runner import attempt, missing, run, tasks_of

# the only set of the papers that ships with scikit-learn, with few of its rows, and one that is nowhere
PROTOCOL = replace(STUDIES["sm:2"].protocol, datasets=("wdbc", "nowhere"), sources=(), rows=(("wdbc", 60),), splits=3)
STUDY = replace(STUDIES["sm:2"], protocol=PROTOCOL)


def test_the_first_split_of_every_set_comes_first():
    protocol = replace(PROTOCOL, splits=3, fewer_splits=(("b", 2),))
    assert tasks_of(protocol, ("a", "b")) == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    assert tasks_of(protocol, ("a", "b"), 1) == [("a", 0), ("b", 0)]


@pytest.fixture(scope="module")
def journals(tmp_path_factory):
    """The same cells by one worker, by two, and by two runs one after the other."""
    folder, found, told = tmp_path_factory.mktemp("journals"), {}, []
    tasks = tasks_of(PROTOCOL, PROTOCOL.datasets, 2)
    for name, workers, parts in (("one", 1, [tasks]), ("two", 2, [tasks]), ("parts", 1, [tasks[:2], tasks])):
        found[name] = Journal(folder / f"{name}.sqlite")
        for part in parts:
            run(PROTOCOL, found[name], missing(PROTOCOL, found[name], part, False), workers=workers, tell=told.append)
    return found, told


@pytest.mark.slow
def test_a_protocol_with_few_splits_has_them_of_large_data_sets_too():
    protocol = replace(PROTOCOL, splits=1, fewer_splits=(("b", 2),))
    assert protocol.splits_of("b") == 1
    assert tasks_of(protocol, ["a", "b"]) == [("a", 0), ("b", 0)]


def test_numbers_do_not_depend_on_workers_or_interruptions(journals):
    found, _ = journals
    records = [{task: cell.records for task, cell in journal.read(PROTOCOL).items()} for journal in found.values()]
    assert len(records[0]) == 4
    assert records[0] == records[1] == records[2]


@pytest.mark.slow
def test_every_cell_is_told_once(journals):
    _, told = journals
    assert [progress.done for progress in told[:4]] == [1, 2, 3, 4]
    assert len(told) == 4 + 4 + 2 + 2
    assert all((progress.error is None) == (progress.task[0] == "wdbc") for progress in told)


@pytest.mark.slow
def test_failures_are_kept_and_retried_on_request(journals):
    journal = journals[0]["one"]
    tasks = tasks_of(PROTOCOL, PROTOCOL.datasets, 3)
    assert missing(PROTOCOL, journal, tasks, False) == [("wdbc", 2), ("nowhere", 2)]
    assert ("nowhere", 0) in missing(PROTOCOL, journal, tasks, True)
    outcome = collect(STUDY, journal, PROTOCOL.datasets)
    assert set(outcome.failures) == {("nowhere", 0), ("nowhere", 1)}
    assert "nowhere" in outcome.failures["nowhere", 0]
    assert outcome.n_splits("wdbc") == 2
    assert outcome.n_splits("nowhere") == 0


@pytest.mark.slow
def test_methods_and_settings_are_in_the_order_of_the_paper(journals):
    outcome = collect(STUDY, journals[0]["one"], ("wdbc",), ["ER", "SM"])
    assert outcome.methods == ("SM", "ER")
    assert outcome.settings == ("",)
    assert outcome.paired("wdbc", "").shape == (2, 2)


def test_no_cell_is_begun_after_the_time_budget(tmp_path):
    journal = Journal(tmp_path / "cells.sqlite")
    run(PROTOCOL, journal, tasks_of(PROTOCOL, ("wdbc",), 3), time_budget=0.0)
    assert journal.read(PROTOCOL) == {}


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_done(tmp_path):
    journal = Journal(tmp_path / "cells.sqlite")

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(PROTOCOL, journal, tasks_of(PROTOCOL, ("wdbc",), 3), tell=interrupt)
    assert len(journal.read(PROTOCOL)) == 1


def test_cells_that_another_process_has_done_are_told_too(tmp_path):
    journal, tasks, told = Journal(tmp_path / "cells.sqlite"), tasks_of(PROTOCOL, ("wdbc",), 2), []
    for task in tasks:
        journal.add(PROTOCOL, *task, Finished([("", "SM", 1.0)], None, 1.0))
    run(PROTOCOL, journal, tasks, tell=told.append)
    assert [(progress.done, progress.task) for progress in told] == [(1, tasks[0]), (2, tasks[1])]


LONG = """
from dataclasses import replace
from pathlib import Path
import sys
from onefit.studies.catalogue import STUDIES
from onefit.studies.cell_journal import Journal
from onefit.studies.runner import run, tasks_of

if __name__ == "__main__":
    protocol = replace(STUDIES["bif:5"].protocol, datasets=("wdbc",))
    print("begun", flush=True)
    run(protocol, Journal(Path(sys.argv[1])), tasks_of(protocol, ("wdbc",), 9), workers=2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 4.0])
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_ctrl_c_ends_a_run_at_once_with_one_traceback(tmp_path, send, seconds):
    """Whether workers are starting or at work, and whether a terminal sends it to all processes or only to the run."""
    script = tmp_path / "long.py"
    script.write_text(LONG)
    command = [sys.executable, script, tmp_path / "cells.sqlite"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(seconds)
    send(process.pid, signal.SIGINT)
    try:
        errors = process.communicate(timeout=10)[1]
    finally:
        process.kill()
    assert errors.count("Traceback") == 1
    assert errors.endswith("KeyboardInterrupt\n")


def test_a_method_that_fails_takes_no_other_with_it(monkeypatch):
    """One row of a class: without it there is nothing to train on, and leave-one-out has no value."""

    def few(protocol, dataset):
        rng = np.random.default_rng(0)
        return rng.normal(size=(20, 2)), np.where(np.arange(20) == 3, 1, -1)

    monkeypatch.setattr("onefit.studies.cell.load", few)
    monkeypatch.setattr("onefit.studies.cell.split", lambda *_: (np.arange(14), np.arange(14, 20)))
    methods = tuple(method for method in PROTOCOL.methods if method.name in ("SM", "ELOO"))
    found = {m.methods[0].name: f for m, f in attempt(replace(PROTOCOL, methods=methods), "wdbc", 0)}
    assert found["SM"].error is None
    assert "no candidate has a finite value" in found["ELOO"].error
