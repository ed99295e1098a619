"""Data that many tests share."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


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
import onefit.core
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
