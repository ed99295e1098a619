"""From a request to tasks: candidates become machines, and machines that share a kernel become one task.

Nothing costly happens here. What is wrong with the data, the weights, the names of parameters or the choice of a
criterion is raised here, before any work.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._exceptions import NotUnderstoodError
from ..criteria import CV
from ..criteria.base import situation_of
from ..data import Problem, Targets
from ..data.blocks import RowScan
from ..data.coding import CodedTargets, Link, Pairs, code_targets, row_weights
from ..data.streamed_fit import streamable_rows
from ..data.targets import Labels, check_sample_weight, read_labels
from ..data.transformed_target import TransformedTargets
from ..data.views import Inputs, Resampler, checked_rows
from ..kernels import Kernel, Precomputed
from ..machines.capabilities import CAPABILITIES, OF_MATRICES
from ..machines.contract import Machine
from ..machines.registry import Model, read_model
from .certify import Certify, check_certifiable
from .executors import Resources, allot, allot_passes
from .explicit_features import read_on_features
from .feature_solver import refuse_on_features
from .hand_over import hand_over_tasks
from .request import Request, check_approximable
from .retraining import scaled_penalty
from .routing import features_of, sample_weight_of, transformers_key
from .scoring import ScoredRows
from .tasks import KernelTask, Path, Settings, order_tasks


@dataclass
class Plan:
    """Tasks for some candidates, and reasons where there are none.

    ``tasks`` are those of the fast path, in order. ``retrain`` says of other candidates why they are trained on every
    fold, ``handed`` of those that scikit-learn trains as fast; ``refused`` are candidates whose parameters make no
    sense, with the error that says so; ``same_as`` are candidates that repeat others. ``settings`` and ``resources``
    are shared by all tasks.
    """

    tasks: list[KernelTask] = field(default_factory=list)
    retrain: dict[int, str] = field(default_factory=dict)
    handed: dict[int, str] = field(default_factory=dict)
    refused: dict[int, Exception] = field(default_factory=dict)
    same_as: dict[int, int] = field(default_factory=dict)
    resources: Resources = field(default_factory=Resources)
    settings: Settings | None = None  # None if there are no tasks

    @property
    def known_settings(self) -> Settings:
        """The settings of a plan that has tasks."""
        assert self.settings is not None
        return self.settings

    @property
    def paths(self) -> list[Path]:
        """The paths of all tasks."""
        return [path for task in self.tasks for path in task.paths]


def plan(request: Request, candidates: list[dict], first: int = 0, *, hand_over: bool = False) -> Plan:
    """Plan candidates, numbered from ``first`` on; a request that cannot be fulfilled is an error.

    With ``hand_over`` candidates that gain nothing are left to scikit-learn.
    """
    if request.approximation is not None:
        check_approximable(request)
    planned = _sort(request, candidates, first)
    if hand_over:
        planned.tasks, trained, planned.handed = hand_over_tasks(request, planned.tasks)
        planned.retrain.update(trained)
    target = read_labels(request.y, request.classifier) if request.columns or request.screen is not None else None
    _refuse_undefined(request, planned, target)
    if planned.tasks:
        planned.settings = _settings(request, planned, target)
    if request.approximation is not None:
        _refuse_retraining(request, planned)
        _refuse_criteria_of_matrices(request, planned)
        if (request.columns or request.series is not None) and any(
            task.inputs.per_fold(task.kernel) for task in planned.tasks
        ):
            raise ValueError(
                "With an approximation, criteria read one set of features: transformers and widths that learn on every "
                'fold need preprocessing="shared".'
            )
        planned.resources, streaming = allot_passes(planned.tasks, request.n_jobs, request.memory_budget)
        planned.settings = planned.settings and replace(
            planned.settings, streaming=replace(streaming, seen=request.seen)
        )
        return planned
    planned.resources = allot(planned.tasks, request.n_jobs, request.memory_budget, criteria=bool(request.columns))
    if request.scale_penalty and (planned.retrain or planned.refused):
        scaled_penalty(request.estimator, 1.0)  # an error now if there is no penalty to scale
    return planned


def _sort(request: Request, candidates: list[dict], first: int) -> Plan:
    """Sort candidates into tasks, those to retrain, those that make no sense, and those that repeat others."""
    planned, data = Plan(), _Data(request)
    paths: dict[Any, Path] = {}
    numbers: defaultdict[Any, dict[tuple[float, ...], int]] = defaultdict(dict)  # of candidates, by their penalties
    for number, params in enumerate(candidates, first):
        model = clone(request.estimator).set_params(**clone(params, safe=False))
        try:
            candidate = _read(model, params, request)
        except NotUnderstoodError as reason:
            planned.retrain[number] = str(reason)
            continue
        except (ValueError, TypeError) as error:
            planned.refused[number] = error
            continue
        if request.approximation is not None and (wrong := refuse_on_features(candidate.machine)):
            planned.refused[number] = ValueError(wrong)
            continue
        machine = candidate.machine
        try:
            inputs = data.inputs_of(candidate)
        except NotUnderstoodError as reason:
            planned.retrain[number] = str(reason)
            continue
        kernel, coded = data.bound(machine.kernel, inputs), data.coded(machine.pairs, machine.link)
        flat = coded.coding.flat if inputs.target is None else inputs.target.whole.y.ndim == 1
        if not (flat or machine.learner.several_outputs or machine.separate == "outputs"):
            planned.retrain[number] = f"{machine.learner.name} has one target, and y has two dimensions"
            continue
        given = check_sample_weight(candidate.model.sample_weight, request.folds.n)
        try:
            targets = data.targets_of(machine, coded, given, inputs.target)
        except (ValueError, TypeError) as error:
            planned.refused[number] = error
            continue
        key = (inputs, kernel, candidate.explicit, machine.learner, machine.class_weight, machine.pairs, machine.link)
        if (known := numbers[key].setdefault(machine.penalties, number)) != number:
            planned.same_as[number] = known
            continue
        frozen = inputs.frozen or (request.shared and (machine.class_weight == "balanced" or kernel.follows_data))
        balanced = machine.class_weight, machine.balance_weighted
        paths.setdefault(key, Path(machine.learner, targets, coded, (), (), frozen, inputs.target, *balanced))
    tasks: defaultdict[tuple[Inputs, Kernel, bool], list[Path]] = defaultdict(list)
    for key, path in paths.items():
        tasks[key[:3]].append(
            replace(path, penalties_of_candidates=tuple(numbers[key]), numbers=tuple(numbers[key].values()))
        )
    planned.tasks = order_tasks(
        [
            KernelTask(inputs, kernel, tuple(own), request.basis, explicit)
            for (inputs, kernel, explicit), own in tasks.items()
        ]
    )
    return planned


@dataclass(frozen=True)
class _Candidate:
    """A candidate as the fast path reads it."""

    model: Model
    machine: Machine
    inputs_key: Any  # candidates with equal keys see the same inputs
    explicit: bool = False  # rows are features after the transformers


def _read(estimator, params: dict, request: Request) -> _Candidate:
    """The machine inside of an estimator, and what stands around it."""
    model = read_model(estimator, request.fit_params)
    features: Any = features_of(model.transformers) if model.plain else None
    linear = None
    if features is not None and request.approximation is None:
        linear = read_on_features(model.final, features, request.y)
    machine = model.machine() if linear is None else linear
    weight = model.sample_weight
    if weight is not None and bool(np.any(np.asarray(weight) < 0)):
        raise NotUnderstoodError("sample_weight has negative values")
    if linear is not None and request.classifier and weight is not None and not np.all(weight):
        raise NotUnderstoodError(f"{type(model.final).__name__} counts classes without weight")
    _check_wrappers(model, machine, request)
    if model.transformers is None and model.plain:  # all candidates see the same rows and targets
        return _Candidate(model, machine, None)
    explicit = linear is not None and features.n_components < min(request.folds.training_sizes)
    return _Candidate(model, machine, transformers_key(model.prefix, params), explicit)


def _check_wrappers(model: Model, machine: Machine, request: Request) -> None:
    """Refuse what is not known of machines inside of samplers, transformed targets, or one of several."""
    if model.plain:
        return
    if request.approximation is not None or request.columns or request.screen is not None or request.series is not None:
        raise NotUnderstoodError(f"{_wrapper_name(model)} is cross-validated only, and with all features of the kernel")
    two_dimensional = np.ndim(request.y) == 2
    if model.separate == "outputs" and not two_dimensional:
        raise NotUnderstoodError("MultiOutputRegressor needs a target of two dimensions")
    if model.separate == "classes":
        if two_dimensional:
            raise NotUnderstoodError("OneVsRestClassifier is given several labels of each row")
        labels = np.asarray(request.y)
        if machine.class_weight is not None and len(np.unique(labels)) > 2:
            raise NotUnderstoodError("OneVsRestClassifier balances each class against the rest")
    if model.resamples and request.return_train_score:
        raise NotUnderstoodError("train scores: samplers change the training rows")
    if model.resamples and (request.scale_penalty or request.shared):
        raise NotUnderstoodError("samplers change the number of training rows")


def _refuse_single_class(request: Request) -> None:
    labels = np.asarray(request.y)
    if any(len(np.unique(labels[fold.train])) < 2 for fold in request.folds):
        raise NotUnderstoodError("OneVsRestClassifier predicts a constant where a split trains on one class")


def _wrapper_name(model: Model) -> str:
    if model.resamples:
        return "a Pipeline with samplers"
    return "TransformedTargetRegressor" if model.target is not None else type(model.whole).__name__


@dataclass
class _Data:
    """Inputs, targets and codings of a request; candidates that need equal ones share them."""

    request: Request
    _inputs: dict[Any, Inputs] = field(default_factory=dict)
    _targets: dict[Any, Targets] = field(default_factory=dict)
    _coded: dict[tuple[Pairs | None, Link | None], CodedTargets] = field(default_factory=dict)
    _gram_checked: bool = False

    def inputs_of(self, candidate: _Candidate) -> Inputs:
        """Inputs that a candidate is trained on; plain rows are checked at once."""
        request, key, model = self.request, candidate.inputs_key, candidate.model
        if key not in self._inputs:
            if model.separate == "classes":
                _refuse_single_class(request)
            transformers = Resampler(model.whole, model.place) if model.resamples else model.transformers
            X = checked_rows(request.X) if transformers is None else request.X
            if isinstance(X, RowScan):
                X = streamable_rows(X, transformers)
            self._inputs[key] = Inputs(
                X, request.y, request.folds, transformers, request.shared, model.transformer_params,
                request.return_train_score, _transformed(model, request), model.sees_transformed,
                model.separate if model.sees_separate else None,
            )  # fmt: skip
        return self._inputs[key]

    def bound(self, kernel: Kernel, inputs: Inputs) -> Kernel:
        """The kernel with its parameters resolved where the number of features is known already."""
        if inputs.transformers is not None:
            return kernel
        if Precomputed.base in kernel.bases and not self._gram_checked:
            Problem(inputs.X, inputs.folds).base(Precomputed.base)  # refuses what is not a Gram matrix
            self._gram_checked = True
        return kernel.bound(inputs.X.shape[1])

    def coded(self, pairs: Pairs | None, link: Link | None) -> CodedTargets:
        """The validated target, coded one-vs-rest or in pairs of classes."""
        if (pairs, link) not in self._coded:
            known = None if self.request.seen is None else self.request.seen.classes
            self._coded[pairs, link] = code_targets(self.request.y, self.request.classifier, pairs, link, known)
        return self._coded[pairs, link]

    def targets_of(
        self, machine: Machine, coded: CodedTargets, given: np.ndarray | None, transformed: TransformedTargets | None
    ) -> Targets:
        """Coded targets with the weights of rows; those of training on all rows too where criteria read such."""
        request, key = self.request, (machine.class_weight, machine.balance_weighted, machine.pairs)
        if key not in self._targets:
            balanced = {"balance_weighted": machine.balance_weighted}
            weights = row_weights(machine.class_weight, coded, request.folds, given, shared=request.shared, **balanced)
            whole = None
            if request.columns:
                whole = row_weights(machine.class_weight, coded, request.folds, given, shared=True, **balanced)
            assert not isinstance(whole, tuple)
            self._targets[key] = Targets(coded.Y, weights, whole)
        targets = self._targets[key]
        if transformed is not None:
            targets = replace(targets, Y=transformed.whole.Y)
        columns = targets.Y.shape[1]
        if len(machine.penalties) not in (1, columns):
            raise ValueError(f"alpha has {len(machine.penalties)} values for {columns} targets: one, or one for each.")
        return targets


def _refuse_criteria_of_matrices(request: Request, planned: Plan) -> None:
    """An error if a criterion reads the dual problem of a Gram matrix, which is never formed."""
    for criterion in request.criteria:
        of_matrices = [CAPABILITIES[name] for name in criterion.reads if name in OF_MATRICES]
        if of_matrices:
            raise ValueError(
                f"The criterion {criterion.name} is not available with an approximation: it reads "
                f"{' and '.join(of_matrices)}, from the dual problem of the whole Gram matrix. Use one that reads the "
                'values of the machine ("rks", "cvks", "sps"), the kernel only, or "cv".'
            )
        if criterion.series is None or criterion.series.start == "smoothed":
            continue
        for path in planned.paths:
            if path.learner.primal is not None and path.learner.primal.half_width(path.targets.Y) is not None:
                raise ValueError(
                    f"With an approximation the series of {path.learner.name} starts from the minimiser of its "
                    f'smoothed loss: {criterion.name} needs start="smoothed", not {criterion.series.start!r}.'
                )


def _refuse_retraining(request: Request, planned: Plan) -> None:
    """With an approximation nothing is retrained as GridSearchCV does: an error if something would have to be."""
    if planned.retrain:
        raise ValueError(
            f"{type(request.approximation).__name__} cannot stand for the kernel of every candidate: "
            f"{next(iter(planned.retrain.values()))}."
        )
    if not planned.tasks and planned.refused:
        raise next(iter(planned.refused.values()))


def _refuse_undefined(request: Request, planned: Plan, target: Labels | None) -> None:
    """An error if a criterion is not defined for some candidate that is not retrained, or needs one that is."""
    situations = {situation_of(target, path) for path in planned.paths}
    for criterion in request.criteria:
        for situation in situations:
            criterion.check(situation)
    if request.criterion.scores:
        return
    if request.error_score == "raise":
        for error in planned.refused.values():
            raise error
    if planned.retrain:
        raise ValueError(
            f"The criterion {request.criterion.name} reads kernels, and some candidates have none that is known: "
            f"{next(iter(planned.retrain.values()))}. Use cv."
        )


def _settings(request: Request, planned: Plan, target: Labels | None) -> Settings:
    """Settings that all tasks share, with the classes that each fold trains on."""
    weight = check_sample_weight(sample_weight_of(request.estimator, request.fit_params), request.folds.n)
    coded = code_targets(request.y, request.classifier, known=None if request.seen is None else request.seen.classes)
    present = coded.present_classes(request.folds, weight)
    if request.seen is not None:  # rows that came before have all classes
        present = [None] * len(request.folds)
    return Settings(
        request.X,
        request.y,
        coded.labels,
        request.folds,
        request.scoring,
        present,
        series=request.series,
        certify=_certify(request, planned),
        scale_penalty=request.scale_penalty,
        return_train_score=request.return_train_score,
        pairwise=request.pairwise,
        raise_errors=request.error_score == "raise",
        criteria=request.columns,
        scored=request.criterion.scores,
        target=target,
        loss_weights=weight,
        score_weights=None if request.scoring is None else request.scoring.weights,
        deadline=request.deadline,
    )


def _certify(request: Request, planned: Plan) -> Certify | None:
    """How well held-out values have to be known, checked against what is scored; None if exactly."""
    criterion, scoring, fold = request.criterion, request.scoring, request.folds.folds[0]
    if not isinstance(criterion, CV) or not criterion.certify or scoring is None:
        return None
    if not any(path.learner.certifies for path in planned.paths):
        return None
    columns = fold.train if request.pairwise else None
    check_certifiable(request, scoring, ScoredRows(request.X, request.y, np.asarray(request.y), fold.test, columns))
    return Certify(criterion.tolerance, criterion.prune)


def _transformed(model: Model, request: Request) -> TransformedTargets | None:
    """Targets as a TransformedTargetRegressor gives them to the machine; whatever goes wrong is retrained."""
    if model.target is None:
        return None
    try:
        return TransformedTargets.fit(model.target, request.y, request.folds)
    except Exception as error:
        raise NotUnderstoodError(f"the target cannot be transformed: {type(error).__name__}: {error}") from error
