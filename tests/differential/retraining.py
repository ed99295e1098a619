"""Machines of a search trained on single splits."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv


def splits(search):
    """(train, test) of every split."""
    cv = check_cv(search.options["cv"], search.y, classifier=is_classifier(search.estimator))
    return list(cv.split(search.X, search.y, search.fit_params.get("groups")))


def fit_on(search, params, train):
    """The search's estimator with some parameters, trained on some rows."""
    model = clone(search.estimator).set_params(**clone(params, safe=False))
    weights = {name: values[train] for name, values in search.fit_params.items() if name.endswith("sample_weight")}
    return model.fit(_block(search, train, train), search.y[train], **weights)


def respond(fitted, search, train, test):
    """Decision values, or predictions of a regression, of some rows."""
    rows = _block(search, test, train)
    return fitted.decision_function(rows) if is_classifier(fitted) else fitted.predict(rows)


def retrained_values(search, params, search_of_split=None):
    """Out-of-fold values by training on every split: means where a row is tested more than once, NaN where never.

    ``search_of_split(number)`` may name another search to train for a split. None if a split lacks a class, whose
    values are a matter of convention.
    """
    n, total, times = len(search.y), 0.0, np.zeros(len(search.y))
    for number, (train, test) in enumerate(splits(search)):
        used = search if search_of_split is None else search_of_split(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = fit_on(used, params, train)
        if is_classifier(fitted) and len(fitted.classes_) < len(np.unique(search.y)):
            return None
        values = respond(fitted, used, train, test)
        whole = np.zeros((n, *values.shape[1:]))
        np.add.at(whole, test, values)
        np.add.at(times, test, 1)
        total = total + whole
    with np.errstate(invalid="ignore"):
        return total / times.reshape(-1, *[1] * (np.ndim(total) - 1))


def _block(search, rows, columns):
    """Rows of the data; of a Gram matrix also the columns of the training rows."""
    if hasattr(search.X, "iloc"):
        return search.X.iloc[rows]
    return (
        search.X[np.ix_(rows, columns)] if getattr(search.machine, "kernel", None) == "precomputed" else search.X[rows]
    )
