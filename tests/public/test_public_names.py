"""The black-box suite uses public names of onefit only, so that it survives any change of the inside."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import onefit

TESTS = Path(__file__).parents[1]
FOLDERS = ("public", "differential", "estimators", "criteria", "contracts", "laws", "bounds", "sklearn_suite")
MODULES = ("bounds", "criteria", "datasets", "kernels", "report")
LOOKS_INSIDE = {
    "bounds/test_stability_of_learners.py": "the rows that are drawn",
    "contracts/test_criteria.py": "what criteria declare is compared with what they read of learners",
    "criteria/test_features.py": "criteria of a Gram matrix of features, which searches do not make yet",
    "criteria/test_gradients.py": "rows that kernels are differentiated on",
    "criteria/test_support_vector_criteria.py": "spans by another formula",
    "differential/test_delivered_model.py": "the command line's code that rebuilds a model",
    "estimators/test_delivered_model.py": "the limit beyond which LIBSVM's model is another one",
    "estimators/test_auto_search.py": "axes and strategies",
    "estimators/test_interrupted_searches.py": "what journals hold",
    "estimators/test_journaled_searches.py": "what journals hold",
    "estimators/test_kernel_learn.py": "paths that must not be computed again",
    "estimators/test_running_sums.py": "small blocks, and how often their sums are written",
    "estimators/test_scanned_frames.py": "transformers that learn a block at a time, by themselves",
    "laws/test_least_squares.py": "learners by themselves",
    "estimators/test_own_support_vector_machines.py": "models that the command line saves",
    "public/test_homes_of_names.py": "the package that a pickled ledger names",
    "sklearn_suite/plugin.py": "the module in which scikit-learn's tests look for names",
    "sklearn_suite/test_search_suite.py": "that plugin",
}
"""Files of these folders that do not belong to the suite, and what for."""
FILES = sorted(path for folder in FOLDERS for path in (TESTS / folder).glob("*.py"))
SUITE = [path for path in FILES if str(path.relative_to(TESTS)) not in LOOKS_INSIDE]


def names_inside(path):
    """Names of onefit in a file, and in those of the tests that it imports, that are not public."""
    seen, waiting, found = set(), [path], []
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            found += [f"{file.name}: {name}" for name in used(node) if not is_public(name)]
            waiting += imported_tests(node, file)
    return found


def used(node):
    """Names of onefit, with dots, that a node of the syntax tree uses."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "onefit")
    elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "onefit":
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("onefit."):
        yield ast.unparse(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"onefit\.\w", node.value):
        yield node.value


def is_public(name):
    """Whether it is in ``__all__`` of onefit, or of one of its public modules, or belongs to what is."""
    _, *parts = name.split(".")
    if not parts or parts[0] in ("__all__", "__version__"):
        return True
    if parts[0] not in onefit.__all__ or any(part.startswith("_") for part in parts):
        return False
    return len(parts) == 1 or parts[0] not in MODULES or parts[1] in import_module(f"onefit.{parts[0]}").__all__


def imported_tests(node, file):
    """Files of the tests that a node imports."""
    if not isinstance(node, ast.ImportFrom) or not (node.level or (node.module or "").startswith("tests.")):
        return
    folder = file.parents[node.level - 1] if node.level else TESTS.parent
    module = folder.joinpath(*(node.module or "").split("."))
    for candidate in (module.with_suffix(".py"), *(module / f"{alias.name}.py" for alias in node.names)):
        if candidate.exists():
            yield candidate


@pytest.mark.parametrize("path", SUITE, ids=lambda path: str(path.relative_to(TESTS)))
def test_only_public_names(path):
    assert names_inside(path) == []


@pytest.mark.parametrize("name", LOOKS_INSIDE)
def test_those_that_look_inside_do(name):
    assert names_inside(TESTS / name)
