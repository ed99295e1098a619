"""The influence-function series against the paper's formulas, retraining, and what it becomes in special cases."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV, criteria, cross_val_decision
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge

from ...oracles import bouligand as oracle
from ...oracles.problems import partition, points, row_weights, seeds, two_seeds
from ...oracles.support_vector import curve, gaussian
from .bouligand_cases import (
    CASES,
    ORDERS,
    SPLITS,
    Case,
    N,
    assert_close,
    assert_same_series,
    assert_tested,
    biases,
    conventions,
    conventions_of,
    every_case,
    expected_values,
    problem,
    run,
    some_cases,
    start_of,
)

pytestmark = pytest.mark.slow  # tests/public/test_influence_series.py is quicker


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.01", "hinge 0.1", "squared hinge", "tube 0.2, 0.002", "tube 0.2, 0.05"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_plug_in_series_is_that_of_the_paper(seed, name, C):
    """Equal folds, a mean of losses, no bias; from the values of the machine itself."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = SPLITS["equal folds"](seed)
    if name == "squared hinge":
        beta, _ = start_of(K, y, case.loss, np.full(N, C), False)
    else:
        beta, _ = oracle.sharp_machine(K, y, np.full(N, C), False, case.epsilon)
    lam = 1 / (2 * N * C)
    for order in (1, 2, 5):
        held = run(case, K, y, splits, (C,), order, bias=False, mean_loss=True, start="plug-in")
        wanted = [oracle.series_as_printed(K, y, case.loss, beta, lam, test, 4, order) for _, test in splits]
        assert_tested(held, splits, np.array(wanted)[None])


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "tube 0.2, 0.05"])
@biases
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_the_plug_in_series_of_a_sum_of_losses(seed, name, bias, C):
    """Nothing but the losses changes: the terms are those of the smoothed loss at other values."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = SPLITS["unequal folds"](seed)[1:]
    start = oracle.sharp_machine(K, y, np.full(N, C), bias, case.epsilon)
    _, _, terms = conventions_of(N, splits, C, None, False)
    wanted = oracle.series(K, y, case.loss, start, terms, ORDERS, bias, case.epsilon)
    for k, order in enumerate(ORDERS):
        held = run(case, K, y, splits, (C,), order, bias=bias, start="plug-in")
        assert_tested(held, splits, wanted[None, k])


@seeds
@every_case
@biases
@conventions
def test_the_whole_series_is_one_newton_step(seed, name, bias, mean_loss):
    """Of the split's problem, from the solution of the full one; gradient and Hessian of the primal are formed."""
    case, n, C = CASES[name], 30, 5.0
    K, y = problem(name, seed, "narrow", n)
    splits = partition(seed, n, [14, 10, 6])
    start = start_of(K, y, case.loss, np.full(n, C), bias)
    wanted = []
    for train, _ in splits:
        cost = np.where(np.isin(np.arange(n), train), C * n / len(train) if mean_loss else C, 0.0)
        assert (cost * case.loss.second(y, K @ start[0] + start[1])).any()
        wanted.append(oracle.newton_step(K, y, case.loss, cost, start, bias))
    assert_tested(run(case, K, y, splits, (C,), np.inf, bias=bias, mean_loss=mean_loss), splits, np.array([wanted]))


@seeds
@every_case
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_leave_one_out_by_the_jackknife_and_by_alo(seed, name, C):
    """``f + h g`` and ``f + h g / (1 - w h)``, h the diagonal of ``K (2 gam I + W K)^{-1}``: orders 1 and infinity."""
    case = CASES[name]
    K, y = problem(name, seed)
    splits = list(LeaveOneOut().split(K))
    beta, _ = start_of(K, y, case.loss, np.full(N, C), False)
    f = (K @ beta).astype(float)
    g, w = case.loss.first(y, f), case.loss.second(y, f)
    h = np.diagonal(K @ np.linalg.inv(np.eye(N) / C + w[:, None] * K))
    for order, wanted in [(1, f + h * g), (np.inf, f + h * g / (1 - w * h))]:
        (values,) = run(case, K, y, splits, (C,), order, bias=False).test
        assert_close(values[0, :, 0], wanted)


