"""The examples of docs/report.md run, in order, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "report.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
def test_examples_run(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(code, names)
    assert "Breast cancer" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_links_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (DOCS / target).exists(), target
