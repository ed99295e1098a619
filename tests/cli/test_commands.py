"""The smaller commands, and what all of them have in common."""

import json
import os
import subprocess
import sys
import types

import pytest

from onefit.cli import main
from onefit.cli.benchmark import _to_be_had


def test_datasets(onefit):
    listed = onefit("datasets").stdout
    assert "german.numer" in listed
    entries = json.loads(onefit("datasets", "--json").stdout)
    assert {"name", "task", "rows"} <= set(entries[0])
    one = json.loads(onefit("datasets", "German", "--json").stdout)
    assert one["name"] == "german.numer"
    assert one["rows"] == sum(one["classes"].values())
    unknown = onefit("datasets", "gurman")
    assert unknown.exit_code == 1
    assert "german" in unknown.stderr


def test_datasets_that_are_at_hand(onefit, tmp_path, monkeypatch):
    monkeypatch.setenv("ONEFIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "sonar").write_text("1 1:0.5\n")
    monkeypatch.setenv("ONEFIT_DATA", str(tmp_path))
    found = onefit("datasets", "--check", "bif:1", "--json")
    states = {one["name"]: (one["state"], one["where"]) for one in json.loads(found.stdout)}
    assert states["sonar"][0] == "damaged"
    assert "sha256" in states["sonar"][1]
    assert states["heart"][0] == "to download"
    assert states["liver-disorders"][0] == "to download"
    assert found.exit_code == 1
    (none,) = (
        one for one in json.loads(onefit("datasets", "--check", "bif:9", "--json").stdout) if one["name"] == "mg"
    )
    assert none["state"] == "missing"
    assert "computed back" in none["where"]
    every = onefit("datasets", "--check")
    assert "wdbc" in every.stdout
    assert " at hand, " in every.stdout.splitlines()[-1]
    unknown = onefit("datasets", "--check", "bif:13")
    assert unknown.exit_code != 0
    assert "bif:1" in unknown.stderr


def test_benchmarks_look_for_their_data_first(onefit, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ONEFIT_DATA", str(tmp_path))
    for study in ("criteria", "learned"):
        refused = onefit("benchmark", study, "results.csv", "--sets", "iris,mg", "--splits", 1)
        assert refused.exit_code == 1
        assert "mg cannot be had" in refused.stderr
        assert "computed back from mg_scale" in refused.stderr
    assert not (tmp_path / "results.csv").exists()
    assert _to_be_had(["iris", "mg"], "") == ["iris"]  # where nobody asked for mg
    assert "left out: mg" in capsys.readouterr().err


@pytest.mark.slow
def test_compare_takes_every_criterion_that_applies(onefit, prices):
    result = onefit("compare", prices, "--learner", "krr", "--cv", 3, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    from onefit.criteria import REGISTRY

    assert {row["criterion"] for row in found["rows"]} | set(found["left_out"]) == set(REGISTRY)
    assert "span" in found["left_out"]
    assert "gcv" not in found["left_out"]
    (cv,) = (row for row in found["rows"] if row["criterion"] == "cv")
    assert cv["cv_rank"] == 1


def test_compare_what_is_asked_for(onefit, prices):
    result = onefit("compare", prices, "--cv", 3, "--criterion", "cv,gcv")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["criterion", "cv", "gcv"]
    refused = onefit("compare", prices, "--criterion", "cv,span")
    assert refused.exit_code == 1
    assert "span" in refused.stderr


def test_compare_goes_on_without_criteria_that_have_no_value(onefit, prices):
    result = onefit("compare", prices, "--cv", 3, "--learner", "krr", "--kernel", "sigmoid", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert "indefinite" in found["left_out"]["sps"]
    assert "no value: sps (needs a positive semi-definite Gram matrix" in result.stderr
    assert {"cv", "gcv"} <= {row["criterion"] for row in found["rows"]}


@pytest.mark.slow
def test_bench_finds_no_difference(onefit):
    result = onefit("bench", "--learner", "krr", "--cv", 2, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    first, second = found["best"].values()
    assert first["params"] == second["params"]
    assert found["largest_difference"] < 1e-8
    assert onefit("bench", "--learner", "lssvm").exit_code == 1


COMMANDS = ("select", "compare", "predict", "inspect", "datasets", "bench", "reproduce", "benchmark")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_examples(onefit, command):
    text = onefit(command, "--help").stdout
    assert 0 < text.index("Examples:") < text.index(f"onefit {command} ") < text.index("Options")


def python(*words, **more):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300, check=False, **more)


def test_help_imports_nothing_heavy():
    code = "import sys, onefit.cli.app; print([m for m in ('sklearn', 'numpy', 'scipy') if m in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


@pytest.mark.slow
def test_compare_in_a_process_of_its_own(prices):
    done = python("-m", "onefit", "compare", str(prices), "--cv", "3", "--kernel", "linear", "--json")
    assert done.returncode == 0, done.stderr
    assert "gcv" in {row["criterion"] for row in json.loads(done.stdout)["rows"]}


def test_ctrl_c_while_commands_are_imported(monkeypatch, capsys):
    class Early(types.ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "onefit.cli.app", Early("onefit.cli.app"))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130
    assert capsys.readouterr().err == "onefit: interrupted\n"


def test_results_on_stdout_and_the_rest_on_stderr(prices):
    environment = {**os.environ, "FORCE_COLOR": "", "OMP_NUM_THREADS": "1"}
    environment.pop("FORCE_COLOR")
    done = python("-m", "onefit.cli", "select", str(prices), "--cv", "3", "--json", env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["learner"] == "LSSVR"
    assert "target: the last column 'price'" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
