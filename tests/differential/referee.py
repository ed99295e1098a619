"""Who is right where KernelSearchCV and LIBSVM differ.

LIBSVM keeps kernel values in single precision: whatever its ``tol``, its solution violates the conditions of
optimality, evaluated in double precision, by some 1e-7 times the size of kernel times coefficients. Where that can be
seen, and only there, GridSearchCV's answer is replaced by that of an interior-point method; the tolerance stays. Scores
for which the choice of a bias that is not unique matters have no referee: LIBSVM's choice is GridSearchCV's answer.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from tests.oracles.decisions import svm_oracle
from tests.oracles.interior_point import violation

from .retraining import fit_on, splits

CONVERGED = 1e-8
"""Violation of the conditions of optimality up to which LIBSVM has done what its ``tol`` asked for."""
UNIQUE = 1e-8
"""Width of the interval of optimal biases up to which the bias is one number."""


class Referee:
    """One search by a solver in double precision, where LIBSVM's has not converged."""

    def __init__(self, search, candidates):
        self.search, self.candidates = search, candidates
        self.verdicts, self.scores = cache(self._verdicts), cache(self._scores)

    def blames_libsvm(self, number, split=None):
        """Whether LIBSVM's solutions of one split, or all, are not converged although the right ones are unique."""
        found = self.verdicts(number) if split is None else self.verdicts(number)[split : split + 1]
        return any(violated > CONVERGED for violated, _ in found) and all(width <= UNIQUE for _, width in found)

    def search_of_split(self, number, split):
        """The search that trains for a split: as it is, or by the interior-point method.

        The latter also where the bias is not unique: it takes the middle of the interval, which is our convention.
        """
        violated, width = self.verdicts(number)[split]
        return self.in_double_precision if violated > CONVERGED or width > UNIQUE else self.search

    @property
    def in_double_precision(self):
        """The search with the interior-point method in place of LIBSVM."""
        machine = svm_oracle(self.search.machine)
        if self.search.place:
            machine = clone(self.search.estimator).set_params(**{self.search.place: machine})
        return replace(self.search, estimator=machine)

    def explain(self, number):
        """What is known of LIBSVM's solutions, for messages."""
        found = self.verdicts(number)
        return f"LIBSVM violates by {max(v for v, _ in found):.1e}, bias interval {max(w for _, w in found):.1e}"

    def _scores(self, number):
        """The table of a GridSearchCV of one candidate, by the interior-point method."""
        other = self.in_double_precision
        grid = {name: [value] for name, value in self.candidates[number].items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = GridSearchCV(other.estimator, grid, **{**other.options, "refit": False})
            return search.fit(other.X, other.y, **other.fit_params).cv_results_

    def _verdicts(self, number):
        """(LIBSVM's violation, width of the interval of optimal biases) of each split."""
        if not isinstance(self.search.machine, SVC | SVR):
            return [(0.0, 0.0)] * len(splits(self.search))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [self._verdict(self.candidates[number], train) for train, _ in splits(self.search)]

    def _verdict(self, params, train):
        try:
            exact = machines_of(fit_on(self.in_double_precision, params, train))
            theirs = machines_of(fit_on(self.search, params, train))
        except ValueError:  # what cannot be trained has no solution
            return 0.0, 0.0
        found = [_verdict_of(*pair) for pair in zip(exact, theirs)]
        return max(violated for violated, _ in found), max(width for _, width in found)


def _verdict_of(exact, theirs):
    """(LIBSVM's violation, width of the interval of optimal biases) of one machine."""
    if exact.violation_ > CONVERGED:  # a referee that has not converged blames nobody
        return 0.0, exact.bias_interval_
    problems = zip(exact.problems_, libsvm_solutions(theirs, exact))
    return max(violation(*problem, *found) for problem, found in problems), exact.bias_interval_


def machines_of(model):
    """The fitted machines inside of a fitted model: one, or one for each output or class."""
    if isinstance(model, Pipeline):
        return machines_of(model[-1])
    if hasattr(model, "regressor_"):
        return machines_of(model.regressor_)
    if hasattr(model, "estimators_"):
        return [machine for part in model.estimators_ for machine in machines_of(part)]
    return [model]


def libsvm_solutions(model, exact):
    """(variables, multiplier) of a fitted SVC or SVR for each of the ``exact`` model's quadratic programs.

    scikit-learn turns the signs of two classes. Of several, the coefficients of a row stand in the order of the other
    classes. ``support_`` counts rows of positive weight only.
    """
    coef = np.zeros((model.dual_coef_.shape[0], len(exact.kept_)))
    coef[:, model.support_] = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    if isinstance(model, SVR):
        return [(np.concatenate([np.maximum(coef[0], 0), np.maximum(-coef[0], 0)]), -model.intercept_[0])]
    turned = -1.0 if len(model.classes_) == 2 else 1.0
    found = []
    for (i, j, rows, sign), intercept in zip(exact.pairs_, model.intercept_):
        beta = turned * np.where(sign > 0, coef[j - 1, rows], coef[i, rows])
        found.append((sign * beta, -turned * intercept))
    return found
