"""The contract of a criterion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, ClassVar, cast

import numpy as np

from .._arrays import Array
from ..data.targets import Labels
from ..kernels import NotDifferentiableError
from ..machines import Exactness
from ..machines.capabilities import CAPABILITIES, Gradient
from ..machines.contract import Learner, MachinePath, Series
from ..machines.evidence import Evidence
from ..machines.registry import estimators_read_as, estimators_that_offer
from ._calling import evidence_of
from .row_losses import refuse_loss_of_classes

READS = ("gram", "labels", "spectrum", "left_out", "heldout", *CAPABILITIES)
"""Everything that a criterion can read: entries of the Gram matrix, the target, the spectrum of the Gram matrix, values
of every row without it, out-of-fold values, and the capabilities of learners."""

_MACHINE = {"left_out", "heldout", *CAPABILITIES}
_ON_ALL_ROWS = {"left_out", "fitted", "smoother", "margin"}
"""The reads that need a machine trained on all rows."""


@dataclass(frozen=True)
class Situation:
    """Facts about a candidate, known before any work, that decide whether a criterion applies."""

    learner: Learner | None  # None without an estimator
    n_classes: int | None  # None in regression
    outputs: int = 1
    weights_positive: bool = True
    regressor: bool = False  # whatever the values of its target


class Criterion(ABC):
    """One formula: a frozen value that is called as ``criterion(K, y, estimator, cv=folds)``.

    ``name`` is what ``KernelSearchCV(criterion=…)`` takes; ``reads`` says what it needs (see ``READS``);
    ``greater_is_better`` its direction;
    ``classes`` whether the target may be "any", must have classes ("labels"), or two of them ("two"). ``scores``
    says that it is a score of out-of-fold values, which a search takes from its scorers, and ``series`` what these are
    approximated by (None: they are exact). ``loss`` is what it averages (None: its own default, or nothing).
    ``holds_penalty`` says that a kernel and a penalty that vanish together would be best: a descent then keeps the
    penalty, and weights of kernels their sum; ``logarithmic`` that it is a logarithm, of which none is taken.
    ``revision`` is raised by hand when its values change, so that studies do
    not mix them with earlier ones. ``exactness`` labels its values in the results of a search;
    ``formula``, ``cost``, ``estimates``, ``use`` and ``failures`` are its row in the table of all criteria.

    Examples
    --------
    >>> from onefit import criteria
    >>> criteria.KTA().greater_is_better, criteria.KTA().reads
    (True, ('gram', 'labels'))
    """

    name: ClassVar[str]
    reads: ClassVar[tuple[str, ...]]
    greater_is_better: ClassVar[bool] = False
    classes: ClassVar[str] = "any"
    scores: ClassVar[bool] = False
    series: Series | None = None
    loss: Any = None
    revision: ClassVar[int] = 1
    holds_penalty: ClassVar[bool] = False
    logarithmic: ClassVar[bool] = False
    formula: ClassVar[str]
    cost: ClassVar[str]
    exactness: ClassVar[Exactness] = Exactness.APPROXIMATE
    estimates: ClassVar[str]
    use: ClassVar[str]
    failures: ClassVar[str]

    @abstractmethod
    def path(self, evidence: Evidence) -> Array:
        """The natural values of all candidates, shape (E,); NaN where there is none."""

    def __call__(self, K: Any, y: Any, estimator: Any = None, cv: Any = None) -> float:
        """The natural value for a Gram matrix, a target and, where one is needed, an estimator.

        The estimator has ``kernel="precomputed"``; ``cv`` are the folds, as in scikit-learn, of criteria that hold
        rows out.
        """
        choices = self.choices()
        if len(choices) > 1:
            raise ValueError(
                f"{self} has parameters to choose from: that takes a search over kernels "
                "(KernelSearchCV). Give a single value for one Gram matrix."
            )
        evidence = evidence_of(K, y, estimator, cv, labels="labels" in self.reads, held_out="heldout" in self.reads)
        self.check(situation_of(evidence.labels, evidence.machine_path))
        evidence.spectral = "spectrum" in self.reads
        (value,) = choices[0].path(evidence)
        if np.isnan(value) and evidence.reasons:
            raise ValueError(f"{self.name} of {estimator}: {evidence.reasons[0]}.")
        return float(value)

    def gradient(self, K: Any, y: Any, estimator: Any = None, cv: Any = None) -> Gradient:
        """The natural value with its derivatives with respect to K and to the logarithm of the penalty.

        Arguments are those of a call. A ``NotDifferentiableError`` for criteria, losses and machines without them.
        """
        evidence = evidence_of(K, y, estimator, cv, labels="labels" in self.reads, held_out="heldout" in self.reads)
        self.check(situation_of(evidence.labels, evidence.machine_path))
        return self.tangent(evidence)

    def tangent(self, evidence: Evidence) -> Gradient:
        """``gradient`` of the only candidate."""
        raise NotDifferentiableError(f"The criterion {self.name} has no derivatives here.")

    @property
    def differentiable(self) -> bool:
        """Whether it has derivatives, of some machines at least."""
        return type(self).tangent is not Criterion.tangent

    def check(self, situation: Situation) -> None:
        """Refuse, by a ValueError, a candidate that the criterion is not defined for."""
        self._check_learner(situation.learner)
        if self.classes != "any" and situation.n_classes is None:
            raise ValueError(f"The criterion {self.name} needs classes: the target is a regression's.")
        if self.classes == "two" and situation.n_classes != 2:
            raise ValueError(f"The criterion {self.name} needs two classes: the target has {situation.n_classes}.")
        if situation.regressor:
            refuse_loss_of_classes(self.name, self.loss)
        if _ON_ALL_ROWS & set(self.reads) and not situation.weights_positive:
            raise ValueError(f"The criterion {self.name} needs positive weights: leave out rows of weight zero.")

    def _check_learner(self, learner: Learner | None) -> None:
        """Refuse a learner that does not offer what is read of it."""
        required = capabilities_of(self)
        if learner is None:
            if required:
                valid = ", ".join(estimators_that_offer(required))
                raise ValueError(f"The criterion {self.name} is defined for {valid}; no estimator was given.")
            if _MACHINE & set(self.reads):
                raise ValueError(f'The criterion {self.name} needs an estimator with kernel="precomputed".')
            return
        lacking = [CAPABILITIES[name] for name in required if name not in learner.offers]
        if lacking:
            valid, given = ", ".join(estimators_that_offer(required)), ", ".join(estimators_read_as(learner))
            raise ValueError(
                f"The criterion {self.name} is defined for {valid}; {learner.name} ({given}) lacks "
                f"{' and '.join(lacking)}."
            )

    def choices(self) -> list[Criterion]:
        """One criterion for every combination of parameters that are lists; itself if there are none."""
        listed = {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}
        listed = {name: values for name, values in listed.items() if isinstance(values, tuple)}
        if not listed:
            return [self]
        chosen = (dict(zip(listed, values)) for values in product(*listed.values()))
        return [cast(Criterion, replace(cast(Any, self), **values)) for values in chosen]


def capabilities_of(criterion: Criterion) -> list[str]:
    """The capabilities that a learner must offer for the criterion to be defined, besides out-of-fold values."""
    return [name for name in criterion.reads if name in CAPABILITIES]


def needs_no_machine(criterion: Criterion) -> bool:
    """Whether its value is one of the kernel, whatever machine is trained with it."""
    return set(criterion.reads) <= {"gram", "labels", "spectrum"}


def situation_of(labels: Labels | None, path: MachinePath | None) -> Situation:
    """The facts about a target and a machine that a criterion checks."""
    n_classes = None if labels is None else labels.n_classes
    if path is None:
        return Situation(None, n_classes, 1 if labels is None else labels.codes.shape[1])
    if labels is None and path.coded.coding.classes is not None:
        n_classes = len(path.coded.coding.classes)
    weights = path.targets.whole_weights
    positive = weights is None or bool((weights > 0).all())
    regressor = path.coded.coding.classes is None
    outputs = path.targets.Y.shape[1]
    return Situation(path.learner, n_classes, outputs, positive, regressor)


def frozen_list(values: Any) -> Any:
    """A list of choices as a tuple, anything else as it is."""
    return tuple(values) if isinstance(values, list | tuple | np.ndarray) else values


def check_factor(name: str, values: Any) -> Any:
    """A finite non-negative number, or a non-empty list of them to choose from."""
    values = frozen_list(values)
    listed = values if isinstance(values, tuple) else (values,)
    if not listed or not all(isinstance(v, int | float | np.number) and np.isfinite(v) and v >= 0 for v in listed):
        raise ValueError(f"{name} must be a finite non-negative number, or a list of them, got {values!r}.")
    return values
