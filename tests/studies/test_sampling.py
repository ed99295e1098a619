"""Splits from names: always the same, never overlapping."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from onefit import datasets
from onefit.studies.catalogue import STUDIES
from onefit.studies.sampling import load, seed_of, split

PROTOCOL = replace(STUDIES["sm:2"].protocol, sources=(), datasets=("wdbc",))


def test_a_seed_depends_on_all_of_its_name():
    names = [
        ("split", "heart", 0.5, 0),
        ("split", "heart", 0.5, 1),
        ("split", "heart", 0.7, 0),
        ("folds", "heart", 0.5, 0),
    ]
    assert len({seed_of(*name) for name in names}) == len(names)
    assert seed_of("split", "a", 0.5, 0) == int.from_bytes(hashlib.sha256(b"split/a/0.5/0").digest()[:4], "big")


@pytest.mark.parametrize("number", range(5))
def test_a_split_has_every_row_once(number):
    _, y = load(PROTOCOL, "wdbc")
    train, test = split(PROTOCOL, "wdbc", number, y)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert len(train) == round(0.7 * len(y))
    again, _ = split(PROTOCOL, "wdbc", number, y)
    np.testing.assert_array_equal(train, again)
    other, _ = split(PROTOCOL, "wdbc", number + 1, y)
    assert set(train) != set(other)


def test_training_rows_have_every_class():
    y = np.repeat([0, 1], [38, 2])
    for number in range(50):
        train, _ = split(PROTOCOL, "few", number, y)
        assert set(y[train]) == {0, 1}


@pytest.mark.parametrize("scaling", ["minmax", "standard", "none"])
def test_inputs_are_scaled_over_all_rows(scaling):
    X, y = datasets.load("wdbc")
    scaled, target = load(replace(PROTOCOL, scaling=scaling), "wdbc")
    if scaling == "minmax":
        X = 2 * (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) - 1
    elif scaling == "standard":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(scaled, X, atol=1e-10)
    np.testing.assert_array_equal(target, y)


def test_a_limit_of_rows_takes_some_of_them_in_their_order():
    X, y = load(replace(PROTOCOL, scaling="none"), "wdbc")
    some, labels = load(replace(PROTOCOL, scaling="none", rows=(("wdbc", 100),)), "wdbc")
    assert some.shape == (100, X.shape[1])
    places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in some]
    assert places == sorted(places)
    np.testing.assert_array_equal(labels, y[places])
