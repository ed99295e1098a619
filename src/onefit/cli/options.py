"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

EMBEDDED = "wdbc"
"""The data set of a command that is given none: it ships with scikit-learn."""


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Learner(StrEnum):
    """The machine: ``auto`` is svc for classes and lssvm, which has an intercept, for numbers."""

    auto = "auto"
    svc = "svc"
    svr = "svr"
    krr = "krr"
    lssvm = "lssvm"
    l2svm = "l2svm"
    klr = "klr"


class Scale(StrEnum):
    """What is done to columns of numbers."""

    standard = "standard"
    minmax = "minmax"
    none = "none"


def _refuse_no_jobs(jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("give the number of threads, or -1 for one for each core")
    return jobs


DataArgument = Annotated[
    str, typer.Argument(help="A CSV, TSV, Parquet, LIBSVM or ARFF file, or the name of a registered data set.")
]
TargetOption = Annotated[
    str | None, typer.Option("--target", help="The column to predict; without it the last one.", show_default=False)
]
TaskOption = Annotated[Task, typer.Option("--task", help="auto looks at the values of the target.")]
LearnerOption = Annotated[
    Learner, typer.Option("--learner", help="auto: svc for classes, lssvm (kernel ridge with intercept) for numbers.")
]
KernelOption = Annotated[
    str | None,
    typer.Option("--kernel", help="Kernels to try: gaussian, poly, linear, laplacian …; with commas.", metavar="NAMES"),
]
FoldsOption = Annotated[
    int | None,
    typer.Option("--cv", min=2, help="Folds; 10, or as many as the rarest class has rows.", show_default=False),
]
ScoringOption = Annotated[
    str | None, typer.Option("--scoring", help="scikit-learn's name of a score; accuracy, or R² for numbers.")
]
GroupsOption = Annotated[
    str | None, typer.Option("--groups", help="A column whose equal values stay in one fold; not used as an input.")
]
ScaleOption = Annotated[Scale, typer.Option("--scale", help="How columns of numbers are scaled.")]
JobsOption = Annotated[int, typer.Option("--jobs", callback=_refuse_no_jobs, help="Threads; -1 is one for each core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
