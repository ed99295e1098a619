"""Data that many tests share, and the choice of the tests that ``make test`` runs."""

import subprocess
import sys
from functools import wraps
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as ``slow`` the combinations of a test's parameters that ``make test`` leaves to ``make test-full``.

    What stays has every pair of values of two parameters at least once, with one of the values of ``seed``; of a test
    with the mark ``quick(k)`` the k cases with the most pairs. A test that is asked for by its id is the only one of
    its kind here, and stays.
    """
    functions = {}
    for item in items:
        if hasattr(item, "callspec") and item.get_closest_marker("slow") is None:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        mark = cases[0].get_closest_marker("quick")
        for item in set(cases) - set(pairwise(cases)[: mark.args[0] if mark else None]):
            item.add_marker(pytest.mark.slow)


def pairwise(cases):
    """Cases of one test in which all pairs of parameters' values meet, each with one seed.

    Greedy: the case with the most new pairs comes next.
    """
    with_seeds = {}
    for item in cases:
        with_seeds.setdefault(values_of(item), []).append(item)
    pairs = {values: set(combinations(values, min(2, len(values)))) for values in with_seeds}
    missing, chosen = set().union(*pairs.values()), []
    while missing:
        values = max(pairs, key=lambda values: len(pairs[values] & missing))
        missing -= pairs.pop(values)
        seeds = with_seeds[values]
        chosen.append(seeds[len(chosen) % len(seeds)])
    return chosen


def values_of(item):
    """(names, values) of all parameters of a test but ``seed``; those of one ``parametrize`` are one parameter.

    Values need not be hashable: objects stand for themselves, which are the same in all combinations.
    """
    together = {name: names for names in map(names_of, item.iter_markers("parametrize")) for name in names}
    axes = {together.get(name, (name,)): None for name in item.callspec.params if name != "seed"}
    return tuple((names, *(id(item.callspec.params[name]) for name in names)) for names in axes)


def names_of(mark):
    """The names that a mark ``parametrize`` gives values to."""
    names = mark.args[0] if mark.args else mark.kwargs["argnames"]
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)


@pytest.fixture
def regression():
    """80 rows, 4 features, a smooth target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=80)


@pytest.fixture
def three_classes():
    """90 rows, 3 features, three overlapping classes with names."""
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=90)
    return rng.normal(size=(90, 3)) + codes[:, None] * [1.0, -0.5, 0.3], np.array(["ant", "bee", "cat"])[codes]


@pytest.fixture
def two_classes(three_classes):
    """The two first classes of ``three_classes``."""
    X, y = three_classes
    return X[y != "cat"], y[y != "cat"]


@pytest.fixture
def no_work(monkeypatch):
    """Any kernel that is evaluated, and any of scikit-learn's machines that is trained, is an error."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC, SVR

    from onefit import kernels

    def worked(*_, **__):
        raise AssertionError("work was done before the error")

    for kind in (kernels.ElementWise, kernels.Sum, kernels.Product, kernels.Precomputed, kernels.Function):
        monkeypatch.setattr(kind, "evaluate", worked)
    for machine in (KernelRidge, SVC, SVR):
        monkeypatch.setattr(machine, "fit", wraps(machine.fit)(worked))


@pytest.fixture
def run_measured():
    """A function that runs Python code in a process of its own: its output, and the growth of its memory in MiB.

    The code is preceded by imports of the readers, which do not count.
    """
    if not Path("/proc/self/status").exists():
        pytest.skip("the largest memory of a process is read from /proc")

    def run(code, *arguments):
        program = f"{_IMPORTS}\n{code}\nprint((peak() - before) / 1024)"
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        *output, growth = done.stdout.splitlines()
        return "\n".join(output), float(growth)

    return run


_IMPORTS = """
import sys
import warnings
import skops.io
import sklearn.svm
import onefit.machines.evidence
from onefit import datasets
from onefit.datasets import arff, delimited, libsvm, parquet
try:
    import pyarrow.parquet
except ImportError:
    pass

def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = peak()
"""
