"""Learned kernels: what value and gradient cost, what polishing finds, and other libraries beside them.

gradient   value and all derivatives at n = 2,000, d = 100, in Cholesky factorisations of the same size and in n x n
           matrices of memory; time of scikit-learn's GaussianProcessRegressor for its gradient at n = 1,000, d = 30
polish     a 5 x 15 grid polished, beside the smallest value of a 41 x 41 grid, on eight data sets
irrelevant 500 features of which three count, 1,000 rows: evaluations and importances
weights    weights of five kernels by the gradient of cross-validation, beside himalaya's MultipleKernelRidgeCV
           (pip install himalaya)

Accuracy on real data sets is a study of its own: ``onefit benchmark learned``. Times are CPU seconds, compared within
one process.

Examples::

    python benchmarks/learned.py                     # all of them
    python benchmarks/learned.py gradient polish
"""

import argparse
import time
import tracemalloc
import warnings
from contextlib import contextmanager

import numpy as np
from scipy import linalg
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from onefit import LSSVR, KernelLearnCV, KernelSearchCV, criteria, datasets
from onefit.data import Folds
from onefit.kernels import ARD, Gaussian, Given, Laplacian, Linear, Matern, WeightedSum
from onefit.search.gradient import Objective, Point, problem_of

SETS = ("housing", "mpg", "bodyfat", "pyrim", "triazines", "mg", "space_ga", "cpusmall")
ROWS = 300


@contextmanager
def counted():
    """Count evaluations of cross-validation with its gradient: a list that is as long as there were."""
    calls, plain = [], criteria.CV.tangent

    def tangent(self, evidence):
        calls.append(1)
        return plain(self, evidence)

    criteria.CV.tangent = tangent
    try:
        yield calls
    finally:
        criteria.CV.tangent = plain


def seconds(function, repeats=3):
    """The CPU time of a call: the shortest of a few, after one that is not counted."""
    function()
    found = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        found.append(time.process_time() - began)
    return min(found)


def waves(n, d):
    """Rows with a smooth target of three features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def rows_of(name):
    """A regression: at most ROWS rows of a data set, scaled, and a target with mean zero and variance one."""
    X, y = datasets.load(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    chosen = np.random.default_rng(0).permutation(len(y))[:ROWS]
    return StandardScaler().fit_transform(X[chosen]), (y[chosen] - y[chosen].mean()) / y[chosen].std()


def objective_of(n, d):
    """Ten-fold cross-validation of least squares as a function of one scale per feature and the ridge."""
    X, y = waves(n, d)
    kernel = ARD(Gaussian(0.5 / d), scales=np.ones(d))
    folds = Folds.from_splits(KFold(10).split(X), n)
    problem, _ = problem_of(LSSVR(kernel=kernel), X, y, None, folds, criteria.CV())
    return Objective(problem, Point(kernel, 0.1))


def gradient():
    """Cost of value and gradient."""
    n, d = 2000, 100
    objective = objective_of(n, d)
    K = Gaussian(0.5 / d)(waves(n, d)[0]) + 0.1 * np.eye(n)
    whole, factor = seconds(lambda: objective(objective.theta)), seconds(lambda: linalg.cholesky(K, lower=True))
    tracemalloc.start()
    objective(objective.theta)
    peak = tracemalloc.get_traced_memory()[1] / 8 / n**2
    tracemalloc.stop()
    print(f"n = {n}, d = {d}: {whole / factor:.1f} Choleskys ({whole:.2f} s), {peak:.1f} n x n matrices at most")
    n, d = 1000, 30
    objective = objective_of(n, d)
    K = Gaussian(0.5 / d)(waves(n, d)[0]) + 0.1 * np.eye(n)
    ours, theirs = seconds(lambda: objective(objective.theta)), likelihood_seconds(n, d)
    factor, inverse = seconds(lambda: linalg.cholesky(K, lower=True)), seconds(lambda: inverted(K))
    print(f"n = {n}, d = {d}: {ours:.3f} s; GaussianProcessRegressor {theirs:.2f} s, {theirs / ours:.1f} times as long")
    print(f"in Choleskys: {ours / factor:.1f}, GaussianProcessRegressor {theirs / factor:.1f}, ", end="")
    print(f"an inverse alone {inverse / factor:.1f}")


def inverted(K):
    """The inverse of a positive definite matrix, by LAPACK."""
    factor = linalg.lapack.dpotrf(K, lower=True)[0]
    return linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)[0]


def likelihood_seconds(n, d):
    """Time of scikit-learn's marginal likelihood with its gradient, one length per feature."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    X, y = waves(n, d)
    process = GaussianProcessRegressor(RBF(np.sqrt(d) * np.ones(d)) + WhiteKernel(0.1), optimizer=None).fit(X, y)
    theta = process.kernel_.theta
    return seconds(lambda: process.log_marginal_likelihood(theta, eval_gradient=True), 1)


