"""A read-only installation and home: loops are compiled without a cache, and searches work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onefit

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

SEARCH = """
import numpy as np
from sklearn.svm import SVC, SVR
import onefit
from onefit import KernelSearchCV
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
for model, y in ((SVC(), X[:, 0] > 0), (SVR(), X[:, 0])):
    search = KernelSearchCV(model, {"C": [0.1, 1.0, 10.0]}, cv=3, refit=False).fit(X, y)
    print(onefit.__file__, *search.cv_results_["exactness"])
"""

IMPORT = """
import onefit
from onefit.native import ready
ready._announce()
print(onefit.__file__)
"""


def without_privileges():
    """What a command begins with so that root, too, is refused what permissions do not allow."""
    if os.name != "posix":
        pytest.skip("permissions are those of POSIX")
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root needs setpriv to give up its privileges")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture
def run(tmp_path):
    """Run Python on a read-only copy of the package, with a read-only home, as somebody who may not write there."""
    prefix = without_privileges()
    package, home = tmp_path / "packages" / "onefit", tmp_path / "home"
    shutil.copytree(Path(onefit.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    folders = [home, package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    paths = os.pathsep.join([str(package.parent), *(path for path in sys.path if path)])
    kept = {name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ}
    environment = {**kept, "HOME": str(home), "PYTHONPATH": paths}

    def run(*words):
        command = [*prefix, sys.executable, *words]
        return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=600)

    refused = run("-c", "open('x', 'w')")
    assert "PermissionError" in refused.stderr
    yield run
    for folder in folders:
        folder.chmod(0o755)  # for pytest to clear away


def test_loops_are_defined_and_the_log_says_how_to_have_a_cache(run, tmp_path):
    result = run("-c", IMPORT)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path))
    assert "in every process" in result.stderr
    assert "NUMBA_CACHE_DIR" in result.stderr


@pytest.mark.slow  # compiles everything
def test_support_vector_machines_are_searched(run, tmp_path):
    result = run("-c", SEARCH)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[1:] for line in lines] == [["exact"] * 3] * 2
    assert all(line[0].startswith(str(tmp_path)) for line in lines)


@pytest.mark.slow
def test_the_command_line_selects(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    rows = [f"{a},{b},{'p' if a > 0 else 'q'}" for a, b in X]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,y", *rows]))
    words = ("select", str(tmp_path / "data.csv"), "--learner", "svc", "--kernel", "linear", "--cv", "3")
    result = run("-m", "onefit.cli", *words)
    assert result.returncode == 0, result.stderr
    assert "SVC with the linear kernel" in result.stdout
