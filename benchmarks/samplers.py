"""onefit beside Optuna and FLAML at equal seconds: who finds the better kernel machine?

For every data set, on a random half of its rows: ``KernelSearchCV(model, "auto")`` for an RBF machine behind a
scaler, five folds. Optuna (TPE) and FLAML (``flaml.tune``, its default search) then tune the same machine by
``cross_val_score`` on the same folds, within as many seconds and within five times as many, over the range of
``default_grid`` widened tenfold at either end; a candidate that has begun is ended, however long it takes. FLAML's
``AutoML`` shows what other models reach with these seconds (one at least). Everything runs on one thread, one after
the other.

The table has the cross-validated score of each choice (accuracy or R², the mean of the folds), and its score on the
other half of the rows. ``ONEFIT_DATA`` names the folder of the data sets. The packages: ``pip install optuna
"flaml[automl]"``.

Examples::

    python benchmarks/samplers.py --csv samplers.csv
    python benchmarks/samplers.py --only heart housing --seeds 1
"""

import os

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "BLIS", "VECLIB_MAXIMUM")})

import argparse
import csv
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields

import flaml
import numpy as np
import optuna
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import KernelSearchCV, datasets, default_grid

CLASSES = ("heart", "sonar", "ionosphere", "german.numer", "vehicle", "segment")
VALUES = ("mpg", "housing", "mg", "abalone")
MOST_ROWS = 2000
PATIENCE = 5
"""How many times onefit's seconds the samplers get in their second try."""


@dataclass(frozen=True)
class Task:
    """A data set split in half, the machine, its folds, and the range of its parameters."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    model: object
    folds: object
    ranges: dict[str, tuple[float, float]]

    def score(self, parameters: dict) -> float:
        """Mean score of the folds, as GridSearchCV has it."""
        model = clone(self.model).set_params(**parameters)
        return float(cross_val_score(model, self.X, self.y, cv=self.folds).mean())

    def test_score(self, parameters: dict) -> float:
        """Score on the rows that nobody has seen."""
        return clone(self.model).set_params(**parameters).fit(self.X, self.y).score(self.X_test, self.y_test)


@dataclass(frozen=True)
class Line:
    """What one program reached."""

    name: str
    seed: int
    program: str
    seconds: float
    candidates: int | str
    cv_score: float
    test_score: float


def read_task(name: str, seed: int) -> Task:
    """Random halves of the rows, at most ``MOST_ROWS`` of them."""
    X, y = datasets.load(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    train, test = np.array_split(order, 2)
    model = make_pipeline(StandardScaler(), SVC() if name in CLASSES else SVR())
    folds = (StratifiedKFold if is_classifier(model) else KFold)(5, shuffle=True, random_state=seed)
    grid = default_grid(model, X[train], y[train])
    ranges = {key: (min(values) / 10, max(values) * 10) for key, values in grid.items() if len(values) > 1}
    return Task(X[train], y[train], X[test], y[test], model, folds, ranges)


def search(task: Task) -> tuple[dict, int]:
    """onefit: (parameters, number of candidates)."""
    found = KernelSearchCV(task.model, "auto", cv=task.folds, refit=False).fit(task.X, task.y)
    return found.best_params_, len(found.cv_results_["params"])


def sample_by_optuna(task: Task, seconds: float, seed: int) -> tuple[dict, int]:
    """Tree-structured Parzen estimator: (parameters, number of candidates)."""

    def objective(trial):
        return task.score({key: trial.suggest_float(key, *ends, log=True) for key, ends in task.ranges.items()})

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, timeout=seconds)
    return study.best_params, len(study.trials)


def sample_by_flaml(task: Task, seconds: float, _seed: int) -> tuple[dict, int]:
    """FLAML's search of a given space, which begins where it likes: (parameters, number of candidates)."""
    found = flaml.tune.run(
        lambda config: {"score": task.score(config)},
        config={key: flaml.tune.loguniform(*ends) for key, ends in task.ranges.items()},
        metric="score", mode="max", time_budget_s=seconds, num_samples=-1, verbose=0,
    )  # fmt: skip
    return found.best_config, len(found.trials)


def automatic_model(task: Task, seconds: float, seed: int):
    """FLAML's choice among gradient boosting, forests and linear models."""
    model = flaml.AutoML()
    kind = "classification" if is_classifier(task.model) else "regression"
    model.fit(
        task.X, task.y, task=kind, time_budget=max(1.0, seconds), eval_method="cv", n_splits=5, seed=seed, n_jobs=1,
        metric="accuracy" if kind == "classification" else "r2", verbose=0,
    )  # fmt: skip
    return model


def timed(find: Callable, *args) -> tuple[float, object]:
    start = time.perf_counter()
    found = find(*args)
    return time.perf_counter() - start, found


def compare(name: str, seed: int) -> list[Line]:
    """All programs on one split of one data set."""
    task = read_task(name, seed)
    budget, (best, count) = timed(search, task)
    lines = [Line(name, seed, "onefit", budget, count, task.score(best), task.test_score(best))]
    for program, find in (("Optuna", sample_by_optuna), ("FLAML", sample_by_flaml)):
        for times in (1, PATIENCE):
            seconds, (best, count) = timed(find, task, times * budget, seed)
            label = program if times == 1 else f"{program}, {times} times the seconds"
            lines.append(Line(name, seed, label, seconds, count, task.score(best), task.test_score(best)))
    seconds, model = timed(automatic_model, task, budget, seed)
    lines.append(
        Line(name, seed, "FLAML AutoML", seconds, "", 1.0 - model.best_loss, model.score(task.X_test, task.y_test))
    )
    return lines


def summary(lines: list[Line]) -> str:
    """For every program: median differences to onefit, and on how many tasks it is better or worse by over 0.001."""
    ours = {(line.name, line.seed): line for line in lines if line.program == "onefit"}
    heads = ("program", "candidates", "cv score", "better/worse", "test score", "better/worse")
    text = ["{:<30} {:>10} {:>9} {:>13} {:>11} {:>13}".format(*heads)]
    for program in dict.fromkeys(line.program for line in lines):
        own = [line for line in lines if line.program == program]
        columns = []
        for score in ("cv_score", "test_score"):
            gains = np.array([getattr(line, score) - getattr(ours[line.name, line.seed], score) for line in own])
            counts = f"{(gains > 0.001).sum()}/{(gains < -0.001).sum()}"
            columns.append((f"{np.median(gains):+.4f}", counts))  # a mean would be one table's, with an R² of -2
        tried = [line.candidates for line in own if line.candidates != ""]
        median = f"{np.median(tried):.0f}" if tried else ""
        text.append(
            f"{program:<30} {median:>10} {columns[0][0]:>9} {columns[0][1]:>13} {columns[1][0]:>11} {columns[1][1]:>13}"
        )
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[*CLASSES, *VALUES], metavar="NAME", help="data sets")
    parser.add_argument("--seeds", type=int, default=2, help="random halves of every set")
    parser.add_argument("--csv", metavar="PATH", help="write a line for every program, set and seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.disable(logging.WARNING)
    compare("heart", 0)  # imports and compiled code are loaded before anything counts
    lines = []
    for seed in range(options.seeds):
        for name in options.only:
            lines += compare(name, seed)
            for line in lines[-6:]:
                scores = f"{line.cv_score:.4f}  {line.test_score:.4f}"
                print(f"{line.name:<14} {line.program:<30} {line.seconds:6.2f} s  {scores}", flush=True)
    print(summary(lines))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([field.name for field in fields(Line)])
            writer.writerows(astuple(line) for line in lines)


if __name__ == "__main__":
    main()
