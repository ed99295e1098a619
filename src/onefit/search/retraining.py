"""Really retraining: for what the fast path cannot do, and as its oracle."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.parallel import delayed

from ..data import Folds
from ..data.folds import take_block, take_metadata, take_rows
from ..machines import Exactness
from ..machines.registry import innermost, read_model
from .deadline import Deadline
from .executors import stream
from .explicit_features import shared_features
from .progress import SplitLines
from .request import Request
from .scoring import score_model
from .tasks import Row


@dataclass
class SplitScores:
    """One candidate on one split: scores as the scorer returns them, or the text of an error."""

    test: Any
    train: Any = None
    error: str | None = None
    fit_seconds: float = 0.0
    score_seconds: float = 0.0


@dataclass(frozen=True)
class Retraining:
    """How a candidate is trained on some of n rows and scored on others, as GridSearchCV does.

    ``scorer`` is what ``check_scoring`` returns; ``named`` says that it is several by name, ``plain`` that it reads
    nothing but responses to the tested rows. With ``scale_penalty`` the penalty follows the share of the rows that are
    trained on. ``caller`` is the search that callbacks are told of.
    """

    estimator: Any
    X: Any
    y: Any
    n: int
    fit_params: dict[str, Any]
    scorer: Any
    score_params: dict[str, Any]
    named: bool = False
    error_score: Any = np.nan
    return_train_score: bool = False
    scale_penalty: bool = False
    verbose: int = 0
    caller: Any = None
    plain: bool = False

    @classmethod
    def of(cls, request: Request, verbose: int, caller: Any) -> Retraining:
        """Retraining as a request asks for."""
        scoring = request.scoring
        assert scoring is not None
        used = [metric.params for metric in scoring.metrics.values() if metric.params]
        score_params = used[0] if used else {}
        scorer = scoring.scorers
        if scoring.named:  # scikit-learn's own scorer of several metrics, which distributes metadata itself
            score_params = request.score_params if used else {}
            scorer = check_scoring(request.estimator, scoring.given, raise_exc=scoring.error_score == "raise")
        # scikit-learn's own scorers ask for predictions; other callables may look into a Pipeline
        plain = all(hasattr(metric.scorer, "get_metadata_routing") for metric in scoring.metrics.values())
        return cls(
            request.estimator, request.X, request.y, request.folds.n, request.fit_params, scorer, score_params,
            scoring.named, request.error_score, request.return_train_score, request.scale_penalty, verbose, caller,
            plain,
        )  # fmt: skip

    def run(
        self,
        candidates: dict[int, dict],
        folds: Folds,
        deadline: Deadline,
        *,
        total: int,
        contexts: dict[int, list],
        **workers: Any,
    ) -> Iterator[tuple[int, list[SplitScores]]]:
        """(number, outcome of each split) of some of ``total`` candidates, as they finish.

        All fits share the workers. Candidates that are not begun before the ``deadline`` are not there. Those that see
        the same explicit features are trained one after another on each split, for which these are computed once.
        """
        groups = self._groups(candidates)

        def jobs() -> Iterator:
            splits = [(fold.train, fold.test) for fold in folds]
            for group in groups:
                if deadline.passed():
                    return
                for split, rows in enumerate(splits):
                    trainings = [
                        _Training(
                            candidates[number],
                            SplitLines(self.verbose, candidates[number], number, total, split, len(splits)),
                            contexts[number][split] if contexts.get(number) else None,
                        )
                        for number in group
                    ]
                    yield delayed(_fit_and_score_group)(self, trainings, *rows)

        if not candidates:
            return
        outcomes = iter(stream(jobs(), **workers))
        for group in groups:
            if found := list(islice(outcomes, len(folds))):
                yield from zip(group, map(list, zip(*found)))
        deque(outcomes, maxlen=0)  # nothing is left, but joblib ends its workers only when it is asked once more

    def _groups(self, candidates: dict[int, dict]) -> list[list[int]]:
        """Numbers of candidates, those together that differ only behind transformers whose features they share."""
        groups: dict[Any, list[int]] = {}
        for number, params in candidates.items():
            key = shared_features(self.estimator, params) if self.plain else None
            groups.setdefault(number if key is None else key, []).append(number)
        return list(groups.values())


@dataclass(frozen=True)
class _Training:
    """One candidate on one split: its parameters, and who is told of it."""

    params: dict
    lines: SplitLines
    context: Any


def _fit_and_score_group(how: Retraining, trainings: list[_Training], train, test) -> list[SplitScores]:
    """Train candidates on one split, with features that are computed once where there are several."""
    first = _model_of(how, trainings[0])
    split = _Split.of(how, first, train, test)
    if len(trainings) == 1:
        return [_fit_and_score(how, trainings[0], first, split)]
    start = time.perf_counter()
    features = split.with_features(first)
    seconds = (time.perf_counter() - start) / len(trainings)
    outcomes = [_fit_and_score(how, training, _model_of(how, training), features or split) for training in trainings]
    for outcome in outcomes:
        outcome.fit_seconds += seconds
    return outcomes


@dataclass(frozen=True)
class _Split:
    """Rows that are trained on and tested, with their metadata.

    ``told`` is what callbacks are told of the training rows. ``transformed`` says that the rows have been through all
    steps of a Pipeline but the last.
    """

    X: tuple[Any, Any]
    y: tuple[Any, Any]
    fit_params: dict[str, Any]
    score_params: tuple[dict[str, Any], dict[str, Any]]
    told: dict[str, Any]
    transformed: bool = False

    @classmethod
    def of(cls, how: Retraining, model: Any, train, test) -> _Split:
        """One split of the data for a model."""
        pairwise = get_tags(model).input_tags.pairwise
        fit_params, score_train, score_test = (
            {name: take_metadata(value, rows, how.n) for name, value in metadata.items()}
            for metadata, rows in ((how.fit_params, train), (how.score_params, train), (how.score_params, test))
        )
        X = take_block(pairwise, how.X, train, train), take_block(pairwise, how.X, test, train)
        y = take_rows(how.y, train), take_rows(how.y, test)
        told = {"X": X[0], "y": y[0], "metadata": _weights(fit_params)}
        return cls(X, y, fit_params, (score_train, score_test), told)

    def with_features(self, model: Any) -> _Split | None:
        """The split behind the transformers of a model; None if these fail, which every candidate is to tell."""
        try:
            parts, transformers = read_model(model, self.fit_params), model[:-1]
            weight, before = parts.sample_weight, parts.transformer_params
            X = transformers.fit_transform(self.X[0], self.y[0], **before), transformers.transform(self.X[1])
        except Exception:
            return None
        params = {} if weight is None else {"sample_weight": weight}
        return replace(self, X=X, fit_params=params, transformed=True)


def _model_of(how: Retraining, training: _Training) -> Any:
    return clone(how.estimator).set_params(**clone(training.params, safe=False))


def _fit_and_score(how: Retraining, training: _Training, model: Any, split: _Split) -> SplitScores:
    training.lines.start()
    context = training.context
    if split.transformed:
        model = model.steps[-1][1]
    scoring = {"named": how.named, "error_score": how.error_score}
    start = time.perf_counter()
    try:
        if how.scale_penalty:
            model.set_params(**scaled_penalty(model, len(split.y[0]) / how.n))
        _fit(how, model, split, context)
    except Exception:
        if how.error_score == "raise":
            raise
        outcome = SplitScores(how.error_score, how.error_score if how.return_train_score else None, format_exc())
        outcome.fit_seconds = time.perf_counter() - start
    else:
        fitted = time.perf_counter()
        outcome = SplitScores(score_model(how.scorer, model, split.X[1], split.y[1], split.score_params[1], **scoring))
        outcome.fit_seconds, outcome.score_seconds = fitted - start, time.perf_counter() - fitted
        if how.return_train_score:
            outcome.train = score_model(how.scorer, model, split.X[0], split.y[0], split.score_params[0], **scoring)
    finally:
        if context is not None:
            context.call_on_fit_task_end(estimator=how.caller, **split.told)
    training.lines.end(outcome.test, outcome.train, outcome.fit_seconds + outcome.score_seconds)
    return outcome


def _fit(how: Retraining, model, split: _Split, context) -> None:
    X, y = split.X[0], split.y[0]
    target = () if y is None else (y,)
    if context is None:
        model.fit(X, *target, **split.fit_params)
        return
    with context.propagate_callback_context(model):
        context.call_on_fit_task_begin(estimator=how.caller, **split.told)
        model.fit(X, *target, **split.fit_params)


def _weights(fit_params: dict) -> dict | None:
    """Metadata that callbacks are given."""
    weights = fit_params.get("sample_weight")
    return None if weights is None else {"sample_weight": weights}


def retrained_row(candidate: int, reason: str, outcomes: list[SplitScores], error_score, pooled: bool) -> Row:
    """The row of a candidate from the outcome of each split; ``pooled`` has the mean as its only score."""
    row = Row(candidate, exactness=Exactness.RETRAINED, status=f"retrained: {reason}", error_bound=0.0)
    missing = np.nan if error_score == "raise" else error_score
    for scores, found in ((row.test, [o.test for o in outcomes]), (row.train, [o.train for o in outcomes])):
        example = next((value for value in found if isinstance(value, dict)), None)
        for name in ["score"] if example is None else example:
            values = [value.get(name, missing) if isinstance(value, dict) else value for value in found]
            if None not in values:
                splits = np.array(values, dtype=np.float64)
                scores[name] = splits.mean(keepdims=True) if pooled else splits
    row.fit_seconds = sum(outcome.fit_seconds for outcome in outcomes)
    row.score_seconds = sum(outcome.score_seconds for outcome in outcomes)
    for split, outcome in enumerate(outcomes):
        if outcome.error is not None:
            row.fail(outcome.error, [split])
    if all(outcome.error is not None for outcome in outcomes):
        row.test, row.train = {}, {}  # which metrics there are is known from other candidates
    return row


def retrained_decisions(estimator, X, y, folds: Folds, fit_params: dict, scale_penalty: bool = False) -> list:
    """(decision values, classes, labels) of each fold's test rows, by training on its training rows.

    Values of a regression are predictions, without classes; labels are told of several classes only.
    ``scale_penalty`` follows the share of rows trained on: alpha grows and C falls with it.
    """
    pairwise = get_tags(estimator).input_tags.pairwise
    parts = []
    for fold in folds:
        model = clone(estimator)
        if scale_penalty:
            model.set_params(**scaled_penalty(model, len(fold.train) / folds.n))
        params = {name: take_metadata(value, fold.train, folds.n) for name, value in fit_params.items()}
        target = () if y is None else (take_rows(y, fold.train),)
        model.fit(take_block(pairwise, X, fold.train, fold.train), *target, **params)
        X_test = take_block(pairwise, X, fold.test, fold.train)
        if not is_classifier(model):
            parts.append((np.asarray(model.predict(X_test)), None, None))
        elif hasattr(model, "decision_function"):
            labels = model.predict(X_test) if len(model.classes_) > 2 else None
            parts.append((np.asarray(model.decision_function(X_test)), model.classes_, labels))
        else:
            raise ValueError(f"{model} has no decision_function.")
    return parts


def scaled_penalty(estimator, share: float) -> dict:
    """The final estimator's alpha times, or C divided by, the share of rows trained on."""
    prefix, _ = innermost(estimator)
    params = estimator.get_params()
    if f"{prefix}alpha" in params:
        return {f"{prefix}alpha": np.multiply(params[f"{prefix}alpha"], share)}
    if f"{prefix}C" in params:
        return {f"{prefix}C": params[f"{prefix}C"] / share}
    raise ValueError(f"scale_penalty=True needs an estimator with alpha or C; {estimator} has neither.")
