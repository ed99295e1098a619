"""Which rows are held out together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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

    most, why = _most(data)
    if most < 2:
        raise ValueError(f"{why}: cross-validation holds out some and needs others to train on. Add rows.")
    if asked is not None and asked > most:
        raise ValueError(f"{why}: --cv {asked} is more than the {most} folds that are possible.")
    folds = min(FOLDS, most) if asked is None else asked
    remarks = [f"{why}: {folds} folds instead of {FOLDS}"] if asked is None and folds < FOLDS else []
    grouped = data.groups is not None
    kinds = {
        ("classification", False): StratifiedKFold,
        ("classification", True): StratifiedGroupKFold,
        ("regression", False): KFold,
        ("regression", True): GroupKFold,
    }
    return kinds[data.task, grouped](folds, shuffle=True, random_state=SEED), remarks


def _most(data: Data) -> tuple[int, str]:
    """The largest number of folds that makes sense, and the reason."""
    if data.groups is not None:
        groups = len(np.unique(data.groups))
        return groups, f"there are {groups} groups"
    if data.task == "classification":
        classes, counts = np.unique(data.y, return_counts=True)
        rare = int(counts.argmin())
        rows = int(counts[rare])
        return rows, f"the rarest class, {classes.tolist()[rare]!r}, has {rows} row{'s' if rows > 1 else ''}"
    return len(data.y) // 2, f"there are {len(data.y)} rows"  # R² needs two rows in every fold
