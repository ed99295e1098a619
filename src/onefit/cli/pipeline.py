"""From a table and a learner's name to a scikit-learn Pipeline, and what was put into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted
from .roles import MANY_LABELS, Role

if TYPE_CHECKING:
    from .data import Data

TEXT_INPUTS = 50
"""Inputs that a column of written text becomes."""

_TASKS = dict.fromkeys(("svc", "l2svm", "klr"), "classification") | dict.fromkeys(("svr", "krr"), "regression")
_INSTEAD = {"svc": "svr", "svr": "svc", "krr": "lssvm", "l2svm": "lssvm", "klr": "lssvm"}


def build(
    data: Data, learner: str = "auto", scale: str = "standard", class_weight: str | None = None
) -> tuple[Any, list[str]]:
    """The estimator to search over, and a remark on every transformation."""
    from sklearn.pipeline import make_pipeline

    machine = make_learner(learner, data.task)
    if class_weight is not None:
        if data.task == "regression":
            raise ValueError(f"--class-weight {class_weight} is for classes, this is regression.")
        machine.set_params(class_weight=class_weight)
    transformer, remarks = _transformer(data, scale)
    steps = [step for step in (transformer, machine) if step is not None]
    # scikit-learn passes weights of rows to a step, and of no pipeline to the score as well
    return (machine if len(steps) == 1 and data.weights is None else make_pipeline(*steps)), remarks


def make_learner(learner: str, task: str) -> Any:
    """An estimator with scikit-learn's defaults, but for the kernel, which is Gaussian."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC, SVR

    from .. import L2SVC, LSSVC, LSSVR, KernelLogisticRegression

    if learner == "auto":
        learner = "svc" if task == "classification" else "lssvm"
    if _TASKS.get(learner, task) != task:
        raise ValueError(f"--learner {learner} is for {_TASKS[learner]}, this is {task}: use {_INSTEAD[learner]}.")
    if learner == "lssvm":
        return LSSVC() if task == "classification" else LSSVR()
    if learner == "krr":
        return KernelRidge(kernel="rbf")
    return {"svc": SVC, "svr": SVR, "l2svm": L2SVC, "klr": KernelLogisticRegression}[learner]()


def _transformer(data: Data, scale: str) -> tuple[Any, list[str]]:
    """Transformers that stand before the machine; None if there is nothing to transform."""
    from sklearn.compose import ColumnTransformer

    numbers = [k for k, role in enumerate(data.roles) if role is Role.NUMBER]
    steps, remarks = _number_steps(data, numbers, scale)
    if len(numbers) == len(data.roles):
        return _joined(steps), remarks
    parts: list[tuple[str, Any, list[int]]] = []
    if numbers:
        parts.append(("numbers", _joined(steps) or "passthrough", numbers))
    for role, (name, make, remark) in _ENCODED.items():
        columns = [k for k, found in enumerate(data.roles) if found is role]
        if columns:
            parts += make(name, columns, scale)
            remarks.append(f"{remark}: {_names(data, columns)}")
    return ColumnTransformer(parts, sparse_threshold=0), remarks


def _joined(steps: list) -> Any:
    """The steps as one transformer, None if there are none."""
    from sklearn.pipeline import make_pipeline

    return None if not steps else steps[0] if len(steps) == 1 else make_pipeline(*steps)


def _names(data: Data, columns: list[int]) -> str:
    return ", ".join(quoted(data.feature_names[k]) for k in columns[:10]) + (", …" if len(columns) > 10 else "")


def _dates(name: str, columns: list[int], scale: str) -> list[tuple[str, Any, list[int]]]:
    from sklearn.impute import SimpleImputer

    from .. import DateEncoder

    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    return [(name, _joined([DateEncoder(), filled, *_scaler(scale)]), columns)]


def _labels(name: str, columns: list[int], scale: str) -> list[tuple[str, Any, list[int]]]:
    from sklearn.preprocessing import OneHotEncoder

    return [(name, OneHotEncoder(handle_unknown="ignore", sparse_output=False), columns)]


def _many_labels(name: str, columns: list[int], scale: str) -> list[tuple[str, Any, list[int]]]:
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(max_categories=MANY_LABELS, handle_unknown="infrequent_if_exist", sparse_output=False)
    return [(name, encoder, columns)]


def _texts(name: str, columns: list[int], scale: str) -> list[tuple[str, Any, list[int]]]:
    return encoded_texts(name, columns)


def encoded_texts(name: str, columns: list[int]) -> list[tuple[str, Any, list[int]]]:
    """Weighted counts of three and four neighbouring letters, in the directions that vary most; a part per column."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import FunctionTransformer

    def encoder() -> Any:
        filled = SimpleImputer(missing_values=None, strategy="constant", fill_value="")
        counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), sublinear_tf=True)
        return _joined([filled, FunctionTransformer(np.ravel), counts, TruncatedSVD(TEXT_INPUTS, random_state=0)])

    return [(f"{name}{number}", encoder(), [k]) for number, k in enumerate(columns, start=1)]


_ENCODED: dict[Role, tuple[str, Callable[[str, list[int], str], list], str]] = {
    Role.DATE: ("dates", _dates, "dates become numbers (days since the first, year, month, weekday, hour if any)"),
    Role.LABEL: ("labels", _labels, "text is one-hot encoded, a missing one as a value of its own"),
    Role.MANY_LABELS: (
        "frequent",
        _many_labels,
        f"text is one-hot encoded, with one input for all but the {MANY_LABELS - 1} most frequent values",
    ),
    Role.TEXT: ("text", _texts, f"written text becomes {TEXT_INPUTS} inputs, by letters that follow each other"),
}
"""For every role of text: the name of its part, how it is made, and what is said about it."""


def _number_steps(data: Data, numbers: list[int], scale: str) -> tuple[list, list[str]]:
    """Imputation where something is missing, then scaling."""
    from sklearn.impute import SimpleImputer

    steps: list = []
    remarks = []
    holes = [k for k in numbers if np.isnan(data.X[:, k].astype(float)).any()]
    if holes:
        empty = [k for k in holes if np.isnan(data.X[:, k].astype(float)).all()]
        steps.append(SimpleImputer(strategy="median", keep_empty_features=bool(empty)))
        rest = ", which is 0 for a column without any value" if empty else ""
        remarks.append(f"missing numbers are replaced by their column's median{rest}: {_names(data, holes)}")
    if numbers and scale != "none":
        steps += _scaler(scale)
        to = "mean 0 and variance 1" if scale == "standard" else "the range from 0 to 1"
        remarks.append(f"columns of numbers are scaled to {to}; --scale none leaves them as they are")
    return steps, remarks


def _scaler(scale: str) -> list:
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return {"standard": [StandardScaler()], "minmax": [MinMaxScaler()], "none": []}[scale]
