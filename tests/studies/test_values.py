"""Values of all criteria from shared searches, against training every fold and calling every criterion."""

import numpy as np
import pytest

from onefit.criteria import BIF, BR, CKTA, CV, CVKS, ER, FSM, KTA, LOO, RKS, SM, SPS
from onefit.studies.values import candidate_grid, values_of

from .small import (
    GAUSSIAN,
    POLYNOMIAL,
    REGRESSORS,
    candidates_by_hand,
    criterion_by_hand,
    cross_validation_by_hand,
    part_of,
    protocol_of,
    series_by_hand,
)

MACHINES = ("lssvm", "krr", "svm", "l2svm", "svr")


def values(part, wishes):
    return values_of(part.protocol, wishes, part.X, part.y, part.draw)


def protocols():
    for machine in MACHINES:
        for loss in ("mean", "sum"):
            yield pytest.param(protocol_of(machine, loss=loss), id=f"{machine}-{loss}-error")
        if machine not in REGRESSORS:
            yield pytest.param(protocol_of(machine, validation="machine"), id=f"{machine}-mean-machine")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", list(protocols()))
def test_cross_validation_of_several_numbers_of_folds_together(protocol):
    part = part_of(protocol, seed=1)
    wishes = [(protocol.machine, CV(), t) for t in (3, 5, 2)]
    found = values(part, wishes)
    for wish in wishes:
        expected = cross_validation_by_hand(protocol, part.X, part.y, part.draw(wish[2]))
        assert np.ptp(expected) > 0
        np.testing.assert_allclose(found[wish], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", list(protocols()))
def test_the_series(protocol):
    part = part_of(protocol, seed=2)
    wishes = [(protocol.machine, BIF(order=order), t) for order, t in ((5, 3), (5, 4), (np.inf, 3))]
    found = values(part, wishes)
    for wish in wishes:
        expected = series_by_hand(protocol, wish[1], part.X, part.y, part.draw(wish[2]))
        np.testing.assert_allclose(found[wish], expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("loss", ["mean", "sum"])
@pytest.mark.parametrize("machine", ["lssvm", "krr"])
@pytest.mark.quick(1)
def test_all_criteria_of_least_squares_together(machine, loss):
    part = part_of(protocol_of(machine, loss=loss), seed=3)
    wishes = [
        (machine, CV(), 3),
        (machine, CVKS(eta=0.5), 3),
        (machine, CVKS(eta=8.0), 3),
        (machine, CVKS(eta=0.5), 5),
        (machine, BIF(order=5), 3),
        (machine, RKS(eta=0.5), None),
        (machine, RKS(eta=4.0), None),
        (machine, LOO(), None),
        (machine, BR(), None),
        (machine, SPS(delta=2.0), None),
        (machine, SPS(delta=2.0), None),
    ]
    if machine == "lssvm":
        wishes += [(machine, criterion, None) for criterion in (SM(degree=3), CKTA(), KTA(), FSM(), ER())]
    found = values(part, wishes)
    assert set(found) == set(wishes)
    check_by_calling(part, [w for w in wishes if not w[1].scores and w[1] != BR()], found)
    expected = cross_validation_by_hand(part.protocol, part.X, part.y, part.draw(3))
    np.testing.assert_allclose(found[machine, CV(), 3], expected, rtol=1e-7)
    assert np.isfinite(found[machine, BR(), None]).all()


def test_criteria_of_another_machine_stand_in_the_order_of_the_candidates():
    part = part_of(protocol_of("svm"), seed=4)
    wishes = [
        ("svm", CVKS(eta=0.5), 3),
        ("svm", CV(), 5),
        ("svm", RKS(eta=0.5), None),
        ("lssvm", LOO(), None),
        ("lssvm", SPS(delta=0.5), None),
        ("lssvm", SPS(delta=32.0), None),
    ]
    found = values(part, wishes)
    check_by_calling(part, [w for w in wishes if not w[1].scores], found)
    np.testing.assert_allclose(
        found["svm", CV(), 5], cross_validation_by_hand(part.protocol, part.X, part.y, part.draw(5)), rtol=1e-12
    )


@pytest.mark.parametrize("power", [-1, 0, 1])
@pytest.mark.quick(1)
def test_two_grids_and_ridges_in_powers_of_the_rows(power):
    part = part_of(protocol_of("lssvm", grids=(GAUSSIAN, POLYNOMIAL), power_of_rows=power), seed=5)
    wishes = [("lssvm", SPS(exact=False), None), ("lssvm", KTA(), None), ("lssvm", CV(), 4), ("lssvm", FSM(), None)]
    found = values(part, wishes)
    check_by_calling(part, [w for w in wishes if not w[1].scores], found)
    expected = cross_validation_by_hand(part.protocol, part.X, part.y, part.draw(4))
    np.testing.assert_allclose(found["lssvm", CV(), 4], expected, rtol=1e-12)


def check_by_calling(part, wishes, found):
    for machine, criterion, t in wishes:
        folds = None if t is None else part.draw(t)
        expected = criterion_by_hand(part.protocol, machine, criterion, part.X, part.y, folds)
        np.testing.assert_allclose(found[machine, criterion, t], expected, rtol=1e-6, atol=1e-9, err_msg=f"{criterion}")


@pytest.mark.parametrize("machine", MACHINES)
def test_candidates_are_in_the_order_that_is_written_by_hand(machine):
    protocol = protocol_of(machine, grids=(GAUSSIAN, POLYNOMIAL), power_of_rows=1)
    part = part_of(protocol)
    expected = []
    for kernel, penalty in candidates_by_hand(protocol):
        ridge = penalty * len(part.y)
        expected.append({**kernel, **({"alpha": ridge} if machine in ("lssvm", "krr") else {"C": 0.5 / ridge})})
    assert part.candidates == expected
    assert candidate_grid(protocol, machine, len(part.y))[0]["gamma"] == GAUSSIAN["gamma"]
