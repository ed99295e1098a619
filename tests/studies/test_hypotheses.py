"""Variants of tables beside their tables, counted by hand."""

from dataclasses import replace

import pytest

from onefit import criteria
from onefit.studies.hypotheses import hypotheses
from onefit.studies.outcome import Printed
from onefit.studies.spec import Method

from ..report.study.synthetic import make_outcome, make_study

PRINTED = {("heart", "", "CV"): 10.0, ("heart", "", "SM"): 20.0, ("sonar", "", "CV"): 30.0}
NEAR = [-1.0, 0.0, 1.0, 0.0]
"""Around the printed number: less than a standard error of it."""


def outcome_of(key, shifts):
    """Four splits of each printed cell, this far from print; variants are of another scaling."""
    study = make_study(key, ["CV", "SM"], ("heart", "sonar"))
    study = replace(study, protocol=replace(study.protocol, scaling="none" if "+" in key else "minmax"))
    scores = {
        cell: {split: PRINTED[cell] + shift + NEAR[split] for split in range(4)} for cell, shift in shifts.items()
    }
    made = make_outcome(study)
    return replace(made, scores=scores, printed={cell: Printed(mean) for cell, mean in PRINTED.items()})


def test_cells_far_from_print_are_counted_in_both():
    table = outcome_of("sm:2", dict.fromkeys(PRINTED, 5.0))
    variant = outcome_of("sm:2+bias", dict(zip(PRINTED, (5.0, 0.1, 0.0))))
    (found,) = hypotheses([table, variant])
    assert (found.key, found.pairs, found.cells) == ("sm:2+bias", 8, 3)
    assert (found.far_in_table, found.far_in_variant) == (3, 1)


def test_only_splits_that_both_have_count():
    table = outcome_of("sm:2", dict.fromkeys(PRINTED, 0.0))
    scores = {cell: dict(splits) for cell, splits in table.scores.items()}
    for cell in scores:
        scores[cell] |= {split: 1000.0 + split for split in range(4, 50)}  # the variant has none of these
    variant = outcome_of("sm:2+bias", dict(list(dict.fromkeys(PRINTED, 5.0).items())[:2]))
    (found,) = hypotheses([replace(table, scores=scores), variant])
    assert (found.pairs, found.cells, found.far_in_table, found.far_in_variant) == (4, 2, 0, 2)


@pytest.mark.parametrize("others", [[], ["sm:3"], ["bif:1", "bif:2"]])
def test_what_has_no_table_or_no_print_is_left_out(others):
    variant = outcome_of("sm:2+bias", dict.fromkeys(PRINTED, 0.0))
    found = [replace(variant, study=replace(variant.study, key=key)) for key in others]
    assert not list(hypotheses([variant, *found]))
    table = replace(variant, study=replace(variant.study, key="sm:2"), printed={})
    assert not list(hypotheses([table, replace(variant, printed={})]))


def test_methods_that_both_measure_alike_are_left_out():
    table = outcome_of("sm:2", dict.fromkeys(PRINTED, 5.0))
    sm = Method("SM", criteria.SM())
    protocol = replace(table.study.protocol, methods=(table.study.protocol.methods[0], sm))
    variant = replace(table, study=replace(table.study, key="sm:2+weights", protocol=protocol))
    (found,) = hypotheses([table, variant])
    assert (found.pairs, found.cells) == (4, 1)  # not CV
