"""The numbers of figures, against the papers' formulas written out with plain NumPy and retraining on every fold."""

import warnings

import numpy as np
import pytest
from sklearn.svm import SVC

from onefit.criteria import BIF, CV, CVKS, RKS, SM
from onefit.studies.catalogue import STUDIES
from onefit.studies.cell import ORDERS, curve, discrepancy, select
from onefit.studies.part import Part
from onefit.studies.spec import Method

from .small import data_of, folds_by_hand, part_of, protocol_of

GAMMAS = (2.0, 0.3, 0.05)


def gaussian(A, B, gamma):
    """exp(-gamma |a - b|²) of all pairs."""
    return np.exp(-gamma * np.sum((A[:, None, :] - B[None, :, :]) ** 2, axis=2))


def ridge_by_hand(protocol, penalty, n, n_train):
    """The ridge of a machine trained on some of n rows: λ is kept if the loss is averaged, nλ if it is summed."""
    whole = penalty * float(n) ** protocol.power_of_rows
    return whole * n_train / n if protocol.loss == "mean" else whole


def retrained(protocol, penalty, K, y, folds):
    """Held-out values of least squares without a bias: (K + ridge I)⁻¹ y on the training rows of every fold."""
    held = np.empty(len(y))
    for train, test in folds:
        ridge = ridge_by_hand(protocol, penalty, len(y), len(train))
        dual = np.linalg.solve(K[np.ix_(train, train)] + ridge * np.eye(len(train)), y[train])
        held[test] = K[np.ix_(test, train)] @ dual
    return held


def taylor(protocol, penalty, K, y, folds, order):
    """Held-out values by the series y + Σ_{s <= r} (H Δ)^s (f - y), of which only those of the fold's rows are used.

    Δ is 1 on the fold and -l/(n-l) elsewhere, which takes a fold of l rows out of a mean, or 0 for a sum.
    """
    n, held = len(y), np.empty(len(y))
    H = K @ np.linalg.inv(K + ridge_by_hand(protocol, penalty, n, n) * np.eye(n))
    for train, test in folds:
        rest = -len(test) / len(train) if protocol.loss == "mean" else 0.0
        step = H @ np.diag([1.0 if j in test else rest for j in range(n)])
        term = H @ y - y
        total = y + term
        for _ in range(order):
            term = step @ term
            total = total + term
        held[test] = total[test]
    return held


def mean_of_folds(losses, folds):
    return np.mean([np.mean(losses[test]) for _, test in folds])


def records_of(found):
    return {(setting, name): value for setting, name, value in found}


LAST_ORDERS = (("CV", CV()), ("BIF", BIF(order=5)), ("BIF∞", BIF(order=np.inf)))
METHODS = tuple(Method(f"{t}-{name}", criterion, t) for t in (4, 5) for name, criterion in LAST_ORDERS)


@pytest.mark.parametrize("machine", ["lssvm", "krr"])
@pytest.mark.parametrize("loss", ["mean", "sum"])
def test_curves_over_the_width(machine, loss):
    """27 training rows in four and in five folds: no number of folds divides them."""
    protocol = protocol_of(
        machine, METHODS, kind="curve", penalties=(0.5,), metric="mse", validation="machine", loss=loss
    )
    part = part_of(protocol, seed=3)
    found = records_of(curve(part))
    assert len(found) == len(GAMMAS) * len(METHODS)
    for gamma in GAMMAS:
        K = gaussian(part.X, part.X, gamma)
        for t in (4, 5):
            folds = folds_by_hand(protocol, part.name, t, part.X, part.y)
            assert len({len(test) for _, test in folds}) == 2
            exact = retrained(protocol, 0.5, K, part.y, folds)
            series = taylor(protocol, 0.5, K, part.y, folds, 5)
            expected = {"CV": exact, "BIF": series, "BIF∞": exact}
            for name, held in expected.items():
                value = found[f"{1 / (2 * gamma):g}", f"{t}-{name}"]
                assert value == pytest.approx(mean_of_folds((part.y - held) ** 2, folds), rel=1e-10)
            assert mean_of_folds((exact - series) ** 2, folds) > 1e-9  # so that the series is told from its limit


