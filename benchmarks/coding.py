"""How the classes are coded: an explanation of the accuracies in Table 1 of spectral perturbation stability?

The paper's accuracies of cross-validation fall with the penalty λ, on german.numer below the share of the larger
class. With classes -1 and 1 there is no reason for it: a ridge shrinks the values of least squares and leaves most
signs, so that even λ = 10 has good kernels. With classes 0 and 1, no bias and a threshold of 1/2 shrinking turns every
value into the class 0. Both are run here with nothing but NumPy: the paper's 40 kernels, ridge mλ, the kernel selected
by 10-fold cross-validation (really retrained) of the training half, accuracies on the other half.

Usage: python benchmarks/coding.py [--splits 3] [--datasets heart sonar]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from onefit.studies import sps
from onefit.studies.comparisons import FAR
from onefit.studies.outcome import printed_numbers
from onefit.studies.sampling import load, seed_of, split
from onefit.studies.statistics import in_standard_errors

Array = NDArray[np.float64]
CODES = {"-1/1": (-1.0, 1.0), "0/1": (0.0, 1.0)}
PENALTIES = sps.PROTOCOL.penalties
LARGE = ("splice", "svmguide3")


def kernels(A: Array, B: Array) -> Iterator[Array]:
    """The paper's 20 Gaussian and 20 polynomial kernels between the rows of A and B."""
    products = A @ B.T
    distances = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * products
    yield from (np.exp(-(2.0**i) * np.maximum(distances, 0)) for i in range(-10, 10))
    yield from ((1 + products) ** degree for degree in range(1, 21))


def trained(K: Array, ridge: float, y: Array) -> Array:
    """The coefficients of ridge regression; of least length where a kernel of high degree drowns the ridge."""
    system = K + ridge * np.eye(len(K))
    try:
        return np.linalg.solve(system, y)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(system, y)[0]


def held_out(K: Array, ridge: float, y: Array, folds: NDArray[np.intp]) -> Array:
    """Values for the rows of each fold, trained on the other folds with the ridge in proportion to their rows."""
    values = np.empty_like(y)
    for fold in np.unique(folds):
        out, kept = folds == fold, folds != fold
        values[out] = K[np.ix_(out, kept)] @ trained(K[np.ix_(kept, kept)], ridge * np.mean(kept), y[kept])
    return values


def accuracies(dataset: str, number: int, codes: tuple[float, float]) -> list[float]:
    """Test accuracies (%) of the kernels that cross-validation selects for each penalty, in one split."""
    X, labels = load(sps.PROTOCOL, dataset)
    train, test = split(sps.PROTOCOL, dataset, number, labels)
    positive = labels == np.unique(labels)[1]
    y, threshold = np.where(positive, codes[1], codes[0])[train], sum(codes) / 2
    folds = np.random.default_rng(seed_of("coding", dataset, number)).permutation(len(train)) % 10
    best = [(-1.0, 0.0)] * len(PENALTIES)
    for K, K_test in zip(kernels(X[train], X[train]), kernels(X[test], X[train])):
        for k, penalty in enumerate(PENALTIES):
            ridge = penalty * len(train)
            selected = np.mean((held_out(K, ridge, y, folds) > threshold) == positive[train])
            if selected > best[k][0]:
                reached = np.mean((K_test @ trained(K, ridge, y) > threshold) == positive[test])
                best[k] = selected, 100 * reached
    return [reached for _, reached in best]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=[name for name in sps.DATASETS if name not in LARGE])
    options = parser.parse_args()
    printed = printed_numbers(sps.STUDIES[0])
    far, cells = dict.fromkeys(CODES, 0), 0
    print(f"CV's accuracy (%) for λ = {', '.join(map(str, PENALTIES))}; {options.splits} splits")
    for dataset in options.datasets:
        rows = {name: np.array([accuracies(dataset, k, codes) for k in range(options.splits)])
                for name, codes in CODES.items()}  # fmt: skip
        in_print = [printed.get((dataset, f"{penalty:g}", "CV")) for penalty in PENALTIES]
        print(f"{dataset:16} print {' '.join('  –  ' if cell is None else f'{cell.mean:5.1f}' for cell in in_print)}")
        cells += sum(cell is not None for cell in in_print)
        for name, found in rows.items():
            print(f"{'':16} {name:5} {' '.join(f'{mean:5.1f}' for mean in found.mean(axis=0))}")
            for cell, scores in zip(in_print, found.T):
                if cell is not None:
                    ours = scores.mean(), scores.std(ddof=1), len(scores)
                    difference = in_standard_errors(*ours, cell.mean, cell.std, sps.PROTOCOL.splits)
                    far[name] += difference is not None and abs(difference) > FAR
    print(
        f"further than {FAR:g} standard errors from print: " + ", ".join(f"{k} {v} of {cells}" for k, v in far.items())
    )


if __name__ == "__main__":
    main()
