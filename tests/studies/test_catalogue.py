"""Every table and figure is there, with the numbers that the papers print."""

import csv
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from onefit import datasets
from onefit.criteria import CV, Criterion
from onefit.studies.catalogue import STUDIES, VARIANTS, study_of
from onefit.studies.fingerprint import conditions, criterion_text, fingerprint, method_text
from onefit.studies.machines import REVISIONS, estimator_of
from onefit.studies.outcome import printed_numbers
from onefit.studies.spec import Method, OpenQuestion

KEYS = [*(f"bif:{k}" for k in range(1, 13)), "ks:2", "ks:3", "sps:1", "sm:2", "sm:3"]
FIGURES = ["bif:fig1", "bif:fig2", "ks:fig2", "sps:fig1", "sm:fig1"]
TABLES = Path(__file__).parents[3] / "shared" / "papers" / "tables"


def test_every_table_and_figure_has_a_study():
    assert set(STUDIES) == {*KEYS, *FIGURES}
    assert all(study.is_figure == (key in FIGURES) for key, study in STUDIES.items())


@pytest.mark.parametrize("key", KEYS)
def test_printed_numbers_are_those_of_the_papers(key):
    paper, number = key.split(":")
    found = sorted(TABLES.glob(f"{paper}_table{number}_*.csv"))
    if not found:
        pytest.skip("the papers' tables are not here")
    with found[0].open() as file:
        rows = list(csv.DictReader(file))
    printed = printed_numbers(STUDIES[key])
    assert len(printed) == len(rows)
    for row in rows:
        number = printed[row["dataset"], row.get("n_lambda", row.get("lambda", "")), row["method"]]
        assert number.mean == float(row.get("mean") or row["seconds"])
        assert number.std == (float(row["std"]) if row.get("std") else None)


@pytest.mark.parametrize("study", [*STUDIES.values(), *VARIANTS.values()], ids=lambda study: study.key)
def test_a_study_measures_what_is_printed(study):
    protocol = study.protocol
    names = {method.name for method in protocol.methods}
    settings = set(protocol.settings) | {method.setting for method in protocol.methods}
    for dataset, setting, method in printed_numbers(study):
        assert dataset in protocol.datasets
        assert method in names
        assert setting in settings
    for claim in study.claims:
        assert {claim.first, claim.second} <= names
        assert claim.setting is None or claim.setting in settings
    for dataset in protocol.datasets:
        rows = datasets.info(protocol.source(dataset)).rows
        assert (protocol.row_limit(dataset) or 0) <= rows


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.key)
def test_a_table_of_errors_says_what_was_tried_to_agree_with_print(study):
    """Every table with printed errors, and every variant by its key."""
    if study.printed and study.protocol.kind != "seconds":
        assert study.tried
    named = " ".join(study.tried)
    assert all(key in named for key in VARIANTS if key.startswith(f"{study.key}+"))


def test_studies_that_measure_the_same_share_their_cells():
    assert fingerprint(STUDIES["sps:1"].protocol) == fingerprint(STUDIES["sps:fig1"].protocol)
    kinds = {study.protocol.name: fingerprint(study.protocol) for study in {**STUDIES, **VARIANTS}.values()}
    assert len(set(kinds.values())) == len(kinds)


@pytest.mark.parametrize(
    "change",
    [
        {"machine": "svm"}, {"penalties": (1.0,)}, {"train_share": 0.6}, {"metric": "accuracy"}, {"kind": "curve"},
        {"select_penalty": False}, {"power_of_rows": 1}, {"loss": "sum"}, {"scaling": "standard"}, {"floors": ()},
        {"validation": "error"}, {"sources": (("heart", "sonar"),)}, {"rows": (("heart", 100),)}, {"grids": ()},
        {"methods": (Method("5-CV", CV(), 10),)},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_what_changes_numbers_changes_the_fingerprint(change):
    protocol = STUDIES["bif:1"].protocol
    assert fingerprint(replace(protocol, **change)) != fingerprint(protocol)


def test_what_changes_no_number_keeps_the_fingerprint():
    protocol = STUDIES["bif:1"].protocol
    other = replace(protocol, splits=3, datasets=("heart",), questions=(OpenQuestion("a", "b", "c"),))
    assert fingerprint(other) == fingerprint(protocol)


def test_a_raised_revision_changes_the_fingerprint(monkeypatch):
    protocol = STUDIES["sm:2"].protocol
    texts = [method_text(protocol, method) for method in protocol.methods]
    before = fingerprint(protocol)
    monkeypatch.setattr(CV, "revision", 2)
    changed = [method_text(protocol, method) for method in protocol.methods]
    assert [old == new for old, new in zip(texts, changed)] == [m.name != "CV" for m in protocol.methods]
    assert fingerprint(protocol) != before
    monkeypatch.undo()
    monkeypatch.setitem(REVISIONS, "lssvm", 2)
    assert conditions(protocol) != conditions(replace(protocol, machine="krr"))
    assert fingerprint(protocol) != before


def test_a_renamed_class_and_a_new_field_keep_the_fingerprint():
    @dataclass(frozen=True)
    class Renamed(Criterion):
        """Cross-validation under another name, with one more field."""

        later: float = 1.0
        scale_penalty: bool = False
        name = "cv"
        reads = ("heldout",)

        def path(self, evidence):
            return np.zeros(evidence.size)

    assert criterion_text(Renamed()) == criterion_text(CV())
    assert criterion_text(Renamed(later=2.0)) != criterion_text(CV())


@pytest.mark.parametrize("study", [*STUDIES.values(), *VARIANTS.values()], ids=lambda study: study.key)
def test_methods_of_a_study_have_texts_of_their_own(study):
    texts = [method_text(study.protocol, method) for method in study.protocol.methods]
    assert len(set(texts)) == len(texts)
    assert "0x" not in "".join(texts)  # no address in memory


@pytest.mark.slow
def test_fingerprints_are_the_same_in_another_process():
    code = (
        "from onefit.studies.catalogue import STUDIES; from onefit.studies.fingerprint import fingerprint; "
        "print(*(fingerprint(s.protocol) for s in STUDIES.values()))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == [fingerprint(study.protocol) for study in STUDIES.values()]


@pytest.mark.parametrize("exponent", [-4, 1])
def test_variants_of_the_tube_are_multiples_of_the_standard_deviation(exponent):
    y = np.array([1.0, 2.0, 4.0, 9.0])
    machine = study_of(f"bif:11+epsilon{exponent:+d}").protocol.machine
    assert estimator_of(machine, y).epsilon == pytest.approx(2.0**exponent * np.std(y))


@pytest.mark.parametrize("key", ["bif:7", "bif:11"])
def test_plug_in_variants_differ_in_the_start_of_the_series_only(key):
    changed, protocol = study_of(f"{key}+plug-in").protocol, study_of(key).protocol
    assert conditions(changed) == conditions(protocol)
    for new, old in zip(changed.methods, protocol.methods, strict=True):
        suffix = ", start=plug-in" if "BIF" in new.name else ""
        assert criterion_text(new.criterion) == criterion_text(old.criterion) + suffix


def test_an_unknown_key_names_those_that_are_near():
    with pytest.raises(ValueError, match=r"no study 'bif:13'.*bif:1"):
        study_of("bif:13")
