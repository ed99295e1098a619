"""``loss=`` of criteria: against retraining by other solvers, row by row and pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, KernelLearnCV, KernelSearchCV, criteria
from onefit.kernels import ARD, Gaussian

from ..oracles import criteria as oracle
from ..oracles.decisions import svm_oracle
from ..oracles.least_squares import solve
from ..oracles.problems import points

N = 36
FOLDS = [(np.setdiff1d(np.arange(N), part), part) for part in np.split(np.arange(N), [5, 14, 29])]
"""Unequal folds."""


def logistic(y, f):
    """A loss that has no name here."""
    return np.log1p(np.exp(-y * f))


def huber(y, f):
    """Another one, of a regression."""
    return np.where(np.abs(y - f) < 0.5, (y - f) ** 2, np.abs(y - f) - 0.25)


ELEMENTWISE = {
    "squared": lambda y, f: (y - f) ** 2,
    "hinge": lambda y, f: max(0.0, 1.0 - y * f),
    "absolute": lambda y, f: abs(y - f),
    logistic: logistic,
    huber: lambda y, f: float(huber(np.array(y), np.array(f))),
}


def problem(seed, target):
    """(inputs, Gram matrix, target)."""
    X = points(seed, N)
    rng = np.random.default_rng(seed + 30)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    signal = X[:, 0] + 0.5 * rng.normal(size=N)
    two, three = np.where(signal > 0, 1, -1), np.digitize(signal, [-0.5, 0.6])
    return X, K, {"two": two, "three": three, "value": signal}[target]


MACHINES = {
    "LSSVC": (LSSVC(alpha=0.3), "two"),
    "LSSVC of three": (LSSVC(alpha=0.3), "three"),
    "KernelRidge": (KernelRidge(alpha=0.3), "value"),
    "LSSVR": (LSSVR(alpha=0.3), "value"),
    "SVC": (SVC(C=2.0), "two"),
    "SVC of three": (SVC(C=2.0), "three"),
    "L2SVC": (L2SVC(C=2.0), "two"),
    "L2SVC of three": (L2SVC(C=2.0), "three"),
    "SVR": (SVR(C=2.0, epsilon=0.2), "value"),
}


def values_by_retraining(machine, K, y, train, rows):
    """{(class, class) or class or None: values of rows} of a machine trained on some rows, by another solver."""
    between, inner = K[np.ix_(rows, train)], K[np.ix_(train, train)]
    classes = np.unique(y)
    if isinstance(machine, SVC | L2SVC):
        found = {}
        for low, high in combinations(classes, 2):
            used = np.isin(y[train], [low, high])
            model = svm_oracle(clone(machine).set_params(kernel="precomputed"))
            model.fit(inner[np.ix_(used, used)], y[train][used])
            found[low, high] = model.decision_function(between[:, used])
        return found
    if isinstance(machine, SVR):
        model = svm_oracle(clone(machine).set_params(kernel="precomputed")).fit(inner, y[train])
        return {None: model.predict(between)}
    bias = not isinstance(machine, KernelRidge)
    if isinstance(machine, LSSVC):
        wanted = classes[1:] if len(classes) == 2 else classes
        columns = {c: np.where(y[train] == c, 1.0, -1.0) for c in wanted}
    else:
        columns = {None: y[train]}
    found = {}
    for name, column in columns.items():
        dual, intercept = solve(inner, column[:, None], machine.alpha, None, bias)
        found[name] = between @ dual[:, 0] + np.ravel(intercept)[0]
    return found


def losses_of(loss, values, y):
    """The loss of every row, from what ``values_by_retraining`` returns of it, one number at a time."""
    found = []
    for i, label in enumerate(y):
        if loss == "error":
            found.append(float(predicted(values, i) != label))
            continue
        parts = []
        for name, column in values.items():
            if isinstance(name, tuple):
                if label in name:
                    parts.append(ELEMENTWISE[loss](1.0 if label == name[1] else -1.0, column[i]))
            else:
                target = label if name is None else 1.0 if label == name else -1.0
                parts.append(ELEMENTWISE[loss](target, column[i]))
        found.append(np.mean(parts))
    return np.array(found)


def predicted(values, i):
    """The label of row i: votes of pairs, the largest of several columns, or the sign of one."""
    if isinstance(next(iter(values)), tuple):
        votes = dict.fromkeys(sorted({c for pair in values for c in pair}), 0)
        for (low, high), column in values.items():
            votes[high if column[i] > 0 else low] += 1
        return max(votes, key=votes.get)
    if len(values) == 1:
        return 1 if next(iter(values.values()))[i] > 0 else -1
    return max(values, key=lambda c: values[c][i])


def names_of(target):
    return ["squared", "absolute", huber] if target == "value" else ["error", "squared", "hinge", "absolute", logistic]


CASES = [
    pytest.param(name, loss, id=f"{name}, {getattr(loss, '__name__', loss)}")
    for name, (_, target) in MACHINES.items()
    for loss in names_of(target)
]


def held_out(machine, K, y, loss, folds=FOLDS):
    return [losses_of(loss, values_by_retraining(machine, K, y, a, b), y[b]) for a, b in folds]


def training_losses(machine, K, y, loss):
    everything = np.arange(len(y))
    return losses_of(loss, values_by_retraining(machine, K, y, everything, everything), y)


def precomputed(machine):
    return clone(machine).set_params(kernel="precomputed")


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_cross_validation_averages_the_loss(name, loss):
    machine, target = MACHINES[name]
    _, K, y = problem(1, target)
    parts = held_out(machine, K, y, loss)
    pooled, averaged = np.concatenate(parts).mean(), np.mean([part.mean() for part in parts])
    model = precomputed(machine)
    assert criteria.CV(loss=loss)(K, y, model, cv=FOLDS) == pytest.approx(pooled, rel=1e-9)
    assert criteria.CV(loss=loss, aggregate="folds")(K, y, model, cv=FOLDS) == pytest.approx(averaged, rel=1e-9)


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_penalised_risks_average_the_loss(name, loss):
    machine, target = MACHINES[name]
    _, K, y = problem(2, target)
    model, beta = precomputed(machine), oracle.stability(K) / N
    risk = training_losses(machine, K, y, loss).mean()
    assert criteria.RKS(eta=0.7, loss=loss)(K, y, model) == pytest.approx(risk + 0.7 * beta, rel=1e-9)
    first, exact = oracle.first_order_changes(K) / N**2, np.trace(K) / N**2
    assert criteria.SPS(delta=3.0, loss=loss)(K, y, model) == pytest.approx(risk + 3.0 * first, rel=1e-9)
    assert criteria.SPS(exact=True, loss=loss)(K, y, model) == pytest.approx(risk + exact, rel=1e-9)
    cv = np.concatenate(held_out(machine, K, y, loss)).mean()
    assert criteria.CVKS(eta=0.7, loss=loss)(K, y, model, cv=FOLDS) == pytest.approx(cv + 0.7 * beta, rel=1e-9)


def epsilon_insensitive(y, f):
    return max(0.0, abs(y - f) - 0.2)


@pytest.mark.parametrize("name", MACHINES)
def test_the_risk_of_a_machine_is_that_of_its_own_loss(name, monkeypatch):
    machine, target = MACHINES[name]
    _, K, y = problem(3, target)
    loss = "hinge" if isinstance(machine, SVC | L2SVC) else "squared"
    if isinstance(machine, SVR):
        loss = epsilon_insensitive
        monkeypatch.setitem(ELEMENTWISE, loss, loss)
    model, penalty = precomputed(machine), 0.5 * oracle.stability(K) / N
    risk = training_losses(machine, K, y, loss).mean()
    cv = np.concatenate(held_out(machine, K, y, loss)).mean()
    assert criteria.RKS(eta=0.5)(K, y, model) == pytest.approx(risk + penalty, rel=1e-9)
    assert criteria.SPS(delta=0.0)(K, y, model) == pytest.approx(risk, rel=1e-9)
    assert criteria.CVKS(eta=0.5)(K, y, model, cv=FOLDS) == pytest.approx(cv + penalty, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "loss"), [case for case in CASES if case.values[0] in ("LSSVC", "LSSVC of three", "KernelRidge", "LSSVR")]
)
def test_leave_one_out_averages_the_loss(name, loss):
    machine, target = MACHINES[name]
    _, K, y = problem(4, target)
    folds = [(np.delete(np.arange(N), i), np.array([i])) for i in range(N)]
    expected = np.concatenate(held_out(machine, K, y, loss, folds)).mean()
    model = precomputed(machine)
    assert criteria.LOO(loss=loss)(K, y, model) == pytest.approx(expected, rel=1e-9)
    assert criteria.ALO(loss=loss)(K, y, model) == pytest.approx(expected, rel=1e-9)
    assert criteria.CV(loss=loss)(K, y, model, cv=LeaveOneOut()) == pytest.approx(expected, rel=1e-9)


def with_a_single_row_of_a_class(values):
    """(Gram matrix, labels) with the given classes, and a last one that row 7 alone has."""
    _, K, y = problem(5, "three")
    return K, np.where(np.arange(N) == 7, 9, np.minimum(y, values - 1))


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_without_the_only_row_of_a_class_machines_have_no_column_for_it(loss):
    K, y = with_a_single_row_of_a_class(3)
    machine = MACHINES["LSSVC"][0]
    folds = [(np.delete(np.arange(N), i), np.array([i])) for i in range(N)]
    total = 0.0
    for train, test in folds:
        values = values_by_retraining(machine, K, y, train, test)
        values = {name: column for name, column in values.items() if name in y[train]}
        total += losses_of(loss, values, y[test])[0]
    model = precomputed(machine)
    for criterion in (criteria.LOO(loss=loss), criteria.CV(loss=loss)):
        assert criterion(K, y, model, cv=LeaveOneOut()) == pytest.approx(total / N, rel=1e-9)


@pytest.mark.parametrize("machine", [LSSVC(), SVC()])
def test_a_row_of_a_class_that_was_not_trained_on_has_no_target(machine):
    K, y = with_a_single_row_of_a_class(2)
    with pytest.raises(ValueError, match="without the class of a row"):
        criteria.CV(loss="hinge")(K, y, precomputed(machine), cv=LeaveOneOut())


def test_cvks_by_a_series_is_that_series_and_the_penalty():
    for name in ("LSSVC", "SVC", "SVC of three", "SVR"):
        machine, target = MACHINES[name]
        _, K, y = problem(6, target)
        model, penalty = precomputed(machine), 0.5 * oracle.stability(K) / N
        loss = "absolute" if target == "value" else "hinge"
        for order in (1, 3):
            series = criteria.BIF(order=order, loss=loss)(K, y, model, cv=FOLDS)
            found = criteria.CVKS(eta=0.5, loss=loss, order=order)(K, y, model, cv=FOLDS)
            assert found == pytest.approx(series + penalty, rel=1e-12)
    machine, target = MACHINES["LSSVC"]
    _, K, y = problem(6, target)
    whole = criteria.CVKS(order=np.inf)(K, y, precomputed(machine), cv=FOLDS)
    assert whole == pytest.approx(criteria.CVKS()(K, y, precomputed(machine), cv=FOLDS), rel=1e-9)
    with pytest.raises(ValueError, match="order must be"):
        criteria.CVKS(order=0.5)


def test_losses_that_make_no_sense_are_refused():
    _, K, y = problem(0, "value")
    for kind in (criteria.CV, criteria.BIF, criteria.LOO, criteria.ALO, criteria.RKS, criteria.CVKS, criteria.SPS):
        with pytest.raises(ValueError, match='"error", "squared", "hinge", "absolute"'):
            kind(loss="log")
        for loss in ("error", "hinge"):
            with pytest.raises(ValueError, match="needs classes"):
                kind(loss=loss)(K, y, KernelRidge(kernel="precomputed"))
    with pytest.raises(ValueError, match="one number for each of"):
        criteria.CV(loss=lambda y, f: np.mean((y - f) ** 2))(K, y, KernelRidge(kernel="precomputed"), cv=3)
    with pytest.raises(ValueError, match="certify"):
        criteria.CV(loss="hinge", certify=True)


# Searches


def minus_loss_of(loss):
    """A scorer for GridSearchCV, written without the library."""

    def score(model, X, y):
        last = model[-1] if hasattr(model, "steps") else model
        if isinstance(last, SVC | L2SVC | LSSVC):
            classes, decision = model.classes_, model.decision_function(X)
            if loss == "error":
                return -np.mean(model.predict(X) != y)
            if len(classes) == 2:
                values = {classes[1]: decision}
            elif isinstance(last, LSSVC):
                values = dict(zip(classes, decision.T))
            else:
                values = dict(zip(combinations(classes, 2), -decision.T))  # decision_function_shape="ovo"
        else:
            values = {None: model.predict(X)}
        return -losses_of(loss, values, y).mean()

    return score


def grid_of(machine, prefix=""):
    penalty = "C" if hasattr(machine, "C") else "alpha"
    return {f"{prefix}gamma": [0.1, 1.0], f"{prefix}{penalty}": [0.1, 3.0]}


SEARCHED = {
    "LSSVC of three": (LSSVC(), "three"),
    "KernelRidge": (KernelRidge(kernel="rbf"), "value"),
    "SVC": (SVC(tol=1e-10), "two"),
    "SVC of three": (SVC(tol=1e-10, decision_function_shape="ovo"), "three"),
    "SVR": (SVR(tol=1e-10), "value"),
}


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.quick(4)
def test_a_search_selects_by_the_loss_as_grid_search_does(name, scaled):
    machine, target = SEARCHED[name]
    X, _, y = problem(7, target)
    model, grid = machine, grid_of(machine)
    if scaled:
        model = make_pipeline(StandardScaler(), machine)
        grid = grid_of(machine, f"{type(machine).__name__.lower()}__")
    for loss in names_of(target)[-3:]:
        ours = KernelSearchCV(model, grid, criterion=criteria.CV(loss=loss), cv=FOLDS).fit(X, y)
        theirs = GridSearchCV(model, grid, scoring=minus_loss_of(loss), cv=FOLDS).fit(X, y)
        assert ours.best_params_ == theirs.best_params_
        for column in ["mean_test_score", *(f"split{k}_test_score" for k in range(len(FOLDS)))]:
            np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], rtol=1e-6)
        assert set(ours.cv_results_["exactness"]) == {"exact"}
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-6)


def test_a_search_of_pairs_reads_their_values_whatever_the_shape_of_decisions():
    X, _, y = problem(8, "three")
    scores = []
    for shape in ("ovr", "ovo"):
        search = KernelSearchCV(
            make_pipeline(StandardScaler(), SVC(tol=1e-10, decision_function_shape=shape)), {"svc__C": [1.0]},
            criterion=criteria.CV(loss="hinge"), cv=3,
        ).fit(X, y)  # fmt: skip
        scores.append((search.best_score_, search.score(X, y)))
    assert scores[0] == scores[1]


def test_a_search_that_retrains_averages_the_loss_too():
    X, _, y = problem(9, "value")
    model, grid = make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 1.0]}
    with pytest.warns(UserWarning, match="retrain"):
        ours = KernelSearchCV(model, grid, criterion=criteria.CV(loss="absolute"), cv=FOLDS).fit(X, y)
    theirs = GridSearchCV(model, grid, scoring="neg_mean_absolute_error", cv=FOLDS).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9)


def test_leave_one_out_searches_average_the_loss():
    X, _, y = problem(10, "two")
    grid = {"gamma": [0.3], "alpha": [0.1, 1.0]}
    search = KernelSearchCV(LSSVC(), grid, criterion=criteria.CV(loss="hinge"), cv=LeaveOneOut()).fit(X, y)
    theirs = GridSearchCV(LSSVC(), grid, scoring=minus_loss_of("hinge"), cv=LeaveOneOut()).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9)


def test_weights_of_rows_weigh_their_losses_as_scorers_do():
    X, _, y = problem(11, "value")
    weights = np.random.default_rng(0).uniform(0.1, 2.0, N)
    grid = {"gamma": [0.3], "alpha": [0.1, 1.0]}
    model = KernelRidge(kernel="rbf")
    ours = KernelSearchCV(model, grid, criterion=criteria.CV(loss="squared"), cv=KFold(4))
    theirs = GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=KFold(4))
    for search in (ours, theirs):
        search.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9)


@pytest.mark.parametrize(
    ("machine", "target"), [(SVR(C=2.0), "value"), (SVC(C=0.5), "three"), (LSSVR(alpha=0.2), "value")]
)
def test_weights_of_rows_weigh_them_in_criteria_of_a_search(machine, target):
    """Without a penalty CVKS and CVVariance are cross-validation; pooled rows are weighed by the weights of all."""
    X, _, y = problem(2, target)
    weights = np.random.default_rng(5).exponential(size=N)
    grid, loss = {"gamma": [0.1, 0.9]}, "squared" if target == "three" else "absolute"

    def scores(criterion):
        search = KernelSearchCV(machine, grid, criterion=criterion, cv=FOLDS, refit=False)
        return search.fit(X, y, sample_weight=weights).cv_results_

    expected = scores(criteria.CV(loss=loss))
    for criterion in (criteria.CVKS(eta=0.0, loss=loss, aggregate="folds"), criteria.CVVariance(eta=0.0, loss=loss)):
        found = scores(criterion)["mean_test_score"]
        np.testing.assert_allclose(found, expected["mean_test_score"], rtol=1e-9)
    sums = np.array([weights[test].sum() for _, test in FOLDS])
    folds = np.array([expected[f"split{number}_test_score"] for number in range(len(FOLDS))])
    found = scores(criteria.CVKS(eta=0.0, loss=loss, aggregate="points"))["mean_test_score"]
    np.testing.assert_allclose(found, sums @ folds / sums.sum(), rtol=1e-9)


def test_weights_that_the_scorer_does_not_see_do_not_weigh_predictions():
    """Weights of one step of a Pipeline reach no scorer, in GridSearchCV neither; a given loss has them."""
    X, _, y = problem(4, "two")
    weights = np.random.default_rng(6).exponential(size=N)
    model, grid = make_pipeline(StandardScaler(), SVC(gamma=0.3)), {"svc__C": [0.05, 1.0]}

    def scores(kind, **options):
        return kind(model, grid, cv=FOLDS, refit=False, **options).fit(X, y, svc__sample_weight=weights).cv_results_

    expected = scores(GridSearchCV)["mean_test_score"]
    asked = [criteria.CVVariance(eta=0.0), criteria.CV(aggregate="folds")]
    found = scores(KernelSearchCV, criterion=asked)
    np.testing.assert_allclose(1 + found["mean_test_score"], expected, rtol=1e-12)
    np.testing.assert_allclose(1 - found["criterion_cv"], expected, rtol=1e-12)
    weighed = scores(KernelSearchCV, criterion=criteria.CVVariance(eta=0.0, loss="error"))["mean_test_score"]
    by_loss = scores(KernelSearchCV, criterion=criteria.CV(loss="error"))["mean_test_score"]
    np.testing.assert_allclose(weighed, by_loss, rtol=1e-12)
    assert np.abs(1 + weighed - expected).max() > 0.01


@pytest.mark.parametrize(
    "criterion", [criteria.CVKS(eta=0.0, loss="squared"), criteria.CVVariance(eta=0.0, loss="squared")]
)
def test_leave_one_out_counts_rows_alike(criterion):
    X, _, y = problem(3, "value")
    weights, grid = np.random.default_rng(7).exponential(size=N), {"alpha": [0.1, 2.0]}
    model = KernelRidge(kernel="rbf", gamma=0.4)
    search = KernelSearchCV(model, grid, criterion=criterion, cv=LeaveOneOut(), refit=False)
    theirs = GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=LeaveOneOut(), refit=False)
    for one in (search, theirs):
        one.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9)


def test_leave_one_out_by_gradients_counts_rows_alike():
    X, _, y = problem(3, "value")
    weights = np.random.default_rng(7).exponential(size=N)
    model = KernelRidge(kernel="rbf", gamma=0.4)
    learned = KernelLearnCV(model, ARD(Gaussian()), criterion="loo", stop=None, max_iter=3)
    steps = learned.fit(X, y, sample_weight=weights).cv_results_
    for params, value in zip(steps["params"], steps["inner_value"]):
        machine, grid = KernelRidge(kernel=params["kernel"]), {"alpha": [params["alpha"]]}
        alone = KernelSearchCV(machine, grid, criterion="loo", refit=False).fit(X, y, sample_weight=weights)
        assert value == pytest.approx(-alone.cv_results_["mean_test_score"][0], rel=1e-9)


def test_tested_rows_without_weight_are_a_reason():
    X, _, y = problem(1, "value")
    weights = np.where(np.isin(np.arange(N), FOLDS[0][1]), 0.0, 1.0)
    search = KernelSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": [1.0]},
        criterion=criteria.CVKS(loss="squared", aggregate="folds"),
        cv=FOLDS,
    )
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, y, sample_weight=weights)
    assert "all have weight zero" in search.cv_results_["status"][0]


def test_other_criteria_of_a_search_average_their_losses():
    X, _, y = problem(12, "two")
    asked = [criteria.SM(), criteria.CV(loss="hinge"), criteria.BIF(loss="squared"), criteria.LOO(loss="squared")]
    search = KernelSearchCV(LSSVC(gamma=0.3), {"alpha": [0.5]}, criterion=asked, cv=FOLDS).fit(X, y)
    K, model = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)), LSSVC(alpha=0.5, kernel="precomputed")
    for criterion in asked[1:]:
        expected = criterion(K, y, model, cv=FOLDS)
        assert search.cv_results_[f"criterion_{criterion.name}"][0] == pytest.approx(expected, rel=1e-9)


def test_a_search_refuses_a_loss_beside_scoring_and_one_of_classes_for_a_regression():
    X, _, y = problem(0, "value")
    search = KernelSearchCV(
        KernelRidge(kernel="rbf"), {"alpha": [1.0]}, criterion=criteria.CV(loss="squared"), scoring="r2"
    )
    with pytest.raises(ValueError, match="leave out scoring"):
        search.fit(X, y)
    search.set_params(criterion=criteria.CV(loss="hinge"), scoring=None)
    with pytest.raises(ValueError, match="needs classes"):
        search.fit(X, y)
