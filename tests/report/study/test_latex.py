"""LaTeX tables: well-formed and within the text of an article; compiled where there is a pdflatex."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from onefit.report.study import write_study
from onefit.report.study.latex import latex, latex_grid, latex_number
from onefit.report.study.numbers import RowFormat
from onefit.report.study.view import CellView, Grid, Row, number_grid
from onefit.studies.catalogue import STUDIES, VARIANTS
from onefit.studies.cell_journal import Journal
from onefit.studies.comparisons import summarise
from onefit.studies.outcome import collect
from tests.report.study.synthetic import make_outcome, make_study
from tests.report.study.test_study_files import KINDS

pytestmark = pytest.mark.slow
RESULTS = Path(__file__).parents[3] / "docs" / "results"
PUBLISHED = [
    study
    for study in (*STUDIES.values(), *VARIANTS.values())
    if (RESULTS / f"{study.key.replace(':', '-')}-manifest.json").exists()
]
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
%s
\end{document}
"""


def long_names():
    """Sets and methods with names that LaTeX could misread, twenty of each."""
    names = [f"{name}_{k}" for k in range(4) for name in ("50% & more", "a#b", "$x^2$", r"{b}\c~", "<0.5>")]
    return make_outcome(make_study("sm:2", [f"{t}-of_{k}%" for t in (5, 10) for k in range(5)], names[:20]))


def many_rows():
    """Widths of a curve on several sets: several pages, without printed numbers."""
    study = make_study("bif:fig1", [f"{t}-{m}" for t in (5, 10, 20) for m in ("CV", "BIF", "BIF∞")], kind="curve")
    return make_outcome(study, [f"{2.0**k:g}" for k in range(-10, 11)], scale=3e-7, spread=1e-8, printed=False)


@pytest.fixture(
    scope="module",
    params=[*KINDS, long_names, many_rows, *PUBLISHED],
    ids=lambda p: p.__name__ if callable(p) else p.key,
)
def source(request, tmp_path_factory):
    """The text of a file: made-up ones of every kind, and those that are published."""
    made = request.param if callable(request.param) else partial(_published, request.param)
    return _written(made, tmp_path_factory.mktemp("tex"))


def _published(study):
    journal = Journal(RESULTS / "journal" / f"{study.protocol.name}.sqlite")
    return collect(study, journal, study.protocol.datasets)


def _written(kind, folder):
    (path,) = (path for path in write_study(kind(), folder, manifest={}) if path.suffix == ".tex")
    return path.read_text(encoding="utf-8")


def plain(text):
    """Without comments and escaped characters."""
    return re.sub(r"\\[{}&%$#_]", "", "\n".join(re.sub(r"(?<!\\)%.*", "", line) for line in text.splitlines()))


def test_environments_braces_and_formulas_are_closed(source):
    stack = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", source):
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []
    depth = np.cumsum([{"{": 1, "}": -1}.get(character, 0) for character in plain(source)])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert all(line.count("$") % 2 == 0 for line in plain(source).splitlines())


def test_special_characters_are_escaped(source):
    assert source.isascii()
    outside = re.sub(r"\$[^$]*\$", "", plain(source))
    assert not set("#_^~<>") & set(outside)
    for line in outside.splitlines():
        assert "&" not in line or line.rstrip("*").endswith(r"\\")


def test_every_row_has_the_declared_number_of_columns(source):
    found = re.findall(r"\\begin\{(tabular|longtable)\}\{@\{\}l\*\{(\d+)\}\{r\}@\{\}\}\n(.*?)\\end\{\1\}", source, re.S)
    assert len(found) == len(re.findall(r"\\begin\{(?:tabular|longtable)\}", source)) > 0
    for _, columns, body in found:
        rows = [line for line in plain(body).splitlines() if line.rstrip("*").endswith(r"\\") and "caption" not in line]
        assert rows
        for row in rows:
            spanned = re.fullmatch(r"\\multicolumn\{(\d+)\}\{@\{\}l\}\{[^&]*\} \\\\\*", row)
            assert (int(spanned[1]) if spanned else row.count("&") + 1) == int(columns) + 1


