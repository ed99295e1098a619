"""Everything public is described in numpydoc: all parameters, what functions return, and an example that is run."""

import inspect
import re
from importlib import import_module

import pytest

PACKAGES = ("onefit", "onefit.bounds", "onefit.criteria", "onefit.datasets", "onefit.kernels", "onefit.report")
PUBLIC = [
    pytest.param(value, id=f"{package}.{name}")
    for package in PACKAGES
    for name in import_module(package).__all__
    if inspect.isfunction(value := getattr(import_module(package), name)) or inspect.isclass(value)
]
RESULTS = (
    "Comparison", "CriterionCurveDisplay", "CriticalDifferenceDisplay", "SpectrumDisplay", "ValidationSurfaceDisplay",
)  # fmt: skip
"""Classes that are returned by functions or made by class methods, not called by users."""


def section(doc, title):
    """The lines under a heading of numpydoc, up to the next one."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.M | re.S)
    return found[1] if found else ""


def is_abstract_or_raised(value):
    return inspect.isclass(value) and (inspect.isabstract(value) or issubclass(value, Warning | Exception))


@pytest.mark.parametrize("value", PUBLIC)
def test_parameters_and_an_example(value):
    if is_abstract_or_raised(value) or value.__name__ in RESULTS:
        return
    doc = inspect.getdoc(value)
    described = section(doc, "Parameters") + section(doc, "Attributes")
    names = [name for name, p in inspect.signature(value).parameters.items() if p.kind is not p.VAR_KEYWORD]
    headings = {
        name.strip() for line in re.findall(r"^\S.*$", described, re.M) for name in line.split(":")[0].split(",")
    }
    assert set(names) <= headings, f"no description of {sorted(set(names) - headings)}"
    assert ">>>" in section(doc, "Examples")
    if inspect.isfunction(value):
        assert section(doc, "Returns")
