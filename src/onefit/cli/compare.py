"""``onefit compare``: what every criterion would choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .app import app
from .screen import columns, echo, echo_json, explained, note

if TYPE_CHECKING:
    from .data import Data
    from .preparation import SearchInput


@app.command()
def compare(
    data: options.DataArgument = options.EMBEDDED,
    target: options.TargetOption = None,
    task: options.TaskOption = options.Task.auto,
    learner: options.LearnerOption = options.Learner.auto,
    kernel: options.KernelOption = None,
    criteria: Annotated[
        str | None, typer.Option("--criterion", help="Only these, with commas; without it all that apply.")
    ] = None,
    cv: options.FoldsOption = None,
    scoring: options.ScoringOption = None,
    groups: options.GroupsOption = None,
    drop: options.DropOption = None,
    use: options.UseOption = None,
    folds: options.KindOption = options.Folds.auto,
    time: options.TimeOption = None,
    class_weight: options.ClassWeightOption = options.ClassWeight.none,
    positive: options.PositiveOption = None,
    encoding: options.EncodingOption = None,
    scale: options.ScaleOption = options.Scale.standard,
    jobs: options.JobsOption = 1,
    as_json: options.JsonOption = False,
) -> None:
    """Choose by every criterion that applies, and cross-validate what each of them chooses.

    Examples:

        onefit compare heart_scale

        onefit compare prices.csv --learner krr --criterion cv,gcv,loo
    """
    with explained():
        from .preparation import prepare
        from .roles import TableRequest

        table = TableRequest(data, target, task, encoding, tuple(drop or ()), tuple(use or ()), groups=groups,
                             time=time, ordered=folds == options.Folds.time, positive=positive)  # fmt: skip
        ready = prepare(table, learner=learner, scale=scale, kernel=kernel, cv=cv, folds=folds, scoring=scoring,
                        class_weight=class_weight)  # fmt: skip
        names, left_out = _criteria(criteria, ready.estimator, ready.rows)
        for name, reason in left_out.items():
            note(f"  left out: {name} ({reason})")
        result = _compare(ready, names, scoring, jobs)
        for name, reason in result.failures.items():
            note(f"  no value: {name} ({reason.removeprefix(f'The criterion {name} ').rstrip('.')})")
        _show(result, left_out | result.failures, as_json)


def _criteria(asked: str | None, estimator: Any, rows: Data) -> tuple[list[str], dict[str, str]]:
    """The criteria that are defined for this machine and target, and why others are not; what is asked for must be."""
    from ..criteria import REGISTRY, resolve
    from ..criteria.base import Situation
    from ..machines.registry import read_machine

    if asked is not None:
        names = dict.fromkeys(resolve(name.strip()).name for name in asked.split(",") if name.strip())
        if not names:
            raise ValueError("--criterion names nothing: give names such as cv,gcv, or leave it out for all.")
        return list(names), {}
    learner = read_machine(getattr(estimator, "steps", [(None, estimator)])[-1][1]).learner
    n_classes = None if rows.classes is None else len(rows.classes)
    situation = Situation(learner, n_classes, regressor=rows.classes is None)
    left_out: dict[str, str] = {}
    for name, kind in REGISTRY.items():
        try:
            kind().check(situation)
        except ValueError as reason:
            left_out[name] = str(reason).removeprefix(f"The criterion {name} ").rstrip(".")
    return [name for name in REGISTRY if name not in left_out], left_out


def _compare(ready: SearchInput, names: list[str], scoring: str | None, jobs: int) -> Any:
    from .. import compare as compare_criteria
    from .. import default_grid
    from .narration import narrated
    from .validation import scorer_of

    rows = ready.rows
    with narrated("comparing"):
        grid = default_grid(ready.estimator, rows.X, rows.y, kernels=ready.kernels)
        return compare_criteria(
            ready.estimator, grid, rows.X, rows.y, names, cv=ready.splitter, groups=rows.groups,
            scoring=scorer_of(scoring, rows), preprocessing="shared", n_jobs=jobs,
        )  # fmt: skip


def _show(result: Any, left_out: dict[str, str], as_json: bool) -> None:
    from ..report.text import last_part, number, seconds, settings

    if as_json:
        echo_json({"candidates": len(result.candidates), "rows": result.rows, "left_out": left_out})
        return
    table = [("criterion", "value", "cv score", f"place of {len(result.candidates)}", "seconds", "chosen")]
    for row in result.rows:
        chosen = settings({last_part(name): value for name, value in row["params"].items()})
        table.append((row["criterion"], number(row["value"]), number(row["cv_score"]), str(row["cv_rank"]),
                      seconds(row["seconds"]), chosen))  # fmt: skip
    echo(columns(table))
