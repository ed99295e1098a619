"""One cell of a study: a data set and a split, measured with all methods."""

from __future__ import annotations

import time

from threadpoolctl import threadpool_limits

from .curves import curve, discrepancy
from .part import Part
from .sampling import load, split
from .selection import Record, select
from .spec import Protocol
from .timing import seconds

_KINDS = {"selection": select, "seconds": seconds, "curve": curve, "discrepancy": discrepancy}


def measure(protocol: Protocol, dataset: str, number: int) -> tuple[list[Record], float]:
    """(what a cell finds, its CPU seconds), on one thread, so that nothing depends on the number of workers."""
    start = time.process_time()
    with threadpool_limits(1):
        X, y = load(protocol, dataset)
        train, test = split(protocol, dataset, number, y)
        name = f"{dataset}/{protocol.train_share}/{number}"
        records = _KINDS[protocol.kind](Part(protocol, name, X[train], y[train], X[test], y[test]))
    return records, time.process_time() - start