def test_numbers_are_those_of_the_other_pages():
    """Read back from LaTeX, for means and deviations of all sizes; a shared power of ten costs no more than 0.005."""
    rng = np.random.default_rng(0)
    shared = 0
    for _ in range(300):
        mean, std = rng.choice([-1, 1]) * 10 ** rng.uniform(-9, 9), 10 ** rng.uniform(-9, 9)
        text = RowFormat([mean]).pair(mean, std)
        expected = [float(part.replace("−", "-")) for part in text.split(" ± ")]
        source = latex_number(text)
        both = re.fullmatch(r"\$\((\S+) \\pm (\S+)\) \\cdot 10\^\{(-?\d+)\}\$", source)
        if both:
            shared += 1
            unit = 10.0 ** int(both[3])
            np.testing.assert_allclose(float(both[1]) * unit, expected[0], rtol=1e-12)
            np.testing.assert_allclose(float(both[2]) * unit, expected[1], atol=0.00501 * unit)
        else:
            parts = re.fullmatch(r"\$(.*) \\pm (.*)\$", source).groups()
            found = [float(re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", part)) for part in parts]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert 10 < shared < 290


def test_all_that_studies_say_can_be_written():
    for study in {**STUDIES, **VARIANTS}.values():
        settings = (*study.protocol.settings, *(method.setting for method in study.protocol.methods))
        names = (method.name for method in study.protocol.methods)
        assert latex(" ".join([study.title, study.unit, *study.protocol.datasets, *settings, *names])).isascii()


def grid_of(columns, text="13.83 ± 1.35"):
    row = Row("liver-disorders", "3", tuple(CellView(text) for _ in columns))
    return Grid("error", "", tuple(columns), (("", (row,)),))


def blocks_of(columns, **more):
    return [list(block.columns) for block in latex_grid(grid_of(columns, **more)).blocks]


def test_wide_tables_are_cut_between_numbers_of_folds():
    methods = ["CV", "BIF", "exact"]
    assert blocks_of([f"{t}-{m}" for t in (5, 10, 20) for m in methods]) == [
        [f"{t}-{m}" for m in methods] for t in (5, 10, 20)
    ]


def test_wide_tables_without_folds_are_cut_into_equal_parts():
    assert blocks_of(list("abcdefgh")) == [list("abcd"), list("efgh")]
    assert blocks_of(list("abc")) == [list("abc")]
    assert blocks_of(list("abc"), text="x" * 90) == [["a"], ["b"], ["c"]]
    assert blocks_of([f"5-{c}" for c in "abcdefgh"]) == [[f"5-{c}" for c in "abcd"], [f"5-{c}" for c in "efgh"]]


@pytest.mark.parametrize("kind", [*KINDS, long_names, many_rows], ids=lambda kind: kind.__name__)
def test_blocks_have_every_cell_once(kind):
    outcome = kind()
    grid = number_grid(outcome, summarise(outcome))
    blocks = latex_grid(grid).blocks
    assert sum((block.columns for block in blocks), ()) == grid.columns
    for number, (label, rows) in enumerate(grid.groups):
        assert all(block.groups[number][0] == label for block in blocks)
        for k, row in enumerate(rows):
            parts = [block.groups[number][1][k] for block in blocks]
            assert sum((part.cells for part in parts), ()) == row.cells
            assert {replace(part, cells=()) for part in parts} == {replace(row, cells=())}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_pages_are_compiled_and_nothing_leaves_them(tmp_path):
    """All files, as a user would input them; twice, since tables over several pages learn their widths."""
    for kind in (*KINDS, long_names, many_rows):
        (tmp_path / f"{kind.__name__}.tex").write_text(_written(kind, tmp_path / kind.__name__))
    for study in PUBLISHED:
        name = study.key.replace(":", "-")
        (tmp_path / f"{name}.tex").write_text(_written(partial(_published, study), tmp_path / name))
    names = sorted(path.stem for path in tmp_path.glob("*.tex"))
    inputs = "\n".join(rf"\typeout{{== {name}}}\input{{{name}.tex}}\clearpage" for name in names)
    (tmp_path / "document.tex").write_text(DOCUMENT % inputs)
    for _ in range(2):
        shown = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=300,
        )  # fmt: skip
        if "not found" in shown.stdout and ".sty" in shown.stdout:
            pytest.skip("booktabs or longtable is not installed")
        assert shown.returncode == 0, shown.stdout[-2000:]
    assert (tmp_path / "document.pdf").stat().st_size > 0
    parts = (part.partition("\n") for part in shown.stdout.split("== ")[1:])
    faults = {name: re.findall(r"Overfull .*|Float too large.*", said) for name, _, said in parts}
    assert len(faults) == len(names)
    assert not any(faults.values()), faults
