"""The data as each fold sees them: one view for all folds, or one for each.

A Pipeline's transformers learn from the training rows, so every fold has inputs of its own; with
``preprocessing="shared"`` they learn from all rows once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, get_tags

from ..core import Folds, Ledger, Problem
from .rows import take_rows


@dataclass(frozen=True)
class View:
    """A Problem and the rows of the full data that its rows are."""

    problem: Problem
    rows: np.ndarray


@dataclass(frozen=True)
class Views:
    """One view of all folds, or one view per fold. ``frozen`` says that transformers saw the test rows."""

    views: Sequence[View]
    n_features: int
    frozen: bool = False

    @property
    def per_fold(self) -> bool:
        """True if each fold has inputs of its own."""
        return len(self.views) > 1 or len(self.views[0].problem.folds) != self.n_folds

    @property
    def n_folds(self) -> int:
        """Number of folds over all views."""
        return sum(len(view.problem.folds) for view in self.views)


def plain_view(X, folds: Folds, ledger: Ledger) -> Views:
    """All folds on the same inputs."""
    X = _checked(X)
    return Views([View(Problem(X, folds, ledger), np.arange(folds.n))], X.shape[1])


def transformed_views(transformers, X, y, folds: Folds, ledger: Ledger, *, shared: bool, fit_params) -> Views:
    """Inputs behind a Pipeline's transformers, learned from each fold's training rows or once from all rows.

    ``fit_params`` are full-length metadata for the transformers' ``fit_transform``.
    """
    if shared:
        refuse_supervised(transformers)
        Xt = clone(transformers).fit_transform(X, y, **fit_params)
        plain = plain_view(Xt, folds, ledger)
        return Views(plain.views, plain.n_features, frozen=True)
    views = []
    for fold in folds:
        model = clone(transformers)
        params = {key: take_rows(value, fold.train) for key, value in fit_params.items()}
        trained = model.fit_transform(take_rows(X, fold.train), take_rows(y, fold.train), **params)
        tested = model.transform(take_rows(X, fold.test))
        m, n = len(fold.train), len(fold.train) + len(fold.test)
        one = Folds.from_splits([(np.arange(m), np.arange(m, n))], n)
        rows = np.concatenate([fold.train, fold.test])
        views.append(View(Problem(_checked(_stack(trained, tested)), one, ledger), rows))
    return Views(views, views[0].problem.X.shape[1])


def refuse_supervised(transformers) -> None:
    """Transformers that use y must not see the test rows' labels."""
    for name, step in transformers.steps:
        if step is not None and step != "passthrough" and get_tags(step).target_tags.required:
            raise ValueError(
                f'preprocessing="shared" is refused for the step {name!r} ({step}): it uses y, so the labels of '
                'the test rows would leak. Use preprocessing="per_fold".'
            )


def _checked(X):
    return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")


def _stack(first, second):
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([np.asarray(first), np.asarray(second)])
