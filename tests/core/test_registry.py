"""Only the classes that were registered are read."""

import pytest

import onefit  # noqa: F401  (registers the readers)
from onefit.core.machine import NotUnderstoodError
from onefit.core.registry import read_machine, register_reader


class Estimator:
    pass


class Derived(Estimator):
    pass


def test_only_the_class_itself_is_read(monkeypatch):
    monkeypatch.setattr("onefit.core.registry._READERS", {})
    register_reader(Estimator, lambda estimator: "machine")
    assert read_machine(Estimator()) == "machine"
    with pytest.raises(NotUnderstoodError, match=r"Derived has no fast path \(Estimator have\)"):
        read_machine(Derived())
