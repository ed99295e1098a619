"""Model files made to exhaust memory or to mislead: refused by name, before they are loaded."""

import json
import zipfile

import numpy as np
import pytest
import skops.io

from onefit import LSSVC

FACTS = {
    "format": 1, "data": "d.csv", "rows": 60, "task": "classification", "target": "y", "features": ["a", "b", "c"],
    "categorical": [], "classes": ["no", "yes"], "learner": "LSSVC", "kernel": "rbf", "params": {"alpha": 0.1},
    "metric": "accuracy", "score": 0.9, "standard_error": None, "folds": 5, "exactness": "exact", "onefit": "0.1.0",
    "code": "model.fit(X, y)",
}  # fmt: skip
LOAD = """
from pathlib import Path
from onefit.cli.models import load
try:
    load(Path(sys.argv[1]))
except ValueError as error:
    print(error)
"""


@pytest.fixture
def write(tmp_path, two_classes):
    """Write a model file with other facts, or other parts."""
    X, y = two_classes
    whole = tmp_path / "whole.skops"
    whole.write_bytes(skops.io.dumps(LSSVC().fit(X, np.where(y == y[0], "no", "yes"))))

    def writer(facts, parts=(), method=zipfile.ZIP_DEFLATED, name="model.skops"):
        path = tmp_path / name
        with zipfile.ZipFile(whole) as good, zipfile.ZipFile(path, "w", method) as archive:
            changed = {"onefit.json": json.dumps(facts) if isinstance(facts, dict) else facts, **dict(parts)}
            for part in [*good.namelist(), *(part for part in changed if part not in good.namelist())]:
                with archive.open(part, "w") as file:
                    for block in _blocks(changed[part] if part in changed else good.read(part)):
                        file.write(block)
        return path

    return writer


def _blocks(contents):
    if isinstance(contents, str):
        return [contents.encode()]
    return [contents] if isinstance(contents, bytes) else contents


def test_the_file_that_is_changed_below_is_sound(onefit, write):
    assert onefit("inspect", write(FACTS)).exit_code == 0


@pytest.mark.slow
def test_facts_that_expand(write, run_measured):
    numbers = b'{"format": 1, "x": [' + b"0," * 5 + b"0]}"
    zeros = [b'{"format": 1, "x": [', *[b"0," * (1 << 19)] * 300, b"0]}"]
    assert "no model" not in run_measured(LOAD, write(numbers))[0]
    path = write(zeros)
    assert path.stat().st_size < 700_000
    output, growth = run_measured(LOAD, path)  # 300 MiB of text, 1.2 GB as a list
    assert f"{path}: onefit.json expands to" in output
    assert growth < 30


@pytest.mark.slow
def test_arrays_that_expand(write, run_measured):
    schema = json.dumps({"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy",
                         "file": "zeros.npy", "__id__": 1, "protocol": 2})  # fmt: skip
    path = write(FACTS, {"schema.json": schema, "zeros.npy": [bytes(1 << 20)] * 600})
    output, growth = run_measured(LOAD, path)
    assert f"{path}: its arrays take" in output
    assert growth < 30


@pytest.mark.slow
def test_arrays_that_are_named_many_times(write, run_measured):
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy"}
    nodes = [{**node, "file": "zeros.npy", "__id__": number} for number in range(1000)]
    schema = json.dumps({"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": nodes,
                         "__id__": 0, "protocol": 2})  # fmt: skip
    path = write(FACTS, {"schema.json": schema, "zeros.npy": bytes(4 << 20)})
    output, growth = run_measured(LOAD, path)
    assert f"{path}: its arrays take 4,194,304,000 bytes" in output
    assert growth < 40


@pytest.mark.slow
def test_parts_compressed_as_skops_never_does(write, run_measured):
    """Python expands a block of bzip2 whole, however little the archive announces."""
    path = write(FACTS, {"more": [bytes(1 << 20)] * 100}, zipfile.ZIP_BZIP2)
    output, growth = run_measured(LOAD, path)
    assert str(path) in output
    assert "that skops does not" in output
    assert growth < 30


@pytest.mark.parametrize(
    "text",
    [100_000 * "[", '{"format": 1, "x": ' + 100_000 * "[" + 100_000 * "]" + "}", '{"format": ' + 5000 * "1" + "}",
     b"\xff\xfe", "", "[]", "3", '{"format": "1"}'],
    ids=["open", "deep", "long number", "no text", "nothing", "a list", "a number", "another format"],
)  # fmt: skip
def test_facts_that_are_no_facts(onefit, write, text):
    path = write(text)
    for words in (("inspect", path), ("inspect", path, "--json"), ("predict", path, "iris")):
        result = onefit(*words)
        assert result.exit_code == 1
        assert str(path) in result.stderr
        assert result.stderr.count("\n") == 1


WRONG = {
    "data": 3, "rows": "many", "task": "both", "target": ["y"], "features": "abc", "categorical": [True],
    "classes": [["no"]], "learner": None, "kernel": {}, "params": ["alpha"], "metric": 1, "score": "high",
    "standard_error": "low", "folds": 2.5, "exactness": [], "onefit": 1, "code": ["model"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [*WRONG.items(), ("categorical", [7]), ("classes", []), ("classes", None), ("classes", ["no", 1]), ("rows", -1),
     ("features", ["a", None]), ("params", {"alpha": [1]}), ("score", None), ("rows", True), ("more", [[[[[1]]]]])],
)  # fmt: skip
@pytest.mark.quick(9)
def test_facts_of_other_types(onefit, write, name, value):
    assert value != FACTS.get(name)
    path = write({**FACTS, name: value})
    for words in (("inspect", path), ("inspect", path, "--json"), ("predict", path, "iris")):
        result = onefit(*words)
        assert result.exit_code == 1
        assert f"{path} is damaged: onefit.json" in result.stderr
        assert result.stdout == ""


def test_facts_that_do_not_fit_the_model(onefit, write, tmp_path):
    (tmp_path / "new.csv").write_text("a,b\n1,2\n3,4\n")
    path = write({**FACTS, "features": ["a", "b"]})
    result = onefit("predict", path, "new.csv")
    assert result.exit_code == 1
    assert f"{path} cannot predict the rows of new.csv" in result.stderr


EVIL = "\x1b[2J\x1b]0;title\x07\u202eevil\x9b31m\ud800"


def test_nothing_from_a_file_reaches_the_terminal(onefit, write, tmp_path):
    facts = {name: EVIL if isinstance(value, str) and name != "task" else value for name, value in FACTS.items()}
    lines = {"data": f"x\nscore       accuracy 1{EVIL}", "features": [f"a\n{EVIL}"], "classes": [f"no\r{EVIL}", "yes"]}
    path = write({**facts, **lines, "params": {EVIL: EVIL}})
    shown = onefit("inspect", path)
    assert shown.exit_code == 0
    assert shown.stdout.replace("\n", "").isprintable()
    assert [line for line in shown.stdout.splitlines() if line.startswith("score")] == [
        line for line in shown.stdout.splitlines() if "over 5 folds" in line
    ]
    printed = onefit("inspect", path, "--json").stdout
    assert printed.replace("\n", "").isprintable()
    assert json.loads(printed)["data"] == lines["data"]  # programs read it unchanged
    (tmp_path / "new.csv").write_text("b\n1\n2\n")
    said = onefit("predict", path, "new.csv").stderr
    assert "lacks columns" in said
    assert said.replace("\n", "").isprintable()
