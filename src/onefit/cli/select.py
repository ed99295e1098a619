"""``onefit select``: from data to a chosen, saved and explained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import app
from .interruption import exit_code
from .options import (
    EMBEDDED,
    ClassWeight,
    ClassWeightOption,
    DataArgument,
    DropOption,
    EncodingOption,
    Folds,
    FoldsOption,
    GroupsOption,
    IdOption,
    JobsOption,
    JsonOption,
    KernelOption,
    KindOption,
    Learner,
    LearnerOption,
    PositiveOption,
    Scale,
    ScaleOption,
    ScoringOption,
    TargetOption,
    Task,
    TaskOption,
    TimeOption,
    UseOption,
    WeightsOption,
)
from .screen import check_distinct, check_writable, counted, echo, echo_json, explained, fail, note

if TYPE_CHECKING:
    from .data import Data
    from .searching import Request, Selection


@app.command()
def select(
    data: DataArgument = EMBEDDED,
    target: TargetOption = None,
    task: TaskOption = Task.auto,
    learner: LearnerOption = Learner.auto,
    kernel: KernelOption = None,
    criterion: Annotated[str, typer.Option(help="What selects: cv, bif, sm, loo, gcv, span …")] = "cv",
    cv: FoldsOption = None,
    scoring: ScoringOption = None,
    groups: GroupsOption = None,
    drop: DropOption = None,
    id_column: IdOption = None,
    use: UseOption = None,
    weights: WeightsOption = None,
    folds: KindOption = Folds.auto,
    time: TimeOption = None,
    class_weight: ClassWeightOption = ClassWeight.none,
    positive: PositiveOption = None,
    encoding: EncodingOption = None,
    scale: ScaleOption = Scale.standard,
    budget: Annotated[str | None, typer.Option(help="Choose from what is done after this time: 60s, 5m.")] = None,
    jobs: JobsOption = 1,
    save: Annotated[Path | None, typer.Option(help="Save the model, such as model.skops.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report.")] = None,
    journal: Annotated[Path | None, typer.Option(help="Keep what is finished in this file.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the journal of an earlier run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Choose kernel and regularisation for a data file; print the model, its score and the code that rebuilds it.

    Examples:

        onefit select patients.csv --target outcome --save model.skops

        onefit select heart_scale --learner svc --cv 10 --report report.html

        onefit select prices.csv --kernel gaussian,laplacian --budget 60s --journal prices.sqlite

        onefit select churn.csv --target churned --id customer --scoring roc_auc --class-weight balanced
    """
    if resume and journal is None:
        fail("--resume needs --journal FILE, the journal of the earlier run", usage=True)
    with explained():
        check_distinct({"DATA": data, "--save": save, "--report": report, "--journal": journal})
        check_writable(save, "--save")
        check_writable(report, "--report")
        _check_journal(journal, resume)
        from ..criteria import resolve
        from .preparation import prepare
        from .request import TableRequest
        from .searching import Request
        from .validation import budget_seconds

        chosen, seconds = resolve(criterion).name, budget_seconds(budget)
        table = TableRequest(data, target, task, encoding, tuple(drop or ()), tuple(use or ()), id_column, groups,
                             weights, time, folds == Folds.time, positive)  # fmt: skip
        ready = prepare(table, learner=learner, scale=scale, kernel=kernel, cv=cv, folds=folds, scoring=scoring,
                        class_weight=class_weight)  # fmt: skip
        rows = ready.rows
        request = Request(ready.estimator, ready.splitter, ready.kernels, chosen, scoring, seconds, journal, jobs)
        selection = _search(request, rows)
        _write(selection, rows, save, report)
        _show(selection, rows, request, as_json)
    if selection.interrupted:
        raise typer.Exit(exit_code())


def _check_journal(journal: Path | None, resume: bool) -> None:
    check_writable(journal, "--journal")
    if journal is not None and journal.exists() and not resume:
        raise ValueError(f"--journal {journal} exists: add --resume to go on with it, or give another file.")
    if resume and journal is not None and not journal.exists():
        note(f"--resume: there is no {journal} yet, so the search begins anew")


def _search(request: Request, rows: Data) -> Selection:
    import warnings
    from dataclasses import replace

    from .narration import narrated
    from .searching import find, judge

    with narrated("searching"):
        found = find(request, rows)
    if found.interrupted:
        note("interrupted: the best candidate so far is chosen")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the search has said everything
        try:
            return judge(found, request, rows)
        except KeyboardInterrupt:
            if found.interrupted:
                raise
            note("interrupted: the chosen candidate is not judged further")
            return judge(replace(found, interrupted=True), request, rows)


