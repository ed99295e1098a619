"""Criteria and machines on features Z, against the same on the matrix Z Zᵀ."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.svm import SVC

from onefit import LSSVC, LSSVR, criteria
from onefit._exceptions import NotUnderstoodError
from onefit.gram import FeatureGram

N, M = 40, 6
MACHINES = {
    "KernelRidge": KernelRidge(alpha=0.4, kernel="precomputed"),
    "LSSVR": LSSVR(alpha=0.4, kernel="precomputed"),
    "LSSVC": LSSVC(alpha=0.4, kernel="precomputed"),
    "balanced LSSVC": LSSVC(alpha=0.4, kernel="precomputed", class_weight="balanced"),
    "LSSVC without a bias": LSSVC(alpha=0.4, kernel="precomputed", fit_intercept=False),
}
SPLITTERS = {"unequal": KFold(7), "repeated": ShuffleSplit(5, random_state=0), "left out": LeaveOneOut()}
HELD_OUT = [
    criteria.CV(), criteria.CV(scale_penalty=True, aggregate="folds"), criteria.CV(loss="squared"),
    criteria.BIF(order=3), criteria.BIF(order=2, scale_penalty=True), criteria.CVKS(), criteria.CVVariance(),
]  # fmt: skip
OF_ONE_FIT = [
    criteria.LOO(), criteria.LOO(loss="squared"), criteria.ALO(), criteria.GCV(), criteria.RKS(),
    criteria.RKS(norm="trace"), criteria.SPS(), criteria.SPS(exact=True), criteria.ER(), criteria.BR(),
]  # fmt: skip
OF_THE_KERNEL = [
    criteria.SM(3), criteria.SM(threshold=0.05), criteria.KTA(), criteria.CKTA(), criteria.FSM(), criteria.PEP(),
]  # fmt: skip


def problem(name):
    rng = np.random.default_rng(3)
    Z = np.abs(rng.normal(size=(N, M)))  # the spectral measure needs entries that are not negative
    smooth = Z[:, 0] - Z[:, 1] + 0.3 * rng.normal(size=N)
    return Z, np.where(smooth > 0, 1, -1) if "LSSVC" in name else smooth


def compared(criterion, Z, y, *rest, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return criterion(FeatureGram(Z), y, *rest, **options), criterion(Z @ Z.T, y, *rest, **options)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("criterion", HELD_OUT, ids=repr)
def test_held_out_criteria(name, splitter, criterion):
    Z, y = problem(name)
    found, expected = compared(criterion, Z, y, MACHINES[name], cv=SPLITTERS[splitter])
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("criterion", OF_ONE_FIT, ids=repr)
def test_criteria_of_one_fit(name, criterion):
    found, expected = compared(criterion, *problem(name), MACHINES[name])
    assert found == pytest.approx(expected, rel=1e-9)


def test_marginal_likelihood():
    found, expected = compared(criteria.LML(), *problem("KernelRidge"), MACHINES["KernelRidge"])
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("criterion", OF_THE_KERNEL, ids=repr)
def test_criteria_of_the_kernel(criterion):
    found, expected = compared(criterion, *problem("LSSVC"))
    assert found == pytest.approx(expected, rel=1e-9)


def test_functions_of_the_kernel():
    Z, y = problem("LSSVC")
    for function in (criteria.ncut, criteria.mean_discrepancy):
        assert function(FeatureGram(Z), y) == pytest.approx(function(Z @ Z.T, y), rel=1e-9)
    for norm in ("spectral", "trace", "frobenius"):
        found, expected = (criteria.kernel_stability(K, norm=norm) for K in (FeatureGram(Z), Z @ Z.T))
        assert found == pytest.approx(expected, rel=1e-12)


def test_machines_that_need_the_matrix_say_so():
    Z, y = problem("LSSVC")
    with pytest.raises(NotUnderstoodError, match="never formed"):
        criteria.Span()(FeatureGram(Z), y, SVC(kernel="precomputed"))


def test_no_array_of_the_size_of_the_matrix_is_made():
    """Memory of an exact cross-validation of 20,000 rows: some arrays of n x m, and not the 3.2 GB of n x n."""
    import tracemalloc

    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(20_000, 5)), rng.normal(size=20_000)
    tracemalloc.start()
    criteria.LOO()(FeatureGram(Z), y, KernelRidge(alpha=1.0, kernel="precomputed"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * Z.nbytes
