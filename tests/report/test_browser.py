"""Reports in a real browser, with the network cut: nothing goes wrong, and cells answer the mouse and the keys.

``ONEFIT_AXE`` may name axe-core's script, which then looks for accessibility violations; ``ONEFIT_SCREENSHOTS`` a
folder that the pictures are kept in.
"""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from onefit import KernelSearchCV, report
from onefit.report.evaluation import Evaluation, Interval, evaluation_page, pictures_of

from .chromium import EXECUTABLE, Chromium
from .searches import KINDS, data, search_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(EXECUTABLE is None, reason="chromium is not installed"),
]

AXE = os.environ.get("ONEFIT_AXE")
LOOKS = [(width, dark) for width in (1280, 390) for dark in (False, True)]
TIP = "document.getElementById('tip')"
LANDING = Path(__file__).parents[2] / "docs" / "_build" / "html" / "index.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The file of a kind of search, written once."""
    folder, written = tmp_path_factory.mktemp("reports"), {}

    def path(kind):
        if kind not in written:
            search, X, y = search_of(kind)
            written[kind] = report.write(search, folder / f"{kind}.html", title=kind, X=X, y=y)
        return written[kind]

    return path


def test_errors_and_requests_are_noticed(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text('<title>bad</title><img src="http://127.0.0.1:9/a.png"><script>nothing()</script>')
    browser.open(bad)
    assert any("Uncaught" in error for error in browser.errors)
    assert "http://127.0.0.1:9/a.png" in browser.requests


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_opens_without_an_error_or_a_request(browser, page, kind):
    browser.open(page(kind))
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("data:", page(kind).as_uri()))] == []
    assert browser.run("window.harmed") is None
    assert browser.run("document.images.length === 0 || document.images[0].naturalWidth > 0")


