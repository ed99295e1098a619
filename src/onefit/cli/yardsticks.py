"""Scores to compare with: guessing, and another kind of model on the same folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..report.judgement import Yardstick
from ..search.table import standard_error
from .roles import Role

if TYPE_CHECKING:
    from .data import Data
    from .searching import SearchArguments

RARE = 0.1
"""Share of a class below which accuracy says little: whoever never predicts it has 0.9 already."""

REFERENCE = "HistGradientBoosting"

MOST_COLUMNS = 200
"""Columns that the reference looks at in each split: a random part of more, or wide tables would take minutes."""

FEW_ROWS = 20_000
"""Rows below which the reference, and support vector machines, are trained on one thread."""

ACCURACY = (None, "accuracy")
SQUARED = (None, "r2", "explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error")

FAR = 10.0
"""Interquartile ranges from the median beyond which a target is called far: one in 1e40 of a normal distribution."""


def baseline(request: SearchArguments, data: Data) -> Yardstick:
    """The model that knows the target's distribution only: the most frequent class, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if data.task == "regression":
        return Yardstick("the mean of the target", _scores(DummyRegressor(), request, data), "baseline")
    classes, counts = np.unique(data.y, return_counts=True)
    name = f"always {classes.tolist()[int(counts.argmax())]!r}"
    return Yardstick(name, _scores(DummyClassifier(strategy="prior"), request, data), "baseline")


def expected(fold_scores: np.ndarray, candidates: np.ndarray) -> tuple[float, float] | None:
    """The score that new rows may be expected to have, and its standard error; None without two folds and candidates.

    The best of many scores is the best partly by chance, the more so the fewer rows there are. ``fold_scores`` of the
    chosen model lose on every fold what choosing with that fold has gained there: ``optimism`` of ``candidates``, the
    scores that the choice was made by.
    """
    if min(candidates.shape) < 2 or len(fold_scores) != len(candidates):
        return None
    corrected = fold_scores - optimism(candidates)
    return float(corrected.mean()), standard_error(corrected)


def optimism(scores: np.ndarray) -> np.ndarray:
    """On every fold, how much the best candidate is better than the one that the other folds choose; never negative.

    ``scores`` has a row for every fold and a column for every candidate. Of equal candidates the first is chosen.
    """
    known = scores[:, np.isfinite(scores).all(axis=0)]
    total = known.sum(axis=0)
    best = total.round(10).argmax()  # shares of rows are often equal but for rounding
    others = (total - known).round(10).argmax(axis=1)
    return known[:, best] - known[np.arange(len(known)), others]


def reference(request: SearchArguments, data: Data) -> Yardstick:
    """Gradient boosting of trees with scikit-learn's parameters, which needs neither scaling nor a search."""
    from threadpoolctl import threadpool_limits

    # threads that share so little work wait for each other: ten times as long where another program uses a processor
    with threadpool_limits(1 if len(data.y) < FEW_ROWS else None, user_api="openmp"):
        return Yardstick(REFERENCE, _scores(boosting(data), request, data), "reference")


def boosting(data: Data) -> Any:
    """The reference model: numbers as they are, labels as codes, dates and written text as for kernels."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    from .. import DateEncoder
    from .pipeline import encoded_texts

    kind = HistGradientBoostingClassifier if data.task == "classification" else HistGradientBoostingRegressor
    machine = kind(random_state=0, max_features=min(1.0, MOST_COLUMNS / len(data.roles)))
    columns = {role: [k for k, found in enumerate(data.roles) if found is role] for role in Role}
    if len(columns[Role.NUMBER]) == len(data.roles):
        return machine
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    parts = [
        ("numbers", "passthrough", columns[Role.NUMBER]),
        ("dates", DateEncoder(), columns[Role.DATE]),
        ("labels", codes, columns[Role.LABEL] + columns[Role.MANY_LABELS]),
        *encoded_texts("text", columns[Role.TEXT]),
    ]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0), machine)


def _scores(model: Any, request: SearchArguments, data: Data) -> np.ndarray:
    from sklearn.model_selection import cross_val_score

    from .validation import scorer_of

    return cross_val_score(
        model, data.X, data.y, cv=request.splitter, groups=data.groups, scoring=scorer_of(request.scoring, data),
        error_score="raise",
    )  # fmt: skip


def imbalance(data: Data, scoring: str | None) -> str | None:
    """A warning for accuracy where a class is rare; None if there is nothing to say."""
    if data.task == "regression" or scoring not in ACCURACY:
        return None
    classes, counts = np.unique(data.y, return_counts=True)
    rare, most = int(counts.argmin()), int(counts.argmax())
    share = counts[rare] / counts.sum()
    if share * len(classes) >= 2 * RARE:  # of two classes a tenth, of more a fifth of an equal share
        return None
    names = classes.tolist()
    score = "roc_auc or --scoring balanced_accuracy" if len(classes) == 2 else "balanced_accuracy or --scoring f1_macro"
    return (
        f"class {names[rare]!r} has {100 * share:.2g} % of the rows, and always predicting {names[most]!r} has "
        f"accuracy {counts[most] / counts.sum():.3g}: --scoring {score} looks at every class, --class-weight balanced "
        "trains for it"
    )


def far_targets(data: Data, scoring: str | None) -> str | None:
    """A warning for squared errors that a few far targets decide; None if there is nothing to say."""
    if data.task == "classification" or scoring not in SQUARED:
        return None
    y = np.asarray(data.y, dtype=np.float64)
    first, middle, third = np.quantile(y, (0.25, 0.5, 0.75))
    far = np.abs(y - middle) > FAR * (third - first)
    squares = (y - middle) ** 2
    if third == first or squares[far].sum() < 0.5 * squares.sum():
        return None
    rows, many = np.flatnonzero(far), int(far.sum()) > 1
    return (
        f"{len(rows)} of {len(y):,} targets, such as {y[rows[0]]:g}, {'are' if many else 'is'} further than {FAR:g} "
        f"interquartile ranges from the median and make{'' if many else 's'} up "
        f"{100 * squares[far].sum() / squares.sum():.0f} % of the squared deviations: look at "
        f"{'them' if many else 'it'}; --scoring neg_median_absolute_error judges by the other rows"
    )