def _write(selection: Selection, rows: Data, save: Path | None, report: Path | None) -> None:
    """The files that were asked for."""
    if save is not None:
        from .models import save as save_model

        save_model(save, selection.model, facts_of(selection, rows))
        note(f"saved {save}; onefit predict {save} DATA uses it")
    if report is not None:
        from ..report import write

        write(selection.search, report, title=Path(rows.name).name, X=rows.X, y=rows.y, remark=_remark(selection))
        note(f"wrote {report}")


def _remark(selection: Selection) -> str | None:
    """Why the report's score of the chosen model is not the one that is printed, if columns are transformed."""
    if selection.interrupted or not hasattr(selection.model, "steps"):
        return None
    return (
        "This page shows the search, in which columns were transformed once for all folds. With columns transformed "
        f"by the training rows of each fold, the chosen model has {_score(selection)}; {selection.exactness}."
    )


def _score(selection: Selection) -> str:
    """The score of the chosen model and how far it may be off."""
    from ..report.text import number

    error = "" if selection.error != selection.error else f" ± {number(selection.error, 2)}"
    return f"{selection.metric} {number(selection.score)}{error} (standard error over {selection.folds} folds)"


def facts_of(selection: Selection, rows: Data) -> dict[str, Any]:
    """The result as plain values: what ``--json`` prints and a model file keeps."""
    from .. import __version__
    from ..report.text import last_part
    from .code import rebuilding_code

    machine = getattr(selection.model, "steps", [(None, selection.model)])[-1][1]
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
        "imputes": rows.has_missing_numbers,
        "learner": type(machine).__name__,
        "kernel": machine.kernel,
        "params": params,
        "metric": selection.metric,
        "score": selection.score,
        "standard_error": None if selection.error != selection.error else selection.error,
        "folds": selection.folds,
        "exactness": selection.exactness,
        "onefit": __version__,
        "code": rebuilding_code(rows, selection.model),
    }


def _show(selection: Selection, rows: Data, request: Request, as_json: bool) -> None:
    from ..report.text import number, settings

    facts = facts_of(selection, rows)
    savings = selection.savings
    if as_json:
        echo_json({
            **facts, "error_bound": selection.bound, "criterion": request.criterion, "criterion_value": selection.value,
            "candidates": selection.candidates, "finished": selection.finished, "interrupted": selection.interrupted,
            "seconds": savings.searched, "trainings_replaced": savings.trainings,
            "seconds_estimated_for_them": savings.estimate, "trainings_timed": savings.timed,
        })  # fmt: skip
        return
    by = "" if selection.value is None else f", by {request.criterion} = {number(selection.value)}"
    lines = {
        "model": f"{facts['learner']} with the {facts['kernel']} kernel",
        "parameters": settings({name: value for name, value in facts["params"].items() if name != "kernel"}),
        "score": _score(selection),
        "known": _how_known(selection),
        "chosen": f"from {selection.finished:,} of {selection.candidates:,} candidates{by}"
        + _how_chosen(selection, request),
        "cost": str(savings).replace("\n", "\n" + 12 * " "),
    }
    if selection.interrupted:  # how many more there would have been is not known
        how = _how_chosen(selection, request)
        lines["chosen"] = f"interrupted: from {counted(selection.finished, 'candidate')} that were finished{by}{how}"
    echo("\n".join(f"{name:<12}{text}" for name, text in lines.items()))
    echo(f"\n{facts['code']}")


def _how_chosen(selection: Selection, request: Request) -> str:
    """How the choice was made: kernels left to cross-validation, and simplifications that the score has not."""
    from ..criteria import resolve
    from ..criteria.base import needs_no_machine

    margin = "\n" + 12 * " "
    text = ""
    if needs_no_machine(resolve(request.criterion)) and not selection.interrupted:
        text += f"{margin}({request.criterion} judges kernels; the penalty was chosen by cross-validation)"
    if hasattr(selection.model, "steps"):
        text += f"{margin}(while choosing, columns were transformed once for all folds, without the target)"
    return text


def _how_known(selection: Selection) -> str:
    """How exact the score is."""
    from ..machines.registry import read_machine
    from ..report.text import number

    if selection.exactness == "exact":
        bound = "" if selection.bound != selection.bound else f"; held-out values to {number(selection.bound, 2)}"
        machine = read_machine(getattr(selection.model, "steps", [(None, selection.model)])[-1][1])
        # scikit-learn's solver stops at tol, which moves what a score such as roc_auc is made of
        stops_early = " with a small tol" if machine.stops_at_tol and machine.exact_tol is None else ""
        return f"exactly: what GridSearchCV computes for this candidate{stops_early}{bound}"
    if selection.exactness == "retrained":
        return "by training on every fold, as GridSearchCV does"
    if selection.interrupted:
        return "approximately: as the search knew it, with columns transformed once for all folds"
    return f"{selection.exactness}, with an error of at most {number(selection.bound, 2)}"
