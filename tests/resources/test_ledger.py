"""The ledger counts what happened, and only that."""

import copy
import pickle
from threading import Thread

import pytest

from onefit.resources import Ledger
from onefit.resources.ledger import EVENTS


def test_counts_and_seconds():
    ledger = Ledger()
    for _ in range(3):
        with ledger.record("gram"):
            pass
    with ledger.record("fit"):
        pass
    assert {event: ledger[event] for event in EVENTS if ledger[event]} == {"gram": 3, "fit": 1}
    assert ledger.seconds["gram"] > 0
    assert ledger.seconds["base"] == 0


def test_an_event_that_fails_is_not_counted():
    ledger = Ledger()
    with pytest.raises(RuntimeError, match="no luck"), ledger.record("gram"):
        raise RuntimeError("no luck")
    assert ledger["gram"] == 0
    assert ledger.seconds["gram"] == 0.0


def test_an_unknown_event_is_refused_before_any_work():
    done = []
    with pytest.raises(KeyError, match="unknown event 'gramm'"), Ledger().record("gramm"):
        done.append(1)
    assert not done


def test_events_may_nest():
    ledger = Ledger()
    with ledger.record("heldout"), ledger.record("eigendecomposition"):
        pass
    assert (ledger["heldout"], ledger["eigendecomposition"]) == (1, 1)
    assert ledger.seconds["heldout"] >= ledger.seconds["eigendecomposition"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda ledger: pickle.loads(pickle.dumps(ledger))])
def test_copies_keep_their_counts_and_go_on_counting(copied):
    ledger = Ledger()
    with ledger.record("base"):
        pass
    other = copied(ledger)
    assert other == ledger
    with other.record("base"):
        pass
    assert (ledger["base"], other["base"]) == (1, 2)


def test_what_was_counted_elsewhere_is_added():
    ledger = Ledger()
    with ledger.record("gram"):
        pass
    before = ledger.seconds["gram"]
    ledger.add("gram", 3, 1.5)
    assert ledger["gram"] == 4
    assert ledger.seconds["gram"] == pytest.approx(before + 1.5)


def test_threads_lose_no_counts():
    ledger = Ledger()

    def count():
        for _ in range(500):
            with ledger.record("scoring"):
                pass

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger["scoring"] == 2000


def test_only_what_happened_is_printed():
    ledger = Ledger()
    with ledger.record("cholesky"):
        pass
    assert str(ledger).split()[:2] == ["cholesky", "1"]
    assert "gram" not in str(ledger)
