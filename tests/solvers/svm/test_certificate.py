"""What a feasible dual point proves: no certificate is ever violated, and few are empty."""

import math
from collections import Counter

import numpy as np
import pytest

from onefit.solvers.svm._smo import smo_steps
from onefit.solvers.svm.bias import best_bias, crossing
from onefit.solvers.svm.certificate import TINY, GapBall, feasible
from onefit.solvers.svm.dual import Dual
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge

from ...oracles.certificate import (
    KERNELS,
    balanced,
    crossings,
    curved_root,
    distances_in_feature_space,
    duality_gap,
    interval,
    kink_table,
)
from ...oracles.problems import points, row_weights, seeds
from ...oracles.support_vector import curve, labels
from .machines import cold, random_start

LEARNERS = {
    "hinge": lambda bias: Hinge(bias),
    "squared hinge": lambda bias: SquaredHinge(bias),
    "tube 0": lambda bias: EpsilonInsensitive(bias, 0.0),
    "tube 0.1": lambda bias: EpsilonInsensitive(bias, 0.1),
    "tube 0.5": lambda bias: EpsilonInsensitive(bias, 0.5),
}
POINTS = ("left out", "perturbed", "few steps", "random", "infeasible", "zero", "solved")
ROUNDING = 64 * np.finfo(np.float64).eps


