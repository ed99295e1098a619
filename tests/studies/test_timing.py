"""What is timed covers what it claims: with a clock that only counted work moves, never by real seconds."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import ParameterGrid

from onefit import KernelSearchCV, cross_val_decision
from onefit.criteria import BIF, CKTA, CV, ER, LOO, SM
from onefit.studies import cell as timing
from onefit.studies.catalogue import STUDIES
from onefit.studies.part import Part
from onefit.studies.spec import Method

from .small import GAUSSIAN, POLYNOMIAL, candidates_by_hand, folds_by_hand, part_of, protocol_of, seed_by_hand

GRAM, FIT, PREDICT, SEARCH, DRAW = 1000.0, 10.0, 1.0, 3.0, 1e6
KERNELS = 5  # three of one grid, two of the other


def charge_by_ridge(ridge):
    return 1.0 + ridge


class Clock:
    """A clock of CPU seconds, and of nothing else, that stands still until something is said to take time.

    ``charge`` is by how much a training costs more or less for its ridge.
    """

    def __init__(self):
        self.now, self.events = 0.0, []
        self.charge = charge_by_ridge

    def process_time(self):
        self.events.append("clock")
        return self.now

    def spend(self, seconds, event):
        self.now += seconds
        self.events.append(event)


@pytest.fixture
def clock(monkeypatch):
    """The only clock of the module; Gram matrices, folds, searches and trainings take counted time on it."""
    clock = Clock()
    real_kernels, real_draw, real_fit = timing.pairwise_kernels, Part.draw, KernelSearchCV.fit

    def kernels(X, **kernel):
        clock.spend(GRAM, "gram")
        return real_kernels(X, **kernel)

    def draw(part, t):
        clock.spend(DRAW, "draw")
        return real_draw(part, t)

    def fit(search, X, y):
        clock.spend(SEARCH * len(ParameterGrid(search.param_grid)), "search")
        return real_fit(search, X, y)

    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(timing, "pairwise_kernels", kernels)
    monkeypatch.setattr(Part, "draw", draw)
    monkeypatch.setattr(KernelSearchCV, "fit", fit)
    return clock


@pytest.fixture
def trained(monkeypatch, clock):
    """Every training by ``seconds``: (ridge, Gram matrix, target, held-out part of the Gram matrix, predictions)."""
    trained = []

    class Charged(KernelRidge):
        def fit(self, K, y):
            clock.spend(FIT * clock.charge(self.alpha), "fit")
            self.given = (self.alpha, K, y)
            assert self.kernel == "precomputed"
            return super().fit(K, y)

        def predict(self, K):
            clock.spend(PREDICT, "predict")
            trained.append((*self.given, K, super().predict(K)))
            return trained[-1][-1]

    monkeypatch.setattr(timing, "estimator_of", lambda machine, y: Charged())
    return trained


def timed(machine="krr", methods=(), **changes):
    """Two grids with five kernels, and three penalties."""
    return protocol_of(machine, tuple(methods), kind="seconds", **{"grids": (GAUSSIAN, POLYNOMIAL), **changes})


def retraining(t):
    return Method(f"{t}-CV", CV(), t, retrain=True)


def kernels_by_hand(protocol):
    """The parameters of every kernel, in the order of the candidates."""
    kernels = []
    for kernel, _ in candidates_by_hand(protocol):
        if kernel not in kernels:
            kernels.append(kernel)
    return kernels


def gram_by_hand(kernel, X):
    if kernel["kernel"] == "rbf":
        return rbf_kernel(X, gamma=kernel["gamma"])
    return polynomial_kernel(X, degree=kernel["degree"], gamma=1.0, coef0=1.0)


@pytest.mark.parametrize("penalties", [(0.5,), (0.5, 2.0), (0.3, 1.0, 4.0), tuple(2.0**i for i in range(-2, 5))])
@pytest.mark.parametrize("loss", ["mean", "sum"])
@pytest.mark.quick(2)
def test_two_drawn_penalties_stand_for_all(clock, trained, penalties, loss):
    """A kernel costs its Gram matrix once, and the mean training of the drawn penalties times the number of all."""
    protocol = timed(methods=[retraining(4), retraining(3)], penalties=penalties, loss=loss, power_of_rows=1)
    part = part_of(protocol)
    found = timing.seconds(part)
    n = len(part.y)
    for t, (setting, name, seconds) in zip((4, 3), found):
        generator = np.random.default_rng(seed_by_hand(f"timing/{part.name}"))
        folds, expected = folds_by_hand(protocol, part.name, t, part.X, part.y), 0.0
        for _ in range(KERNELS):
            drawn = generator.choice(len(penalties), size=min(2, len(penalties)), replace=False)
            costs = []
            for k in drawn:
                ridges = [penalties[k] * n * (len(train) / n if loss == "mean" else 1) for train, _ in folds]
                costs.append(sum(FIT * charge_by_ridge(ridge) + PREDICT for ridge in ridges))
            expected += GRAM + np.mean(costs) * len(penalties)
        assert (setting, name) == ("", f"{t}-CV")
        assert seconds == pytest.approx(expected, rel=1e-12)


def test_equal_trainings_cost_as_much_as_all_of_them_would(clock, trained):
    """Then the draw does not matter: kernels x Gram + candidates x folds x training."""
    clock.charge = lambda ridge: 1.0
    protocol = timed(methods=[retraining(t) for t in (2, 4, 5)])
    found = timing.seconds(part_of(protocol))
    for t, (_, _, seconds) in zip((2, 4, 5), found):
        assert seconds == pytest.approx(KERNELS * GRAM + KERNELS * 3 * t * (FIT + PREDICT), rel=1e-12)


def test_retraining_is_the_cross_validation_that_the_searches_replace(clock, trained):
    """With two penalties all candidates are trained: on the right rows, with the right ridge and Gram matrix."""
    protocol = timed(methods=[retraining(4)], penalties=(0.5, 2.0))
    part = part_of(protocol)
    timing.seconds(part)
    folds = folds_by_hand(protocol, part.name, 4, part.X, part.y)
    assert len({len(test) for _, test in folds}) == 2
    warm_up, timed_trainings = trained[: 2 * 4], trained[2 * 4 :]
    assert {ridge for ridge, *_ in warm_up} == {0.5 * len(train) / len(part.y) for train, _ in folds}
    assert len(timed_trainings) == KERNELS * 2 * 4
    for number, kernel in enumerate(kernels_by_hand(protocol)):
        K, found = gram_by_hand(kernel, part.X), timed_trainings[8 * number : 8 * number + 8]
        for k in (0, 4):
            parts = found[k : k + 4]
            share = len(folds[0][0]) / len(part.y)
            penalty = min((0.5, 2.0), key=lambda p: abs(p * share - parts[0][0]))
            for (train, test), (ridge, K_train, y, K_test, predicted) in zip(folds, parts):
                assert ridge == pytest.approx(penalty * len(train) / len(part.y), rel=1e-14)
                np.testing.assert_allclose(K_train, K[np.ix_(train, train)], rtol=1e-12)
                np.testing.assert_allclose(K_test, K[np.ix_(test, train)], rtol=1e-12)
                np.testing.assert_array_equal(y, part.y[train])
                dual = np.linalg.solve(K_train + ridge * np.eye(len(train)), y)
                np.testing.assert_allclose(predicted, K_test @ dual, rtol=1e-6)
        assert {round(ridge, 12) for ridge, *_ in found} == {
            round(p * len(train) / len(part.y), 12) for p in (0.5, 2.0) for train, _ in folds
        }


def test_one_gram_matrix_for_each_kernel_and_folds_before_the_clock_starts(clock, trained):
    protocol = timed(methods=[retraining(4)])
    timing.seconds(part_of(protocol))
    one = ["clock", "gram", "clock", "clock", *["fit", "predict"] * 8, "clock"]
    warm = ["clock", "gram", "clock", "clock", *["fit", "predict"] * 4, "clock"]
    assert clock.events == ["draw", *warm * 2, "draw", *one * KERNELS]


def test_every_search_has_all_candidates_and_nothing_else_is_charged(clock):
    """Folds are drawn before the clock starts; the rehearsal with one kernel of each grid is nobody's cost."""
    methods = [Method("CV", CV(), 4), Method("BIF", BIF(order=5), 4), Method("LOO", LOO()), Method("ER", ER())]
    protocol = timed("lssvm", methods)
    found = timing.seconds(part_of(protocol))
    assert found == [("", method.name, SEARCH * KERNELS * 3) for method in methods]
    once = [*["draw", "clock", "search", "clock"] * 2, *["clock", "search", "clock"] * 2]
    assert clock.events == once * 2