@two_seeds
@every_case
@biases
def test_the_whole_series_is_retraining_where_no_row_changes_its_piece(seed, name, bias):
    """Rows of little weight are left out: found by retraining, the pieces are asserted to be the same."""
    case, C = CASES[name], 1.0
    K, y = problem(name, seed)
    splits = [(np.delete(np.arange(N), row), np.array([row])) for row in range(6)]
    weights = np.where(np.arange(N) < N // 2, 1e-4, 1.0)
    beta, b = start_of(K, y, case.loss, C * weights, bias)
    pieces = case.loss.second(y, K @ beta + b), case.loss.first(y, K @ beta + b)
    held = run(case, K, y, splits, (C,), np.inf, bias=bias, weights=weights)
    unchanged = 0
    for number, (train, test) in enumerate(splits):
        cost = np.where(np.isin(np.arange(N), train), C * weights, 0.0)
        beta, b = start_of(K, y, case.loss, cost, bias)
        f = (K @ beta + b).astype(float)
        same = (case.loss.second(y, f)[train] == pieces[0][train]).all()
        straight = pieces[0][train] == 0
        same &= (case.loss.first(y, f)[train][straight] == pieces[1][train][straight]).all()
        if same:
            unchanged += 1
            assert_close(held.test[number][0, :, 0], f[test])
    assert unchanged >= 3


@seeds
@pytest.mark.parametrize("name", ["hinge 0.01", "hinge 0.1"])
@pytest.mark.parametrize("order", ORDERS)
def test_no_curved_row_at_all(seed, name, order):
    """As many rows of each class, all at their bound: the bias is the middle of its interval."""
    K, _ = problem(name, seed)
    y = np.where(np.random.default_rng(seed).permutation(N) % 2 == 0, 1.0, -1.0)
    C = 2.0**-12
    splits = list(StratifiedKFold(3).split(K, y))
    for mean_loss in (False, True):
        held = run(CASES[name], K, y, splits, (C,), order, mean_loss=mean_loss)
        for part, (train, test) in zip(held.test, splits, strict=True):
            u = K[:, train] @ (C * (N / len(train) if mean_loss else 1.0) * y[train])
            kinks = (y - u)[train]  # the bias may be anywhere between those of the two classes
            middle = (kinks[y[train] < 0].max() + kinks[y[train] > 0].min()) / 2
            assert_close(part[0, :, 0], (u + middle)[test])
    lopsided = partition(seed, N, [5, 8, 11])
    assert_same_series(CASES[name], K, y, lopsided, (C,), (order,))


@seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "squared hinge"])
def test_a_split_that_lacks_a_class(seed, name):
    K, y = problem(name, seed)
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    splits = [(positive, negative), *SPLITS["equal folds"](seed)]
    assert_same_series(CASES[name], K, y, splits, (1.0,))


@two_seeds
@pytest.mark.parametrize("name", ["hinge 0.1", "squared hinge"])
@conventions
def test_three_classes_in_pairs(seed, name, mean_loss):
    """Each pair is a machine of its own on its rows, which speaks of all tested rows."""
    case, n, C = CASES[name], 36, 2.0
    X = points(seed, n)
    K, classes = gaussian(X, 0.5), np.random.default_rng(seed).integers(3, size=n)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(K, classes))
    model = SVC(C=C, kernel="precomputed", decision_function_shape="ovo") if name == "hinge 0.1" else None
    Y = np.zeros((n, 3))
    for order in (1, 5, np.inf):
        values = np.empty((n, 3))
        for column, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
            rows = np.flatnonzero((classes == first) | (classes == second))
            Y[rows, column] = y = np.where(classes[rows] == second, 1.0, -1.0)
            start = start_of(np.ascontiguousarray(K[np.ix_(rows, rows)]), y, case.loss, np.full(len(rows), C), True)
            for train, test in splits:
                values[test, column] = _pair_values(case, K, y, rows, start, train, C, order, mean_loss)[test]
        if model is not None:
            options = {"cv": splits, "method": "bif", "order": order, "h": case.h, "scale_penalty": mean_loss}
            assert_close(-cross_val_decision(model, K, classes, **options), values)
            criterion = criteria.BIF(order, case.h, scale_penalty=mean_loss)
            search = KernelSearchCV(model, {"C": [C]}, criterion=criterion, cv=splits).fit(K, classes)
            assert_close(-search.oof_decision_, values)
        held = run(case, K, Y, splits, (C,), order, mean_loss=mean_loss)
        for part, (_, test) in zip(held.test, splits, strict=True):
            assert_close(part[0], values[test])


def _pair_values(case, K, y, rows, start, train, C, order, mean_loss):
    """Values of all rows from the series on the rows of a pair; penalties follow the number of all rows."""
    n, kept = len(K), np.isin(rows, train).astype(float)
    beta, b = start
    inner = K[np.ix_(rows, rows)]
    f = inner @ beta + b
    scale = n / len(train) if mean_loss else 1.0
    now, then = np.full(len(rows), C), C * scale * kept
    g, w = case.loss.first(y, f), case.loss.second(y, f)
    if order == np.inf:
        system, right = oracle.bordered(inner, then * w, 1.0, True), (now - then) * g
        step = np.linalg.solve(system.astype(float), np.append(right, 0.0).astype(float))
    else:
        system = oracle.bordered(inner, now * w, 1.0, True).astype(float)
        step, term = np.zeros(len(rows) + 1), None
        for _ in range(order):
            right = (now - then) * (g if term is None else w * term)
            part = np.linalg.solve(system, np.append(right, 0.0).astype(float))
            term = inner @ part[:-1] + part[-1]
            step += part
    return (K[:, rows] @ (beta + step[:-1]) + b + step[-1]).astype(float)


