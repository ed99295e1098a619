"""The routines called without the interpreter's lock give what NumPy gives, and refuse what they must not touch."""

import threading

import numpy as np
import pytest

from onefit.linalg.lapack import eigh_in_place, invert_in_place


def symmetric(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("n", [0, 1, 2, 7, 60, 300])
def test_eigenvalues_and_vectors(n):
    A = symmetric(n)
    values, vectors = eigh_in_place(A.copy())
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-11)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)


def test_eigenvectors_take_the_place_of_the_matrix():
    A = symmetric(20)
    assert np.shares_memory(eigh_in_place(A)[1], A)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
def test_inverse(n):
    A = symmetric(n)
    A = A @ A + np.eye(n)
    inverse = A.copy()
    assert invert_in_place(inverse)
    np.testing.assert_allclose(np.triu(inverse), np.triu(np.linalg.inv(A)), rtol=1e-8, atol=1e-12)


def test_an_indefinite_matrix_has_no_cholesky_inverse():
    assert not invert_in_place(np.diag([1.0, -1.0]))


@pytest.mark.parametrize("function", [eigh_in_place, invert_in_place])
@pytest.mark.parametrize(
    "wrong",
    [
        np.eye(3, dtype=np.float32),
        np.eye(3)[:, :2],
        np.eye(6)[::2, ::2],
        np.asfortranarray(np.arange(9.0).reshape(3, 3)),
    ],
    ids=["float32", "rectangular", "strided", "columns first"],
)
def test_other_memory_is_refused(function, wrong):
    with pytest.raises(ValueError, match="C-contiguous"):
        function(wrong)


def test_read_only_memory_is_refused():
    A = np.eye(3)
    A.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        eigh_in_place(A)


def test_the_lock_is_free_while_it_computes():
    """Another thread gets to run Python code before a decomposition of a second or so is over."""
    A, ticks, done = symmetric(900), [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before = len(ticks)
    eigh_in_place(A)
    during = len(ticks) - before
    done.set()
    counter.join()
    assert during > 5
