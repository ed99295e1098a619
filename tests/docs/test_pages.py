"""Every block of Python in the documentation runs, in the order of its page, and the pages say what was measured."""

import csv
import re
import runpy
from pathlib import Path

import pytest

from onefit import criteria

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
PAGES = sorted(page for page in DOCS.glob("*.md") if BLOCK.search(page.read_text(encoding="utf-8")))


def test_pages_have_code():
    assert {"getting_started.md", "grid_search.md", "criteria.md", "exactness.md"} <= {page.name for page in PAGES}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may write files
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block.group(1), str(page), "exec"), names)  # errors name the line of the page


def anchors(page):
    """What links to a page may have behind their #: its headings, as GitHub and MyST spell them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"(?:\]\(|href=\")([^)#:\"]*)#?([^)\"]*)[)\"]", page.read_text(encoding="utf-8")):
        if target.startswith("gallery/"):  # written by the build, one page for each example
            name = target.removeprefix("gallery/")
            assert name == "index" or (ROOT / "examples" / f"{name}.py").exists(), target
        elif target.startswith("results/"):  # written by the build from the data in results/
            assert target in ("results/index.html", "results/criteria.html")
        elif ":" not in anchor:  # no address on the web
            found = page.parent / target if target else page
            assert found.exists(), target
            assert not anchor or anchor in anchors(found), f"{target}#{anchor}"


def test_every_page_is_in_a_table_of_contents():
    listed = {"index"}
    for page in DOCS.glob("*.md"):
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            lines = (line for line in tree.splitlines() if line and not line.startswith(":"))
            listed |= {re.sub(r".*<(.*)>", r"\1", line) for line in lines}
    missing = {page.stem for page in DOCS.glob("*.md")} - listed
    assert not missing, f"name {', '.join(sorted(missing))} in a toctree, for example that of docs/guide.md"


def test_performance_page_has_what_was_measured():
    script = runpy.run_path(str(ROOT / "benchmarks" / "page.py"))
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert script["written"](page) == page, "run python benchmarks/page.py"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script["written_readme"](readme) == readme, "run python benchmarks/page.py"


def test_ratios_are_those_of_the_seconds():
    with (ROOT / "benchmarks" / "measured.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = {}
    for row in rows:
        reference = first.setdefault(row["experiment"], row)
        if row["seconds"]:  # both are rounded
            assert float(row["ratio"]) == pytest.approx(float(reference["seconds"]) / float(row["seconds"]), rel=0.05)


def test_reference_lists_all_public_names():
    import onefit
    from onefit import bounds, datasets, kernels, report

    listed = set(
        re.findall(r"^   (?:report\.)?(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    modules = {"bounds", "criteria", "datasets", "kernels", "report"}
    inner = {
        "ElementWise",
        "Product",
        "Scaled",
        "Sum",
        "REGISTRY",
        "Shown",
        "resolve_all",
    }  # what the public ones are made of
    for module in (onefit, bounds, criteria, datasets, kernels, report):
        assert set(module.__all__) - modules - inner <= listed, module.__name__
