"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

EMBEDDED = "wdbc"
"""The data set of a command that is given none: it ships with scikit-learn."""


class Task(StrEnum):
    """Kind of prediction: classes or numbers."""

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
    """Scaling of columns of numbers."""

    standard = "standard"
    minmax = "minmax"
    none = "none"


class Folds(StrEnum):
    """Which rows are held out together: ``auto`` is group with --groups, stratified for classes, random otherwise."""

    auto = "auto"
    stratified = "stratified"
    group = "group"
    time = "time"


class ClassWeight(StrEnum):
    """How classes are weighted in training."""

    none = "none"
    balanced = "balanced"


COLUMNS = "Columns of the data"
FILES = "Files"
"""Headings in --help."""


def _refuse_no_jobs(jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("give the number of threads, or -1 for one for each core")
    return jobs


DataArgument = Annotated[
    str, typer.Argument(help="A CSV, TSV, Parquet, LIBSVM or ARFF file, or the name of a registered data set.")
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target", help="The column to predict; without it the last one.", show_default=False, rich_help_panel=COLUMNS
    ),
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
    str | None,
    typer.Option(
        "--groups", rich_help_panel=COLUMNS, help="A column whose equal values stay in one fold; not used as an input."
    ),
]
LandmarksOption = Annotated[
    int | None,
    typer.Option(
        "--landmarks",
        min=0,
        show_default=False,
        help="Landmarks in place of kernel matrices; without it 1000 for least squares on over 5000 rows; 0: none.",
    ),
]
MemoryOption = Annotated[str | None, typer.Option("--memory", help="Memory that may be taken, such as 4GB.")]
ScaleOption = Annotated[Scale, typer.Option("--scale", help="How columns of numbers are scaled.")]
JobsOption = Annotated[int, typer.Option("--jobs", callback=_refuse_no_jobs, help="Threads; -1 is one for each core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", rich_help_panel=COLUMNS, help="Columns that are no inputs; with commas.", metavar="COLUMNS"),
]
UseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--use",
        rich_help_panel=COLUMNS,
        help="Columns to use though they look like names of rows; with commas.",
        metavar="COLUMNS",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        "--id", rich_help_panel=COLUMNS, help="The column that names the rows; predict shows it.", metavar="COLUMN"
    ),
]
WeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        rich_help_panel=COLUMNS,
        help="A column with the weight of every row in training.",
        metavar="COLUMN",
    ),
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time", rich_help_panel=COLUMNS, help="The column that --folds time puts rows in order by.", metavar="COLUMN"
    ),
]
KindOption = Annotated[
    Folds,
    typer.Option("--folds", help="auto: groups, or shares of classes; time: every fold from earlier rows only."),
]
ClassWeightOption = Annotated[
    ClassWeight, typer.Option("--class-weight", help="balanced: every class counts alike in training.")
]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        "--positive",
        rich_help_panel=COLUMNS,
        help="Of two classes, the one that f1, recall … are about.",
        metavar="LABEL",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", rich_help_panel=COLUMNS, help="Of a text file, such as cp1251; UTF-8 without it.", metavar="NAME"
    ),
]
