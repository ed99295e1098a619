"""Equal things have equal fingerprints in every process; different things have different ones."""

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import criteria, kernels
from onefit.search.content_hash import content_hash


def scale(factor):
    return lambda values: factor * values


def first_score(model, X, y):
    return -abs(model.predict(X) - y).mean()


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None], "c": pd.Categorical(["u", "v"])})

DIFFERENT = [
    None, False, 0, 0.0, "0", b"0", 1.0, np.nextafter(1.0, 2.0), np.nan, np.inf, [], {}, set(), (1, 2), (2, 1),
    [[1], 2], [1, [2]], {"a": 1}, {"a": 1.0}, {"b": 1}, {1, 2},
    np.zeros(3), np.zeros((3, 1)), np.zeros(3, dtype=np.float32), np.zeros(3, dtype=int), -np.zeros(3),
    np.array(["a", None], dtype=object), np.array(["a", "b"]), sparse.eye(3, format="csr"), np.eye(3),
    FRAME, FRAME.rename(columns={"a": "z"}), FRAME.iloc[:1], FRAME["a"],
    SVC(), SVC(C=2.0), SVC(kernel="linear"), KernelRidge(), KernelRidge(kernel="linear", gamma=1.0),
    make_pipeline(StandardScaler(), SVC()), make_pipeline(StandardScaler(with_mean=False), SVC()), SVC,
    kernels.Gaussian(1.0), kernels.Gaussian(2.0), kernels.Laplacian(1.0), kernels.Gaussian(1.0) + kernels.Linear(),
    criteria.CV(), criteria.BIF(order=3), criteria.BIF(order=4), len, np.exp, scale(1.0), scale(2.0), first_score,
    partial(first_score, y=1), partial(first_score, y=2),
    make_scorer(mean_absolute_error), make_scorer(mean_absolute_error, greater_is_better=False),
]  # fmt: skip


def test_different_values_are_told_apart():
    found = [content_hash(value) for value in DIFFERENT]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.float64(0.5), 0.5),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3)),
        (np.arange(10.0)[::2], np.arange(0.0, 10.0, 2.0)),
        (sparse.eye(3, format="csr"), sparse.eye(3, format="csc")),
        (scale(3.0), scale(3.0)),
        (SVC(C=1), SVC(C=1)),
        (FRAME, FRAME.copy()),
        ({"b", "a", "c"}, {"c", "b", "a"}),
    ],
)
def test_equal_values_are_equal(one, other):
    assert content_hash(one) == content_hash(other)


def test_frames_of_polars():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    assert content_hash(frame) == content_hash(frame.clone())
    assert content_hash(frame) != content_hash(frame.with_columns(pl.lit(0.0).alias("a")))


@pytest.mark.slow
def test_the_next_process_agrees():
    """Hashes of strings and places in memory differ between processes."""
    script = """
import numpy as np
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.svm import SVC
from onefit import criteria, kernels
from onefit.search.content_hash import content_hash
square = lambda x, power=2: x**power
print(content_hash([{"b", "a", "c"}, SVC(kernel=kernels.Gaussian(0.5)), criteria.RKS(), square,
                   make_scorer(mean_absolute_error), np.array(["a", 1, None], dtype=object)]))
"""
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(ValueError, match="cannot be told apart"):
        content_hash([object()])
    circle = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nested too deeply"):
        content_hash(circle)
