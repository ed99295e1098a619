"""What a new user may get wrong: an explanation and exit code 1, never a traceback."""

import pytest

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
    ],
)
def test_requests(onefit, mixed, options, message):
    result = onefit("select", mixed, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


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
