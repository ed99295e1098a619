"""The files of a study: what is in them, that they are well-formed, and that bytes depend on the numbers alone."""

import csv
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import onefit
from onefit.report.study import write_study, write_summary
from onefit.studies.comparisons import summarise
from onefit.studies.outcome import Printed
from tests.report.study.synthetic import claim, make_outcome, make_study

VOID = {"meta", "img", "br", "link", "hr", "input"}


def selection(**more):
    claims = (claim("5-BIF", "does not differ from", "5-CV"), claim("20-BIF", "is better than", "5-CV"))
    return make_outcome(make_study(claims=claims, notes=("Mind the gap & <mend> it.",)), better={"20-BIF": 0.6}, **more)


def small_numbers():
    claims = (claim("RKS", "is better than", "ELOO"),)
    study = make_study("ks:3", ["RKS", "5-CV", "ELOO"], metric="mse", unit="MSE", claims=claims)
    return make_outcome(study, ("0.1", "1"), scale=1.81e-5, spread=4e-6)


def timing():
    methods = ["5-CV", "5-BIF", "5-exact", "10-CV", "10-BIF", "10-exact"]
    claims = (claim("5-BIF", "is faster than", "5-CV"),)
    study = make_study("bif:2", methods, unit="seconds", kind="seconds", claims=claims, splits=3)
    return make_outcome(study, scale=5.0, spread=0.2, better={"5-BIF": 3.0})


def with_gaps():
    """Missing cells, scores that are not finite, one split, failures, hostile names."""
    outcome = selection(splits=4)
    scores = dict(outcome.scores)
    del scores["heart", "", "5-BIF"]
    scores["sonar", "", "10-CV"] = {0: np.nan, 1: np.inf, 2: 14.0}
    scores["australian", "", "20-CV"] = {0: 13.0}
    failures = {("heart", 4): "ValueError: <b>|x_y| & 100 %\n  second line", ("heart", 10): "MemoryError"}
    return replace(outcome, scores=scores, failures=failures)


def nothing():
    outcome = selection()
    return replace(outcome, scores={}, seconds={})


def without_print():
    study = make_study("ks:fig2", ["RKS", "5-CVKS"], unit="%")
    return make_outcome(study, [f"{2.0**k:g}" for k in range(-4, 5, 2)], printed=False)


def discrepancy():
    study = make_study("bif:fig2", ["t = 5", "t = 10"], unit="squared difference", kind="discrepancy", metric="mse")
    return make_outcome(study, ("1", "2", "3"), scale=1e-3, spread=1e-4, printed=False)


def curve():
    return make_outcome(make_study("bif:fig1", kind="curve", splits=1), ("0.25", "1", "64"), printed=False)


def bars():
    study = make_study("sps:fig1", ["SPS", "KTA"], metric="accuracy")
    return make_outcome(study, ("0.01", "1"), scale=80.0)


def huge():
    return make_outcome(make_study("bif:9", metric="mse", unit="MSE"), scale=2.5e3, spread=30.0)


def single_split():
    return selection(splits=1)


KINDS = [
    selection, small_numbers, timing, with_gaps, nothing, without_print, discrepancy, curve, bars, huge, single_split,
]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def written(request, tmp_path_factory):
    outcome, folder = request.param(), tmp_path_factory.mktemp("written")
    return outcome, {path.name: path for path in write_study(outcome, folder, manifest={"version": "1"})}


