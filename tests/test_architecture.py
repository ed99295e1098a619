"""Imports point one way (left to right in the layers below), and solvers and criteria never meet."""

import ast
import importlib
from pathlib import Path

import pytest

import onefit

ROOT = Path(onefit.__file__).parent
LAYERS = [
    {"resources", "linalg", "losses"},
    {"kernels"},
    {"data"},
    {"gram"},
    {"machines"},
    {"solvers", "criteria"},
    {"bounds"},
    {"search"},
    {"estimators"},
    {"datasets"},
    {"studies"},
    {"report"},
    {"cli"},
]
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


def imported_packages(path):
    """The onefit packages that a module imports, wherever in the file."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            target = here[: len(here) - node.level] + tuple((node.module or "").split("."))
            names = [target[0]] if target and target[0] else [alias.name for alias in node.names]
            yield from names
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "onefit":
            yield from [node.module.split(".")[1]] if "." in node.module else [a.name for a in node.names]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("onefit."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_to_the_left(path):
    package = path.relative_to(ROOT).parts[0]
    for other in imported_packages(path):
        if other != package and other in RANK:
            assert RANK[other] < RANK[package], f"{package} must not import {other}"


def test_every_package_has_a_layer():
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} <= set(RANK)


CLIENTS = sorted(path for path in MODULES if path.relative_to(ROOT).parts[0] == "studies" or "study" in path.parts)


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_studies_use_public_names_only(path):
    """What they import from the package, outside of studies and their pages, is what users can import."""
    here = ("onefit", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = here[: len(here) - node.level + 1] if node.level else ()
        module = (*base, *(node.module.split(".") if node.module else ()))
        if module[:1] != ("onefit",) or module[1:2] == ("studies",) or module[1:3] == ("report", "study"):
            continue
        public = {*importlib.import_module(".".join(module)).__all__, "__version__"}
        assert module == ("onefit",) or module[1] in onefit.__all__, f"{'.'.join(module)} is not public"
        assert {alias.name for alias in node.names} <= public, f"{path.name} imports what is not public"
