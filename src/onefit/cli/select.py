"""``onefit select``: from data to a chosen, saved and explained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .app import app
from .screen import check_distinct, check_writable, echo, exit_code, explained, fail, in_short, note

if TYPE_CHECKING:
    from ..report.judgement import Yardstick
    from .data import Data
    from .searching import SearchArguments, Selection

PATIENCE = 10.0
"""Seconds of a search after which it is said what else takes time."""

LEAST_SQUARES = (options.Learner.auto, options.Learner.lssvm, options.Learner.krr)
"""Learners that are least squares where landmarks stand for kernel matrices."""

INDEFINITE = {"sigmoid", "additive_chi2"}
"""Kernels without features that landmarks could stand for."""


@app.command()
def select(
    data: options.DataArgument = options.EMBEDDED,
    target: options.TargetOption = None,
    task: options.TaskOption = options.Task.auto,
    learner: options.LearnerOption = options.Learner.auto,
    kernel: options.KernelOption = None,
    criterion: Annotated[str, typer.Option(help="What selects: cv, bif, sm, loo, gcv, span …")] = "cv",
    cv: options.FoldsOption = None,
    scoring: options.ScoringOption = None,
    groups: options.GroupsOption = None,
    drop: options.DropOption = None,
    id_column: options.IdOption = None,
    use: options.UseOption = None,
    weights: options.WeightsOption = None,
    folds: options.KindOption = options.Folds.auto,
    time: options.TimeOption = None,
    class_weight: options.ClassWeightOption = options.ClassWeight.none,
    positive: options.PositiveOption = None,
    encoding: options.EncodingOption = None,
    scale: options.ScaleOption = options.Scale.standard,
    budget: Annotated[str | None, typer.Option(help="Choose from what is done after this time: 60s, 5m.")] = None,
    jobs: options.JobsOption = 1,
    landmarks: options.LandmarksOption = None,
    memory: options.MemoryOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the model, such as model.skops.", rich_help_panel=options.FILES)
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report.", rich_help_panel=options.FILES)] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Keep what is finished in this file.", rich_help_panel=options.FILES)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the journal of an earlier run.", rich_help_panel=options.FILES)
    ] = False,
    reference: Annotated[bool, typer.Option(help="Compare with gradient boosting of trees on the same folds.")] = True,
    as_json: options.JsonOption = False,
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
        from .answer import reference_text, show, show_json
        from .data import landmarks_for
        from .pipeline import build
        from .preparation import prepare
        from .roles import TableRequest
        from .searching import SearchArguments
        from .validation import budget_seconds

        chosen, seconds = resolve(criterion).name, budget_seconds(budget)
        table = TableRequest(data, target, task, encoding, tuple(drop or ()), tuple(use or ()), id_column, groups,
                             weights, time, folds == options.Folds.time, positive, dense=landmarks == 0)  # fmt: skip
        ready = prepare(table, learner=learner, scale=scale, kernel=kernel, cv=cv, folds=folds, scoring=scoring,
                        class_weight=class_weight)  # fmt: skip
        rows, estimator = ready.rows, ready.estimator
        least_squares = learner in LEAST_SQUARES and chosen == "cv" and not INDEFINITE & set(ready.kernels or ())
        approximation = landmarks_for(len(rows.y), landmarks, memory, least_squares=least_squares)
        if approximation is not None and learner == options.Learner.auto:
            given = None if class_weight == options.ClassWeight.none else str(class_weight)
            estimator, _ = build(rows, "lssvm", scale, given)
            note("  the learner is lssvm: one pass over the rows serves all penalties (--learner says otherwise)")
        request = SearchArguments(estimator, ready.splitter, ready.kernels, chosen, scoring, seconds, journal, jobs,
                          approximation, memory)  # fmt: skip
        selection = _search(request, rows)
        if save is not None:
            _save(selection, rows, save)
        if not as_json:
            show(selection, rows, request)
        yardsticks = _reference(request, rows, selection, reference)
        if as_json:
            show_json(selection, rows, request, yardsticks)
        elif len(yardsticks) > 1:
            echo(f"\n{'reference':<12}{reference_text(yardsticks[-1], selection.fold_scores)}")
        if report is not None:
            _report(selection, rows, yardsticks, report)
    if selection.interrupted:
        raise typer.Exit(exit_code())


def _check_journal(journal: Path | None, resume: bool) -> None:
    check_writable(journal, "--journal")
    if journal is not None and journal.exists() and not resume:
        raise ValueError(f"--journal {journal} exists: add --resume to go on with it, or give another file.")
    if resume and journal is not None and not journal.exists():
        note(f"--resume: there is no {journal} yet, so the search begins anew")


def _search(request: SearchArguments, rows: Data) -> Selection:
    from dataclasses import replace

    from .narration import narrated
    from .searching import find, judge

    with narrated("searching"):
        found = find(request, rows)
    if found.interrupted:
        note("interrupted: the best candidate so far is chosen")
    elif found.seconds > PATIENCE:
        note("the chosen candidate is scored anew, with columns transformed on every fold")
    with narrated("scoring the chosen model on every fold", quiet=True):  # the search has said everything
        try:
            return judge(found, request, rows)
        except KeyboardInterrupt:
            if found.interrupted:
                raise
            note("interrupted: the chosen candidate is not judged further")
            return judge(replace(found, interrupted=True), request, rows)


def _reference(request: SearchArguments, rows: Data, selection: Selection, wanted: bool) -> list[Yardstick]:
    """The models that the chosen one is compared with; Ctrl-C leaves out the reference, and so does its failure."""
    from .narration import narrated
    from .yardsticks import reference

    known = [] if selection.baseline is None else [selection.baseline]
    if not wanted or selection.interrupted:
        return known
    try:
        with narrated("training the reference"):
            return [*known, reference(request, rows)]
    except KeyboardInterrupt:
        note("interrupted: the reference is left out")
    except Exception as error:  # another package's model, which stumbles over a column without values, for example
        note(f"the reference is left out: {in_short(str(error))}")
    return known


def _save(selection: Selection, rows: Data, path: Path) -> None:
    from .answer import facts_of
    from .models import save

    save(path, selection.model, facts_of(selection, rows))
    note(f"saved {path}; onefit predict {path} DATA uses it")


def _report(selection: Selection, rows: Data, yardsticks: list[Yardstick], path: Path) -> None:
    from ..report import write
    from .answer import judgement_of
    from .code import rebuilding_code

    judgement = None if selection.interrupted else judgement_of(selection, yardsticks)
    write(
        selection.search, path, title=Path(rows.name).name, X=rows.X, y=rows.y, judgement=judgement, groups=rows.groups,
        feature_names=rows.feature_names, column_kinds=[str(role) for role in rows.roles], positive=rows.positive,
        code=rebuilding_code(rows, selection.described, selection.search.approximation),
        thorough=not selection.interrupted,
    )  # fmt: skip
    note(f"wrote {path}")
