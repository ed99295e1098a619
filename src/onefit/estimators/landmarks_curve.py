"""How the score of the chosen candidate grows with the number of landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._exceptions import warn_caller
from .._public import set_module
from ..search.choice import Choice


@set_module("onefit")
class LandmarksWarning(UserWarning):
    """More landmarks would probably help."""


def landmarks_curve(choice: Choice) -> dict[str, Any]:
    """``landmarks_curve_`` of a search with landmarks: scores of the best candidate with the first of them only.

    The landmarks are nested, so that these scores come from leading blocks of the same sums. A warning says that the
    second half of the landmarks raised the score by more than one standard error over the splits: then more of them may
    raise it further.
    """
    basis, row = choice.execution.request.basis, choice.row
    if basis is None or choice.metric not in row.curve:
        return {}
    scores = row.curve[choice.metric]  # (sizes, splits)
    if len(scores) == 1:  # too few landmarks, or random features, or an iterative solution
        return {}
    curve = {
        "n_landmarks": np.array(basis.sizes),
        "mean_test_score": scores.mean(axis=1),
        "std_test_score": scores.std(axis=1),
    }
    gain = curve["mean_test_score"][-1] - curve["mean_test_score"][-2]
    if scores.shape[1] > 1 and gain > scores[-1].std(ddof=1) / np.sqrt(scores.shape[1]):
        warn_caller(
            f"{basis.count} landmarks score {gain:.3g} better than half as many, more than a standard error: more of "
            "them would probably help (see landmarks_curve_).",
            LandmarksWarning,
        )
    return {"landmarks_curve_": curve}
