"""From a grid of candidates to the kernels that have to be evaluated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sklearn.base import clone, is_classifier

from ..core import Folds, Ledger, Targets
from ..core.coding import CodedTargets, code_targets, row_weights
from ..core.machine import Machine, NotUnderstoodError
from ..core.registry import read_machine
from ..kernels import Precomputed
from ..search.evaluate import Entry, KernelTask, Path
from ..search.views import Views, plain_view, transformed_views
from .adapters import split_pipeline
from .routing import final_weights
from .weights import check_sample_weight


@dataclass
class Plan:
    """What the fast path does, what has to be retrained and why, and which candidates are the same."""

    tasks: list[KernelTask] = field(default_factory=list)
    retrain: dict[int, str] = field(default_factory=dict)
    same_as: dict[int, int] = field(default_factory=dict)


@dataclass
class Preparation:
    """The data of a search and how its candidates read them."""

    estimator: Any
    X: Any
    y: Any
    folds: Folds
    fit_params: dict
    preprocessing: str
    ledger: Ledger = field(default_factory=Ledger)
    _views: dict = field(default_factory=dict)
    _targets: dict = field(default_factory=dict)

    def plan(self, candidates: list[dict]) -> Plan:
        """Sort candidates into kernels and paths. Errors in parameters are raised here, before any work."""
        plan = Plan()
        tasks: dict[Any, KernelTask] = {}
        paths: dict[Any, Path] = {}
        seen: dict[Any, int] = {}
        for number, params in enumerate(candidates):
            model = clone(self.estimator).set_params(**clone(params, safe=False))
            try:
                transformers, final = split_pipeline(model)
                machine = read_machine(final)
                weight, before = final_weights(model, self.fit_params)
                if transformers is not None and isinstance(machine.kernel, Precomputed):
                    raise NotUnderstoodError("transformers stand before a precomputed kernel")
            except NotUnderstoodError as reason:
                plan.retrain[number] = str(reason)
                continue
            if transformers is None:
                views_key, views = None, self._plain_views
                targets = self._targets_for(machine, weight)
            else:  # y and weights are checked before any transformer is fitted
                targets = self._targets_for(machine, weight)
                views_key = self._transformer_key(model, params)
                views = self._transformed_views(views_key, transformers, before)
            kernel = machine.kernel.bound(views.n_features)
            key = (views_key, kernel)
            path_key = (*key, machine.learner, machine.class_weight)
            if (same := seen.setdefault((path_key, machine.ridges), number)) != number:
                plan.same_as[number] = same
                continue
            if key not in tasks:
                if Precomputed.base in kernel.bases:
                    views.views[0].problem.base(Precomputed.base)  # refuses what is not a Gram matrix
                tasks[key] = KernelTask(views, kernel)
                plan.tasks.append(tasks[key])
            if path_key not in paths:
                frozen = views.frozen or (self.shared and machine.weights_follow_fold)
                paths[path_key] = Path(machine.learner, targets, frozen)
                tasks[key].paths.append(paths[path_key])
            self._check_ridges(machine, targets)
            paths[path_key].entries.append(Entry(number, machine.ridges))
        return plan

    def _transformer_key(self, model, params: dict):
        """Candidates whose parameters before the last step are equal share their views."""
        last = model.steps[-1][0]
        return tuple(
            (name, _hashable(value))
            for name, value in sorted(params.items())
            if name != last and not name.startswith(f"{last}__")
        )

    @cached_property
    def _plain_views(self) -> Views:
        return plain_view(self.X, self.folds, self.ledger)

    def _transformed_views(self, key, transformers, fit_params) -> Views:
        if key not in self._views:
            self._views[key] = transformed_views(
                transformers, self.X, self.y, self.folds, self.ledger, shared=self.shared, fit_params=fit_params
            )
        return self._views[key]

    def _targets_for(self, machine: Machine, sample_weight) -> Targets:
        key = machine.class_weight
        if key not in self._targets:
            weights = row_weights(
                machine.class_weight,
                self.coded,
                self.folds,
                check_sample_weight(sample_weight, self.folds.n),
                shared=self.shared,
            )
            self._targets[key] = Targets(self.coded.Y, weights)
        return self._targets[key]

    @property
    def shared(self) -> bool:
        """Whether what learns from training rows learns from all rows once."""
        return self.preprocessing == "shared"

    @cached_property
    def coded(self) -> CodedTargets:
        """The validated target."""
        return code_targets(self.y, is_classifier(self.estimator))

    def _check_ridges(self, machine: Machine, targets: Targets) -> None:
        if len(machine.ridges) not in (1, targets.Y.shape[1]):
            raise ValueError(
                f"alpha has {len(machine.ridges)} values for {targets.Y.shape[1]} targets: one, or one for each."
            )


def _hashable(value):
    """A value that stands for a parameter in a key: itself, or the identity of what cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value).__name__, value


def say_duplicates(plan: Plan, verbose: int) -> None:
    """Tell that parameters without effect (gamma of a linear kernel) were not evaluated again."""
    if plan.same_as and verbose > 0:
        print(f"[onefit] {len(plan.same_as)} candidates repeat others (parameters without effect): evaluated once")


def warn_retraining(reasons: dict[int, str], total: int) -> None:
    """One warning that names why candidates are retrained."""
    if reasons:
        texts = "; ".join(dict.fromkeys(reasons.values()))
        warnings.warn(
            f"{len(reasons)} of {total} candidates are retrained on every fold, as GridSearchCV does: {texts}.",
            RetrainingWarning,
            stacklevel=5,
        )


class RetrainingWarning(UserWarning):
    """The fast path could not serve some candidates."""
