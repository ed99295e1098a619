"""The answer of ``onefit select``: what was chosen, how good it is, how well that is known, what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..report.judgement import Judgement, Yardstick
from ..report.text import last_part, number, settings
from .screen import counted, echo, echo_json

if TYPE_CHECKING:
    from .data import Data
    from .searching import SearchArguments, Selection

MARGIN = "\n" + 12 * " "


def facts_of(selection: Selection, rows: Data) -> dict[str, Any]:
    """The result as plain values: what ``--json`` prints and a model file keeps."""
    from .. import __version__
    from .code import rebuilding_code

    machine = final_step(selection.described)
    params = {last_part(name): getattr(value, "item", lambda value=value: value)()
              for name, value in selection.params.items()}  # fmt: skip
    return {
        "data": rows.name,
        "rows": len(rows.y),
        "task": rows.task,
        "target": rows.target_name,
        "features": list(rows.feature_names),
        "categorical": list(rows.categorical),
        "roles": [str(role) for role in rows.roles],
        "classes": rows.classes,
        "positive": rows.positive,
        "id": rows.id_name,
        "encoding": rows.encoding,
        "calibration": selection.calibration,
        "imputes": rows.has_missing_numbers,
        "learner": type(machine).__name__,
        "kernel": machine.kernel,
        "params": params,
        "metric": selection.metric,
        "score": selection.score,
        "standard_error": _or_none(selection.error),
        "expected": None if selection.expected is None else list(selection.expected),
        "folds": selection.folds,
        "exactness": selection.exactness,
        "onefit": __version__,
        "code": rebuilding_code(rows, selection.described, selection.search.approximation),
    }


def final_step(model: Any) -> Any:
    """The machine at the end of a Pipeline, or the model itself."""
    return getattr(model, "steps", [(None, model)])[-1][1]


def judgement_of(selection: Selection, yardsticks: list[Yardstick]) -> Judgement:
    """The score of the chosen model for the report, in the words that are printed."""
    return Judgement(selection.metric, selection.score, selection.error, selection.exactness, reason_of(selection),
                     selection.fold_scores, yardsticks, selection.expected)  # fmt: skip


def show_json(selection: Selection, rows: Data, request: SearchArguments, yardsticks: list[Yardstick]) -> None:
    """Everything, on stdout, for programs."""
    savings = selection.savings
    low, high = savings.estimate
    echo_json({
        **facts_of(selection, rows), "reason": reason_of(selection), "error_bound": selection.bound,
        "criterion": request.criterion, "criterion_value": selection.value,
        "baseline": None, "reference": None,
        **{each.purpose: _plain(each) for each in yardsticks},
        "candidates": selection.candidates, "finished": selection.finished, "interrupted": selection.interrupted,
        "seconds": savings.searched, "processor_seconds": savings.worked, "trainings_replaced": savings.trainings,
        "processor_seconds_estimated_for_them": [_or_none(low), _or_none(high)], "trainings_timed": len(savings.timed),
    })  # fmt: skip


def _or_none(value: float) -> float | None:
    return None if value != value else value


def _plain(yardstick: Yardstick) -> dict[str, Any]:
    return {"model": yardstick.name, "score": yardstick.score, "standard_error": _or_none(yardstick.error)}


def show(selection: Selection, rows: Data, request: SearchArguments) -> None:
    """The answer as text: the model, its score beside that of guessing, what it cost, and the code."""
    facts = facts_of(selection, rows)
    by = "" if selection.value is None else f", by {request.criterion} = {number(selection.value)}"
    chosen = f"from {selection.finished:,} of {selection.candidates:,} candidates{by}"
    if selection.interrupted:  # how many more there would have been is not known
        chosen = f"interrupted: from {counted(selection.finished, 'candidate')} that were finished{by}"
    baseline = selection.baseline
    lines = {
        "model": f"{facts['learner']} with the {facts['kernel']} kernel",
        "parameters": settings({name: value for name, value in facts["params"].items() if name != "kernel"}),
        "score": score_text(selection),
        "new rows": None if selection.expected is None else expected_text(*selection.expected),
        "baseline": baseline and yardstick_text(baseline, selection.fold_scores),
        "exactness": f"{selection.exactness}: {reason_of(selection)}",
        "chosen": chosen + _how_chosen(selection, request),
        "cost": str(selection.savings).replace("\n", MARGIN),
    }
    echo("\n".join(f"{name:<12}{text}" for name, text in lines.items() if text is not None))
    echo(f"\n{facts['code']}")


def yardstick_text(yardstick: Yardstick, fold_scores: np.ndarray) -> str:
    """Another model's score, and whether the chosen one is better."""
    error = "" if yardstick.error != yardstick.error else f" ± {number(yardstick.error, 2)}"
    return f"{number(yardstick.score)}{error} ({yardstick.name}): {yardstick.verdict(fold_scores)}"


def reference_text(yardstick: Yardstick, fold_scores: np.ndarray) -> str:
    """The reference model's line, with advice where it is better."""
    from ..report.judgement import APART

    gain, error = yardstick.difference(fold_scores)
    advice = f"{MARGIN}(trees may suit these data better than a kernel machine)" if gain < -APART * error else ""
    return yardstick_text(yardstick, fold_scores) + advice


def score_text(selection: Selection) -> str:
    """The score of the chosen model and how far it may be off."""
    error = "" if selection.error != selection.error else f" ± {number(selection.error, 2)}"
    return f"{selection.metric} {number(selection.score)}{error} (standard error over {selection.folds} folds)"


def expected_text(score: float, error: float) -> str:
    """The score without what it owes to the choice of the best."""
    return f"{number(score)} ± {number(error, 2)} expected (less what every fold gains by having a part in the choice)"


def _how_chosen(selection: Selection, request: SearchArguments) -> str:
    """How the choice was made: kernels left to cross-validation, and simplifications that the score has not."""
    from ..criteria import resolve
    from ..criteria.base import needs_no_machine

    text = ""
    if needs_no_machine(resolve(request.criterion)) and not selection.interrupted:
        text += f"{MARGIN}({request.criterion} judges kernels; the penalty was chosen by cross-validation)"
    if len(getattr(selection.described, "steps", ())) > 1:
        text += f"{MARGIN}(while choosing, columns were transformed once for all folds, without the target)"
    return text


def reason_of(selection: Selection) -> str:
    """Why the score has its label, in one sentence that the answer and the report share."""
    from ..machines.registry import read_machine

    if selection.interrupted:
        return "as the search knew it when it was interrupted, with columns transformed once for all folds"
    if selection.exactness == "exact":
        bound = "" if selection.bound != selection.bound else f"; held-out values to {number(selection.bound, 2)}"
        machine = read_machine(final_step(selection.model))
        # scikit-learn's solver stops at tol, which moves what a score such as roc_auc is made of
        stops_early = " with a small tol" if machine.stops_at_tol and machine.exact_tol is None else ""
        return f"what GridSearchCV computes for this candidate{stops_early}{bound}"
    if selection.search.approximation is not None:
        return "what training on the same landmarks gives on every fold"
    if selection.exactness == "retrained":
        return "trained on every fold, as GridSearchCV does"
    return f"the error is at most {number(selection.bound, 2)}"