def polish():
    """A polished coarse grid beside a fine one."""
    coarse = {"gamma": np.logspace(-4, 1, 5), "alpha": np.logspace(-6, 2, 15)}
    fine = {"gamma": np.logspace(-4, 1, 41), "alpha": np.logspace(-6, 2, 41)}
    print(f"{'set':12} {'polished / fine':>15} {'evaluations':>12} {'time / fine':>12}")
    for name in SETS:
        X, y = rows_of(name)
        loss, times = [], []
        for grid, polished in ((fine, False), (coarse, True)):
            began = time.process_time()
            search = KernelSearchCV(LSSVR(), grid, scoring="neg_mean_squared_error", polish=polished, refit=False)
            with counted() as calls:
                loss.append(-search.fit(X, y).cv_results_["mean_test_score"].max())
            times.append(time.process_time() - began)
        print(f"{name:12} {loss[1] / loss[0]:15.5f} {len(calls):12} {times[1] / times[0]:12.2f}")


def irrelevant():
    """Many features that say nothing."""
    X, y = waves(1000, 500)
    began = time.process_time()
    with counted() as calls:
        search = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=None).fit(X, y)
    spent, found = time.process_time() - began, search.feature_importances_
    print(f"500 features: {len(calls)} evaluations, {spent:.0f} s; three that count {found[:3].round(3)}, ", end="")
    print(f"largest importance of the others {found[3:].max():.1e}")


def weights():
    """Weights of five kernels beside himalaya: exact cross-validated squared errors of what is found, and when.

    Both descend on the same five folds without an outer stop, with several numbers of steps. ``best`` is the smallest
    error of each, ``steps`` and ``seconds`` those of the fewest steps that come within a percent of it, and ``until
    theirs`` the seconds until the error is no larger than the best of himalaya, over the seconds that himalaya needs.
    """
    kernels = (Gaussian(0.01), Gaussian(0.1), Laplacian(0.05), Matern(3.0, 2.5), Linear())
    print(f"{'':12} {'onefit':>26} {'himalaya':>28}")
    columns = f"{'steps':>5} {'seconds':>7}"
    print(f"{'set':12} {'best':>12} {columns} {'best':>14} {columns} {'until theirs':>12}")
    for name in SETS:
        X, y = rows_of(name)
        grams = [kernel(X) for kernel in kernels]
        ours = [descent(own_weights, grams, y, steps) for steps in (0, 1, 2, 3, 5, 8, 13, 20, 40)]
        theirs = [descent(hyper_gradient, grams, y, steps) for steps in (1, 3, 10, 30, 100)]
        best = [min(runs)[0] for runs in (ours, theirs)]
        print(f"{name:12}", end="")
        for runs, value, width in ((ours, best[0], 12), (theirs, best[1], 14)):
            _, seconds, steps = next(run for run in runs if run[0] <= 1.01 * value)
            print(f" {value:{width}.5f} {steps:5} {seconds:7.3f}", end="")
        needed = next((run[1] for run in ours if run[0] <= best[1]), np.nan)
        print(f" {needed / next(run[1] for run in theirs if run[0] <= 1.01 * best[1]):12.2f}", flush=True)


def descent(find, grams, y, steps):
    """(exact cross-validated squared error, CPU seconds, steps) of the weights that ``find`` returns."""
    folds = KFold(5)
    spent = seconds(lambda: find(grams, y, folds, steps), 2)
    weights, ridge = find(grams, y, folds, steps)
    machine = KernelRidge(alpha=ridge, kernel="precomputed")
    K = sum(weight * K for weight, K in zip(weights, grams))
    return criteria.CV(loss="squared", aggregate="folds")(K, y, machine, folds), spent, steps


def own_weights(grams, y, folds, steps):
    """(weights, ridge) by L-BFGS from the best ridge for equal weights."""
    search = KernelLearnCV(KernelRidge(), WeightedSum([Given(K) for K in grams]), cv=folds, stop=None, max_iter=steps)
    found = search.fit(np.arange(len(y))[:, None], y).best_estimator_
    return found.kernel.weights, found.alpha


def hyper_gradient(grams, y, folds, steps):
    """(weights, ridge) that himalaya finds by descent, for a ridge of one."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV  # pip install himalaya

    options = {"progress_bar": False, "max_iter": steps}
    model = MultipleKernelRidgeCV(kernels="precomputed", solver="hyper_gradient", solver_params=options, cv=folds)
    model.fit(np.array(grams), y)
    return np.exp(np.ravel(model.deltas_)), 1.0


PARTS = {"gradient": gradient, "polish": polish, "irrelevant": irrelevant, "weights": weights}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    warnings.simplefilter("ignore")
    for part in parser.parse_args().parts or PARTS:
        print(f"# {part}", flush=True)
        PARTS[part]()
