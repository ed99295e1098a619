"""Public names belong to the package that exports them: what is saved loads after files have moved."""

import pickle
import pickletools
from importlib import import_module
from inspect import isclass, isfunction, signature

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import onefit

PACKAGES = ("onefit", "onefit.bounds", "onefit.criteria", "onefit.datasets", "onefit.kernels", "onefit.report")
NAMES = [(package, name) for package in PACKAGES for name in import_module(package).__all__]
OBJECTS = [
    pytest.param(getattr(import_module(package), name), package, id=f"{package}.{name}") for package, name in NAMES
]
MACHINES = [
    value for name in onefit.__all__ if isclass(value := getattr(onefit, name)) and issubclass(value, BaseEstimator)
]


@pytest.mark.parametrize(("value", "package"), OBJECTS)
def test_classes_and_functions_name_the_package_that_exports_them(value, package):
    if isclass(value) or isfunction(value):
        assert (value.__module__, getattr(import_module(package), value.__name__)) == (package, value)
        assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize("package", PACKAGES)
def test_dir_lists_public_names_only(package):
    module = import_module(package)
    assert {name for name in dir(module) if not name.startswith("__")} == set(module.__all__)


def saved_types(model):
    """Types in the schema of a model that skops writes, besides those that skops itself trusts."""
    return set(pytest.importorskip("skops.io").get_untrusted_types(data=pytest.importorskip("skops.io").dumps(model)))


def has_kernel(machine):
    """Whether it is made with a kernel and nothing else."""
    parameters = signature(machine).parameters
    return "kernel" in parameters and all(p.default is not p.empty for p in parameters.values())


@pytest.mark.parametrize("machine", [machine for machine in MACHINES if has_kernel(machine)])
def test_models_are_saved_under_public_names(machine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = machine(kernel=onefit.kernels.Gaussian(0.5)).fit(X, X[:, 0] > 0)
    assert {name for name in saved_types(model) if name.startswith("onefit")} == {
        f"onefit.{machine.__name__}",
        "onefit.kernels.Gaussian",
    }
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_fitted_searches_are_pickled_under_names_that_moves_keep():
    """No file of the package is named, except by packages that export what is pickled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    grid = {"alpha": [0.1, 1.0], "kernel": [onefit.kernels.Gaussian(0.5), onefit.kernels.Linear()]}
    search = onefit.KernelSearchCV(onefit.LSSVC(), grid, refit=onefit.one_standard_error, cv=3).fit(X, X[:, 0] > 0)
    for model in (search, onefit.calibrated(search)):
        pickled = pickle.dumps(model)
        words = {word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)}
        assert {word for word in words if word.startswith("onefit")} == {
            "onefit",
            "onefit.criteria",
            "onefit.kernels",
            "onefit.resources",
        }
        np.testing.assert_array_equal(pickle.loads(pickled).predict(X), model.predict(X))
