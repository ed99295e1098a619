"""The duality gap, against its reference and against a fine grid of answers."""

import numpy as np
import pytest

from onefit.solvers.svm._duality import duality_gap

from ...oracles import svm_loops as reference
from ...oracles.problems import seeds

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks


def problem(seed, curved, epsilon, n=30):
    """A problem some of whose rows are left out, have infinite bounds, or have a ridge if others have."""
    rng = np.random.default_rng(seed)
    ridge = {"all": rng.uniform(0.1, 2.0, n), "some": rng.choice([0.0, 0.5], n), "none": np.zeros(n)}[curved]
    lower, upper = -rng.uniform(0, 2, n), rng.uniform(0, 2, n)
    lower[::5] = upper[::5] = 0.0
    upper[1::5] = np.where(ridge[1::5] > 0, np.inf, upper[1::5])
    beta = np.where(np.isfinite(upper), lower + rng.random(n) * (np.minimum(upper, 9.0) - lower), 0.7)
    return ridge, rng.normal(size=n), epsilon, lower, upper, beta, rng.normal(size=n), 0.3


@seeds
@pytest.mark.parametrize("curved", ["all", "some", "none"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_rows_lose_what_their_best_answer_would_gain(seed, curved, epsilon):
    ridge, target, epsilon, lower, upper, beta, u, b = problem(seed, curved, epsilon)
    r, total = u + b - target, 0.0
    for i in range(len(beta)):
        v = np.append(np.clip(np.linspace(-40, 40, 400_001), lower[i], upper[i]), 0.0 if lower[i] <= 0 else lower[i])
        gain = (beta[i] - v) * r[i] + ridge[i] / 2 * (beta[i] ** 2 - v**2) + epsilon * (abs(beta[i]) - np.abs(v))
        total += gain.max()
    for loop in (duality_gap, reference.duality_gap):
        assert loop(ridge, target, epsilon, lower, upper, beta, u, b) == pytest.approx(total, abs=1e-6)


@seeds
@pytest.mark.parametrize("curved", ["all", "some", "none"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_the_reference_agrees(seed, curved, epsilon):
    parts = problem(seed, curved, epsilon)
    assert duality_gap(*parts) == pytest.approx(reference.duality_gap(*parts), rel=1e-13)
