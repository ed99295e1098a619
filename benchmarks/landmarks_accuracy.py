"""Does a search on landmarks choose models that are as good as those of the dense search?

On each data set (read from a directory of LIBSVM files) some rows are trained on, by the same search with all n x n
matrices and with landmarks, and the chosen models are compared on the rows that were left out: errors, standard errors
over these rows, and the paired difference with its standard error.

    python benchmarks/landmarks_accuracy.py DIRECTORY [--train 4000] [--landmarks 1000] [--sets a9a cadata covtype_10k]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from onefit import LSSVC, LSSVR, KernelSearchCV, Landmarks
from onefit.datasets import read

TESTED = 10_000
"""Rows, at most, that the models are compared on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--train", type=int, default=4000)
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--sets", nargs="+", default=["a9a", "cadata", "covtype_10k"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | search | chosen | hold-out error | CPU s |", "| --- | --- | --- | --- | --- |", sep="\n")
    for name in arguments.sets:
        compare(name, *load(arguments.directory, name), arguments.train, arguments.landmarks)


def load(directory: Path, name: str):
    """Rows and targets of one data set, from the file of its name."""
    table = read(directory / name)
    return table.X, table.y


def compare(name: str, X, y, train: int, landmarks: int) -> None:
    """Print a line for each search, and one for the difference of their errors."""
    classes = len(np.unique(y)) <= 20
    own = {"train_size": train, "test_size": min(TESTED, X.shape[0] - train), "random_state": 0}
    X, X_test, y, y_test = train_test_split(X, y, stratify=y if classes else None, **own)
    machine, prefix = (LSSVC(), "lssvc") if classes else (LSSVR(), "lssvr")
    scaler = MaxAbsScaler() if hasattr(X, "toarray") else StandardScaler()
    d = X.shape[1]
    grid = {f"{prefix}__gamma": np.logspace(-2, 1.2, 5) / d, f"{prefix}__alpha": np.logspace(-3, 1, 5)}
    losses = []
    for approximation in (None, Landmarks(landmarks, random_state=0)):
        search = KernelSearchCV(make_pipeline(scaler, machine), grid, cv=5, approximation=approximation)
        start = time.process_time()
        search.fit(X, y)
        seconds = time.process_time() - start
        predicted = search.predict(X_test)
        losses.append((predicted != y_test).astype(float) if classes else (predicted - y_test) ** 2 / np.var(y_test))
        chosen = ", ".join(f"{key.split('__')[1]} {value:.3g}" for key, value in search.best_params_.items())
        label = "dense" if approximation is None else f"{landmarks} landmarks"
        print(f"| {name} | {label} | {chosen} | {estimate(losses[-1])} | {seconds:.1f} |", flush=True)
    print(f"| {name} | difference | | {estimate(losses[1] - losses[0])} | |", flush=True)


def estimate(losses: np.ndarray) -> str:
    """Mean and its standard error."""
    return f"{losses.mean():.4f} ± {losses.std(ddof=1) / np.sqrt(len(losses)):.4f}"


if __name__ == "__main__":
    main()
