"""The README's example runs, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
def test_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = {}
    exec(code, names)
    search = names["search"]
    assert set(search.cv_results_["exactness"]) == {"exact"}
    assert search.oof_decision_.shape == names["y"].shape
    assert "fold solution" in capsys.readouterr().out


def test_links_and_commands_exist():
    text = README.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"make (\w[\w-]*)", text):
        if command in ("demo", "test", "bench"):
            assert f"\n{command}:" in makefile
