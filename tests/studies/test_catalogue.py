"""Every table and figure is there, with the numbers that the papers print."""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from onefit import datasets
from onefit.criteria import CV
from onefit.studies.catalogue import STUDIES, VARIANTS, printed_numbers, study_of
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


def test_studies_that_measure_the_same_share_their_cells():
    assert STUDIES["sps:1"].protocol.fingerprint == STUDIES["sps:fig1"].protocol.fingerprint
    kinds = {study.protocol.name: study.protocol.fingerprint for study in {**STUDIES, **VARIANTS}.values()}
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
    assert replace(protocol, **change).fingerprint != protocol.fingerprint


def test_what_changes_no_number_keeps_the_fingerprint():
    protocol = STUDIES["bif:1"].protocol
    other = replace(protocol, splits=3, datasets=("heart",), questions=(OpenQuestion("a", "b", "c"),))
    assert other.fingerprint == protocol.fingerprint


def test_fingerprints_are_the_same_in_another_process():
    code = "from onefit.studies.catalogue import STUDIES; print(*(s.protocol.fingerprint for s in STUDIES.values()))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == [study.protocol.fingerprint for study in STUDIES.values()]


def test_an_unknown_key_names_those_that_are_near():
    with pytest.raises(ValueError, match=r"no study 'bif:13'.*bif:1"):
        study_of("bif:13")