@pytest.mark.parametrize("kind", ["binary", "multi_class", "regression", "certified", "failed"])
def test_a_cell_answers_the_mouse(browser, page, kind):
    search, _, _ = search_of(kind)
    browser.open(page(kind))
    assert browser.run(f"{TIP}.hidden")
    last = len(search.cv_results_["params"]) - 1
    browser.hover(f'td[data-i="{last}"]')
    assert not browser.run(f"{TIP}.hidden")
    words = browser.run(f"{TIP}.textContent")
    for name, value in search.cv_results_["params"][last].items():
        assert f"{name}={value:.6g}" in words
    assert search.cv_results_["exactness"][last] in words
    box = browser.run(f"{TIP}.getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= 1280
    browser.hover("h1")
    assert browser.run(f"{TIP}.hidden")


def test_cells_answer_the_keys(browser, page):
    search, _, _ = search_of("binary")
    browser.open(page("binary"))
    focused = "document.activeElement.dataset.i"
    for _ in range(40):
        browser.press("Tab")
        if browser.run(focused) is not None:
            break
    assert int(browser.run(focused)) == search.best_index_
    assert "accuracy" in browser.run(f"{TIP}.textContent")
    assert not browser.run(f"{TIP}.hidden")
    assert browser.run("document.activeElement.getAttribute('aria-describedby')") == "tip"
    params = search.cv_results_["params"]
    start, gammas = params[search.best_index_], search.param_grid["gamma"]
    key, step = ("ArrowUp", -1) if start["gamma"] == gammas[-1] else ("ArrowDown", 1)
    browser.press(key)
    moved = params[int(browser.run(focused))]
    assert moved == {**start, "gamma": gammas[gammas.index(start["gamma"]) + step]}
    assert f"gamma={moved['gamma']:.6g}" in browser.run(f"{TIP}.textContent")
    for _ in range(9):  # the edge of the grid stops it
        browser.press("ArrowLeft")
    assert params[int(browser.run(focused))]["C"] == min(search.param_grid["C"])
    assert browser.run("document.querySelectorAll('td[tabindex=\"0\"]').length") == 1
    browser.press("Escape")
    assert browser.run(f"{TIP}.hidden")


def test_points_of_curves_answer_the_mouse(browser, page):
    browser.open(page("regression"))
    browser.hover("circle[data-tip]")
    assert browser.run(f"{TIP}.textContent").startswith("alpha=0.001: ")


def test_the_table_is_sorted_and_filtered(browser, page):
    search, _, _ = search_of("binary")
    total = len(search.cv_results_["params"])
    browser.open(page("binary"))
    cells = "[...document.querySelectorAll('#table tbody tr')].map(row => row.cells[{}].textContent)"
    assert browser.run(cells.format(0))[0] == "1"
    browser.run("document.querySelectorAll('#table th button')[2].click()")
    values = [float(text) for text in browser.run(cells.format(2))]
    assert values == sorted(values, reverse=True)
    browser.run("document.querySelectorAll('#table th button')[2].click()")
    assert browser.run("document.querySelectorAll('#table th')[2].getAttribute('aria-sort')") == "ascending"
    gamma = search.cv_results_["params"][0]["gamma"]
    browser.run(f"(f => {{ f.value = 'gamma={gamma:.6g}'; f.dispatchEvent(new Event('input')) }})"
                "(document.getElementById('filter'))")  # fmt: skip
    found = browser.run(cells.format(1))
    assert 0 < len(found) < total
    assert all(f"gamma={gamma:.6g}" in text for text in found)
    assert browser.errors == []


def test_costs_move_the_threshold(browser, page):
    browser.open(page("binary"))
    tool = "document.getElementById('{}')"
    places = []
    for value in (-2, 0, 3):
        browser.run(f"(s => {{ s.value = {value}; s.dispatchEvent(new Event('input')) }})({tool.format('cost-ratio')})")
        answer = browser.run(tool.format("cost-answer") + ".textContent")
        places.append(float(answer.split()[1].rstrip(":")))
    assert places == sorted(places, reverse=True)
    assert places[0] > places[-1]


def test_two_thousand_candidates_answer_in_a_second(browser, tmp_path):
    X, y = data(0)
    grid = {"gamma": np.logspace(-4, 1, 50), "alpha": np.logspace(-4, 2, 40)}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=3).fit(X, y)
    path = report.write(search, tmp_path / "many.html", X=X, y=y)
    assert path.stat().st_size < 1_000_000
    browser.open(path)
    assert browser.run("performance.timing.domInteractive - performance.timing.navigationStart") < 1000
    spent = browser.run("(() => { const start = performance.now(); "
                        "document.querySelectorAll('#table th button')[2].click(); "
                        "return performance.now() - start; })()")  # fmt: skip
    assert spent < 1000


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    """A page of ``onefit evaluate`` about two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    values = rng.normal(size=200) + y
    chances = 1 / (1 + np.exp(-values))
    pictures, calibration = pictures_of(
        y, (values > 0).astype(int), classes=[0, 1], decision=values,
        probability=np.column_stack([1 - chances, chances]),
    )  # fmt: skip
    facts = Evaluation("a model", "SVC", "data.csv", 200, 0.95, 300, [Interval("accuracy", 0.7, 0.6, 0.8)], "Agrees.",
                       pictures, calibration, [("model", "SVC")])  # fmt: skip
    path = tmp_path_factory.mktemp("evaluation") / "evaluation.html"
    path.write_text(evaluation_page(facts))
    return path


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_an_evaluation_fits_and_is_accessible(browser, evaluation, width, dark):
    browser.open(evaluation, width=width, dark=dark)
    assert browser.errors == []
    assert browser.requests == [evaluation.as_uri(), "data:,"][: len(browser.requests)]
    assert browser.run("document.documentElement.scrollWidth") <= width
    if AXE is not None:
        browser.run(Path(AXE).read_text() + "; 0")
        assert browser.run("axe.run().then(found => found.violations.map(v => [v.id, v.nodes[0].html]))") == []


def test_a_notebook_shows_it_in_a_frame(browser, tmp_path):
    search, X, y = search_of("binary")
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><title>cell</title>{report.show(search, X=X, y=y)._repr_html_()}")
    browser.open(cell)
    assert browser.errors == []
    assert browser.requests == [cell.as_uri()]
    assert browser.run("document.querySelector('iframe').clientHeight") > 500


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("kind", ["binary", "multi_class", "regression", "certified"])
def test_fits_the_window(browser, page, tmp_path, kind, width, dark):
    browser.open(page(kind), width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(json.loads(colour.replace("rgb(", "[").replace(")", "]"))) < 200) == dark
    folder = Path(os.environ.get("ONEFIT_SCREENSHOTS", tmp_path))
    picture = folder / f"{kind}-{width}-{'dark' if dark else 'light'}.png"
    browser.screenshot(picture)
    assert struct.unpack(">I", picture.read_bytes()[16:20])[0] == width


@pytest.mark.skipif(AXE is None, reason="ONEFIT_AXE does not name the script of axe-core")
@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_has_no_accessibility_violation(browser, page, kind, width, dark):
    browser.open(page(kind), width=width, dark=dark)
    browser.run("document.querySelectorAll('details').forEach(part => { part.open = true })")
    browser.run(Path(AXE).read_text() + "; 0")
    found = browser.run("axe.run().then(found => found.violations.map(v => [v.impact, v.id, v.nodes[0].html]))")
    assert found == []


def test_other_models_fit_on_a_phone(browser, tmp_path):
    search, X, y = search_of("binary")
    scores = np.array([0.7, 0.8, 0.75, 0.8])
    trees = report.Yardstick("HistGradientBoosting with a name that does not fit", scores - [0.1, 0.2, 0.1, 0.1])
    judged = report.Judgement("accuracy", 0.76, 0.02, "exact", "computed anew", scores, [trees], (0.75, 0.02))
    browser.open(report.write(search, tmp_path / "judged.html", X=X, y=y, judgement=judged), width=390)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert "of new rows 0.75 ± 0.02 is expected" in browser.run("document.getElementById('answer').textContent")
    if AXE is not None:
        browser.run(Path(AXE).read_text() + "; 0")
        assert browser.run("axe.run().then(found => found.violations.map(v => [v.id, v.nodes[0].html]))") == []


@pytest.mark.skipif(AXE is None, reason="ONEFIT_AXE does not name the script of axe-core")
@pytest.mark.skipif(not LANDING.exists(), reason="the documentation is not built: make docs")
@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_the_documentation_begins_with_an_accessible_page(browser, width, dark):
    browser.open(LANDING, width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.run(Path(AXE).read_text() + "; 0")
    assert browser.run("axe.run().then(found => found.violations.map(v => [v.id, v.nodes[0].html]))") == []
