"""The walk of a search through the source, as CONTRIBUTING.md draws it, is the walk that a search takes."""

import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import onefit
from onefit import KernelSearchCV

ROOT = Path(onefit.__file__).parent
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"
LINE = re.compile(r"^([ │├└─]*)([\w.]+)\(\) +(\S+\.py)  ")
SOLVER = "SupportVectorLearner.heldout", "solvers/svm/learner.py"


def drawn_walk():
    """[(function, file, function that calls it)] of the picture; a caller is the line above that is indented less."""
    text = GUIDE.read_text().split("## The walk")[1]
    walk, callers = [], []
    for line in text.split("```")[1].splitlines():
        if found := LINE.match(line):
            indent, function, file = found.groups()
            callers = [caller for caller in callers if caller[0] < len(indent)]
            walk.append((function, file, callers[-1][1] if callers else None))
            callers.append((len(indent), function))
    return walk


def walked(search, X, y):
    """[(function, file, stack of functions that called it)] of the package, as they are first entered by ``fit``."""
    first: dict = {}

    @cache
    def place(code):
        path = Path(code.co_filename)
        return (code.co_qualname, path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None

    def watch(frame, event, _):
        if event != "call" or (entered := place(frame.f_code)) is None or entered in first:
            return
        stack, caller = [], frame.f_back
        while caller is not None:
            stack.append(place(caller.f_code))
            caller = caller.f_back
        first[entered] = [known for known in stack if known is not None]

    sys.setprofile(watch)
    try:
        search.fit(X, y)
    finally:
        sys.setprofile(None)
    return [(*entered, stack) for entered, stack in first.items()]


@pytest.fixture(scope="module")
def walk():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=60) > 0
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.1, 1.0, 10.0]}
    search = KernelSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3)
    search.fit(X, y)  # imports
    return walked(search, X, y)


def test_the_picture_is_true(walk):
    drawn = drawn_walk()
    names = {(function, file) for function, file, _ in drawn}
    found = []
    for function, file, stack in walk:
        if (function, file) in names:
            caller = next((known for known, where in stack if (known, where) in names), None)
            found.append((function, file, caller))
    assert found == drawn


def test_the_way_to_the_solver_is_short(walk):
    """Functions on the stack when the solver is first entered, and the files that they are in."""
    (stack,) = [stack for function, file, stack in walk if (function, file) == SOLVER]
    assert len(stack) <= 12
    assert len({file for _, file in stack}) <= 6


def test_a_fit_enters_few_files(walk):
    """Those of the picture, and those that are asked for kernels, Gram matrices, rows and solutions."""
    assert len({file for _, file, _ in drawn_walk()}) == 16
    assert len({file for _, file, _ in walk}) <= 51
