"""What ``onefit reproduce`` refuses, and how it ends if everything fails."""

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from onefit.datasets import loading
from onefit.datasets.sources import NotThereError
from onefit.studies import runner
from onefit.studies.catalogue import STUDIES
from onefit.studies.cell_journal import Finished


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Data sets are looked for in the data folder alone."""
    monkeypatch.setattr(loading, "downloaded", lambda entry: (_ for _ in ()).throw(NotThereError("no network")))


STUDY = ("reproduce", "bif:1", "--datasets", "heart", "--splits", "1", "--out", "results")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bif:1", "--methods", "nonsense"], "no method is called nonsense: there are"),
        (["bif:1", "--datasets", "nonsense"], "no data set nonsense"),
        (["bif:1", "sm:2", "--datasets", "nonsense"], "no data set nonsense"),
        (["bif:1", "--datasets", "heart", "nonsense"], "no data set nonsense"),
        (["bif:1", "--splits", "100000"], "--splits 100000: bif:1 has"),
        (["nothing:1"], "nothing:1"),
    ],
)
def test_names_that_no_study_has(onefit, words, message):
    result = onefit("reproduce", *words)
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_file_is_no_folder(onefit, tmp_path):
    (tmp_path / "results").write_text("")
    result = onefit(*STUDY)
    assert result.exit_code == 1
    assert "cannot be made" in result.stderr


def failing(protocol, journal, tasks, *, tell, **options):
    for number, task in enumerate(tasks, start=1):
        journal.add(protocol, *task, Finished([], "OSError: no data", 0.0))
        tell(runner.Progress(number, len(tasks), task, "OSError: no data"))


def test_failing_everywhere_is_an_error(onefit, monkeypatch):
    monkeypatch.setattr(runner, "run", failing)
    result = onefit(*STUDY)
    assert result.exit_code == 1
    assert "--retry-failed" in result.stderr


def test_data_sets_that_cannot_be_had_are_named_first(onefit, monkeypatch, tmp_path):
    monkeypatch.setenv("ONEFIT_DATA", str(tmp_path))
    monkeypatch.setattr(runner, "run", failing)
    assert "heart cannot be had" in onefit(*STUDY).stderr


def test_a_dead_worker_is_explained(onefit, monkeypatch):
    def broken(*args, **options):
        raise BrokenProcessPool("a process died")

    monkeypatch.setattr(runner, "run", broken)
    result = onefit(*STUDY)
    assert result.exit_code == 1
    assert "--resume" in result.stderr


def test_methods_with_spaces_or_commas(onefit, monkeypatch):
    shown = []

    def collect(study, journal, datasets, methods):
        shown.append((tuple(datasets), methods))
        raise ValueError("seen")

    monkeypatch.setattr("onefit.studies.outcome.collect", collect)
    monkeypatch.setattr(runner, "run", failing)
    onefit("reproduce", "bif:1", "--datasets", "heart", "sonar", "--methods", "5-CV", "5-BIF", "--splits", "0")
    onefit("reproduce", "bif:1", "--datasets", "heart,sonar", "--methods", "5-CV,5-BIF", "--splits", "0")
    assert shown == [(("heart", "sonar"), ["5-CV", "5-BIF"])] * 2


@pytest.mark.parametrize(
    ("words", "studies"), [(("bif:1", "bif:2", "bif:1"), 2), (("all", "bif:1", "sm:2+bias"), len(STUDIES) + 1)]
)
def test_a_study_that_is_named_twice_counts_once(onefit, words, studies):
    assert onefit("reproduce", *words, "--splits", "0", "--out", "results").exit_code == 0
    lines = Path("results", "index.md").read_text().splitlines()
    assert sum(" splits on " in line for line in lines) == studies
