"""What differs between a KernelSearchCV and a GridSearchCV with the same arguments."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from onefit import KernelSearchCV

from .referee import Referee
from .retraining import retrained_values
from .scorers import is_continuous
from .searches import Search
from .splitters import tests_single_rows

TOLERANCE = 1e-6
"""Largest difference of continuous scores and of decision values, relative to their size if that is above one."""
ROUNDING = 1e-12
"""Largest difference of scores that count rows or pairs of rows: they are quotients of the same whole numbers."""
WARNINGS = [(FitFailedWarning, ""), (UserWarning, "Scoring failed"), (UserWarning, "are non-finite")]
"""Category and text of warnings that both searches give, or neither."""
ATTRIBUTES = ("best_index_", "best_params_", "best_score_", "best_estimator_", "multimetric_", "n_splits_", "classes_")


@dataclass
class Outcome:
    """What came of a fit: a fitted search or an error, and the warnings."""

    fitted: Any = None
    error: Exception | None = None
    warnings: list = field(default_factory=list)

    def warned(self, category, text):
        """Whether there was such a warning."""
        return any(issubclass(w.category, category) and text in str(w.message) for w in self.warnings)


def run(kind, search: Search) -> Outcome:
    """Fit a search class with the arguments of ``search``."""
    outcome = Outcome()
    with warnings.catch_warnings(record=True) as outcome.warnings:
        warnings.simplefilter("always")
        try:
            model = kind(clone(search.estimator), search.grid, **search.options)
            outcome.fitted = model.fit(search.X, search.y, **search.fit_params)
        except Exception as error:
            outcome.error = error
    return outcome


def differences(search: Search) -> list[str]:
    """What differs and may not: nothing if the searches agree."""
    slow, fast = run(GridSearchCV, search), run(KernelSearchCV, search)
    if slow.error is not None or fast.error is not None:
        same = slow.error is not None and isinstance(fast.error, type(slow.error))
        return [] if same else [f"error: GridSearchCV {slow.error!r}, KernelSearchCV {fast.error!r}"]
    found = [
        f"warning: {category.__name__} {text!r} of one search only"
        for category, text in WARNINGS
        if slow.warned(category, text) != fast.warned(category, text)
    ]
    found += [f"attribute: {name}" for name in ATTRIBUTES if hasattr(slow.fitted, name) != hasattr(fast.fitted, name)]
    return found + Comparison(search, slow.fitted, fast.fitted).differences()


class Comparison:
    """Two fitted searches, and the referee where LIBSVM's precision is not enough."""

    def __init__(self, search, slow, fast):
        self.search, self.fast = search, fast
        self.ours, self.theirs = fast.cv_results_, dict(slow.cv_results_)
        self.referee = Referee(search, self.theirs["params"])
        self.single_rows = tests_single_rows(search.options["cv"])
        self.continuous = is_continuous(search.options["scoring"], is_classifier(search.estimator))

    def differences(self):
        """Keys, parameters and scores; then the choice and its out-of-fold values."""
        found = [key for key in self.theirs if key not in self.ours and not (self.single_rows and "split" in key)]
        if found or self.theirs["params"] != self.ours["params"]:
            return [f"table: {found or 'params'}"]
        found = [text for key in list(self.theirs) if self._is_score(key) for text in self._column(key)]
        return found or self._choice() + self._out_of_fold()

    def _is_score(self, key):
        """Scores of splits; leave-one-out is pooled into one, which is the mean.

        Average precision on training rows of an SVC is left out: its free support vectors have equal values but for
        rounding, and precision depends on which of them are equal to the last bit.
        """
        precision = "average_precision" in str(self.search.options["scoring"])
        if precision and "_train_" in key and isinstance(self.search.machine, SVC):
            return False
        return key.startswith(("mean_test", "mean_train") if self.single_rows else "split")

    def _column(self, key):
        """Differences of one column of scores; those of LIBSVM are replaced in ``theirs``."""
        found, column = [], self.theirs[key].copy()
        for k, label in enumerate(self.ours["exactness"]):
            ours = self.ours[key][k]
            tolerance = TOLERANCE if self.continuous and label == "exact" else ROUNDING
            if label == "approximate" or _close(ours, column[k], tolerance):
                continue
            split = None if self.single_rows else int(key.split("_")[0].removeprefix("split"))
            if self.referee.blames_libsvm(k, split):
                column[k] = self.referee.scores(k)[key][0]
            if not _close(ours, column[k], tolerance):
                row = f"{self.ours['params'][k]} ({label}, {self.ours['status'][k]})"
                found.append(f"score: {key} of {row}: {ours} for {column[k]}; {self.referee.explain(k)}")
        self.theirs[key] = column
        return found

    def _choice(self):
        """The best candidate: the same, unless continuous scores of two are closer than they have to agree."""
        if (self.ours["exactness"] == "approximate").any() or not hasattr(self.fast, "best_index_"):
            return []
        metric = self.search.options.get("refit", "score")
        columns = [c for key, c in self.theirs.items() if self._is_score(key) and key.endswith(f"_test_{metric}")]
        means = np.mean(columns, axis=0)
        best, chosen = int(np.argmax(np.where(np.isnan(means), -np.inf, means))), self.fast.best_index_
        if chosen == best or (self.continuous and _close(means[chosen], means[best], 2 * TOLERANCE)):
            return []
        return [f"choice: {self.fast.best_params_} ({means[chosen]}) for {self.ours['params'][best]} ({means[best]})"]

    def _out_of_fold(self):
        """Out-of-fold values against training the chosen candidate on every split."""
        k = getattr(self.fast, "best_index_", None)
        if k is None or not hasattr(self.fast, "oof_decision_") or self.ours["exactness"][k] == "approximate":
            return []
        params, values = self.ours["params"][k], self.fast.oof_decision_
        off = _distance(values, retrained_values(self.search, params))
        if off > TOLERANCE:
            judged = partial(self.referee.search_of_split, k)
            off = _distance(values, retrained_values(self.search, params, judged))
        row = f"{params} ({self.ours['exactness'][k]}, {self.ours['status'][k]})"
        return [f"out of fold: {row}: {off:.1e}; {self.referee.explain(k)}"] if off > TOLERANCE else []


def _close(ours, theirs, tolerance):
    same = ours == theirs or (np.isnan(ours) and np.isnan(theirs))  # also two infinite ones
    return bool(same or abs(ours - theirs) <= tolerance * max(1.0, abs(theirs)))


def _distance(ours, theirs):
    """Largest difference relative to the largest value; infinite if shapes or missing values differ."""
    if theirs is None:
        return 0.0
    if ours.shape != theirs.shape or not np.array_equal(np.isnan(ours), np.isnan(theirs)):
        return np.inf
    return np.nanmax(np.abs(ours - theirs), initial=0.0) / max(np.nanmax(np.abs(theirs), initial=0.0), 1e-300)