class Checker(HTMLParser):
    """Notes every tag that is not closed in order, every address that is loaded, and repeated names."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.loaded, self.names = [], [], [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names += [values["id"]] if "id" in values else []
        self.loaded += [values[name] for name in ("src", "srcset", "data") if name in values]
        self.loaded += [values["href"]] if tag == "link" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))


def check_html(text):
    checker = Checker()
    checker.feed(text)
    assert checker.faults == []
    assert checker.open == []
    assert len(checker.names) == len(set(checker.names))
    assert all(address.startswith("data:image/svg+xml;base64,") for address in checker.loaded)
    assert "@import" not in text
    assert not re.search(r"url\(", text)
    assert "http" not in text
    assert '<meta name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.quick(4)
def test_pages_are_well_formed_and_load_nothing(written):
    _, files = written
    (page,) = (path for name, path in files.items() if name.endswith(".html"))
    check_html(page.read_text())


def test_names_of_files(written):
    outcome, files = written
    base = outcome.study.key.replace(":", "-")
    stem = f"{base}-seconds" if outcome.study.unit == "seconds" else base
    assert {f"{stem}.csv", f"{stem}.md", f"{stem}.html", f"{stem}.tex", f"{base}-manifest.json"} <= set(files)
    assert f"{base}-seconds.csv" in files
    assert json.loads(files[f"{base}-manifest.json"].read_text()) == {"version": "1"}


def test_csv_has_our_numbers_and_the_printed_ones(written):
    outcome, files = written
    (name,) = (n for n in files if re.fullmatch(r"[a-z]+-(fig)?\d+(-seconds)?\.csv", n) and n != spent_name(outcome))
    text = files[name].read_bytes().decode()
    assert "\r" not in text
    rows = list(csv.DictReader(text.splitlines()))
    cells = summarise(outcome)
    assert [(r["dataset"], r["setting"], r["method"], r["mark"]) for r in rows] == [
        (c.dataset, c.setting, c.method, c.mark) for c in cells
    ]
    for row, cell in zip(rows, cells):
        place = (cell.dataset, cell.setting, cell.method)
        scores = [value for value in outcome.scores.get(place, {}).values() if np.isfinite(value)]
        assert row["study"] == outcome.study.key
        assert int(row["splits"]) == len(scores)
        assert row["mean"] == (f"{np.mean(scores):.6g}" if scores else "")
        assert row["std"] == (f"{np.std(scores, ddof=1):.6g}" if len(scores) > 1 else "")
        printed = outcome.printed.get(place)
        assert row["printed_mean"] == (f"{printed.mean:.6g}" if printed else "")
        assert row["printed_std"] == (f"{printed.std:.6g}" if printed else "")


def spent_name(outcome):
    key = outcome.study.key.replace(":", "-")
    return "" if outcome.study.unit == "seconds" else f"{key}-seconds.csv"


def test_figures_are_well_formed_without_a_date(written):
    outcome, files = written
    drawings = [path for name, path in files.items() if name.endswith(".svg")]
    assert bool(drawings) == (bool(outcome.scores) and outcome.study.unit != "seconds")
    for path in drawings:
        text = path.read_text()
        ET.fromstring(text)
        assert "<dc:date>" not in text
        assert "2026" not in text
        assert "prefers-color-scheme: dark" in text


@pytest.mark.slow
def test_bytes_depend_on_the_numbers_alone(written, tmp_path):
    """Not on the order of arrival, nor, except in files that say so, on times."""
    outcome, files = written
    turned = replace(
        outcome,
        scores={cell: dict(reversed(values.items())) for cell, values in reversed(outcome.scores.items())},
        printed=dict(reversed(outcome.printed.items())),
        failures=dict(reversed(outcome.failures.items())),
        seconds={cell: 7 * value for cell, value in reversed(outcome.seconds.items())},
    )
    for path in write_study(turned, tmp_path, manifest={"version": "1"}):
        same = path.read_bytes() == files[path.name].read_bytes()
        assert same or "seconds" in path.name, path.name


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tmp_path):
    """Sets of names have another order there."""
    here = {p.name: p.read_bytes() for p in write_study(selection(), tmp_path / "here", manifest={})}
    code = (
        "from tests.report.study.test_study_files import selection; from onefit.report.study import write_study; "
        f"write_study(selection(), {str(tmp_path / 'there')!r}, manifest={{}})"
    )
    root = Path(__file__).parents[3]
    places = os.pathsep.join([str(Path(onefit.__file__).parents[1]), str(root)])
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONHASHSEED": "12345"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=root, timeout=300)
    assert {p.name: p.read_bytes() for p in (tmp_path / "there").iterdir()} == here


def test_pages_show_what_was_computed(tmp_path):
    outcome = selection(splits=7)
    write_study(outcome, tmp_path, manifest={})
    page, text, tex = (tmp_path / f"bif-1.{end}" for end in ("html", "md", "tex"))
    page, text, tex = page.read_text(), text.read_text(), tex.read_text()
    marks = [cell.mark for cell in summarise(outcome)]
    assert page.count('<td class="best') == marks.count("best") == tex.count(r"\textbf")
    assert page.count('<td class="not-worse') == marks.count("not-worse") == tex.count(r"\underline")
    assert text.count("<u>") - 1 == marks.count("not-worse")  # one is in the legend
    for words in (
        "7 of 10 splits on 3 data sets",
        "onefit reproduce bif:1 --resume --out . --splits 10",
        "Mind the gap",
    ):
        assert words in page
        assert words in text
    assert "Mind the gap &amp; &lt;mend&gt; it." in page
    assert "To [0, 1]." in page
    assert r"say\_so \| ever." in text
    assert "does not differ from" in page


def test_numbers_of_any_size_are_readable(tmp_path):
    write_study(small_numbers(), tmp_path, manifest={})
    write_study(huge(), tmp_path, manifest={})
    assert re.search(r"1\.[5-9]\de-05 ± \d\.\de-06", (tmp_path / "ks-3.html").read_text())
    assert re.search(r"\$\(1\.\d\d \\pm 0\.\d\d\) \\cdot 10\^\{-5\}\$", (tmp_path / "ks-3.tex").read_text())
    assert re.search(r"25\d\d\.\d ± \d\d\.\d<", (tmp_path / "bif-9.html").read_text())


def test_gaps_are_shown_as_such(tmp_path):
    outcome = with_gaps()
    write_study(outcome, tmp_path, manifest={})
    page, text = (tmp_path / "bif-1.html").read_text(), (tmp_path / "bif-1.md").read_text()
    assert "2 scores were not finite" in page
    assert "ValueError: &lt;b&gt;|x_y| &amp; 100 %" in page
    assert text.index("heart, split 4") < text.index("heart, split 10")
    assert "1–4" in page  # splits of a row
    lines = [line for line in text.splitlines() if line.startswith("| heart")]
    assert len(lines) == 1
    assert len(re.findall(r"(?<!\\)\|", lines[0])) == 9
    assert "nan" not in (page + text).lower().replace("nan</", "")


def test_ratios_with_their_geometric_mean(tmp_path):
    outcome = timing()
    write_study(outcome, tmp_path, manifest={})
    rows = list(csv.DictReader((tmp_path / "bif-2-seconds-ratios.csv").read_text().splitlines()))
    means = {cell: np.mean(list(values.values())) for cell, values in outcome.scores.items()}
    assert len(rows) == 12
    for row in rows:
        slow, fast = (row["dataset"], "", row["slow"]), (row["dataset"], "", row["fast"])
        assert float(row["ratio"]) == pytest.approx(means[slow] / means[fast], rel=1e-5)
        assert float(row["printed_ratio"]) == pytest.approx(
            outcome.printed[slow].mean / outcome.printed[fast].mean, rel=1e-5
        )
    chosen = [float(row["ratio"]) for row in rows if row["fast"] == "5-BIF"]
    expected = np.prod(chosen) ** (1 / 3)
    text = (tmp_path / "bif-2-seconds.md").read_text()
    line = next(line for line in text.splitlines() if line.startswith("| geometric mean"))
    assert line.split("|")[3].startswith(f" {expected:.2f}<br>")


def test_parts_that_the_paper_does_not_have(tmp_path):
    words = ("5-BIF", "does not differ from", "5-CV")
    claims = (claim(*words, setting=""), claim(*words, setting="penalty >= 1"))
    write_study(make_outcome(make_study(claims=claims), ("", "penalty >= 1")), tmp_path, manifest={})
    page, text = (tmp_path / "bif-1.html").read_text(), (tmp_path / "bif-1.md").read_text()
    for heading in ("as in the paper", "penalty ≥ 1"):
        assert heading in page
        assert heading in text
    assert "5-BIF does not differ from 5-CV:" in page
    assert "5-BIF does not differ from 5-CV at penalty ≥ 1:" in page
    assert r"penalty $\ge$ 1" in (tmp_path / "bif-1.tex").read_text()


def test_the_rest_names_the_data_sets_that_need_more(tmp_path):
    outcome = selection()
    short = {c: dict(list(v.items())[:3]) if c[0] == "sonar" else v for c, v in outcome.scores.items()}
    write_study(replace(outcome, scores=short), tmp_path, manifest={})
    text = (tmp_path / "bif-1.md").read_text()
    assert "onefit reproduce bif:1 --resume --out . --splits 10 --datasets sonar\n" in text
    assert "10 of 10 splits on 2 data sets; 3 on sonar." in text
    write_study(outcome, tmp_path, manifest={})
    assert "onefit reproduce" not in (tmp_path / "bif-1.md").read_text()


def test_a_split_that_lacks_a_method_is_not_finished(tmp_path):
    outcome = selection()
    known = {cell: dict(splits) for cell, splits in outcome.scores.items()}
    for (_, _, method), splits in known.items():
        if method == "5-BIF":
            for split in range(3, 10):
                del splits[split]
    write_study(replace(outcome, scores=known), tmp_path, manifest={})
    page = (tmp_path / "bif-1.md").read_text()
    assert "3 of 10 splits on 3 data sets" in page
    assert "onefit reproduce bif:1 --resume" in page
    failures = {(name, split): "no such thing" for name in outcome.datasets for split in range(3, 10)}
    write_study(replace(outcome, scores=known, failures=failures), tmp_path, manifest={})
    assert "all 10 splits on 3 data sets" in (tmp_path / "bif-1.md").read_text()  # it failed, and will not be there


def test_the_rest_runs_failed_splits_again(tmp_path):
    """Without the request --resume takes a failed split for done, and the command would never finish the table."""
    outcome = selection()
    short = {c: dict(list(v.items())[:9]) if c[0] == "sonar" else v for c, v in outcome.scores.items()}
    write_study(replace(outcome, scores=short, failures={("sonar", 9): "no"}), tmp_path, manifest={})
    assert "--splits 10 --retry-failed --datasets sonar\n" in (tmp_path / "bif-1.md").read_text()


def test_summary_counts_claims_cells_and_time(tmp_path):
    first, second = selection(), timing()
    far = {cell: Printed(p.mean + 50, p.std) if cell[0] == "heart" else p for cell, p in first.printed.items()}
    first = replace(first, printed=far)
    paths = write_summary([first, second, bars()], tmp_path)
    assert [path.name for path in paths] == ["index.html", "index.md"]
    page, text = (tmp_path / "index.html").read_text(), (tmp_path / "index.md").read_text()
    check_html(page)
    distant = [cell for cell in summarise(first) if cell.is_far]
    assert len(distant) >= 6
    assert f'<a href="bif-1.html#far">{len(distant)} of 18</a>' in page
    assert f"{len(distant)} of 18 cells" in " ".join(text.split())  # the figure's cells are not counted again
    assert "5-BIF is faster than 5-CV" in page
    spent = sum(first.seconds.values()) + sum(second.seconds.values()) + sum(bars().seconds.values())
    assert f"Machine time: {int(spent) // 60} min {round(spent) % 60} s" in page
    assert '<a href="bif-2-seconds.html">bif:2</a>' in page


def test_summary_counts_the_papers_claims_and_ours_apart(tmp_path):
    first, second = selection(), timing()
    ours = replace(first.study.claims[0], printed=False)
    first = replace(first, study=replace(first.study, claims=(*first.study.claims, ours)))
    variant = replace(first, study=replace(first.study, key="bif:1+other"))
    write_summary([first, second, variant], tmp_path)
    assert "of 18 cells of the tables" in " ".join((tmp_path / "index.md").read_text().split())
    lines = [line for line in (tmp_path / "index.md").read_text().splitlines() if line.startswith("- Of ")]
    counts = [sum(map(int, re.findall(r"\d+", line))) for line in lines]
    assert counts == [len(first.study.claims) - 1, len(second.study.claims), 1]


@pytest.mark.parametrize("name", ["index.html", "index.md"])
def test_summary_shows_variants_beside_their_tables(tmp_path, name):
    table = selection()
    protocol = replace(table.study.protocol, scaling="none")
    variant = replace(table, study=replace(table.study, key="bif:1+other", protocol=protocol))
    write_summary([table], tmp_path)
    assert "beside their tables" not in (tmp_path / name).read_text()
    write_summary([table, variant], tmp_path)
    page = (tmp_path / name).read_text()
    assert "Variants beside their tables" in page
    assert "bif-1+other" in page
    if name.endswith("html"):
        check_html(page)


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_page_says_what_was_tried_to_agree_with_print(tmp_path, suffix):
    outcome = selection()
    outcome = replace(outcome, study=replace(outcome.study, tried=("A ridge & a <bias>: bif:1+bias.",)))
    write_study(outcome, tmp_path, manifest={})
    page = (tmp_path / f"bif-1.{suffix}").read_text()
    assert "What was tried to agree with print" in page
    assert "A ridge &amp; a &lt;bias&gt;: bif:1+bias." in page
    write_study(selection(), tmp_path, manifest={})
    assert "tried" not in (tmp_path / f"bif-1.{suffix}").read_text()


def test_methods_that_a_variant_shares_with_its_table_are_paid_once(tmp_path):
    table = make_outcome(make_study("sm:2", ["SM", "CV"]), splits=2)
    paid = {("heart", split, method): cost for split in (0, 1) for method, cost in (("SM", 60.0), ("CV", 600.0))}
    more = {**paid, ("heart", 0, "SM h=1"): 6000.0, ("heart", 1, "SM h=1"): 6000.0}
    variant = replace(table, study=replace(table.study, key="sm:2+hinge"), seconds=more)
    write_summary([replace(table, seconds=paid), variant], tmp_path)
    assert "Machine time: 3 h 42 min of CPU" in (tmp_path / "index.md").read_text()


def test_splits_that_studies_share_are_paid_once(tmp_path):
    table = make_outcome(make_study("sps:1", ["SPS", "KTA"]))
    figure = replace(table, study=replace(table.study, key="sps:fig1"))
    write_summary([table, figure], tmp_path)
    spent = round(sum(table.seconds.values()))
    assert f"Machine time: {spent // 60} min {spent % 60} s" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("unit", "metric", "shift", "words"),
    [
        ("%", "error", 1.0, "advantage +1.00 points everywhere"),
        ("%", "accuracy", 1.0, "advantage −1.00 points everywhere"),
        ("MSE", "mse", 0.0, "advantage 0.00 % everywhere"),
    ],
)
def test_how_much_better_the_first_method_is(tmp_path, unit, metric, shift, words):
    """Positive means better: a lower error, a higher accuracy."""
    study = make_study(methods=["A", "B"], unit=unit, metric=metric, claims=(claim("A", "is better than", "B"),))
    outcome = make_outcome(study)
    scores = {(d, s, m): dict.fromkeys(range(5), 15.0 + shift * (m == "B")) for d, s, m in outcome.scores}
    write_study(replace(outcome, scores=scores), tmp_path, manifest={})
    assert words in (tmp_path / "bif-1.html").read_text()


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "bif-1.md").symlink_to("/dev/full")
    with pytest.raises(ValueError, match=r"bif-1\.md cannot be written \(No space left"):
        write_study(selection(), tmp_path, manifest={})
