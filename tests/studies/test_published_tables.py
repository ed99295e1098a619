"""The published tables of the papers: every number and mark follows from the journals, by formulas of its own here."""

import csv
import json
import math
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from onefit.studies.catalogue import STUDIES, VARIANTS, study_of
from onefit.studies.fingerprint import conditions, digest, fingerprint, method_text

RESULTS = Path(__file__).parents[2] / "docs" / "results"
DIGITS = 5.1e-6  # the files have six significant digits
PUBLISHED = [
    study
    for study in (*STUDIES.values(), *VARIANTS.values())
    if (RESULTS / f"{study.key.replace(':', '-')}-manifest.json").exists()
]
each_study = pytest.mark.parametrize("study", PUBLISHED, ids=lambda study: study.key)


def rows_of(study, suffix=""):
    timed = "-seconds" if study.protocol.kind == "seconds" else ""
    with (RESULTS / f"{study.key.replace(':', '-')}{timed}{suffix}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def cells_of(key):
    """(digest of the method, data set, split, records, seconds) of a study's conditions, by SQL alone."""
    study = study_of(key)
    with closing(sqlite3.connect(RESULTS / "journal" / f"{study.protocol.name}.sqlite")) as connection:
        return connection.execute(
            "SELECT method, dataset, split, records, seconds FROM cells WHERE conditions = ?",
            (digest(conditions(study.protocol)),),
        ).fetchall()


def journal(study):
    return _journal(study.key)


@cache
def _journal(key):
    """{(data set, setting, method): {split: value}} and {(data set, split): seconds}."""
    study, names = study_of(key), {}
    for method in study.protocol.methods:
        names.setdefault(digest(method_text(study.protocol, method)), []).append(method)
    values, seconds = {}, {}
    for text, dataset, split, records, spent in cells_of(key):
        for method in names.get(text, ()):
            seconds.setdefault((dataset, split), []).append(spent)
            for setting, value in json.loads(records or "[]"):
                values.setdefault((dataset, setting, method.name), {})[split] = value
    return values, {task: math.fsum(parts) for task, parts in seconds.items()}


def whole_splits(study, dataset):
    """The splits that no method lacks, one that has failed included, and of which some method has a number."""
    tried = {digest(method_text(study.protocol, method)): set() for method in study.protocol.methods}
    scored = set()
    for text, name, split, records, _ in cells_of(study.key):
        if name == dataset and text in tried:
            tried[text].add(split)
            if records:
                scored.add(split)
    return scored.intersection(*tried.values())


def near(text, value):
    return (text == "") == (value is None) and (value is None or math.isclose(float(text), value, rel_tol=DIGITS))


@each_study
def test_a_table_is_of_the_protocol_as_it_is(study):
    manifest = json.loads((RESULTS / f"{study.key.replace(':', '-')}-manifest.json").read_text(encoding="utf-8"))
    assert manifest["fingerprint"] == fingerprint(study.protocol)
    assert manifest["splits"] == {name: len(whole_splits(study, name)) for name in manifest["splits"]}


@each_study
def test_means_deviations_and_distances_from_print(study):
    values, _ = journal(study)
    rows = rows_of(study)
    assert {(r["dataset"], r["setting"], r["method"]) for r in rows if r["mean"]} == set(values)
    for row in rows:
        found = values.get((row["dataset"], row["setting"], row["method"]), {})
        numbers = np.array(list(found.values()))
        assert int(row["splits"]) == len(numbers)
        assert near(row["mean"], numbers.sum() / len(numbers) if len(numbers) else None)
        assert near(row["std"], np.sqrt(((numbers - numbers.mean()) ** 2).sum() / (len(numbers) - 1))
                    if len(numbers) > 1 else None) or np.ptp(numbers) < 1e-12 * np.abs(numbers).max()  # fmt: skip
        if row["difference_in_standard_errors"] and len(numbers) > 1:
            error = math.sqrt(
                numbers.var(ddof=1) / len(numbers) + float(row["printed_std"] or 0) ** 2 / study.splits_in_print
            )
            distance = numbers.mean() - float(row["printed_mean"])
            if error > 1e-12 and abs(distance) > 1e-9:
                assert math.isclose(float(row["difference_in_standard_errors"]), distance / error, rel_tol=1e-5)


@each_study
def test_marks_are_those_of_the_paired_test(study):
    """Against the best of the row, one-sided at 5 %, over the splits that both have."""
    if study.protocol.kind != "selection":
        assert not any(row["mark"] for row in rows_of(study))
        return
    values, _ = journal(study)
    sign = -1 if study.protocol.metric == "accuracy" else 1
    lines = {}
    for row in rows_of(study):
        lines.setdefault((row["dataset"], row["setting"]), {})[row["method"]] = row["mark"]
    for (dataset, setting), marks in lines.items():
        losses = {m: {s: sign * v for s, v in values.get((dataset, setting, m), {}).items()} for m in marks}
        losses = {m: one for m, one in losses.items() if one}
        means = {m: np.mean(list(one.values())) for m, one in losses.items()}
        if len(means) < 2:
            continue
        best = min(means.values())
        (champion, *_) = [m for m, mean in means.items() if abs(mean - best) <= 1e-12 * abs(best)]
        for method, mean in means.items():
            assert (marks[method] == "best") == (abs(mean - best) <= 1e-12 * abs(best))
            if marks[method] != "best":
                common = sorted(losses[method].keys() & losses[champion].keys())
                more = np.array([losses[method][s] - losses[champion][s] for s in common])
                assert marks[method] == _verdict(more)


def _verdict(more):
    if len(more) < 2:
        return ""
    if np.ptp(more) <= 1e-12 * np.abs(more).max():
        return "worse" if more.mean() > 0 else "not-worse"
    return "worse" if stats.ttest_1samp(more, 0.0, alternative="greater").pvalue < 0.05 else "not-worse"


@each_study
def test_seconds_are_the_sums_of_the_journal(study):
    _, seconds = journal(study)
    for row in rows_of(study, "-spent" if study.protocol.kind == "seconds" else "-seconds"):
        spent = [value for (dataset, _), value in seconds.items() if dataset == row["dataset"]]
        assert int(row["splits"]) == len(spent)
        assert near(row["total_seconds"], math.fsum(spent))


@pytest.mark.parametrize("study", [s for s in PUBLISHED if s.protocol.kind == "seconds"], ids=lambda study: study.key)
def test_ratios_are_those_of_mean_seconds(study):
    values, _ = journal(study)
    for row in rows_of(study, "-ratios"):
        slow, fast = (values.get((row["dataset"], row["setting"], row[which]), {}) for which in ("slow", "fast"))
        common = slow.keys() & fast.keys()
        assert int(row["splits"]) == len(common)
        assert near(row["ratio"], sum(slow[s] for s in common) / sum(fast[s] for s in common) if common else None)
