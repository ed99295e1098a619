"""A pytest plugin that runs scikit-learn's own tests of GridSearchCV on KernelSearchCV.

The test module that ships with scikit-learn is imported while ``sklearn.model_selection.GridSearchCV`` is
KernelSearchCV, so that its own name and its parametrised tests hold ours; scikit-learn itself is left alone. The
RetrainingWarning is not issued: some of the tests count warnings.
"""

import importlib

import sklearn.model_selection

import onefit.search.execution
from onefit import KernelSearchCV
from tests.sklearn_suite.expected import FAILURES

MODULE = "sklearn.model_selection.tests.test_search"


def pytest_configure():
    """Import the test module with KernelSearchCV in the place of GridSearchCV."""
    original = sklearn.model_selection.GridSearchCV
    sklearn.model_selection.GridSearchCV = KernelSearchCV
    try:
        importlib.import_module(MODULE)
    finally:
        sklearn.model_selection.GridSearchCV = original
    onefit.search.execution.warn_retraining = lambda *args, **kwargs: None


def pytest_collection_modifyitems(items):
    """Mark what is expected to fail, strictly: a listed test that passes is a failure too."""
    import pytest

    for item in items:
        if item.name in FAILURES:
            item.add_marker(pytest.mark.xfail(reason=FAILURES[item.name], strict=True))
    unknown = set(FAILURES) - {item.name for item in items}
    if unknown:
        raise pytest.UsageError(f"{MODULE} has no tests named {', '.join(sorted(unknown))}")
