"""What a cell selects and what that costs on the test rows, against a literal and slow way to do the same."""

from dataclasses import replace

import numpy as np
import pytest

from onefit.criteria import BIF, CV, CVKS, KTA, LOO, RKS, SM, SPS
from onefit.studies.cell import select
from onefit.studies.spec import Method

from .small import (
    GAUSSIAN,
    POLYNOMIAL,
    REGRESSORS,
    candidates_by_hand,
    criterion_by_hand,
    cross_validation_by_hand,
    folds_by_hand,
    machine_by_hand,
    part_of,
    protocol_of,
    series_by_hand,
)

FACTORS = [2.0**-5, 1.0, 32.0]


def value_by_hand(protocol, method, criterion, name, X, y):
    folds = None if method.folds is None else folds_by_hand(protocol, name, method.folds, X, y)
    if criterion.name == "cv":
        return cross_validation_by_hand(protocol, X, y, folds)
    if criterion.name == "bif":
        return series_by_hand(protocol, criterion, X, y, folds)
    return criterion_by_hand(protocol, method.machine or protocol.machine, criterion, X, y, folds)


def chosen_by_hand(protocol, values, admitted):
    """The first candidate with the smallest value among those whose penalty is admitted."""
    best = None
    for k, (_, penalty) in enumerate(candidates_by_hand(protocol)):
        if admitted(penalty) and (best is None or values[k] < values[best]):
            best = k
    return best


def loss_by_hand(protocol, k, X, y, X_test, y_test):
    kernel, penalty = candidates_by_hand(protocol)[k]
    model = machine_by_hand(protocol, protocol.machine, penalty, len(y), y, **kernel)
    if protocol.machine in ("svm", "svr"):
        model.set_params(tol=1e-3)  # what is tested is trained as scikit-learn does by default
    predicted = model.fit(X, y).predict(X_test)
    return np.mean((predicted - y_test) ** 2) if protocol.machine in REGRESSORS else np.mean(predicted != y_test)


def settings_by_hand(protocol):
    """(name, admitted penalties)."""
    if not protocol.select_penalty:
        return [(f"{penalty:g}", lambda p, penalty=penalty: p == penalty) for penalty in protocol.penalties]
    floors = [(f"penalty >= {floor:g}", lambda p, floor=floor: p >= floor) for floor in protocol.floors]
    return [("", lambda p: True), *floors]


def slow_select(part):
    """For every method and setting: choose the factor by thirds, select, train, test."""
    protocol, records = part.protocol, []
    for method in protocol.methods:
        listed = getattr(method.criterion, "eta", getattr(method.criterion, "delta", None))
        field = "eta" if hasattr(method.criterion, "eta") else "delta"
        choices = [replace(method.criterion, **{field: factor}) for factor in listed] if np.ndim(listed) else []
        for setting, admitted in settings_by_hand(protocol):
            criterion, least = method.criterion, np.inf
            for choice in choices:
                total = 0.0
                for number, (train, test) in enumerate(folds_by_hand(protocol, part.name, 3, part.X, part.y)):
                    name, X, y = f"{part.name}/inner/{number}", part.X[train], part.y[train]
                    values = value_by_hand(protocol, method, choice, name, X, y)
                    k = chosen_by_hand(protocol, values, admitted)
                    total += loss_by_hand(protocol, k, X, y, part.X[test], part.y[test])
                if total < least:
                    criterion, least = choice, total
            values = value_by_hand(protocol, method, criterion, part.name, part.X, part.y)
            k = chosen_by_hand(protocol, values, admitted)
            loss = loss_by_hand(protocol, k, part.X, part.y, part.X_test, part.y_test)
            unit = {"mse": loss, "error": 100 * loss, "accuracy": 100 - 100 * loss}[protocol.metric]
            records.append((method.setting or setting, method.name, unit))
    return records


CASES = {
    "kernel stability of SVM": protocol_of(
        "svm",
        (
            Method("3-CVKS", CVKS(eta=FACTORS), 3),
            Method("RKS", RKS(eta=FACTORS)),
            Method("5-CV", CV(), 5),
            Method("ELOO", LOO(), machine="lssvm"),
            Method("SPS", SPS(delta=FACTORS), machine="lssvm"),
        ),
        select_penalty=False,
        penalties=(0.1, 1.0),
    ),
    "kernel stability of KRR": protocol_of(
        "krr",
        (Method("3-CVKS", CVKS(eta=FACTORS), 3), Method("RKS", RKS(eta=FACTORS)), Method("SPS", SPS(delta=FACTORS))),
        select_penalty=False,
        power_of_rows=-1,
    ),
    "the series of LSSVM": protocol_of(
        "lssvm",
        tuple(Method(f"{t}-{c.name}", c, t) for t in (3, 4) for c in (CV(), BIF(order=5))),
        validation="machine",
        floors=(1.0, 4.0),
    ),
    "the series of SVR": protocol_of("svr", (Method("CV", CV(), 3), Method("BIF", BIF(order=5), 3)), floors=(1.0,)),
    "two grids": protocol_of(
        "lssvm",
        (Method("SPS", SPS(exact=False)), Method("KTA", KTA()), Method("CV", CV(), 4)),
        grids=(GAUSSIAN, POLYNOMIAL),
        select_penalty=False,
        power_of_rows=1,
        metric="accuracy",
        penalties=(0.01, 1.0),
    ),
    "by degree, sum of losses": protocol_of(
        "lssvm", tuple(Method("SM", SM(degree=d), setting=str(d)) for d in (3, 5)), loss="sum", penalties=(1.0,)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_as_a_literal_reader_would(case, seed):
    part = part_of(CASES[case], n=48, seed=seed, name=f"made-up/0.7/{seed}")
    found, expected = select(part), slow_select(part)
    assert [record[:2] for record in found] == [record[:2] for record in expected]
    np.testing.assert_allclose([r[2] for r in found], [r[2] for r in expected], rtol=1e-6)


def test_ties_go_to_the_smallest_penalty_then_to_the_first_kernel():
    protocol = protocol_of(penalties=(0.3, 1.0), floors=(1.0,))
    part = part_of(protocol)
    assert part.best(np.array([2.0, 1.0, 1.0, 1.0, 0.5, 0.5]), "") == 4
    assert part.best(np.array([2.0, 1.0, 1.0, 1.0, 1.0, 1.0]), "") == 1
    assert part.best(np.array([0.0, 0.0, 0.0, 3.0, 2.0, 2.0]), "penalty >= 1") == 4


def test_candidates_without_a_value_are_never_selected():
    part = part_of(protocol_of(penalties=(0.3, 1.0), floors=(1.0,)))
    nan = np.nan
    assert part.best(np.array([nan, 3.0, nan, nan, 2.0, nan]), "") == 4
    assert part.best(np.array([1.0, 1.0, 1.0, nan, nan, 5.0]), "penalty >= 1") == 5
    with pytest.raises(ValueError, match="no candidate has a finite value"):
        part.best(np.array([1.0, 1.0, 1.0, nan, nan, nan]), "penalty >= 1")


def test_a_model_is_trained_once_however_often_it_is_selected(monkeypatch):
    part = part_of(protocol_of())
    first = part.loss(2)
    monkeypatch.setattr("onefit.studies.part.estimator_of", None)
    assert part.loss(2) == first
