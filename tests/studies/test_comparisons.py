"""Marks, tallies and verdicts against tests done by hand on made-up outcomes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from onefit.studies.comparisons import encounters, geometric_mean, judge, ratios, summarise, summarise_setting
from onefit.studies.outcome import Outcome, Printed
from onefit.studies.statistics import wilcoxon_holm
from tests.report.study.synthetic import claim, make_outcome, make_study


def outcome_of(rows, *, study=None, settings=("",), printed=None):
    """An outcome from {(data set, setting): {method: scores by split}}."""
    methods = tuple(dict.fromkeys(m for row in rows.values() for m in row))
    datasets = tuple(dict.fromkeys(d for d, _ in rows))
    study = study or make_study(methods=methods, datasets=datasets)
    scores = {(d, s, m): dict(enumerate(v)) for (d, s), row in rows.items() for m, v in row.items()}
    return Outcome(study, datasets, tuple(settings), methods, scores, printed or {}, {}, {})


def marks_of(outcome):
    return {(c.dataset, c.setting, c.method): c.mark for c in summarise(outcome)}


@pytest.mark.parametrize("metric", ["error", "accuracy"])
@pytest.mark.parametrize("seed", range(5))
def test_marks_are_those_of_the_papers_test(metric, seed):
    study = make_study(metric=metric, datasets=[f"set {k}" for k in range(8)])
    outcome = make_outcome(study, seed=seed, better={"5-CV": 0.2, "20-BIF": 0.1})
    marks = marks_of(outcome)
    sign = -1 if metric == "accuracy" else 1
    for dataset in outcome.datasets:
        losses = {m: sign * np.array(list(outcome.scores[dataset, "", m].values())) for m in outcome.methods}
        best = min(losses, key=lambda m: losses[m].mean())
        for method, values in losses.items():
            if method == best:
                expected = "best"
            else:
                p_value = stats.ttest_rel(values, losses[best], alternative="greater").pvalue
                expected = "worse" if p_value < 0.05 else "not-worse"
            assert marks[dataset, "", method] == expected
    assert {"best", "worse", "not-worse"} == set(marks.values())


def test_ties_for_the_best_are_all_best():
    outcome = outcome_of({("a", ""): {"A": [1.0, 2.0], "B": [2.0, 1.0], "C": [5.0, 6.0]}})
    assert marks_of(outcome) == {("a", "", "A"): "best", ("a", "", "B"): "best", ("a", "", "C"): "worse"}


def test_rounding_does_not_choose_among_the_best():
    """B is A in another order, whose sum rounds to less; C is A and a little, which only beside A is significant."""
    first = np.array([13, 16, 16, 10, 28, 11, 20, 11]) / 7
    second = first[[5, 4, 0, 1, 2, 6, 3, 7]]
    assert 0 < first.mean() - second.mean() < 1e-12
    third = first + np.array([0.10, 0.11, 0.09, 0.10, 0.12, 0.10, 0.08, 0.10])
    assert stats.ttest_rel(third, first, alternative="greater").pvalue < 0.001
    assert stats.ttest_rel(third, second, alternative="greater").pvalue > 0.3
    marks = marks_of(outcome_of({("a", ""): {"A": first.tolist(), "B": second.tolist(), "C": third.tolist()}}))
    assert list(marks.values()) == ["best", "best", "worse"]


def test_one_split_marks_only_the_best():
    marks = marks_of(outcome_of({("a", ""): {"A": [1.0], "B": [2.0]}}))
    assert list(marks.values()) == ["best", ""]


def test_one_method_and_other_kinds_have_no_marks():
    assert set(marks_of(outcome_of({("a", ""): {"A": [1.0, 2.0]}})).values()) == {""}
    for kind in ("seconds", "curve", "discrepancy"):
        assert set(marks_of(make_outcome(make_study(kind=kind))).values()) == {""}


def test_missing_cells_do_not_take_the_others_marks():
    rows = {
        ("a", ""): {"A": [1.0, 2.0, 3.0], "B": [3.0, 4.1, 5.0], "C": [np.nan, np.inf, 9.0]},
        ("b", ""): {"A": [1.0]},
    }
    found = {(c.dataset, c.method): c for c in summarise(outcome_of(rows))}
    assert [found["a", m].mark for m in "ABC"] == ["best", "worse", ""]
    assert [found["a", m].splits for m in "ABC"] == [3, 3, 1]
    assert found["b", "A"].mark == ""
    assert ("b", "B") not in found


def test_cells_with_their_distance_from_print():
    cell = ("a", "", "A")
    printed = {cell: Printed(1.0, 2.0), ("a", "", "B"): Printed(4.0)}
    study = make_study(methods=["A", "B"], datasets=["a"], splits=50)
    outcome = outcome_of({("a", ""): {"A": [1.0, 2.0, 6.0]}}, study=study, printed=printed)
    first, second = summarise(replace(outcome, methods=("A", "B")))
    assert (first.mean, first.std) == (3.0, pytest.approx(np.sqrt(7)))
    assert first.difference == pytest.approx(2 / np.sqrt(7 / 3 + 4 / 50))
    assert not first.is_far
    assert (second.splits, second.mean, second.std, second.difference) == (0, None, None, None)


def test_seconds_are_not_compared_with_those_of_another_machine():
    outcome = make_outcome(make_study(kind="seconds", unit="seconds"))
    assert {c.difference for c in summarise(outcome)} == {None}


def test_pairs_of_a_setting_by_hand():
    outcome = make_outcome(make_study(datasets=[f"set {k}" for k in range(7)]), better={"5-BIF": 0.4})
    summary = summarise_setting(outcome, "")
    means = [[np.mean(list(outcome.scores[d, "", m].values())) for m in outcome.methods] for d in outcome.datasets]
    expected = wilcoxon_holm(means)
    assert [(p.first, p.second) for p in summary.pairs][:2] == [("5-CV", "5-BIF"), ("5-CV", "10-CV")]
    assert [p.adjusted for p in summary.pairs] == [p.adjusted for p in expected]
    first = summary.pairs[0]
    lost = [
        stats.ttest_rel(*(list(outcome.scores[d, "", m].values()) for m in ("5-CV", "5-BIF")), alternative="greater")
        for d in outcome.datasets
    ]
    assert first.papers.losses == sum(test.pvalue < 0.05 for test in lost) > 0
    assert first.papers.wins + first.papers.ties + first.papers.losses == 7
    assert first.corrected.losses <= first.papers.losses
    assert summary.ranking.n == 7


def test_a_method_without_numbers_does_not_empty_the_table():
    outcome = make_outcome(make_study())
    outcome = replace(outcome, methods=(*outcome.methods, "never run"))
    assert summarise_setting(outcome, "").ranking.n == 3
    assert "never run" not in summarise_setting(outcome, "").methods


BETTER, EQUAL, WORSE = [1.0, 1.1, 0.9, 1.0], [2.0, 2.1, 1.9, 2.2], [3.0, 3.2, 2.9, 3.0]


def row(first):
    return {"A": first, "B": [2.1, 2.0, 2.2, 1.9]}


@pytest.mark.parametrize(
    ("verb", "rows", "status"),
    [
        ("is not worse than", [BETTER, EQUAL], "holds"),
        ("is not worse than", [BETTER, EQUAL, WORSE], "mixed"),
        ("is not worse than", [EQUAL, WORSE], "does not hold"),
        ("does not differ from", [EQUAL, EQUAL], "holds"),
        ("does not differ from", [EQUAL, EQUAL, BETTER], "mixed"),
        ("does not differ from", [BETTER, WORSE, EQUAL], "does not hold"),
        ("is better than", [BETTER, EQUAL], "holds"),
        ("is better than", [BETTER, WORSE], "mixed"),
        ("is better than", [BETTER, EQUAL, EQUAL], "mixed"),
        ("is better than", [EQUAL], "does not hold"),
        ("is better than", [WORSE, WORSE, BETTER], "does not hold"),
        ("is faster than", [BETTER, BETTER, WORSE], "holds"),
        ("is faster than", [BETTER, WORSE], "mixed"),
        ("is faster than", [WORSE, WORSE, BETTER], "does not hold"),
        ("is better than", [[1.0]], "not tested"),
        ("is faster than", [[1.0]], "holds"),
        ("is better than", [[]], "not tested"),
    ],
)
def test_verdicts(verb, rows, status):
    outcome = outcome_of({(f"set {k}", ""): row(first) for k, first in enumerate(rows)})
    verdict = judge(outcome, claim("A", verb, "B"))
    assert verdict.status == status
    if status != "not tested" and len(rows[0]) > 1:
        for found, kind in ((verdict.wins, BETTER), (verdict.losses, WORSE)):
            assert [e.dataset for e in found] == [f"set {k}" for k, first in enumerate(rows) if first is kind]


def test_the_corrected_test_has_a_verdict_of_its_own():
    """0.8 ± 1 over ten splits differs for the papers, not when training sets overlap."""
    outcome = outcome_of({("a", ""): {"A": [0.0] * 10, "B": [-0.2, 1.8] * 5}})
    verdict = judge(outcome, claim("A", "does not differ from", "B"))
    assert (verdict.status, str(verdict.papers)) == ("does not hold", "1/0/0")
    assert (verdict.corrected_status, str(verdict.corrected)) == ("holds", "0/1/0")
    turned = judge(outcome, claim("B", "is not worse than", "A"))
    assert (turned.status, str(turned.papers)) == ("does not hold", "0/0/1")
    assert (turned.corrected_status, str(turned.corrected)) == ("holds", "0/1/0")


def test_verdict_of_one_setting_only():
    rows = {("a", "1"): row(BETTER), ("a", "10"): row(WORSE)}
    outcome = outcome_of(rows, settings=("1", "10"))
    assert judge(outcome, claim("A", "is better than", "B", setting="1")).status == "holds"
    assert judge(outcome, claim("A", "is better than", "B", setting="10")).status == "does not hold"
    assert str(judge(outcome, claim("A", "is better than", "B")).papers) == "1/0/1"


def test_the_part_without_a_setting_can_be_claimed_alone():
    rows = {("a", ""): row(BETTER), ("a", "penalty >= 1"): row(WORSE)}
    outcome = outcome_of(rows, settings=("", "penalty >= 1"))
    assert str(judge(outcome, claim("A", "is better than", "B")).papers) == "1/0/1"
    assert judge(outcome, claim("A", "is better than", "B", setting="")).status == "holds"


def test_more_accuracy_is_better():
    study = make_study(methods=["A", "B"], datasets=["a"], metric="accuracy")
    outcome = outcome_of({("a", ""): row(WORSE)}, study=study)  # larger numbers
    assert judge(outcome, claim("A", "is better than", "B")).status == "holds"
    (met,) = encounters(outcome, "A", "B")
    assert met.advantage == pytest.approx(np.mean(WORSE) - 2.05)
    assert met.relative == pytest.approx((np.mean(WORSE) - 2.05) / 2.05)


def test_unknown_verbs_are_refused_by_name():
    with pytest.raises(ValueError, match="is prettier than"):
        judge(make_outcome(make_study()), claim("5-CV", "is prettier than", "5-BIF"))


def test_ratios_beside_the_papers():
    study = make_study("bif:2", ["5-CV", "5-BIF", "5-exact"], ["a", "b"], unit="seconds", kind="seconds")
    outcome = outcome_of(
        {("a", ""): {"5-CV": [4.0, 6.0], "5-BIF": [2.0, 3.0], "5-exact": [0.5, 0.5]}},
        study=study,
        printed={("b", "", "5-CV"): Printed(6.0), ("b", "", "5-BIF"): Printed(2.0)},
    )
    found = {(r.dataset, r.fast): (r.ours, r.printed) for r in ratios(replace(outcome, datasets=("a", "b")))}
    assert found == {("a", "5-BIF"): (2.0, None), ("b", "5-BIF"): (None, 3.0), ("a", "5-exact"): (10.0, None)}


def test_geometric_mean():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert geometric_mean([]) is None


def by_setting(means, *, method="A", dataset="a", noise=0.1, seed=0):
    """{(data set, setting): {method: ten scores around a mean}}."""
    rng = np.random.default_rng(seed)
    return {(dataset, s): {method: mean + noise * rng.normal(size=10)} for s, mean in means.items()}


def test_a_range_of_settings_is_stable_where_its_best_and_worst_do_not_differ():
    settings, claimed = ("1", "2", "4", "8"), claim("A", "does not differ from", "A", within=("2", "4"))
    stable = outcome_of(by_setting({"1": 9.0, "2": 5.0, "4": 5.01, "8": 9.0}), settings=settings)
    assert judge(stable, claimed).status == "holds"
    shaky = outcome_of(by_setting({"1": 9.0, "2": 5.0, "4": 7.0, "8": 9.0}), settings=settings)
    verdict = judge(shaky, claimed)
    assert verdict.status == "does not hold"
    best, worst = (np.array(list(shaky.scores["a", s, "A"].values())) for s in ("2", "4"))
    assert verdict.encounters[0].advantage == pytest.approx(worst.mean() - best.mean(), rel=1e-9)


def test_a_range_has_the_best_setting_where_none_outside_is_better():
    settings, claimed = ("1", "2", "4", "8"), claim("A", "is not worse than", "A", within=("2", "4"))
    inside = outcome_of(by_setting({"1": 9.0, "2": 6.0, "4": 5.0, "8": 5.01}), settings=settings)
    assert judge(inside, claimed).status == "holds"
    outside = outcome_of(by_setting({"1": 9.0, "2": 6.0, "4": 5.0, "8": 3.0}), settings=settings)
    assert judge(outside, claimed).status == "does not hold"


def test_methods_are_compared_at_the_best_setting_of_each():
    rows = by_setting({"1": 5.0, "2": 9.0})
    for key, scores in by_setting({"1": 9.0, "2": 6.0}, method="B", seed=1).items():
        rows[key] |= scores
    outcome = outcome_of(rows, settings=("1", "2"))
    verdict = judge(outcome, claim("A", "is better than", "B", best_settings=True))
    assert verdict.status == "holds"
    assert verdict.encounters[0].advantage == pytest.approx(1.0, abs=0.2)
    study = make_study(methods=("A", "B"), datasets=("a",), metric="accuracy")
    accurate = outcome_of(rows, settings=("1", "2"), study=study)  # the best of both is nine now
    assert judge(accurate, claim("A", "does not differ from", "B", best_settings=True)).status == "holds"
