"""What criteria without a machine allocate and factorise."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from onefit import LSSVC, KernelSearchCV, criteria

from ..oracles.problems import points

N = 1200
FIT_FREE = {name: criteria.resolve(name) for name in ("sm", "kta", "ckta", "fsm")}
FIT_FREE["kernel stability"] = lambda K, y: criteria.kernel_stability(K)


def peak(action):
    """Peak memory in n x n arrays of doubles."""
    action()  # imports and caches
    tracemalloc.start()
    action()
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return largest / (8 * N**2)


@pytest.mark.parametrize("gamma", [1e-6, 0.1])  # one of them is nearly constant
@pytest.mark.parametrize("name", FIT_FREE)
def test_no_more_than_one_array_of_the_size_of_the_gram_matrix(name, gamma):
    X = points(0, N)
    K, y = rbf_kernel(X, gamma=gamma), np.where(X[:, 0] > 0.3, 1, -1)
    assert peak(lambda: FIT_FREE[name](K, y)) < 1.5


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
def test_a_search_needs_the_distances_and_one_gram_matrix():
    X = points(0, N)
    y = np.where(X[:, 0] > 0.3, 1, -1)
    search = KernelSearchCV(LSSVC(), {"gamma": [0.1, 1.0, 10.0]}, criterion=["sm", "kta", "ckta", "fsm"], refit=False)
    assert peak(lambda: search.fit(X, y)) < 2.9  # computing distances takes a part of that
    assert search.ledger_["eigendecomposition"] == search.ledger_["cholesky"] == 0
