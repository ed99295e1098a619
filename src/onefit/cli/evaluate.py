"""``onefit evaluate``: a saved model on rows that it was not trained on, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import app
from .options import EncodingOption, JsonOption, ScoringOption
from .predict import ModelArgument, RowsArgument
from .screen import check_distinct, check_writable, columns, counted, echo, echo_json, explained, note

if TYPE_CHECKING:
    import numpy as np

    from ..report.evaluation import Interval
    from .predicting import Predictions, SavedModel


@app.command()
def evaluate(
    model: ModelArgument,
    data: RowsArgument,
    scoring: ScoringOption = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="Samples of the rows that intervals are made from.")] = 300,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page.")] = None,
    encoding: EncodingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score a saved model on new rows whose target is known, with 95 % bootstrap intervals.

    The rows should be none that the model was trained on: those it knows, and the scores would flatter it.

    Examples:

        onefit evaluate model.skops test.csv

        onefit evaluate model.skops test.csv --scoring recall --report evaluation.html
    """
    with explained():
        from .measuring import measure, scorings_for
        from .predicting import SavedModel
        from .validation import check_scoring_name

        check_distinct({"MODEL": model, "DATA": data, "--report": report})
        check_writable(report, "--report")
        check_scoring_name(scoring)
        saved = SavedModel.read(model)
        found, y = _predictions(saved, data, encoding)
        wanted = list(dict.fromkeys([*scorings_for(saved.facts, found), *([scoring] if scoring else [])]))
        measures = [measure(name, saved.facts, found, y, replicates=bootstrap) for name in wanted]
        measures = [each for each in measures if each.value == each.value or each.name == scoring]
        if not measures:
            raise ValueError(f"no score is defined for {counted(len(y), 'row')} of {data}.")
        verdict = _verdict(saved.facts, measures[0])
        _show(saved, data, y, measures, verdict, bootstrap, as_json)
        if report is not None:
            _write(saved, data, found, y, measures, verdict, bootstrap, report)


def _predictions(saved: SavedModel, data: str, encoding: str | None) -> tuple[Predictions, Any]:
    """Predictions of all rows, and their targets."""
    import numpy as np

    from .alignment import blocks_for
    from .narration import warnings_as_notes
    from .predicting import Predictions

    parts, targets = [], []
    classifier = saved.facts["task"] == "classification"
    for block in blocks_for(saved.facts, data, encoding=encoding):
        if block.y is None:
            raise ValueError(
                f"{data} lacks the target {saved.facts['target']!r} in some rows: there is nothing to score."
            )
        with warnings_as_notes():
            parts.append(saved.predict(block, data, decision=classifier,
                                       probability=classifier and saved.has_probabilities))  # fmt: skip
        targets.append(block.y)
    y = np.concatenate(targets)
    if classifier and (unknown := sorted(set(y.tolist()) - set(saved.facts["classes"]))):
        raise ValueError(f"{data} has a class that the model was not trained on: {unknown[0]!r}.")
    return Predictions.joined(parts), y


def _verdict(facts: dict[str, Any], first: Interval) -> str:
    """Whether the score is what cross-validation let expect, within two standard errors of the difference."""
    from math import hypot

    from ..report.judgement import APART
    from ..report.text import number

    score, error = facts.get("expected") or (facts["score"], facts["standard_error"])
    told = f"{facts['metric']} {number(score)}" + ("" if error is None else f" ± {number(error, 2)}")
    if first.low != first.low or error is None:
        return f"Its cross-validation let expect {told}."
    apart = abs(first.value - score) > APART * hypot(error, (first.high - first.low) / 4)  # 95 % are 4 standard errors
    words = "differs from" if apart else "agrees with"
    return f"This {words} what its cross-validation let expect, {told} (two standard errors of the difference)."


def _show(
    saved: SavedModel, data: str, y: np.ndarray, measures: list[Interval], verdict: str, replicates: int, as_json: bool
) -> None:
    from ..report.text import number

    facts = saved.facts
    if as_json:
        scores = {each.name: {"value": each.value, "low": each.low, "high": each.high} for each in measures}
        echo_json({"model": str(saved.path), "data": data, "rows": len(y), "metric": facts["metric"],
                   "bootstrap": replicates, "scores": scores, "verdict": verdict})  # fmt: skip
        return
    note(f"{data}: {counted(len(y), 'row')}, predicted by {facts['learner']} that was trained on {facts['data']}")
    rows: list[tuple[str, ...]] = [("score", "value", "from", "to")]
    rows += [(each.name, number(each.value), number(each.low), number(each.high)) for each in measures]
    echo(columns(rows))
    echo(f"\n{verdict}")


def _write(
    saved: SavedModel, data: str, found: Predictions, y: Any, measures: list[Interval], verdict: str, replicates: int,
    path: Path,
) -> None:  # fmt: skip
    from ..report.evaluation import Evaluation, evaluation_page, pictures_of
    from ..report.text import settings
    from .measuring import LEVEL

    facts = saved.facts
    pictures, calibration = pictures_of(y, found.values, classes=facts["classes"], decision=found.decision,
                                        probability=found.probability, positive=facts.get("positive"))  # fmt: skip
    about = [("model", f"{facts['learner']} with the {facts['kernel']} kernel"),
             ("parameters", settings(facts["params"])), ("file", str(saved.path)),
             ("trained on", f"{facts['data']}, {counted(facts['rows'], 'row')}"), ("evaluated on", data)]  # fmt: skip
    page = evaluation_page(Evaluation(
        title=f"{saved.path.name} on {Path(data).name}", model=facts["learner"], data=data, rows=len(y), level=LEVEL,
        replicates=replicates, measures=measures, verdict=verdict, predictions=pictures, calibration=calibration,
        facts=about,
    ))  # fmt: skip
    path.write_text(page, encoding="utf-8")
    note(f"wrote {path}")
