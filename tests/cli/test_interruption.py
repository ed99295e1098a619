"""Ctrl-C and time budgets end a search in order, and a journal continues it."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from onefit.cli.savings import Savings
from onefit.search.journal import Journal
from onefit.search.strategies import Zooming


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C after the first round of a search."""
    propose = Zooming.propose

    def interrupted(self, candidates, scores):
        if candidates:
            raise KeyboardInterrupt
        return propose(self, candidates, scores)

    monkeypatch.setattr(Zooming, "propose", interrupted)
    return monkeypatch


def test_ctrl_c_leaves_the_best_so_far(onefit, prices, ctrl_c, tmp_path):
    options = ("select", prices, "--cv", 3, "--json", "--journal", "search.sqlite")
    first = onefit(*options, "--save", "model.skops")
    assert first.exit_code == 130
    facts = json.loads(first.stdout)
    assert facts["interrupted"]
    assert facts["exactness"] == "approximate"
    assert facts["processor_seconds_estimated_for_them"] == [None, None]
    assert facts["candidates"] == facts["finished"] > 10
    assert onefit("predict", "model.skops", prices).exit_code == 0
    (search,) = json.loads(onefit("inspect", "search.sqlite", "--json").stdout)
    assert search["finished"] == facts["finished"]
    ctrl_c.undo()
    ctrl_c.chdir(tmp_path)
    resumed = onefit(*options, "--resume")
    assert resumed.exit_code == 0
    assert f"the journal knows {facts['finished']} candidates of this search" in resumed.stderr
    other = onefit("select", prices, "--cv", 4, "--budget", "1ms", "--journal", "search.sqlite", "--resume")
    assert "the journal knows other searches only" in other.stderr
    fresh = onefit("select", prices, "--cv", 3, "--json")
    same = ("params", "score", "candidates", "finished")
    assert [json.loads(resumed.stdout)[k] for k in same] == [json.loads(fresh.stdout)[k] for k in same]


def test_ctrl_c_before_anything_is_known(onefit, prices, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(Zooming, "propose", interrupt)
    result = onefit("select", prices)
    assert result.exit_code == 130
    assert result.stdout == ""


def test_ctrl_c_after_the_search_leaves_its_choice(onefit, prices, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    words = ("select", prices, "--cv", 3, "--kernel", "linear", "--json")
    whole = json.loads(onefit(*words).stdout)
    monkeypatch.setattr(Savings, "timed_on", interrupt)
    result = onefit(*words, "--save", "model.skops")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["params"] == whole["params"]
    assert onefit("predict", "model.skops", prices).exit_code == 0


def test_a_journal_is_not_continued_by_accident(onefit, prices):
    options = ("select", prices, "--cv", 3, "--journal", "search.sqlite")
    first = onefit(*options, "--budget", "1ms", "--resume")
    assert first.exit_code == 0
    assert "there is no search.sqlite yet" in first.stderr
    result = onefit(*options)
    assert result.exit_code == 1
    assert "--resume" in result.stderr
    resumed = onefit(*options, "--resume")
    assert resumed.exit_code == 0
    assert "earlier runs" in resumed.stdout


def test_resume_needs_a_journal(onefit, prices):
    result = onefit("select", prices, "--resume")
    assert result.exit_code == 2
    assert "--journal" in result.stderr


@pytest.fixture
def search(tmp_path):
    """A search of its own process that takes a while, with a journal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    rows = np.column_stack([X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=len(X))])
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    words = ("select", "data.csv", "--learner", "krr", "--cv", "10", "--json", "--journal", "search.sqlite")
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-m", "onefit.cli", *words]
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def finished(path):
    """Candidates that the journal of a running search has."""
    if not path.exists():
        return 0
    with Journal(path) as journal:
        return sum(search["finished"] for search in journal.searches())


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
class TestSignals:
    def test_leave_the_best_so_far(self, search, tmp_path, number, code):
        while not finished(tmp_path / "search.sqlite"):
            assert search.poll() is None
            time.sleep(0.05)
        search.send_signal(number)
        stdout, stderr = search.communicate(timeout=120)
        assert search.returncode == code, stderr
        assert "interrupted: the best candidate so far is chosen" in stderr
        facts = json.loads(stdout)
        assert facts["interrupted"]
        assert facts["finished"] == finished(tmp_path / "search.sqlite") > 0

    def test_at_the_beginning(self, search, number, code):
        assert search.stderr.readline()  # it has begun to speak
        search.send_signal(number)
        stdout, stderr = search.communicate(timeout=120)
        assert search.returncode == code, stderr
        assert "interrupted" in stderr
        assert not stdout or json.loads(stdout)["interrupted"]  # a kernel may have been finished
