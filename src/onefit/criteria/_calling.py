"""From a Gram matrix, a target and an estimator to the evidence that a criterion reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from ..data import Folds, Problem, Targets
from ..data.coding import CodedTargets, code_targets, row_weights
from ..data.targets import read_labels
from ..gram import DenseGram, Gram
from ..kernels import Precomputed
from ..machines.contract import HeldOut, Machine, MachinePath, Series, hold_out
from ..machines.evidence import Evidence
from ..machines.registry import read_machine


def evidence_of(K: Any, y: Any, estimator: Any, cv: Any, *, labels: bool, held_out: bool) -> Evidence:
    """Evidence of one candidate; ``labels`` and ``held_out`` say what of it will be read.

    K is an array, or a ``Gram`` that stands for one.
    """
    gram = K if isinstance(K, Gram) else _given(K, y)
    if y is not None and np.shape(y)[0] != gram.n:
        raise ValueError(f"The Gram matrix has {gram.n} rows for {np.shape(y)[0]} targets.")
    classifier = None if estimator is None else is_classifier(estimator)
    known = read_labels(y, classifier) if labels and y is not None else None
    if labels and known is None:
        raise ValueError("This criterion reads the target y, which is None.")
    if estimator is None:
        return Evidence(gram, known)
    machine = read_machine(estimator)
    if not isinstance(machine.kernel, Precomputed):
        raise ValueError(f'A criterion on a Gram matrix needs kernel="precomputed", got {estimator}.')
    coded = code_targets(y, bool(classifier), machine.pairs, machine.link)
    folds = Folds(gram.n, ())
    if held_out:
        splitter = check_cv(cv, coded.labels, classifier=bool(classifier))
        folds = Folds.from_splits(splitter.split(gram.problem.X, coded.labels), gram.n)
        gram = gram.with_folds(folds)
    path = MachinePath(machine.learner, _targets(machine, coded, folds), coded, (machine.penalties,))
    present = coded.present_classes(folds, None)
    if any(classes is not None and len(classes) < 2 for classes in present):
        raise ValueError("A fold trains on one class only.")

    def held(series: Series | None, scale_penalty: bool) -> HeldOut:
        return hold_out(machine.learner, gram, path.targets, path.penalties, series=series, scale_penalty=scale_penalty)

    return Evidence(gram, known, path, held, present)


def _given(K: Any, y: Any) -> Gram:
    """The Gram matrix that a user gave as an array, without folds."""
    K = np.asarray(K, dtype=np.float64)
    n = len(K) if y is None else np.shape(y)[0]
    if K.shape != (n, n):
        raise ValueError(f"The Gram matrix has shape {K.shape} for {n} targets: it must be square.")
    return DenseGram(Problem(K, Folds(n, ())), Precomputed())


def _targets(machine: Machine, coded: CodedTargets, folds: Folds) -> Targets:
    weights, whole = (
        row_weights(machine.class_weight, coded, folds, None, shared=shared, balance_weighted=machine.balance_weighted)
        for shared in (False, True)
    )
    assert not isinstance(whole, tuple)
    return Targets(coded.Y, weights, whole)