@pytest.mark.slow
def test_the_figure_has_the_widths_and_the_penalty_of_the_paper():
    """σ = 2^-10 … 2^10 with the kernel exp(-d² / 2σ), λ = 1/n, order five, 5, 10 and 20 folds."""
    protocol = STUDIES["bif:fig1"].protocol
    X, y = data_of(protocol, n=40)
    part = Part(protocol, "heart/0.5/0", X, y, X[:0], y[:0])
    found = records_of(curve(part))
    assert list(dict.fromkeys(setting for setting, _ in found)) == [f"{2.0**i:g}" for i in range(-10, 11)]
    for sigma in (2.0**-2, 1.0, 2.0**3):
        K = gaussian(X, X, 1 / (2 * sigma))
        for t in (5, 10, 20):
            folds = folds_by_hand(protocol, part.name, t, X, y)
            exact = retrained(protocol, 1.0, K, y, folds)
            series = taylor(protocol, 1.0, K, y, folds, 5)
            assert found[f"{sigma:g}", f"{t}-CV"] == pytest.approx(mean_of_folds((1 - y * exact) ** 2, folds))
            assert found[f"{sigma:g}", f"{t}-BIF"] == pytest.approx(mean_of_folds((1 - y * series) ** 2, folds))


def first_smallest(values):
    """The first of the smallest of a list of (value, candidate); values that differ by rounding are equal."""
    smallest = min(value for value, _ in values)
    return next(candidate for value, candidate in values if value <= smallest + 1e-12)


def choose(protocol, part, folds):
    """(penalty, gamma) of the smallest cross-validated loss: of several the smallest penalty, then the first kernel."""
    values = []
    for penalty in protocol.penalties:
        for gamma in GAMMAS:
            held = retrained(protocol, penalty, gaussian(part.X, part.X, gamma), part.y, folds)
            labels = np.where(held > 0, 1, -1)
            losses = (part.y - held) ** 2 if protocol.validation == "machine" else (labels != part.y).astype(float)
            values.append((mean_of_folds(losses, folds), (penalty, gamma)))
    return values, first_smallest(values)


def check_discrepancies(protocol, part):
    """All orders and numbers of folds against retraining and the written out series, for the chosen candidate."""
    found = records_of(discrepancy(part))
    chosen = []
    for method in protocol.methods:
        folds = folds_by_hand(protocol, part.name, method.folds, part.X, part.y)
        values, (penalty, gamma) = choose(protocol, part, folds)
        K = gaussian(part.X, part.X, gamma)
        exact = retrained(protocol, penalty, K, part.y, folds)
        for order in range(1, 11):
            series = taylor(protocol, penalty, K, part.y, folds, order)
            expected = np.mean((exact - series) ** 2)
            assert expected > 1e-18  # far above rounding
            assert found.pop((str(order), method.name)) == pytest.approx(expected, rel=1e-5)
        chosen.append((values, (penalty, gamma)))
    assert found == {}
    return chosen


BY_ORDER = tuple(Method(f"t = {t}", BIF(), t) for t in (2, 4, 5))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["mean", "sum"])
@pytest.mark.parametrize("machine", ["lssvm", "krr"])
def test_differences_by_order(machine, loss):
    protocol = protocol_of(
        machine, BY_ORDER, kind="discrepancy", metric="mse", validation="machine", loss=loss, penalties=(0.02, 0.1, 0.5)
    )
    assert tuple(range(1, 11)) == ORDERS
    chosen = check_discrepancies(protocol, part_of(protocol, seed=5))
    assert len({candidate for _, candidate in chosen}) > 1  # every number of folds has a choice of its own


def test_differences_are_those_of_the_smallest_penalty_and_the_first_kernel_among_ties():
    """By the share of errors several candidates are equally good, and their series differ."""
    protocol = protocol_of("lssvm", BY_ORDER, kind="discrepancy", metric="mse", penalties=(0.1, 0.5, 1.0))
    chosen = check_discrepancies(protocol, part_of(protocol, seed=1))
    ties = [sum(value <= min(values)[0] + 1e-12 for value, _ in values) for values, _ in chosen]
    assert max(ties) > 1


def test_differences_vanish_where_the_series_is_exact():
    """A kernel that is zero between all rows leaves nothing of the others: f = 0 exactly, and nothing to expand."""
    protocol = protocol_of(
        "krr",
        (Method("t = 3", BIF(), 3),),
        kind="discrepancy",
        grids=({"kernel": ["linear"]},),
        penalties=(1.0,),
    )
    X, y = data_of(protocol, n=12)
    part = Part(protocol, "zero", np.zeros_like(X), y, X, y)
    assert {value for _, _, value in discrepancy(part)} == {0.0}


