"""The study of learned kernels: resumed, and summed up."""

import csv
from pathlib import Path

import numpy as np
import pytest

from onefit.studies import learned


@pytest.fixture
def _small_set(monkeypatch):
    def load(name):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        return X, np.sin(2 * X[:, 0]) if name == "waves" else (X[:, 0] > 0).astype(int)

    monkeypatch.setattr(learned.datasets, "load", load)


@pytest.mark.usefixtures("_small_set")
def test_lines_that_are_there_are_not_computed_again(tmp_path, monkeypatch):
    path = tmp_path / "results.csv"
    learned.run(path, ["waves", "sides"], ["grid", "mkl-uniform"], 1, 30)
    lines = learned.read(path)
    assert [(line["set"], line["method"]) for line in lines] == [
        ("waves", "grid"), ("waves", "mkl-uniform"), ("sides", "grid"), ("sides", "mkl-uniform"),
    ]  # fmt: skip
    monkeypatch.setattr(learned, "measure", None)
    learned.run(path, ["waves", "sides"], ["grid", "mkl-uniform"], 1, 30)
    assert learned.read(path) == lines


def test_a_summary_is_relative_to_the_grid(tmp_path):
    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, learned.FIELDS)
        writer.writeheader()
        for number, name in enumerate("abcdefgh"):
            for method, error in (("grid", 2.0), ("ard", 1.0 + 0.1 * number)):
                writer.writerow({"set": name, "split": 0, "method": method, "error": error, "seconds": 1.0})
    _, _, grid, ard = ([text.strip() for text in line.split("|")] for line in learned.summary(path).splitlines())
    expected = np.exp(np.mean(np.log((1.0 + 0.1 * np.arange(8)) / 2.0)))
    assert grid[1:8] == ["grid", "8", "8", "1.000", "1.000", "0%", "0%"]
    assert ard[1:8] == ["ard", "8", "8", f"{expected:.3f}", "0.850", "100%", "0%"]
    assert float(ard[8]) == pytest.approx(2 * 0.5**8, abs=1e-3)  # all eight signs agree
    assert ard[9] == "-"


def test_the_documentation_has_the_figures_of_the_file_of_results():
    docs = Path(__file__).parents[2] / "docs"
    assert learned.summary(docs / "results" / "learned.csv") in (docs / "learning.md").read_text(encoding="utf-8")
