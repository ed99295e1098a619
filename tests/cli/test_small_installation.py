"""The command line without the packages of studies, plots and Parquet: they are asked for where they are needed."""

import subprocess
import sys

import pytest

ABSENT = ("pyarrow", "pooch", "matplotlib", "scikit_posthocs", "statsmodels", "pandas", "polars", "dask", "distributed")

CODE = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from onefit.cli import main
sys.argv = ["onefit", *sys.argv[1:]]
main()
"""


def run(folder, *words):
    return subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_choosing_predicting_and_evaluating(mixed, tmp_path):
    options = ("--learner", "lssvm", "--kernel", "linear", "--cv", 3, "--save", "m.skops", "--report", "r.html")
    for words in (
        ("select", mixed, *options),
        ("predict", "m.skops", mixed, "--proba", "--out", "p.csv"),
        ("evaluate", "m.skops", mixed, "--bootstrap", 10, "--report", "e.html"),
        ("inspect", "m.skops"),
        ("compare", mixed, "--learner", "lssvm", "--kernel", "linear", "--criterion", "cv,gcv", "--cv", 3),
        ("datasets",),
    ):
        done = run(tmp_path, *words)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.slow
def test_what_is_missing_is_named_with_its_extra(mixed, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and more")
    done = run(tmp_path, "select", "a.parquet")
    assert done.returncode == 1, done.stderr
    assert "pip install 'onefit[data]'" in done.stderr
    assert "Traceback" not in done.stderr