@seeds
@pytest.mark.parametrize("order", [1, 5, np.inf])
@conventions
def test_the_criterion_is_the_mean_loss_of_the_series(seed, order, mean_loss):
    splits = SPLITS["unequal folds"](seed)
    for name, model in [
        ("hinge 0.1", SVC(C=3.0, kernel="precomputed")),
        ("squared hinge", L2SVC(C=3.0, kernel="precomputed")),
        ("tube 0.2, 0.05", SVR(C=3.0, epsilon=0.2, kernel="precomputed")),
    ]:
        K, y = problem(name, seed)
        values = expected_values(CASES[name], K, y, splits, 3.0, orders=(order,), mean_loss=mean_loss)[0]
        if name.startswith("tube"):
            losses = [(values[k, test] - y[test]) ** 2 for k, (_, test) in enumerate(splits)]
        else:
            assert np.abs(values).min() > 1e-7
            losses = [np.sign(values[k, test]) != y[test] for k, (_, test) in enumerate(splits)]
        criterion = criteria.BIF(order=order, h=CASES[name].h, scale_penalty=mean_loss)
        assert criterion(K, y, model, cv=splits) == pytest.approx(np.concatenate(losses).mean(), rel=1e-8)
        by_folds = criteria.BIF(order=order, h=CASES[name].h, scale_penalty=mean_loss, aggregate="folds")
        assert by_folds(K, y, model, cv=splits) == pytest.approx(np.mean([loss.mean() for loss in losses]), rel=1e-8)


@seeds
def test_the_default_widths(seed):
    """0.01 for the hinge, a hundredth of epsilon, and without one a hundredth of the mean residual of the machine.

    With K = I and no bias, the machine of epsilon = 0 has the values ``clip(y, -C, C)``.
    """
    K, y = problem("hinge 0.01", seed)
    splits, C = SPLITS["equal folds"](seed), 0.5
    values = curve(seed, points(seed, N))
    residual = np.abs(values - np.clip(values, -C, C)).mean()
    for case, gram, target in [
        (Case(Hinge, oracle.smoothed_hinge(0.01)), K, y),
        (Case(EpsilonInsensitive, oracle.smoothed_tube(0.3, 0.003), None, 0.3), K, values),
        (Case(EpsilonInsensitive, oracle.huber(0.01 * residual), None, 0.0), np.eye(N), values),
    ]:
        assert_same_series(case, gram, target, splits, (C,), bias=False)


@pytest.mark.parametrize("order", [0, 1.5, np.nan, -1, "5", -np.inf, None])
def test_a_bad_order_is_an_error(order):
    with pytest.raises(ValueError, match="order must be"):
        criteria.BIF(order=order)


@pytest.mark.parametrize("h", [0, -1, np.nan, np.inf, "1"])
def test_a_bad_width_is_an_error(h):
    with pytest.raises(ValueError, match="h must be"):
        criteria.BIF(h=h)


@pytest.mark.parametrize("start", ["x", None, 1])
def test_a_bad_start_is_an_error(start):
    with pytest.raises(ValueError, match="start must be"):
        criteria.BIF(start=start)


def test_a_width_above_epsilon_is_an_error():
    K, y = problem("tube 0.2, 0.05", 0)
    with pytest.raises(ValueError, match="h must not be larger than epsilon"):
        criteria.BIF(h=0.3)(K, y, SVR(kernel="precomputed", epsilon=0.2), cv=3)


@seeds
@every_case
def test_derivatives_of_the_oracle(seed, name):
    """By finite differences, away from the kinks of the derivative."""
    loss, rng = CASES[name].loss, np.random.default_rng(seed)
    y = np.where(rng.uniform(size=300) < 0.5, 1.0, -1.0)
    f, step = rng.uniform(-2.5, 2.5, size=300), 1e-6
    smooth = loss.second(y, f - 2 * step) == loss.second(y, f + 2 * step)
    assert smooth.sum() > 280
    first = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.first(y, f), first, atol=1e-6 * loss.second(y, f).max() + 1e-8)
    second = (loss.first(y, f + step) - loss.first(y, f - step)) / (2 * step)
    np.testing.assert_allclose(loss.second(y, f)[smooth], second[smooth], atol=1e-6, rtol=1e-7)


@seeds
@some_cases
@biases
def test_the_minimiser_of_the_oracle(seed, name, bias):
    """L-BFGS finds none that is better, and the same values."""
    case = CASES[name]
    K, y = problem(name, seed, "narrow")
    cost = 2.0 * row_weights(seed, N)

    def value(z):
        f = K @ z[:N] + z[N] * bias
        slope = cost * case.loss.first(y, f)
        gradient = np.append(K @ (z[:N] + slope), bias * slope.sum())
        return oracle.objective(K, y, case.loss, cost, z[:N], z[N] * bias), gradient

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10}
    found = minimize(value, np.zeros(N + 1), jac=True, method="L-BFGS-B", options=options)
    beta, b = oracle.minimise(K, y, case.loss, cost, bias)
    assert oracle.objective(K, y, case.loss, cost, beta, b) <= found.fun * (1 + 1e-14)
    values = (K @ beta + b).astype(float)
    np.testing.assert_allclose(K @ found.x[:N] + found.x[N] * bias, values, atol=1e-5)
