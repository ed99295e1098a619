"""The score of a chosen model, and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..search.table import standard_error
from .text import number

APART = 2.0
"""Standard errors of a difference beyond which two models are told apart."""


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Another model, and its score on every fold.

    Parameters
    ----------
    name : str
        Name of the model.
    scores : array (n_splits,)
        Score on every fold.
    purpose : str, default=""
        Reason to compare with it.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.report import Yardstick
    >>> float(Yardstick("always the commonest class", np.array([0.5, 0.6])).scores.mean())
    0.55
    """

    name: str
    scores: np.ndarray
    purpose: str = ""

    @property
    def score(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """The standard error of the mean, NaN for one fold."""
        return standard_error(self.scores)

    def difference(self, scores: np.ndarray) -> tuple[float, float]:
        """By how much the model with these scores on the same folds is better, and the standard error of that."""
        apart = scores - self.scores
        return float(np.mean(apart)), standard_error(apart)

    def verdict(self, scores: np.ndarray) -> str:
        """Whether the model with these scores is better, in words."""
        gain, error = self.difference(scores)
        if not abs(gain) > APART * error:
            return "no different, within two standard errors"
        return f"the model is {'better' if gain > 0 else 'worse'} by {number(abs(gain), 2)} ± {number(error, 1)}"


@dataclass(frozen=True, eq=False)
class Judgement:
    """The chosen model's score as it was computed anew after the search.

    Parameters
    ----------
    metric : str
        Name of the score.
    score : float
        Mean over the folds.
    error : float
        Standard error of the mean.
    exactness : str
        Label of the score.
    reason : str
        Meaning of the label here, one sentence.
    fold_scores : array (n_splits,)
        Score on every fold, in the order of the folds.
    yardsticks : list of Yardstick, default=[]
        Other models on the same folds.
    expected : (float, float), default=None
        Score that new rows may be expected to have, and its standard error.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.report import Judgement
    >>> found = Judgement("accuracy", 0.9, 0.05, "exact", "computed anew", np.array([0.85, 0.95]))
    >>> found.metric, found.score
    ('accuracy', 0.9)
    """

    metric: str
    score: float
    error: float
    exactness: str
    reason: str
    fold_scores: np.ndarray
    yardsticks: list[Yardstick] = field(default_factory=list)
    expected: tuple[float, float] | None = None
