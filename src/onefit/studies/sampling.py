"""Data as a protocol wants it, and random splits from named seeds."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from .. import datasets
from .machines import CLASSIFIERS
from .spec import Protocol

Rows = NDArray[np.intp]


def seed_of(*name: object) -> int:
    """A seed that depends on a name only: the same on every machine and for any number of workers."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, name)).encode()).digest()[:4], "big")


def splitter_of(protocol: Protocol) -> type[KFold] | type[StratifiedKFold]:
    """How folds are drawn: with the classes spread evenly, since a fold that lacks one cannot be trained."""
    return StratifiedKFold if protocol.machine in CLASSIFIERS else KFold


def load(protocol: Protocol, dataset: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The inputs, scaled over all rows as published files are, and the target of a protocol's data set."""
    X, y = datasets.load(protocol.source(dataset))
    limit = protocol.row_limit(dataset)
    if limit is not None:
        rows = np.sort(np.random.default_rng(seed_of("rows", dataset)).permutation(len(y))[:limit])
        X, y = X[rows], y[rows]
    if protocol.scaling == "minmax":
        X = MinMaxScaler((-1, 1)).fit_transform(X)
    elif protocol.scaling == "standard":
        X = StandardScaler().fit_transform(X)
    return X, y


def split(protocol: Protocol, dataset: str, number: int, y: NDArray[Any]) -> tuple[Rows, Rows]:
    """(training rows, test rows) of a random split; drawn again while the training rows lack a class."""
    generator = np.random.default_rng(seed_of("split", dataset, protocol.train_share, number))
    n_train = round(protocol.train_share * len(y))
    classes = len(np.unique(y)) if protocol.machine in CLASSIFIERS else 1
    while True:
        order = generator.permutation(len(y))
        if len(np.unique(y[order[:n_train]])) >= classes:
            return np.sort(order[:n_train]), np.sort(order[n_train:])
