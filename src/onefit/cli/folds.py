"""Which rows are held out together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted
from .screen import counted

if TYPE_CHECKING:
    from .data import Data

FOLDS = 10
SEED = 0


def splitter_of(data: Data, asked: int | None) -> tuple[Any, list[str]]:
    """A splitter that shuffles with a fixed seed, and a remark if there are fewer folds than usual.

    Classes keep their shares in every fold, and groups stay together. More folds than the data allow are refused if
    they were asked for, and reduced otherwise.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    most, why, advice = _most(data)
    if most < 2:
        raise ValueError(f"{data.name}: {why}: cross-validation holds out some and needs others to train on. {advice}")
    if asked is not None and asked > most:
        raise ValueError(f"{data.name}: {why}: --cv {asked} is more than the {most} folds that are possible.")
    folds = min(FOLDS, most) if asked is None else asked
    remarks = [f"{why}: {folds} folds instead of {FOLDS}"] if asked is None and folds < FOLDS else []
    grouped = data.groups is not None
    kinds = {
        ("classification", False): StratifiedKFold,
        ("classification", True): StratifiedGroupKFold,
        ("regression", False): KFold,
        ("regression", True): GroupKFold,
    }
    splitter = kinds[data.task, grouped](folds, shuffle=True, random_state=SEED)
    if grouped and data.task == "classification":
        _refuse_one_class(splitter, data)
    return splitter, remarks


def _refuse_one_class(splitter: Any, data: Data) -> None:
    """An error if the groups are such that holding some out leaves one class to train on."""
    for train, _ in splitter.split(data.X, data.y, data.groups):
        classes = np.unique(data.y[train]).tolist()
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
    if data.task == "classification":
        classes, counts = np.unique(data.y, return_counts=True)
        rare = int(counts.argmin())
        rows = int(counts[rare])
        why = f"the rarest class, {quoted(classes.tolist()[rare])}, has {counted(rows, 'row')}"
        return rows, why, "Add rows of it or leave it out; --target names another column."
    return len(data.y) // 2, f"there are {len(data.y)} rows", "Add rows."  # R² needs two rows in every fold