def test_the_rehearsal_has_the_same_rows_and_folds_and_the_first_candidate_of_each_grid():
    protocol = timed("lssvm", [Method("CV", CV(), 4)])
    part = part_of(protocol)
    first = timing._first_candidates(part)
    assert first.candidates == [part.candidates[0], part.candidates[9]]
    assert first.name == part.name
    np.testing.assert_array_equal(first.X, part.X)
    for (train, test), (same_train, same_test) in zip(part.draw(4), first.draw(4)):
        np.testing.assert_array_equal(train, same_train)
        np.testing.assert_array_equal(test, same_test)


@pytest.fixture
def searches(monkeypatch):
    """The searches by which methods are timed, as they are after it."""
    kept, make = [], timing.search_of

    def keep(*given):
        kept.append(make(*given))
        return kept[-1]

    monkeypatch.setattr(timing, "search_of", keep)
    return kept


def test_searches_pay_for_their_own_distances_and_gram_matrices_and_train_no_final_model(searches):
    """Nothing is shared between methods: each computes the base of either grid and a Gram matrix for every kernel."""
    methods = [Method("BIF", BIF(order=5), 4), Method("LOO", LOO()), Method("ER", ER()), Method("CKTA", CKTA())]
    part = part_of(timed("lssvm", methods))
    timing.seconds(part)
    for search in searches[len(methods) :]:
        assert search.cv_results_["params"] == part.candidates
        assert (search.ledger_["base"], search.ledger_["gram"]) == (2, KERNELS)
        assert search.ledger_["fit"] == 0
        assert not hasattr(search, "best_estimator_")


