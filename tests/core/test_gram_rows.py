"""Sums over rows, a block at a time, against whole matrices."""

import numpy as np
import pytest

from onefit.core import Folds, Problem, Workspace, gram_rows
from onefit.core.gram_rows import GramRows
from onefit.kernels import Gaussian, Precomputed

from ..oracles.problems import points, random_symmetric, seeds


@pytest.fixture(params=[1, 50, 1 << 18])
def block(request, monkeypatch):
    """Blocks of one row, of a few, and of all rows."""
    monkeypatch.setattr(gram_rows, "_BLOCK", request.param)


@seeds
@pytest.mark.usefixtures("block")
def test_sums_of_rows(seed):
    K = random_symmetric(seed, 17)
    rows = GramRows(lambda: K, {})
    np.testing.assert_allclose(rows.totals.sums, K.sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(rows.totals.squares, (K**2).sum(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(rows.totals.smallest, K.min(axis=1))
    np.testing.assert_array_equal(rows.totals.largest, K.max(axis=1))
    np.testing.assert_array_equal(rows.diagonal, np.diag(K))
    assert rows.absolute_sum == pytest.approx(np.abs(K).sum(), rel=1e-13)
    B = np.random.default_rng(seed).normal(size=(17, 3))
    np.testing.assert_allclose(rows.times(B), K @ B, atol=1e-12)


@seeds
@pytest.mark.usefixtures("block")
def test_centred_sums(seed):
    K, Y = random_symmetric(seed, 17) + 100.0, np.random.default_rng(seed).normal(size=(17, 2))
    C = np.eye(17) - 1 / 17
    squares, forms = GramRows(lambda: K, {}).centred(Y)
    assert squares == pytest.approx(np.linalg.norm(C @ K @ C) ** 2, rel=1e-10)
    np.testing.assert_allclose(forms, np.diag(Y.T @ C @ K @ C @ Y), rtol=1e-9)


def test_a_workspace_keeps_sums_when_its_gram_matrix_is_overwritten():
    ws = Workspace(Problem(points(0, 30), Folds(30, ())), Gaussian(0.5))
    sums = ws.rows().totals.sums
    ws.factor(None, False, "spectrum")
    assert ws.rows().totals.sums is sums
    assert ws.problem.ledger["gram"] == 1


def test_a_given_matrix_is_read_where_it_is():
    K = random_symmetric(0, 12)
    ws = Workspace(Problem(K, Folds(12, ())), Precomputed())
    np.testing.assert_allclose(ws.rows().totals.sums, K.sum(axis=1), atol=1e-13)
    assert ws.problem.ledger["gram"] == 0


def test_workspaces_are_freed_without_the_garbage_collector():
    import gc
    import weakref

    gc.disable()
    try:
        ws = Workspace(Problem(points(0, 10), Folds(10, ())), Gaussian(0.5))
        _ = ws.rows().totals
        seen = weakref.ref(ws)
        del ws
        assert seen() is None
    finally:
        gc.enable()
