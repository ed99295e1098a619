"""Texts that say what the numbers of a study depend on: the names under which a journal keeps them.

Nothing here is taken from the source of a class: renaming one, or giving it another field with a default, keeps the
text and thereby the numbers. A change that makes numbers wrong raises a ``revision`` by hand, of a criterion
(``Criterion.revision``) or of a machine (``machines.REVISIONS``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from ..criteria import Criterion
from .machines import REVISIONS
from .spec import Method, Protocol


def conditions(protocol: Protocol) -> str:
    """Everything but the method that a number of a protocol depends on, besides data set and split.

    >>> from onefit.studies.catalogue import STUDIES
    >>> print(conditions(STUDIES["sm:2"].protocol).splitlines()[1])
    machine: lssvm, revision 1
    """
    facts = {
        "kind": protocol.kind,
        "machine": _machine(protocol.machine),
        "kernels": "; ".join(_assignments(grid) for grid in protocol.grids),
        "penalties": _value(protocol.penalties),
        "times rows to the power": str(protocol.power_of_rows),
        "penalty is selected": _value(protocol.select_penalty),
        "smallest penalties": _value(protocol.floors),
        "penalty on": protocol.loss,
        "cross-validation averages": protocol.validation,
        "scaling": protocol.scaling,
        "training rows": _value(protocol.train_share),
        "metric": protocol.metric,
        "sources": _assignments(dict(protocol.sources)),
        "rows": _assignments(dict(protocol.rows)),
    }
    return "\n".join(f"{name}: {text}" for name, text in facts.items())


def method_text(protocol: Protocol, method: Method) -> str:
    """How a method selects; not its name, which is only a heading.

    >>> from onefit.studies.catalogue import STUDIES
    >>> protocol = STUDIES["sm:2"].protocol
    >>> print(method_text(protocol, protocol.methods[1]))
    cv, revision 1; lssvm, revision 1; folds: 5
    """
    parts = [criterion_text(method.criterion), _machine(method.machine or protocol.machine)]
    if method.folds is not None:
        parts.append(f"folds: {method.folds}")
    if method.setting:
        parts.append(f"setting: {method.setting}")
    if method.retrain:
        parts.append("every fold is trained")
    return "; ".join(parts)


def criterion_text(criterion: Criterion) -> str:
    """The name and revision of a criterion, and the parameters that differ from their defaults.

    >>> from onefit import criteria
    >>> criterion_text(criteria.CVKS(eta=[0.5, 1.0], loss="hinge"))
    'cvks, revision 1, eta=0.5|1.0, loss=hinge'
    """
    given: Any = criterion
    changed = {
        field.name: getattr(criterion, field.name)
        for field in fields(given)
        if field.default is MISSING or getattr(criterion, field.name) != field.default
    }
    text = f"{criterion.name}, revision {criterion.revision}"
    return f"{text}, {_assignments(changed)}" if changed else text


def digest(*texts: str) -> str:
    """A short name of some texts."""
    return hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16]


def fingerprint(protocol: Protocol) -> str:
    """A short name of all that can change the numbers of a protocol: not the number of splits, nor explanations."""
    return digest(conditions(protocol), *(method_text(protocol, method) for method in protocol.methods))


def _machine(name: str) -> str:
    return f"{name}, revision {REVISIONS[name]}"


def _assignments(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    """Numbers with all their digits, lists of them, and functions by their names."""
    if isinstance(value, list | tuple):
        return "|".join(map(_value, value))
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    return value if isinstance(value, str) else repr(value)
