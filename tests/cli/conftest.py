"""Small files to choose models for, and a way to call the command line in this process."""

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from onefit.cli.app import app


@pytest.fixture
def onefit(tmp_path, monkeypatch):
    """Calls ``onefit`` with some words, in a folder of its own; the result has exit_code, stdout and stderr.

    ``select`` trains its reference, which takes a second, only with ``--reference``.
    """
    monkeypatch.chdir(tmp_path)

    def call(*words):
        if words[:1] == ("select",) and "--reference" not in words:
            words = (*words, "--no-reference")
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception  # a traceback: no user should ever see one
        assert "should not happen" not in result.stderr  # which stands for a traceback
        return result

    return call


@pytest.fixture
def mixed(tmp_path):
    """A CSV file of 60 rows with numbers, text, missing values of both, and two classes."""
    rng = np.random.default_rng(0)
    lines = ["age,dose,sex,outcome"]
    for row in range(60):
        age, dose, sex = rng.integers(20, 80), rng.normal(5, 2), rng.choice(["f", "m"])
        outcome = "yes" if age / 50 + dose / 5 + (sex == "f") > 2.5 else "no"
        cells = ["" if row % 17 == 3 else age, "NA" if row % 13 == 5 else f"{dose:.3f}", "" if row % 19 == 7 else sex]
        lines.append(",".join(map(str, [*cells, outcome])))
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def prices(tmp_path):
    """A CSV file of 60 rows with two columns of numbers and a smooth target far from zero."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 3, size=(60, 2))
    price = 100 + 3 * np.sin(x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=60)
    path = tmp_path / "prices.csv"
    path.write_text("x1,x2,price\n" + "".join(f"{a:.4f},{b:.4f},{p:.4f}\n" for (a, b), p in zip(x, price)))
    return path


@pytest.fixture
def animals(tmp_path):
    """A CSV file of 60 rows with three classes, the target in the first column."""
    rng = np.random.default_rng(2)
    codes = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + codes[:, None] * [2.0, -1.0]
    names = np.array(["ant", "bee", "cat"])[codes]
    path = tmp_path / "animals.csv"
    path.write_text("animal,x1,x2\n" + "".join(f"{n},{a:.3f},{b:.3f}\n" for n, (a, b) in zip(names, X)))
    return path
