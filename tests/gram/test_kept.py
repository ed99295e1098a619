"""Values that stay with the workers of a cluster: sent once, and there again whatever becomes of the workers."""

import numpy as np
import pytest

from onefit.gram.cluster import Batch, Kept, reduce_batches


def total(shared, chunks, arguments):
    factor, offset = shared
    return sum(factor * chunk @ weights + offset for chunk, (weights,) in zip(chunks, arguments))


def batches(kept):
    rng = np.random.default_rng(0)
    rows, weights = rng.integers(0, 9, size=(6, 5)), rng.integers(0, 9, size=(6, 5))
    expected = sum(2 * row @ weight + 1 for row, weight in zip(rows, weights))
    own = [Kept(weight) if kept else weight for weight in weights]
    factor = Kept(2) if kept else 2
    return expected, [Batch(total, [factor, 1], [row], [(weight,)]) for row, weight in zip(rows, own)]


@pytest.mark.parametrize("kept", [False, True])
def test_without_a_cluster_values_are_themselves(kept):
    expected, parts = batches(kept)
    assert reduce_batches(parts) == expected


@pytest.mark.slow
@pytest.mark.parametrize("event", ["nothing", "a worker dies", "the cluster is restarted", "another client"])
def test_values_are_sent_once_and_again_when_they_are_lost(event):
    distributed = pytest.importorskip("distributed")
    expected, parts = batches(True)
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster) as client:
        assert reduce_batches(parts) == expected
        first = [part.arguments[0][0].task() for part in parts]
        if event == "a worker dies":
            client.retire_workers([next(iter(cluster.scheduler.workers))])
        if event == "the cluster is restarted":
            client.restart()
        if event != "another client":
            assert reduce_batches(parts) == expected
            again = [part.arguments[0][0].task() for part in parts]
            lost = event == "the cluster is restarted"
            assert all((one is other) != lost for one, other in zip(first, again))
    if event == "another client":
        with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster):
            assert reduce_batches(parts) == expected