class Trial:
    """A random problem, a fold of it, and a more or less good point of the fold's dual."""

    def __init__(self, seed, kernel=None, machine=None, C=None, bias=None, point=None, n=None):
        rng = np.random.default_rng(seed)
        n = n or int(rng.integers(8, 33))
        self.kernel = kernel or str(rng.choice(list(KERNELS)))
        self.machine = machine or str(rng.choice(list(LEARNERS)))
        self.point = point or str(rng.choice(POINTS))
        self.C = C or 10.0 ** rng.uniform(-3, 3)
        self.bias = bool(rng.random() < 0.75) if bias is None else bias
        X = points(seed, n, 3)
        self.K = KERNELS[self.kernel](X)
        self.y = labels(seed, X, rng.uniform(0.2, 0.8)) if "hinge" in self.machine else curve(seed, X)
        self.weights = np.ones(n) if rng.random() < 0.5 else row_weights(seed, n)
        self.tested = rng.choice(np.arange(1, n - 1), size=int(rng.integers(1, 2 + n // 4)), replace=False)
        self.tested = self.tested[~np.isin(self.tested, [0, n - 1])]
        full = self._dual(self.weights)
        self.weights = np.where(np.isin(np.arange(n), self.tested), 0.0, self.weights)
        self.dual = self._dual(self.weights)
        self.solved = cold(self.K, self.dual)
        self.beta = feasible(self.dual, self._start(rng, full))

    def _dual(self, weights):
        return LEARNERS[self.machine](self.bias).dual(self.y, self.C, weights)

    def _start(self, rng, full):
        """Coefficients that need not be feasible."""
        n, size = len(self.y), float(np.abs(self.solved.beta).max())
        if self.point == "left out":
            return cold(self.K, full).beta
        if self.point == "perturbed":
            return self.solved.beta + 10.0 ** rng.uniform(-8, 0) * size * rng.normal(size=n)
        if self.point == "random":
            return random_start(self.dual, int(rng.integers(1000)))
        if self.point == "infeasible":
            return 3 * size * rng.normal(size=n) + rng.choice([-1, 0, 1]) * size
        beta, u = np.zeros(n), np.zeros(n)
        if self.point == "few steps":
            d = self.dual
            smo_steps(
                self.K, d.ridge, d.target, d.epsilon, d.lower, d.upper, d.bias, beta, u, 1e-9, int(rng.integers(1, 40))
            )
        return self.solved.beta if self.point == "solved" else beta

    def losses(self, f):
        """The sum of the losses of the primal problem."""
        if "hinge" in self.machine:
            missed = np.maximum(0.0, 1 - self.y * f) ** (1 if self.machine == "hinge" else 2)
        else:
            missed = np.maximum(0.0, np.abs(self.y - f) - self.dual.epsilon)
        return self.C * self.weights @ missed

    def radius(self, beta, b):
        """The root of primal less dual value, as computed literally."""
        d = self.dual
        return math.sqrt(duality_gap(self.K, beta, b, self.losses, d.ridge, d.target, d.epsilon))

    def ball(self):
        """What is under test."""
        return GapBall.around(self.dual, self.beta, self.K @ self.beta, np.sqrt(np.diagonal(self.K)))

    @property
    def reach(self):
        return float(distances_in_feature_space(self.K, np.arange(len(self.K))).max()) * (1 + 1e-12)

    def proof(self):
        """The intervals of the tested rows."""
        u, far = self.K @ self.beta, distances_in_feature_space(self.K, self.tested)
        diagonal = np.diagonal(self.K)[self.tested]
        return self.ball().intervals(u[self.tested], diagonal, self.reach, lambda chosen: far[chosen])

    def truth(self):
        """(smallest, largest) optimal value of each tested row, each known up to what the reference itself proves:
        two intervals (tested, 2).
        """
        d = self.dual
        beta = balanced(self.solved.beta, d.lower, d.upper) if self.bias else self.solved.beta
        u = self.K @ beta
        slack = ROUNDING * (np.abs(self.K) @ np.abs(beta)).max()
        if not self.bias:
            radius = self.radius(beta, 0.0) * np.sqrt(np.diagonal(self.K)[self.tested]) + slack
            around = np.column_stack([u[self.tested] - radius, u[self.tested] + radius])
            return around, around
        radius, far = self.radius(beta, self.solved.b), distances_in_feature_space(self.K, self.tested)
        least, most = [], []
        for x, away in zip(self.tested, far):
            if d.ridge[self.weights > 0].any():
                found = self._curved(u, u[x], radius * away, slack)
                least.append(found)
                most.append(found)
                continue
            parts = self.y, d.lower, d.upper, d.epsilon, u, u[x], away, radius + slack
            (a, b), (c, e) = interval(*parts), interval(*parts, signs=(1, -1))
            least.append((a - slack, c + slack))
            most.append((e - slack, b + slack))
        return np.array(least), np.array(most)

    def _curved(self, u, value, moves, slack):
        """With moving kinks up and down, where the slopes of the squared hinge cross zero."""
        low = curved_root(self.y, self.C * self.weights, u, -moves)[0]
        high = curved_root(self.y, self.C * self.weights, u, moves)[1]
        return value + low - slack - 1e-12, value + high + slack + 1e-12


def check(trial):
    """No optimal value lies outside of the intervals."""
    proof, (least, most) = trial.proof(), trial.truth()
    where = f"{trial.kernel}, {trial.machine}, {trial.point}, C={trial.C}, bias={trial.bias}"
    assert (proof.lower <= proof.upper).all(), where
    assert (proof.lower <= least[:, 1]).all(), where
    assert (proof.upper >= most[:, 0]).all(), where
    return proof


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", LEARNERS)
@pytest.mark.quick(10)
def test_no_certificate_is_violated(kernel, machine):
    for seed in range(15):
        check(Trial(100 * len(machine) + 1000 * len(kernel) + seed, kernel, machine))


@pytest.mark.slow
def test_no_certificate_is_violated_in_ten_thousand_trials():
    kinds = Counter()
    for seed in range(10_000, 20_000):
        trial = Trial(seed)
        check(trial)
        kinds.update([trial.kernel, trial.machine, trial.point])
    assert min(kinds[name] for name in (*KERNELS, *LEARNERS, *POINTS)) > 500


@pytest.mark.parametrize("machine", [name for name in LEARNERS if name != "squared hinge"])
def test_the_claims_are_those_of_the_sorted_kinks(machine):
    """The coarse interval contains the literal one, and a sign is claimed only if one of the two tells it."""
    refined = 0
    for seed in range(120):
        kernel, C, point = ("wide", 1.0, "perturbed") if seed % 2 else (None, None, POINTS[seed // 2 % len(POINTS)])
        trial = Trial(7000 + seed, kernel, machine, C, True, point)
        ball, proof, d = trial.ball(), trial.proof(), trial.dual
        u, far = trial.K @ trial.beta, distances_in_feature_space(trial.K, trial.tested)
        radius = trial.radius(trial.beta, ball.b)
        assert ball.radius >= radius * (1 - 1e-12)
        kinks, total = kink_table(trial.y, d.lower, d.upper, d.epsilon)
        lowest, highest = crossings([(place - u[i], fall) for place, fall, i in kinks], total)
        for k, x in enumerate(trial.tested):
            low, high = interval(trial.y, d.lower, d.upper, d.epsilon, u, u[x], far[k], radius)
            coarse = u[x] + lowest - radius * trial.reach, u[x] + highest + radius * trial.reach
            slack = ROUNDING * (1 + np.abs(coarse).max())
            assert coarse[0] - slack <= low
            assert high <= coarse[1] + slack
            if proof.lower[k] == TINY:
                refined += 1
                assert low > 0
            else:
                assert proof.lower[k] <= coarse[0] + slack
            if proof.upper[k] == -TINY:
                refined += 1
                assert high < 0
            else:
                assert proof.upper[k] >= coarse[1] - slack
    assert refined > 5


@seeds
@pytest.mark.parametrize("machine", LEARNERS)
@pytest.mark.parametrize("bias", [False, True])
def test_intervals_shrink_to_the_value_at_the_solution(seed, machine, bias):
    """Of well-conditioned problems, but for the interval of optimal biases if no coefficient is free."""
    trial = Trial(seed, "laplacian", machine, 1.0, bias, "solved", n=40)
    ball, proof = trial.ball(), trial.proof()
    open_ = ~np.isin(proof.lower, TINY) & ~np.isin(proof.upper, -TINY)
    assert open_.any()
    assert (proof.upper - proof.lower - (ball.highest - ball.lowest))[open_].max() < 2e-5
    values = trial.solved.u[trial.tested] + trial.solved.b
    assert (proof.lower <= values).all()
    assert (values <= proof.upper).all()


@pytest.mark.parametrize("machine", ["hinge", "squared hinge"])
@pytest.mark.parametrize("bias", [False, True])
def test_many_signs_are_proved(machine, bias):
    """Already by the full-data solution without the fold's rows, half by points near the solution, there nearly all."""
    for point, least in (("left out", 0.2), ("perturbed", 0.5), ("solved", 0.99)):
        known = []
        for seed in range(15):
            proof = Trial(seed, "laplacian", machine, 0.1, bias, point, n=60).proof()
            known += list((proof.lower >= 0) | (proof.upper < 0))
        assert np.mean(known) >= least, point


@seeds
@pytest.mark.parametrize("machine", ["hinge", "tube 0.1"])
def test_the_second_look_proves_more_than_the_first(seed, machine):
    """With each row's own distance in place of the largest."""
    more = 0
    for k in range(20):
        trial = Trial(500 * seed + k, "wide", machine, 1.0, True, "perturbed", n=40)
        u = trial.K @ trial.beta
        diagonal = np.diagonal(trial.K)[trial.tested]
        far = np.full((len(trial.tested), len(u)), trial.reach)
        blind = trial.ball().intervals(u[trial.tested], diagonal, trial.reach, far.__getitem__)
        proof = trial.proof()
        first, second = [((p.lower >= 0) | (p.upper < 0)) for p in (blind, proof)]
        assert (second >= first).all()
        more += int((second > first).sum())
    assert more > 0


@seeds
@pytest.mark.parametrize("machine", LEARNERS)
@pytest.mark.parametrize("scale", [1e-9, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("bias", [False, True])
def test_feasible_points(seed, machine, scale, bias):
    """Within the bounds, of sum zero with a bias, and no farther away than that takes, but for a factor."""
    trial = Trial(seed, "wide", machine, 2.0, bias, "zero", n=30)
    rng = np.random.default_rng(seed)
    for kind in range(4):
        beta = scale * rng.normal(size=30) + (kind == 1) * scale - (kind == 2) * scale
        if kind == 3:
            beta = trial.solved.beta
        near = feasible(trial.dual, beta)
        assert (trial.dual.lower <= near).all()
        assert (near <= trial.dual.upper).all()
        clipped = np.clip(beta, trial.dual.lower, trial.dual.upper)
        if not bias:
            np.testing.assert_array_equal(near, clipped)
            continue
        size = float(np.abs(clipped).sum())
        assert abs(math.fsum(near)) <= 1e-14 * size
        moved = float(np.abs(near - clipped).sum())  # what the sum is away from zero has to be moved; twice never pays
        assert abs(clipped.sum()) - 1e-13 * size <= moved <= abs(clipped.sum()) + 1e-13 * size
        np.testing.assert_array_equal(near[trial.tested], 0.0)
        np.testing.assert_allclose(feasible(trial.dual, near), near, atol=1e-13 * size, rtol=0)


@pytest.mark.parametrize(
    ("lower", "upper", "beta"),
    [
        ([0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [1.0, 5.0, -0.25]),  # a row that is left out
        ([0.0, -1.0], [1.0, 0.0], [1.0, 0.0]),  # all at their bounds
        ([0.0, 0.0], [0.0, 0.0], [3.0, -1.0]),  # nothing to move
        ([0.0, -np.inf], [np.inf, 0.0], [2.0, 0.0]),  # no upper bounds, nothing to take from on one side
        ([0.0, -np.inf, 0.0], [np.inf, 0.0, 0.0], [1e300, -1e-300, 0.0]),
        ([0.0, -np.inf], [np.inf, 0.0], [-1.0, 1.0]),  # clipped to nothing
        ([-2.0, -2.0, -1e-8], [2.0, 2.0, 1e-8], [2.0, 2.0, 0.0]),
        ([0.0, 0.0, -1e9], [1e-9, 1e-9, 0.0], [1e-9, 0.0, -1e9]),
    ],
)
def test_feasible_points_of_degenerate_boxes(lower, upper, beta):
    n = len(beta)
    dual = Dual(np.ones(n), np.array(lower), np.array(upper), np.zeros(n), 0.0, True)
    near = feasible(dual, np.array(beta))
    assert np.isfinite(near).all()
    assert (dual.lower <= near).all()
    assert (near <= dual.upper).all()
    assert abs(math.fsum(near)) <= 1e-15 * np.abs(beta).sum()


@seeds
@pytest.mark.parametrize("machine", LEARNERS)
@pytest.mark.parametrize("whole", [False, True])
def test_the_best_bias_is_the_best_of_all_kinks(seed, machine, whole):
    """The losses are linear between kinks; with whole values they are best on intervals, too."""
    rng = np.random.default_rng(seed)
    for k in range(20):
        trial = Trial(50 * seed + k, "wide", machine, point="zero", bias=True)
        u = rng.normal(size=len(trial.y)) * 2
        if whole:
            u, trial.weights = np.round(u), (trial.weights > 0).astype(float)
            trial.dual = trial._dual(trial.weights)
        low, high = best_bias(trial.dual, u)
        assert low <= high
        if machine == "squared hinge":
            assert low == high
            least, most = curved_root(trial.y, trial.C * trial.weights, u, np.zeros(len(u)))
            slack = 1e-10 * (1 + abs(low))
            best = trial.losses(u + low)
            assert all(best <= trial.losses(u + b) * (1 + 1e-13) + 1e-300 for b in (least, most, low - 1, low + 1))
            assert trial.losses(u + least) == pytest.approx(best, rel=1e-9, abs=1e-12)
            assert least - slack <= low
            continue
        used = trial.weights > 0
        places = [trial.y[used] - u[used] + side * trial.dual.epsilon for side in (-1, 1)]
        candidates = np.unique(np.concatenate(places))
        values = np.array([trial.losses(u + b) for b in candidates])
        best = candidates[values <= values.min() * (1 + 1e-12) + 1e-300]
        assert low == pytest.approx(best.min(), abs=1e-12)
        assert high == pytest.approx(best.max(), abs=1e-12)


@seeds
def test_crossings_of_many_rows_at_once(seed):
    rng = np.random.default_rng(seed)
    for total in (3.0, 0.3, 7.5):
        places = np.round(rng.normal(size=(20, 12)), 1)  # with ties
        falls = rng.choice([0.0, 0.1, 1.0], size=12)
        falls[:2] = total, 0.1
        low, high = crossing(places, falls, total)
        for k in range(20):
            left = [total - falls[places[k] <= place].sum() for place in np.sort(places[k])]
            ordered = np.sort(places[k])
            assert low[k] == ordered[np.flatnonzero(np.array(left) <= 1e-12)[0]]
            assert high[k] == ordered[np.flatnonzero(np.array(left) < -1e-12)[0]]