def degree_by_hand(K, y, degree):
    """(1/n) ȳᵀ Nʳ ȳ with N = K / Σ K and labels weighted by n over the size of their class."""
    n = len(y)
    weighted = np.array([n / np.sum(y == 1) if label == 1 else -n / np.sum(y == -1) for label in y])
    return weighted @ np.linalg.matrix_power(K / K.sum(), degree) @ weighted / n


def test_errors_by_the_degree_of_the_spectral_measure():
    """Low degrees prefer the narrowest kernel, high ones a wider one."""
    gammas = (512.0, 64.0, 8.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # degrees one and two prefer K = I
        methods = tuple(Method("SM", SM(degree=r), setting=str(r)) for r in (1, 2, 3, 5, 10))
    grids = ({"kernel": ["rbf"], "gamma": list(gammas)},)
    protocol = protocol_of("lssvm", methods, penalties=(1.0,), loss="sum", grids=grids)
    chosen = set()
    for seed in range(3):
        part = part_of(protocol, n=48, seed=seed)
        found, Ks = records_of(select(part)), {g: gaussian(part.X, part.X, g) for g in gammas}
        for method in methods:
            gamma = max(gammas, key=lambda g: degree_by_hand(Ks[g], part.y, int(method.setting)))
            chosen.add(gamma)
            dual = np.linalg.solve(Ks[gamma] + np.eye(len(part.y)), part.y)
            labels = np.where(gaussian(part.X_test, part.X, gamma) @ dual > 0, 1, -1)
            wrong = np.sum(labels != part.y_test)
            assert found[method.setting, "SM"] == pytest.approx(100 * wrong / len(part.y_test))
    assert len(chosen) > 2


def stability_by_hand(K):
    """The largest of the spectral norms of K - K^i, where K^i has zeros in row and column i."""
    norms = []
    for i in range(len(K)):
        without = K.copy()
        without[i, :] = without[:, i] = 0.0
        norms.append(np.abs(np.linalg.eigvalsh(K - without)).max())
    return max(norms)


def hinge_of(K, y, penalty, train, test, n):
    """Hinge losses on some rows of the machine trained on others, λ = penalty / n kept: C = 1 / (2 m λ) for m rows."""
    C = 1 / (2 * penalty * len(train) / n)
    model = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K[np.ix_(train, train)], y[train])
    return np.maximum(0, 1 - y[test] * model.decision_function(K[np.ix_(test, train)]))


def test_errors_by_the_factor_of_kernel_stability():
    """The loss of the rows plus (η/n) β̂; rows of all folds are pooled, so that larger folds weigh more."""
    etas = (2.0**-5, 1.0, 4.0, 32.0)
    methods = tuple(
        Method(name, criterion(eta=eta), t, setting=f"{eta:g}")
        for eta in etas
        for name, criterion, t in (("5-CVKS", CVKS, 5), ("RKS", RKS, None))
    )
    protocol = protocol_of("svm", methods, penalties=(1.0,))
    chosen = set()
    for seed in range(2):
        part = part_of(protocol, n=36, seed=seed)
        n, rows = len(part.y), np.arange(len(part.y))
        found, Ks = records_of(select(part)), {g: gaussian(part.X, part.X, g) for g in GAMMAS}
        folds = folds_by_hand(protocol, part.name, 5, part.X, part.y)
        assert len({len(test) for _, test in folds}) == 2
        risk = {g: np.mean(hinge_of(K, part.y, 1.0, rows, rows, n)) for g, K in Ks.items()}
        held = {g: sum(hinge_of(K, part.y, 1.0, *fold, n).sum() for fold in folds) / n for g, K in Ks.items()}
        for eta in etas:
            for name, losses in (("5-CVKS", held), ("RKS", risk)):
                gamma = min((losses[g] + eta / n * stability_by_hand(Ks[g]), g) for g in GAMMAS)[1]
                chosen.add((name, gamma))
                model = SVC(C=0.5, gamma=gamma).fit(part.X, part.y)
                wrong = np.sum(model.predict(part.X_test) != part.y_test)
                assert found[f"{eta:g}", name] == pytest.approx(100 * wrong / len(part.y_test))
    assert len(chosen) > 2
