"""Gram matrices and targets that tests of criteria share."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from ..oracles.problems import points, random_gram

N = 32

GRAMS = {
    "narrow": lambda seed: rbf_kernel(points(seed, N), gamma=2.0),
    "wide": lambda seed: rbf_kernel(points(seed, N), gamma=0.05),
    "scaled": lambda seed: 1e-3 * rbf_kernel(points(seed, N), gamma=0.3),
    "polynomial": lambda seed: (points(seed, N) @ points(seed, N).T + 1) ** 2,
    "duplicated": lambda seed: rbf_kernel(points(seed, N)[np.arange(N) // 2], gamma=0.3),
    "rank three": lambda seed: random_gram(seed, N, 3) + 20.0,
}
"""Positive semi-definite Gram matrices with entries that are not negative, except the last."""

WITHOUT_NEGATIVE = tuple(name for name in GRAMS if name != "rank three")


def two_labels(seed, share=0.3):
    """-1 and +1 in unequal numbers."""
    rng = np.random.default_rng(seed + 10)
    y = np.where(np.arange(N) < share * N, 1, -1)
    return rng.permutation(y)


def three_labels(seed):
    """Three classes of unequal sizes, by name."""
    rng = np.random.default_rng(seed + 20)
    return rng.permutation(np.repeat(["a", "b", "c"], [5, 10, N - 15]))


TARGETS = {"two": two_labels, "three": three_labels}
