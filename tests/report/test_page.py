"""The page: well-formed, complete, self-contained, with the numbers of the search and nothing harmful."""

import copy
import json
import re
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from onefit import KernelSearchCV, compare, report
from onefit.report.facts import gather
from onefit.report.page import EMBEDDED, environment, render
from onefit.report.surface import CELLS, panels_of

from .searches import HOSTILE, KINDS, data, search_of

VOID = {"meta", "link", "img", "br", "hr", "input", "col"}
SECTIONS = ("answer", "surface", "predictions", "kernel", "diagnostics", "cost", "facts")
LARGEST = 2.5e6


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects what is in the page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.attributes, self.headings, self.data, self.script = [], [], [], [], ""
        self.words: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        for tag, name in self.open:
            if tag == "section":
                self.words[name] = self.words.get(name, "") + text
        if self.open and self.open[-1] == ("script", "candidates"):
            self.script += text

    def ids(self):
        return [attributes["id"] for _, attributes in self.attributes if "id" in attributes]

    def candidates(self):
        return {int(number): row for number, row in json.loads(self.script)["rows"].items()}


@cache
def text_of(kind, *, with_data=True):
    search, X, y = search_of(kind)
    return render(gather(search, title=kind, **({"X": X, "y": y} if with_data else {})))


@cache
def page_of(kind, *, with_data=True):
    return Page(text_of(kind, with_data=with_data))


@pytest.fixture(params=sorted(KINDS))
def kind(request):
    return request.param


@pytest.mark.quick(8)
def test_is_well_formed_and_has_every_section(kind):
    page = page_of(kind)
    assert len(set(page.ids())) == len(page.ids())
    assert set(SECTIONS) <= set(page.ids())
    assert page.headings[:2] == [1, 2]
    assert all(later <= earlier + 1 for earlier, later in zip(page.headings, page.headings[1:]))


@pytest.mark.quick(4)
def test_without_the_data_it_says_how_to_see_more(kind):
    page = page_of(kind, with_data=False)
    assert set(SECTIONS) <= set(page.ids())
    assert "X=X, y=y" in page.words["kernel"]


