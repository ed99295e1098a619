"""Recipes that need packages which onefit does not: run where these are installed."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("skops.io")
pytest.importorskip("typer")

from typer.testing import CliRunner

from onefit.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
LOADING, SERVICE, ONNX = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def saved(folder, monkeypatch, *options):
    """A model of two columns of numbers and, without options, one of text; and what its loading defines."""
    monkeypatch.chdir(folder)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    town = np.where(X[:, 0] > 0, "Bonn", "Trier")
    rows = [f"{a:.4f},{b:.4f},{t},{'yes' if a + b > 0 else 'no'}\n" for (a, b), t in zip(X, town)]
    Path("data.csv").write_text("a,b,town,y\n" + "".join(rows))
    words = [
        "select",
        "data.csv",
        "--kernel",
        "gaussian",
        "--cv",
        "3",
        "--no-reference",
        "--save",
        "model.skops",
        *options,
    ]
    assert CliRunner().invoke(app, words).exit_code == 0
    names = {}
    exec(LOADING, names)
    return names, X, town


def test_a_model_file_predicts_in_one_call(tmp_path, monkeypatch):
    names, X, town = saved(tmp_path, monkeypatch)
    rows = [{"a": a, "b": b, "town": t} for (a, b), t in zip(X.tolist(), town.tolist())]
    told = json.loads(CliRunner().invoke(app, ["predict", "model.skops", "data.csv", "--json"]).stdout)
    agree = np.mean(np.array(names["predict"](rows)) == told["predictions"])
    assert agree > 0.97  # the file has four digits
    assert names["predict"]([{"a": 1.0, "b": 2.0, "town": None}]) == ["yes"]


def test_the_service(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi.testclient import TestClient

    names, _, _ = saved(tmp_path, monkeypatch)
    exec(SERVICE, names)
    client = TestClient(names["app"])
    assert client.get("/model").json()["classes"] == ["no", "yes"]
    assert client.post("/predict", json=[{"a": 2.0, "b": 2.0, "town": "Bonn"}]).json() == ["yes"]


def test_onnx(tmp_path, monkeypatch):
    pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    names, X, _ = saved(tmp_path, monkeypatch, "--drop", "town", "--learner", "svc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(ONNX, names)
    session = onnxruntime.InferenceSession("model.onnx")
    labels = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})[0]
    assert (labels == names["model"].predict(X)).all()
