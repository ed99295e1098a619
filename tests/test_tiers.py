"""The cases of a test that ``make test`` runs."""

from itertools import combinations, product
from types import SimpleNamespace

import pytest

from .conftest import pairwise


def cases_of(**parameters):
    """All combinations of parameters, as pytest makes them."""
    marks = [pytest.mark.parametrize(name, values).mark for name, values in parameters.items()]
    return [
        SimpleNamespace(callspec=SimpleNamespace(params=dict(zip(parameters, values))), iter_markers=lambda _: marks)
        for values in product(*parameters.values())
    ]


def pairs(cases):
    """Pairs of values other than seeds that meet in some case."""
    listed = [[item for item in case.callspec.params.items() if item[0] != "seed"] for case in cases]
    return {pair for items in listed for pair in combinations(items, 2)}


def test_all_pairs_of_values_meet_with_one_seed():
    cases = cases_of(seed=[0, 1, 2], kernel=["a", "b", "c", "d"], bias=[False, True], folds=[2, 5, 10])
    chosen = pairwise(cases)
    assert pairs(chosen) == pairs(cases)
    assert len(chosen) <= 16  # twelve pairs of the two longest; all combinations are 72
    assert {case.callspec.params["seed"] for case in chosen} == {0, 1, 2}
    assert len({tuple(case.callspec.params[name] for name in ("kernel", "bias", "folds")) for case in chosen}) == len(
        chosen
    )


@pytest.mark.parametrize(("parameters", "expected"), [({"seed": [0, 1, 2]}, 1), ({"kernel": ["a", "b", "c"]}, 3)])
def test_one_seed_and_all_values_of_a_single_parameter(parameters, expected):
    assert len(pairwise(cases_of(**parameters))) == expected


def test_parameters_that_are_given_together_are_one():
    mark = pytest.mark.parametrize(("a", "b"), []).mark
    cases = [
        SimpleNamespace(callspec=SimpleNamespace(params={"a": a, "b": b}), iter_markers=lambda _: [mark])
        for a, b in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))
    ]
    assert len(pairwise(cases)) == 5
