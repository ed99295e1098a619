"""Only the classes that were registered are read."""

import subprocess
import sys

import pytest

import onefit.estimators.adapters  # noqa: F401  (registers the readers)
from onefit._exceptions import NotUnderstoodError
from onefit.machines.registry import read_machine, register_reader


class Estimator:
    pass


class Derived(Estimator):
    pass


def test_only_the_class_itself_is_read(monkeypatch):
    monkeypatch.setattr("onefit.machines.registry._READERS", {})
    register_reader(Estimator, lambda estimator: "machine", object)
    assert read_machine(Estimator()) == "machine"
    with pytest.raises(NotUnderstoodError, match=r"Derived has no fast path \(Estimator have\)"):
        read_machine(Derived())


@pytest.mark.slow
def test_a_criterion_by_itself_knows_the_estimators():
    code = """
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from onefit.criteria import GCV

K = np.diag([1.0, 2.0, 3.0])
print(GCV()(K, np.ones(3), KernelRidge(alpha=1.0, kernel="precomputed")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    residuals = [1 / 2, 1 / 3, 1 / 4]  # alpha / (K_ii + alpha), with H diagonal
    expected = sum(r**2 for r in residuals) / 3 / (sum(residuals) / 3) ** 2
    assert float(done.stdout) == pytest.approx(expected), done.stderr
