"""Every criterion of the registry against its formula, written out and computed by other means, to 1e-9."""

from functools import cache

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, criteria

from ..oracles.literal import DEFINED, LITERAL
from ..oracles.problems import points
from ..oracles.retraining import Retraining

N = 26
FOLDS = [(np.setdiff1d(np.arange(N), part), part) for part in np.split(np.arange(N), [5, 11, 19])]
"""Unequal folds."""

MACHINES = {
    "KernelRidge": (KernelRidge(alpha=0.3, kernel="precomputed"), "value"),
    "LSSVR": (LSSVR(alpha=0.3, kernel="precomputed"), "value"),
    "SVR": (SVR(C=2.0, epsilon=0.2, kernel="precomputed"), "value"),
    "EpsilonSVR without bias": (EpsilonSVR(C=2.0, epsilon=0.2, kernel="precomputed", fit_intercept=False), "value"),
    "LSSVC": (LSSVC(alpha=0.3, kernel="precomputed"), "two"),
    "LSSVC without bias": (LSSVC(alpha=0.3, kernel="precomputed", fit_intercept=False), "two"),
    "SVC": (SVC(C=2.0, kernel="precomputed"), "two"),
    "HingeSVC without bias": (HingeSVC(C=2.0, kernel="precomputed", fit_intercept=False), "two"),
    "L2SVC": (L2SVC(C=2.0, kernel="precomputed"), "two"),
    "LSSVC of three classes": (LSSVC(alpha=0.3, kernel="precomputed"), "three"),
    "SVC of three classes": (SVC(C=2.0, kernel="precomputed"), "three"),
    "L2SVC of three classes": (L2SVC(C=2.0, kernel="precomputed"), "three"),
}


@cache
def problem(name):
    """A machine with its Gram matrix and target; what it has trained stays known."""
    machine, target = MACHINES[name]
    X = points(5, N)
    signal = X[:, 0] + 0.5 * np.random.default_rng(35).normal(size=N)
    y = {"value": signal, "two": np.where(signal > 0, 1, -1), "three": np.digitize(signal, [-0.4, 0.5])}[target]
    K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2)) * (1.0 + 0.1 * np.outer(X[:, 1], X[:, 1]))
    return Retraining(K, y, machine, FOLDS)


def variants(name, classes):
    """Values of parameters, so that losses without steps are compared too."""
    losses = [None, "squared", "absolute"] + (["hinge"] if classes else [])
    made = {
        "cv": [*(criteria.CV(loss=loss) for loss in losses), criteria.CV(aggregate="folds")],
        "bif": [criteria.BIF(order=order, loss="absolute", scale_penalty=scaled)
                for order in (1, 5, np.inf) for scaled in (False, True)],
        "loo": [criteria.LOO(loss=loss) for loss in losses],
        "alo": [*(criteria.ALO(loss=loss) for loss in losses), criteria.ALO(h=0.1, loss="squared")],
        "rks": [*(criteria.RKS(loss=loss) for loss in losses), criteria.RKS(eta=2.0, norm="trace")],
        "cvks": [*(criteria.CVKS(loss=loss) for loss in losses), criteria.CVKS(eta=2.0, norm="frobenius"),
                 criteria.CVKS(order=3, aggregate="folds")],
        "cv_variance": [criteria.CVVariance(loss=loss) for loss in losses],
        "sps": [criteria.SPS(exact=exact, delta=3.0, loss=loss) for exact in (False, True) for loss in losses],
        "er": [criteria.ER(), criteria.ER(components=3, eta=0.5)],
        "pep": [criteria.PEP(), criteria.PEP(components=3)],
        "sm": [criteria.SM(), criteria.SM(degree=4, weighted=False), criteria.SM(threshold=0.05)],
        "xi_alpha": [criteria.XiAlpha(), criteria.XiAlpha(rho=1.0)],
    }  # fmt: skip
    return made.get(name, [criteria.resolve(name)])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", criteria.REGISTRY)
def test_a_criterion_is_its_formula(name, machine):
    assert name in LITERAL, f"the criterion {name} has no literal implementation in tests/oracles/literal.py"
    case = problem(machine)
    for criterion in variants(name, case.classes is not None):
        if not DEFINED[name](case):
            with pytest.raises(ValueError, match=f"{name} (is defined for|needs)"):
                criterion(case.K, case.y, case.machine, cv=FOLDS)
            continue
        value = criterion(case.K, case.y, case.machine, cv=FOLDS)
        assert value == pytest.approx(LITERAL[name](criterion, case), rel=1e-9), criterion


def test_the_oracle_has_no_formula_that_nobody_uses():
    assert set(LITERAL) == set(criteria.REGISTRY)
