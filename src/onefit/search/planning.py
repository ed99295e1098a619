"""From a grid of candidates to the kernels that have to be evaluated."""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import column_or_1d

from ..core import Folds, Problem, Targets
from ..core.coding import CodedTargets, Pairs, code_targets, row_weights
from ..core.labels import Labels, read_labels
from ..core.machine import Machine, NotUnderstoodError
from ..core.registry import read_machine
from ..core.weights import check_sample_weight
from ..kernels import Kernel, Precomputed
from .fingerprint import fingerprint
from .routing import final_weights, split_pipeline
from .tasks import Entry, KernelTask, Path, Settings
from .views import Inputs, checked_rows


@dataclass
class Plan:
    """Tasks of the fast path, candidates to retrain and why, and candidates that are the same.

    ``refused`` are candidates whose parameters make no sense, with the error that says so.
    """

    tasks: list[KernelTask] = field(default_factory=list)
    retrain: dict[int, str] = field(default_factory=dict)
    refused: dict[int, Exception] = field(default_factory=dict)
    same_as: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Candidate:
    """A candidate as the fast path reads it."""

    machine: Machine
    transformers: Any
    sample_weight: Any
    transformer_params: dict[str, Any]
    views_key: Any  # candidates with equal keys see the same inputs


@dataclass
class Preparation:
    """The data of a search and how its candidates read them. Nothing costly happens here."""

    estimator: Any
    X: Any
    y: Any
    folds: Folds
    fit_params: dict
    preprocessing: str
    train_scores: bool = False
    whole: bool = False  # machines are trained on all rows too
    _inputs_of: dict = field(default_factory=dict)
    _gram_checked: bool = False
    _targets: dict = field(default_factory=dict)
    _coded: dict = field(default_factory=dict)

    def plan(self, candidates: list[dict], first: int = 0) -> Plan:
        """Sort candidates, numbered from ``first`` on, into kernels and paths.

        What is wrong with the data, the weights or the names of parameters is raised here.
        """
        plan = Plan()
        paths: dict[Any, Path] = {}
        entries: defaultdict[Any, list[Entry]] = defaultdict(list)
        seen: dict[Any, int] = {}
        for number, params in enumerate(candidates, first):
            model = clone(self.estimator).set_params(**clone(params, safe=False))
            try:
                candidate = self._read(model, params)
            except NotUnderstoodError as reason:
                plan.retrain[number] = str(reason)
                continue
            except (ValueError, TypeError) as error:
                plan.refused[number] = error
                continue
            machine, inputs = candidate.machine, self._inputs(candidate)
            kernel = self._bound(machine.kernel, inputs)
            coded = self.coded_for(machine.pairs)
            if not (coded.coding.flat or machine.learner.several_outputs):
                plan.retrain[number] = f"{machine.learner.name} has one target, and y has two dimensions"
                continue
            given = check_sample_weight(candidate.sample_weight, self.folds.n)
            try:
                targets = self._targets_for(machine, coded, given)
            except (ValueError, TypeError) as error:
                plan.refused[number] = error
                continue
            key = (inputs, kernel, machine.learner, machine.class_weight, machine.pairs)
            if (same := seen.setdefault((key, machine.penalties), number)) != number:
                plan.same_as[number] = same
                continue
            frozen = inputs.frozen or (self.shared and (machine.weights_follow_fold or kernel.follows_data))
            paths.setdefault(key, Path(machine.learner, targets, coded, frozen))
            entries[key].append(Entry(number, machine.penalties))
        tasks: defaultdict[tuple[Inputs, Kernel], list[Path]] = defaultdict(list)
        for key, path in paths.items():
            tasks[key[:2]].append(replace(path, entries=tuple(entries[key])))
        plan.tasks = [KernelTask(*of, tuple(own)) for of, own in tasks.items()]
        return plan

    def _read(self, model, params: dict) -> _Candidate:
        transformers, final = split_pipeline(model)
        machine = read_machine(final)
        weight, before = final_weights(model, self.fit_params)
        if weight is not None and bool(np.any(np.asarray(weight) < 0)):
            raise NotUnderstoodError("sample_weight has negative values")
        if transformers is None:
            return _Candidate(machine, None, weight, before, None)
        if isinstance(machine.kernel, Precomputed):
            raise NotUnderstoodError("transformers stand before a precomputed kernel")
        last = model.steps[-1][0]
        key = tuple(
            (name, _hashable(value))
            for name, value in sorted(params.items())
            if name != last and not name.startswith(f"{last}__")
        )
        return _Candidate(machine, transformers, weight, before, key)

    def _inputs(self, candidate: _Candidate) -> Inputs:
        """What the candidate is trained on; plain rows are checked at once."""
        key = candidate.views_key
        if key not in self._inputs_of:
            X = checked_rows(self.X) if candidate.transformers is None else self.X
            self._inputs_of[key] = Inputs(
                X, self.y, self.folds, candidate.transformers, self.shared, candidate.transformer_params,
                self.train_scores,
            )  # fmt: skip
        return self._inputs_of[key]

    def _bound(self, kernel: Kernel, inputs: Inputs) -> Kernel:
        """The kernel with its parameters resolved where the number of features is known already."""
        if inputs.transformers is not None:
            return kernel
        if Precomputed.base in kernel.bases and not self._gram_checked:
            Problem(inputs.X, self.folds).base(Precomputed.base)  # refuses what is not a Gram matrix
            self._gram_checked = True
        return kernel.bound(inputs.X.shape[1])

    def _targets_for(self, machine: Machine, coded: CodedTargets, given) -> Targets:
        key = (machine.class_weight, machine.balance_weighted, machine.pairs)
        if key not in self._targets:
            weights, whole = (
                row_weights(
                    machine.class_weight, coded, self.folds, given, shared=shared,
                    balance_weighted=machine.balance_weighted,
                )
                if wanted else None
                for shared, wanted in ((self.shared, True), (True, self.whole))
            )  # fmt: skip
            assert not isinstance(whole, tuple)
            self._targets[key] = Targets(coded.Y, weights, whole)
        columns = coded.Y.shape[1]
        if len(machine.penalties) not in (1, columns):
            raise ValueError(f"alpha has {len(machine.penalties)} values for {columns} targets: one, or one for each.")
        return self._targets[key]

    @property
    def shared(self) -> bool:
        """Whether what learns from training rows learns from all rows once."""
        return self.preprocessing == "shared"

    def coded_for(self, pairs: Pairs | None = None) -> CodedTargets:
        """The validated target, coded one-vs-rest or in pairs of classes."""
        if pairs not in self._coded:
            self._coded[pairs] = code_targets(self.y, is_classifier(self.estimator), pairs)
        return self._coded[pairs]

    def target(self) -> Labels:
        """The target as criteria without a machine read it."""
        return read_labels(self.y, is_classifier(self.estimator))

    def settings(self, scoring=None, **options) -> Settings:
        """What all kernels share, with the classes that each fold trains on."""
        weight, _ = final_weights(self.estimator, self.fit_params)
        coded = self.coded_for()
        present = coded.present_classes(self.folds, check_sample_weight(weight, self.folds.n))
        return Settings(self.X, self.y, coded.labels, self.folds, scoring, present, **options)


def flat_target(estimator, y):
    """The target without a second dimension of length one, with scikit-learn's warning, for machines of one target."""
    if getattr(y, "ndim", 1) != 2 or y.shape[1] != 1 or is_classifier(estimator):
        return y
    try:
        learner = read_machine(split_pipeline(estimator)[1]).learner
    except (NotUnderstoodError, TypeError, ValueError):
        return y
    return y if learner.several_outputs else column_or_1d(y, warn=True)


def _hashable(value):
    """A value that stands for a parameter in a key: itself, or a digest of what cannot be hashed."""
    try:
        hash(value)
    except TypeError:
        return fingerprint(value)
    return type(value).__name__, value


class RetrainingWarning(UserWarning):
    """The fast path could not serve some candidates."""


def warn_retraining(reasons: dict[int, str], total: int, depth: int) -> None:
    """One warning that names why candidates are retrained; ``depth`` frames below the user's call."""
    if reasons:
        texts = "; ".join(dict.fromkeys(reasons.values()))
        warnings.warn(
            f"{len(reasons)} of {total} candidates are retrained on every fold, as GridSearchCV does: {texts}.",
            RetrainingWarning,
            stacklevel=depth,
        )
