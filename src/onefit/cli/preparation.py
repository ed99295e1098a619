"""Preparation of ``select`` and ``compare``: check requests, read the data, choose folds, say what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit

from ..datasets.visible import quoted
from .data import Data, read_data
from .pipeline import build
from .roles import TableRequest
from .screen import counted, note
from .validation import OF_ONE_CLASS, check_scoring_name, check_scoring_suits, kernel_names, scorer_of
from .yardsticks import far_targets, imbalance

FOLDS = 10
SEED = 0


@dataclass(frozen=True, eq=False)
class SearchInput:
    """Rows, the estimator for them, their splitter, and the names of the kernels asked for (None: any)."""

    rows: Data
    estimator: Any
    splitter: Any
    kernels: list[str] | None


def prepare(
    request: TableRequest,
    *,
    learner: str,
    scale: str,
    kernel: str | None,
    cv: int | None,
    folds: str,
    scoring: str | None,
    class_weight: str,
) -> SearchInput:
    """Everything that a search needs; names are checked before the data are read."""
    check_scoring_name(scoring)
    kernels = kernel_names(kernel, scale)
    if request.time is not None and not request.ordered:
        raise ValueError(f"--time {request.time} is for --folds time, which predicts later rows from earlier ones.")
    rows = read_data(request)
    estimator, transformations = build(rows, learner, scale, None if class_weight == "none" else str(class_weight))
    splitter, remarks = splitter_of(rows, cv, None if folds == "auto" else folds)
    check_scoring_suits(scoring, scorer_of(scoring, rows), estimator, rows)
    if scoring in OF_ONE_CLASS and request.positive is None and rows.positive is not None:
        remarks.append(f"{scoring} is that of class {rows.positive!r}; --positive names the other one")
    note(f"{rows.name}: {counted(len(rows.y), 'row')}, {counted(rows.X.shape[1], 'column')}")
    for remark in (*rows.remarks, *transformations, *remarks):
        note(f"  {remark}")
    if warning := imbalance(rows, scoring) or far_targets(rows, scoring):
        note(f"warning: {warning}")
    return SearchInput(rows, estimator, splitter, kernels)


class QuantileKFold(StratifiedKFold):
    """Folds whose targets, numbers, are alike: classes of ``StratifiedKFold`` are ranges with equally many rows."""

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Indices of training and test rows, fold by fold."""
        ranks = np.argsort(np.argsort(y, kind="stable"), kind="stable")
        return super().split(X, ranks * (len(y) // (2 * self.n_splits)) // len(y), groups)


def splitter_of(data: Data, asked: int | None, kind: str | None = None) -> tuple[Any, list[str]]:
    """A splitter that shuffles with a fixed seed, and remarks on it.

    Classes keep their shares in every fold, and groups stay together; rows that follow in time are predicted from
    earlier ones only. More folds than the data allow are refused if they were asked for, and reduced otherwise.
    """
    grouped = data.groups is not None
    if kind == "group" and not grouped:
        raise ValueError("--folds group needs --groups COLUMN, whose equal values stay in one fold.")
    if grouped and kind in ("time", "stratified"):
        raise ValueError(f"--folds {kind} does not keep groups together: leave out --groups, or use --folds group.")
    most, why, advice = _most(data)
    if most < 2:
        raise ValueError(f"{data.name}: {why}: cross-validation holds out some and needs others to train on. {advice}")
    if asked is not None and asked > most:
        raise ValueError(f"{data.name}: {why}: --cv {asked} is more than the {most} folds that are possible.")
    folds = min(FOLDS, most) if asked is None else asked
    remarks = [f"{why}: {folds} folds instead of {FOLDS}"] if asked is None and folds < FOLDS else []
    if kind == "time":
        splitter: Any = TimeSeriesSplit(folds)
        remarks.append("every fold is predicted from the rows before it; the first rows are never predicted")
    elif kind == "stratified" and data.task == "regression":
        splitter = QuantileKFold(folds, shuffle=True, random_state=SEED)
    else:
        kinds = {
            ("classification", False): StratifiedKFold,
            ("classification", True): StratifiedGroupKFold,
            ("regression", False): KFold,
            ("regression", True): GroupKFold,
        }
        splitter = kinds[data.task, grouped](folds, shuffle=True, random_state=SEED)
    if data.task == "classification" and (grouped or kind == "time"):
        _refuse_one_class(splitter, data)
    return splitter, remarks


def _refuse_one_class(splitter: Any, data: Data) -> None:
    """An error if the groups are such that holding some out leaves one class to train on."""
    for train, _ in splitter.split(data.X, data.y, data.groups):
        classes = np.unique(data.y[train]).tolist()
        if len(classes) == 1 and data.groups is None:
            raise ValueError(
                f"{data.name}: the first rows in time are all of class {quoted(classes[0])}: use fewer folds (--cv), "
                "or --folds stratified if the order does not matter."
            )
        if len(classes) == 1:
            raise ValueError(
                f"{data.name}: with these --groups a fold is left with class {quoted(classes[0])} only to train on: "
                "name a column whose groups are more, or mix the classes."
            )


def _most(data: Data) -> tuple[int, str, str]:
    """The largest number of folds that makes sense, the reason, and what to do if it is one."""
    if data.groups is not None:
        groups = len(np.unique(data.groups))
        there_are = "there is" if groups == 1 else "there are"
        return groups, f"{there_are} {counted(groups, 'group')}", "--groups may name another column."
    if data.task == "classification" and not data.ordered:
        classes, counts = np.unique(data.y, return_counts=True)
        rare = int(counts.argmin())
        rows = int(counts[rare])
        why = f"the rarest class, {quoted(classes.tolist()[rare])}, has {counted(rows, 'row')}"
        return rows, why, "Add rows of it or leave it out; --target names another column."
    return len(data.y) // 2, f"there are {len(data.y)} rows", "Add rows."  # R² needs two rows in every fold
