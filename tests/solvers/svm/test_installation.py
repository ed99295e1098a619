"""The compiled loops are there; where they are not, machines are retrained; and they touch no memory but their own."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import onefit

ROOT = Path(onefit.__file__).parents[2]

WITHOUT = """
import sys, warnings
sys.modules["onefit.solvers.svm._solver"] = None  # as if it could not be built
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from onefit import HingeSVC, KernelSearchCV
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = X[:, 0] > 0
grid = {"C": [0.1, 1.0]}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    search = KernelSearchCV(SVC(), grid).fit(X, y)
assert any("no compiled solver" in str(warning.message) for warning in caught), [str(w.message) for w in caught]
assert set(search.cv_results_["exactness"]) == {"retrained"}
expected = GridSearchCV(SVC(), grid).fit(X, y)
np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
try:
    HingeSVC().fit(X, y)
except ValueError as error:
    assert "no compiled solver" in str(error)
else:
    raise AssertionError("trained without a solver")
"""

SANITIZED = """
import numpy as np
from onefit.kernels import Gaussian
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge
from onefit.solvers.svm.solver import Solver
rng = np.random.default_rng(0)
for n in (2, 3, 17, 90):
    X = rng.normal(size=(n, 3))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    K = Gaussian(0.7)(X)
    for learner in (Hinge(), Hinge(False), SquaredHinge(), EpsilonInsensitive(True, 0.1)):
        solver = Solver(K)
        path = solver.path(learner.dual(y, 1.0, np.ones(n)), np.logspace(-2, 4, 7))
        dual = learner.dual(y, 5.0, np.ones(n))
        full = solver.solve(dual, np.zeros(n), warm=False)
        assert path.converged.all() and full.converged
        if n > 3 and dual.free(full.beta).any():
            folds = []
            for first in range(3):
                weights = np.ones(n)
                weights[first::3] = 0.0
                folds.append(learner.dual(y, 5.0, weights))
            starts = np.array([fold.within(full.beta) for fold in folds])
            solver.inverse(dual, full.beta).solve(folds, starts, starts @ K)
print("clean")
"""


def test_the_loops_are_built():
    """Without them everything works, only slowly: nobody would notice."""
    from onefit.solvers.svm import _active_set, _cholesky, _duality, _fold_removal, _smo, _solver

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for module in (_active_set, _cholesky, _duality, _fold_removal, _smo, _solver):
        assert module.__file__.endswith(suffix)


def test_without_them_machines_are_retrained():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs gcc's address sanitizer")
def test_the_address_sanitizer_finds_nothing(tmp_path):
    """A build with checks of bounds and of every address, run on small problems of all machines."""
    pytest.importorskip("Cython", reason="the loops are built anew")
    library = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(library).is_file():
        pytest.skip("gcc has no address sanitizer here")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(
        build, cwd=tmp_path, env={**os.environ, "ONEFIT_SANITIZE": "1"}, check=True, capture_output=True, timeout=600
    )
    environment = {
        **os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(tmp_path / "src"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.strip() == "clean", done.stderr[-3000:]
