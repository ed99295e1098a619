"""``onefit bench``: the same search by GridSearchCV and by onefit, on data that ship with scikit-learn."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption, Learner
from .screen import echo, echo_json, explained, note


@app.command()
def bench(
    learner: Annotated[Learner, typer.Option(help="svc on wdbc, or krr on diabetes-progression.")] = Learner.svc,
    cv: Annotated[int, typer.Option(min=2, help="Folds.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Compare with GridSearchCV on this machine: the same grid, the same folds, both on one thread.

    Examples:

        onefit bench

        onefit bench --learner krr --cv 5
    """
    with explained():
        if learner not in (Learner.svc, Learner.krr):
            raise ValueError(f"--learner {learner}: bench knows svc and krr, which scikit-learn has too.")
        _show(_measure(learner, cv), as_json)


def _problem(learner: str) -> tuple[str, Any, dict, Any, Any]:
    """The data's name, an estimator, a grid, X and y."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from ..datasets import load
    from .pipeline import make_learner

    if learner == "svc":
        name, penalties = "wdbc", {"C": np.logspace(-1, 3, 5)}
    else:
        name, penalties = "diabetes-progression", {"alpha": np.logspace(-3, 2, 11)}
    X, y = load(name)
    machine = make_learner(learner, "classification" if learner == "svc" else "regression")
    y = y if learner == "svc" else y - y.mean()  # KernelRidge has no intercept
    return name, machine, {"gamma": np.logspace(-4, 0, 9), **penalties}, StandardScaler().fit_transform(X), y


def _measure(learner: str, cv: int) -> dict[str, Any]:
    import numpy as np
    from sklearn.model_selection import GridSearchCV
    from threadpoolctl import threadpool_limits

    from .. import KernelSearchCV

    name, machine, grid, X, y = _problem(learner)
    searches, seconds = {}, {}
    with threadpool_limits(1):
        first = {parameter: values[:1] for parameter, values in grid.items()}
        KernelSearchCV(machine, first, cv=2).fit(X[::10], y[::10])  # loads what is compiled
        for kind in (GridSearchCV, KernelSearchCV):
            note(f"{kind.__name__} is searching {name}")
            start = time.perf_counter()
            searches[kind.__name__] = kind(machine, grid, cv=cv).fit(X, y)
            seconds[kind.__name__] = time.perf_counter() - start
    slow, fast = searches.values()
    splits = [f"split{k}_test_score" for k in range(cv)]
    return {
        "data": name,
        "learner": type(machine).__name__,
        "candidates": len(fast.cv_results_["params"]),
        "folds": cv,
        "seconds": seconds,
        "best": {kind: {"params": s.best_params_, "score": s.best_score_} for kind, s in searches.items()},
        "largest_difference": float(max(np.abs(fast.cv_results_[k] - slow.cv_results_[k]).max() for k in splits)),
    }


def _show(facts: dict[str, Any], as_json: bool) -> None:
    from ..report.text import number, seconds, settings

    if as_json:
        echo_json(facts)
        return
    size = f"{facts['candidates']} candidates, {facts['folds']} folds"
    echo(f"{facts['learner']} on {facts['data']}: {size}")
    for kind, best in facts["best"].items():
        chosen = settings(best["params"])
        echo(f"{kind:<16}{seconds(facts['seconds'][kind]):>8}  score {number(best['score'], 6)}  {chosen}")
    slow, fast = facts["seconds"].values()
    echo(f"{slow / fast:.2g} times as fast; largest difference of a score on any fold: "
               f"{number(facts['largest_difference'], 2)}")  # fmt: skip
