"""MLflow's autologging, which wraps the ``fit`` of scikit-learn's classes, for a class of ours."""

from __future__ import annotations

from inspect import getclosurevars, isfunction
from typing import Any

from sklearn.model_selection import GridSearchCV


def follow_autologging(cls: type) -> bool:
    """Wrap ``cls.fit`` as MLflow has wrapped ``GridSearchCV.fit``; True if that is new.

    ``mlflow.sklearn.autolog()`` wraps the classes that it finds in scikit-learn, by a function that works for every
    search. MLflow has no public way to give it other classes, so the function is taken from the wrapper; where a
    version of MLflow keeps it elsewhere nothing is wrapped. Switching autologging off unwraps both classes. Not to be
    called where MLflow is not imported.
    """
    wanted, present = _wrapping_of(GridSearchCV), _wrapping_of(cls)
    if wanted is None or wanted == present:
        return False
    from mlflow.utils.autologging_utils import safe_patch

    integration, function = wanted
    safe_patch(integration, cls, "fit", function)
    return True


def _wrapping_of(cls: type) -> tuple[str, Any] | None:
    """(name of the integration, its function) by which MLflow has wrapped the class's ``fit``, if it has."""
    fit = vars(cls).get("fit")
    known = getclosurevars(fit).nonlocals if isfunction(fit) else {}
    if "patch_function" not in known or "autologging_integration" not in known:
        return None
    return known["autologging_integration"], known["patch_function"]
