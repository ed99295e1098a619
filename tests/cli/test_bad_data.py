"""What a new user may get wrong: an explanation and exit code 1, never a traceback."""

import os

import pytest
import typer

from onefit.cli.screen import explained

FILES = {
    "constant target": ("c.csv", "a,b,y\n" + "1,2,same\n3,4,same\n" * 5, "one value only, 'same'"),
    "empty file": ("e.csv", "", "the file is empty"),
    "one row": ("o.csv", "a,b,y\n1,2,yes\n", "has 1 row"),
    "rare class": ("r.csv", "a,y\n" + "1,x\n2,x\n" * 5 + "3,z\n", "the rarest class, 'z', has 1 row"),
    "binary": ("b.dat", b"\x00\x01\x02\n\x03", "binary data"),
    "text among numbers": (
        "t.csv",
        "a,y\n" + "".join(f"{'about 3' if k == 20 else k},{k % 2}\n" for k in range(40)),
        "line 22: column 'a' holds numbers but for 'about 3'",
    ),
    "infinite number": ("i.csv", "a,y\n" + "1,x\n2,z\n" * 5 + "inf,x\n", "column 'a' has inf in row 11"),
    "number whose square is infinite": ("h.csv", "a,y\n" + "1,x\n1e200,z\n" * 5, "column 'a' has 1e+200 in row 2"),
    "infinite target": ("j.csv", "a,y\n" + "1,0.5\n2,1.5\n" * 5 + "3,-inf\n", "column 'y' has -inf in row 11"),
    "no column varies": ("k.csv", "a,b,y\n" + "1,,x\n1,,z\n" * 5, "nothing to learn from"),
    "row without a target": ("m.csv", "a,y\n1,x\n2,\n3,z\n", "leave out rows without one"),
    "fractions are no classes": ("f.csv", "a,y\n" + "".join(f"{k},{k / 7}\n" for k in range(20)), "--task regression"),
}


@pytest.mark.parametrize("case", FILES)
def test_files(onefit, tmp_path, case):
    name, contents, message = FILES[case]
    (tmp_path / name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    options = ["--task", "classification"] if "no classes" in case else []
    result = onefit("select", name, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "outcom"], "Did you mean 'outcome'"),
        (["--task", "regression"], "--task classification"),
        (["--learner", "svr"], "use svc"),
        (["--learner", "krr"], "use lssvm"),
        (["--criterion", "nonsense"], "Unknown criterion 'nonsense'"),
        (["--scoring", "acuracy"], "Did you mean accuracy"),
        (["--kernel", "nonsense"], "has no kernel 'nonsense'"),
        (["--budget", "soon"], "60s"),
        (["--cv", 50], "folds that are possible"),
        (["--groups", "nobody"], "--groups nobody is no column"),
        (["--groups", "outcome"], "--groups outcome is the target"),
        (["--save", "nowhere/model.skops"], "does not exist"),
        (["--report", "."], "is a directory"),
        (["--journal", "mixed.csv", "--resume"], "journal"),
        (["--learner", "lssvm", "--criterion", "span"], "defined for"),
        (["--scoring", "neg_log_loss"], "--scoring neg_log_loss cannot be computed here"),
        (["--scoring", "r2"], "balanced_accuracy"),
        (["--budget", "0s"], "--budget 0s"),
        (["--kernel", ","], "--kernel ','"),
        (["--kernel", "precomputed"], "--kernel 'precomputed'"),
        (["--learner", "lssvm", "--kernel", "chi2", "--scale", "minmax"], "--scale none"),
        (["--save", "mixed.csv"], "the file of DATA too"),
        (["--save", "one.file", "--report", "./one.file"], "the file of --save too"),
    ],
)
def test_requests(onefit, mixed, options, message):
    result = onefit("select", mixed, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""
    assert "candidates" not in result.stderr  # refused before any work
    assert mixed.read_text().startswith("age,dose")


@pytest.mark.parametrize("option", ["--save", "--report", "--journal"])
def test_places_that_cannot_be_written(onefit, mixed, tmp_path, option):
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere" / "file")
    result = onefit("select", mixed, option, "broken")
    assert result.exit_code == 1
    assert f"{option} broken cannot be written" in result.stderr
    assert "rows" not in result.stderr  # refused before any work
    (tmp_path / "good").symlink_to(tmp_path / "file")
    onefit("select", mixed, option, "good", "--target", "nobody")
    assert (tmp_path / "good").is_symlink()  # the trial leaves nothing behind, and takes nothing away
    assert not (tmp_path / "file").exists()


def test_names_and_places(onefit, tmp_path):
    for data, message in ((".", "is a directory"), ("no.csv", "does not exist"), ("hearts", "Did you mean heart")):
        result = onefit("select", data)
        assert result.exit_code == 1
        assert message in result.stderr


def test_usage(onefit, mixed):
    assert onefit("select", mixed, "--learner", "forest").exit_code == 2
    assert onefit("select", mixed, "--cv", 1).exit_code == 2
    assert onefit("nonsense").exit_code == 2
    assert onefit("predict").exit_code == 2
    assert onefit("select", mixed, "--jobs", 0).exit_code == 2


def test_groups_that_leave_nothing_to_compare(onefit, tmp_path):
    rows = [(f"{row % 3}", f"{row}", "yes" if row % 2 else "no") for row in range(12)]
    for name, group, message in (
        ("pure.csv", lambda row: row[2], "left with class"),
        ("one.csv", lambda row: "same", "there is 1 group: "),
        ("hole.csv", lambda row: "" if row[1] == "4" else row[0], "row 5 has no value"),
    ):
        lines = ["g,x,y", *(f"{group(row)},{row[1]},{row[2]}" for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        result = onefit("select", name, "--groups", "g")
        assert result.exit_code == 1
        assert message in result.stderr


def test_scores_that_are_no_numbers(onefit, tmp_path):
    lines = ["g,x,y", *(f"{row % 2}{row % 4 // 2},{row * 7 % 5},{row % 2}" for row in range(24))]
    (tmp_path / "groups.csv").write_text("\n".join(lines) + "\n")
    result = onefit("select", "groups.csv", "--groups", "g", "--scoring", "roc_auc")  # every fold has one class
    assert result.exit_code == 1
    assert "roc_auc is not a finite number" in result.stderr
    assert result.stdout == ""
    assert max(map(len, result.stderr.splitlines())) < 320  # no list of all scores


def test_data_cannot_be_piped(onefit, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for name, message in (("pipe.csv", "is a pipe"), ("-", "cannot be piped")):
        result = onefit("select", name)
        assert result.exit_code == 1
        assert message in result.stderr


def test_faults_of_ours_are_no_tracebacks(capsys):
    with pytest.raises(typer.Exit) as end, explained():
        raise AttributeError("no such thing")
    assert end.value.exit_code == 1
    assert "AttributeError: no such thing (test_bad_data.py, line" in capsys.readouterr().err
