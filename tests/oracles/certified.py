"""An exact search is the oracle of certified and pruned ones."""

import warnings

import numpy as np
from sklearn.exceptions import FitFailedWarning

from onefit import KernelSearchCV, criteria

CERTIFIED = criteria.CV(certify=True)
PRUNED = criteria.CV(certify=True, prune=True)


def search(criterion, model, grid, X, y, fit_params=None, **options):
    """A fitted search."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        warnings.filterwarnings("ignore", category=FitFailedWarning)
        return KernelSearchCV(model, grid, criterion=criterion, **options).fit(X, y, **(fit_params or {}))


def split_scores(results, name="score"):
    """Scores of all candidates and splits (candidates, splits)."""
    columns = [key for key in results if key.startswith("split") and key.endswith(f"_test_{name}")]
    return np.column_stack([results[key] for key in columns])


def assert_same_labels(exact, other, names=("score",)):
    """The scores of all splits are the same to the last digit wherever nothing was pruned."""
    kept = other.cv_results_["exactness"] != "pruned"
    for name in names:
        mine, expected = split_scores(other.cv_results_, name), split_scores(exact.cv_results_, name)
        np.testing.assert_array_equal(mine[kept], expected[kept])


def assert_bounded(exact, other, slack=1e-9):
    """``error_bound`` bounds how far the mean score of what was not solved is from the exact one."""
    mine, expected = other.cv_results_["mean_test_score"], exact.cv_results_["mean_test_score"]
    early = np.isin(other.cv_results_["exactness"], ["certified", "pruned"])
    assert np.isfinite(mine[early]).all()
    away = np.abs(mine - expected)
    assert (away[early] <= other.cv_results_["error_bound"][early] + slack).all()
    np.testing.assert_allclose(mine[~early], expected[~early], atol=1e-6, rtol=1e-6)


def assert_as_good(exact, other, slack=1e-12):
    """The best candidate is best, or tied with it, but for what its own score and the best one's may be off."""
    scores, results = exact.cv_results_["mean_test_score"], other.cv_results_
    best, chosen = int(np.nanargmax(scores)), other.best_index_
    off = np.where(results["exactness"] == "certified", results["error_bound"], 0.0)
    assert results["exactness"][chosen] != "pruned"
    assert scores[chosen] >= scores[best] - off[chosen] - off[best] - slack


def assert_same_oof(exact, other, atol=1e-6):
    """The best candidate's out-of-fold values are exact, too."""
    if exact.best_index_ == other.best_index_:
        np.testing.assert_allclose(other.oof_decision_, exact.oof_decision_, atol=atol)