@pytest.mark.quick(6)
def test_loads_nothing(kind):
    text = text_of(kind)
    assert len(text.encode()) < LARGEST
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", text)
    for tag, attributes in Page(text).attributes:
        assert tag not in ("iframe", "object", "embed", "base", "form", "video", "audio")
        assert "srcset" not in attributes
        for name in ("src", "href", "action", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "http://" not in text
    assert "https://" not in text


def test_pictures_have_words(kind):
    for tag, attributes in page_of(kind).attributes:
        if tag == "img":
            assert len(attributes["alt"]) > 20
        if tag == "svg":
            assert attributes["role"] == "img"
            assert len(attributes["aria-label"]) > 15


def test_links_lead_to_sections(kind):
    page = page_of(kind)
    targets = {attributes["href"][1:] for tag, attributes in page.attributes if tag == "a"}
    assert targets <= set(page.ids())


def test_cells_have_the_numbers_of_the_results_table(kind):
    search, _, _ = search_of(kind)
    results, page = search.cv_results_, page_of(kind)
    metric = search.refit if isinstance(search.refit, str) else "score"
    sign = -1.0 if kind == "smaller_is_better" else 1.0
    n_splits = sum(bool(re.fullmatch(rf"split\d+_test_{metric}", key)) for key in results)
    rows = page.candidates()
    assert sorted(rows) == list(range(len(results["params"])))
    for i, (_, value, error, rank, label, bound, seconds, status) in rows.items():
        assert rank == results[f"rank_test_{metric}"][i]
        assert label == results["exactness"][i]
        assert seconds == results["seconds"][i]
        assert status == str(results["status"][i])[:300]
        mean = results[f"mean_test_{metric}"][i]
        assert value == (sign * mean if np.isfinite(mean) else None)
        if n_splits > 1 and np.isfinite(mean):
            splits = [results[f"split{k}_test_{metric}"][i] for k in range(n_splits)]
            np.testing.assert_allclose(error, np.std(splits, ddof=1) / np.sqrt(n_splits), rtol=1e-12, atol=1e-15)
        else:
            assert error is None
        known = results["error_bound"][i]
        assert bound == (known if np.isfinite(known) else None)


def test_every_candidate_is_one_cell(kind):
    search, _, _ = search_of(kind)
    cells = [dict(a) for tag, a in page_of(kind).attributes if tag == "td" and "data-i" in a]
    assert sorted(int(cell["data-i"]) for cell in cells) == list(range(len(search.cv_results_["params"])))
    for cell in cells:
        i = int(cell["data-i"])
        kinds = cell["class"].split()
        assert kinds[0] == search.cv_results_["exactness"][i].replace(" ", "-")
        assert ("best" in kinds) == (i == search.best_index_)
        assert ("style" in cell) == (kinds[0] not in ("pruned", "failed", "not-reached"))


def test_the_answer_comes_first():
    search, _, _ = search_of("binary")
    page = page_of("binary")
    assert next(iter(page.words)) == "answer"
    words = page.words["answer"]
    best = search.best_index_
    splits = [search.cv_results_[f"split{k}_test_score"][best] for k in range(4)]
    assert f"{np.mean(splits):.4g} ± {np.std(splits, ddof=1) / 2:.2g}" in " ".join(words.split())
    assert f"C={search.best_params_['C']:.6g}, gamma={search.best_params_['gamma']:.6g}" in words
    assert "12 candidates × 4 folds = 48 models" in words


def test_what_is_missing_for_each_kind():
    assert "holds no rows out" in page_of("fit_free").words["predictions"]
    assert "without a standard error" in page_of("leave_one_out").words["answer"]
    assert "RandomForestClassifier" in page_of("retrained").words["kernel"]
    assert "curves" not in page_of("no_parameter").words
    assert "smaller is better" in page_of("smaller_is_better").words["answer"]


def test_labels_have_symbols():
    page = text_of("certified")
    for label, symbol in (("certified", "✓"), ("pruned", "–")):
        assert re.search(rf'<td class="{label}"[^>]*>{symbol}', page)
    assert re.search(r'<td class="not-reached"[^>]*>…', text_of("out_of_time"))
    assert re.search(r'<td class="failed"[^>]*>×', text_of("failed"))
    assert re.search(r'<td class="approximate[^"]*"[^>]*>≈', text_of("series"))
    assert re.search(r'<td class="retrained[^"]*"[^>]*>↻', text_of("retrained"))


def test_hostile_names_stay_words():
    search, X, y = search_of("hostile")
    text = render(gather(search, title=HOSTILE[0], X=X, y=y))
    page = Page(text)
    assert text.count("<script") == 2
    assert not any("onclick" in attributes for _, attributes in page.attributes)
    assert HOSTILE[0] in page.words["predictions"]
    assert HOSTILE[1] in page.words["answer"]
    assert "\u2028" in page.candidates()[0][0]


def test_a_comparison_is_shown():
    search, X, y = search_of("binary")
    comparison = compare(SVC(), search.param_grid, X, y, ["cv", "ckta"], cv=4)
    page = Page(render(gather(search, X=X, y=y, comparison=comparison)))
    for row in comparison.rows:
        assert row["criterion"] in page.words["criteria"]
        assert f"{row['cv_score']:.6g}" in page.words["criteria"]
    with pytest.raises(ValueError, match="comparison must come from"):
        gather(search, comparison=[1])


@pytest.mark.slow
def test_a_large_grid_is_thinned():
    search, X, y = search_of("binary")
    facts = gather(search, X=X, y=y)
    n = 20_000
    rng = np.random.default_rng(0)
    many = {
        name: rng.choice(getattr(facts.scores, name), n)
        for name in ("values", "errors", "ranks", "exactness", "bounds", "status", "seconds")
    }
    params = [{"svc__gamma": 10.0 ** -(i % 200), "svc__C": 10.0 ** (i // 200)} for i in range(n)]
    scores = replace(facts.scores, params=params, best=12345, cautious=None, **many)
    panels, left_out = panels_of(scores)
    text = render(replace(facts, scores=scores, panels=panels, panels_left_out=left_out))
    assert len(text.encode()) < LARGEST
    assert "Not all values" in text
    assert 'data-i="12345"' in text
    assert 2000 < len(Page(text).candidates()) <= EMBEDDED + CELLS  # the best, and the cells of the panels


def test_an_interrupted_search_shows_what_it_has():
    search = copy.copy(search_of("binary")[0])
    for name in [name for name in vars(search) if name.endswith("_")]:
        if name not in ("cv_results_", "n_splits_", "criteria_"):
            delattr(search, name)
    page = Page(render(gather(search)))
    assert "not finished" in " ".join(page.words["predictions"].split())


class TestWrite:
    def test_writes_a_file_and_returns_its_path(self, tmp_path):
        search, X, y = search_of("multi_class")
        path = report.write(search, str(tmp_path / "ä.html"), title="Ameisen & Bienen", X=X, y=y)
        assert path == tmp_path / "ä.html"
        assert "Ameisen &amp; Bienen" in path.read_text(encoding="utf-8")

    def test_shows_in_notebooks(self):
        search, _, _ = search_of("binary")
        shown = report.show(search, title="A \"title\" & 'more'")
        frames = [a for tag, a in _attributes(shown._repr_html_()) if tag == "iframe"]
        assert frames[0]["srcdoc"] == shown.page
        assert "characters" in repr(shown)

    def test_bad_input(self, tmp_path):
        X, y = data(2)
        with pytest.raises(NotFittedError, match="no results"):
            report.write(KernelSearchCV(SVC(), {"C": [1.0]}), tmp_path / "a.html")
        with pytest.raises(ValueError, match="GridSearchCV"):
            report.write(GridSearchCV(SVC(), {"C": [1.0]}).fit(X, y), tmp_path / "a.html")
        search, X, y = search_of("binary")
        with pytest.raises(ValueError, match="y has 3 rows, the search was fitted on 72"):
            report.write(search, tmp_path / "a.html", X=X, y=y[:3])
        with pytest.raises(ValueError, match="X has 5 rows"):
            report.write(search, tmp_path / "a.html", X=X[:5], y=y)
        assert list(tmp_path.iterdir()) == []

    def test_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "jinja2", None)
        environment.cache_clear()
        with pytest.raises(ImportError, match=r"onefit\[report\]"):
            report.write(search_of("binary")[0], tmp_path / "a.html")


def _attributes(text):
    class Collector(HTMLParser):
        found: list = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.found.append((tag, dict(attrs)))

    collector = Collector()
    collector.feed(text)
    return collector.found
