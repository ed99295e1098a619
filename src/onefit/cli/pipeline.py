"""From a table and a learner's name to a scikit-learn Pipeline, and what was put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted

if TYPE_CHECKING:
    from .data import Data

_TASKS = dict.fromkeys(("svc", "l2svm", "klr"), "classification") | dict.fromkeys(("svr", "krr"), "regression")
_INSTEAD = {"svc": "svr", "svr": "svc", "krr": "lssvm", "l2svm": "lssvm", "klr": "lssvm"}


def build(data: Data, learner: str = "auto", scale: str = "standard") -> tuple[Any, list[str]]:
    """The estimator to search over, and a remark on every transformation."""
    from sklearn.pipeline import make_pipeline

    machine = make_learner(learner, data.task)
    transformer, remarks = _transformer(data, scale)
    return (machine if transformer is None else make_pipeline(transformer, machine)), remarks


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
    """What stands before the machine; None if nothing has to."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    texts = list(data.categorical)
    numbers = sorted(set(range(data.X.shape[1])) - set(texts))
    steps, remarks = _number_steps(data, numbers, scale)
    if not texts:
        return (None if not steps else steps[0] if len(steps) == 1 else make_pipeline(*steps)), remarks
    parts: list[tuple[str, Any, list[int]]] = []
    if numbers:
        of_numbers = "passthrough" if not steps else steps[0] if len(steps) == 1 else make_pipeline(*steps)
        parts.append(("numbers", of_numbers, numbers))
    parts.append(("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts))
    names = ", ".join(quoted(data.feature_names[k]) for k in texts[:10]) + (", …" if len(texts) > 10 else "")
    remarks.append(f"text is one-hot encoded, a missing one as a value of its own: {names}")
    return ColumnTransformer(parts), remarks


def _number_steps(data: Data, numbers: list[int], scale: str) -> tuple[list, list[str]]:
    """Imputation where something is missing, then scaling."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    steps: list = []
    remarks = []
    holes = [k for k in numbers if np.isnan(data.X[:, k].astype(float)).any()]
    if holes:
        empty = [k for k in holes if np.isnan(data.X[:, k].astype(float)).all()]
        steps.append(SimpleImputer(strategy="median", keep_empty_features=bool(empty)))
        names = ", ".join(quoted(data.feature_names[k]) for k in holes[:10]) + (", …" if len(holes) > 10 else "")
        rest = ", which is 0 for a column without any value" if empty else ""
        remarks.append(f"missing numbers are replaced by their column's median{rest}: {names}")
    if numbers and scale != "none":
        steps.append(StandardScaler() if scale == "standard" else MinMaxScaler())
        to = "mean 0 and variance 1" if scale == "standard" else "the range from 0 to 1"
        remarks.append(f"columns of numbers are scaled to {to}; --scale none leaves them as they are")
    return steps, remarks