def test_a_measure_of_the_gram_matrix_factorises_and_holds_out_nothing(searches):
    timing.seconds(part_of(timed("lssvm", [Method("SM", SM(degree=3))], grids=(GAUSSIAN,))))
    ledger = searches[-1].ledger_
    assert ledger["gram"] == 3
    assert not any(ledger[event] for event in ("eigendecomposition", "cholesky", "heldout", "scoring", "fit", "block"))


@pytest.mark.parametrize("machine", ["lssvm", "krr", "svm", "l2svm", "svr"])
def test_exact_cross_validation_has_the_answers_of_what_it_is_compared_with(searches, machine):
    """The timed search holds out what retraining with the same convention does, for every candidate, exactly."""
    protocol = timed(machine, [Method("exact", CV(), 4)], grids=(GAUSSIAN,), penalties=(0.5, 2.0))
    part = part_of(protocol)
    timing.seconds(part)
    results = searches[-1].cv_results_
    assert set(results["exactness"]) == {"exact"}
    folds = part.draw(4)
    for k, candidate in enumerate(results["params"]):
        model = timing.estimator_of(machine, part.y).set_params(**candidate)
        if "tol" in model.get_params():
            model.set_params(tol=1e-10)
        held = cross_val_decision(model, part.X, part.y, cv=folds, method="retrain", scale_penalty=True)
        hits = (held > 0) == (part.y > 0)
        losses = hits if machine in ("lssvm", "svm", "l2svm") else -((held - part.y) ** 2)
        expected = np.mean([np.mean(losses[test]) for _, test in folds])
        assert results["mean_test_score"][k] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("study", [s for s in STUDIES.values() if s.protocol.kind == "seconds"], ids=lambda s: s.key)
def test_what_is_compared_has_as_many_folds_and_one_machine(study):
    """Retraining is cross-validation; t-CV, t-BIF and t-exact have t folds; nobody looks at another machine."""
    assert any(method.retrain for method in study.protocol.methods)
    for method in study.protocol.methods:
        folds, dash, _ = method.name.partition("-")
        assert method.folds == (int(folds) if dash and folds.isdigit() else 5 if method.criterion == CV() else None)
        assert method.criterion == CV() or not method.retrain
        assert method.machine is None
