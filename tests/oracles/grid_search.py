"""scikit-learn's GridSearchCV is the oracle of KernelSearchCV."""

import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV

from onefit import GridEdgeWarning, KernelSearchCV

TIMES = ("fit_time", "score_time")
EXTRA = {"exactness", "error_bound", "status", "seconds"}


def both(estimator, grid, X, y, fit_params=None, onefit_params=None, **kwargs):
    """(KernelSearchCV, GridSearchCV) fitted with the same arguments; ``onefit_params`` only to the first."""
    fit_params = fit_params or {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        fast = KernelSearchCV(estimator, grid, **kwargs, **(onefit_params or {})).fit(X, y, **fit_params)
    slow = GridSearchCV(estimator, grid, **kwargs).fit(X, y, **fit_params)
    return fast, slow


def assert_same_search(fast, slow, tolerance=1e-8):
    """Same keys in the same order, same dtypes, same scores, same choice."""
    ours = [key for key in fast.cv_results_ if key not in EXTRA]
    assert ours == list(slow.cv_results_)
    for key, column in slow.cv_results_.items():
        mine = fast.cv_results_[key]
        if key == "params":
            assert mine == column
        elif not key.endswith(TIMES):
            assert mine.dtype == column.dtype, key
            if key.startswith("rank"):
                continue  # ties may be broken by rounding; the scores are compared
            if column.dtype.kind == "f" and not key.startswith("param"):
                np.testing.assert_allclose(mine, column, atol=tolerance, rtol=tolerance, err_msg=key)
            else:
                np.testing.assert_array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(column))
                assert repr(mine.tolist()) == repr(column.tolist()), key  # nan is a parameter like others
    for name in ("best_index_", "best_params_", "n_splits_", "multimetric_"):
        assert hasattr(fast, name) == hasattr(slow, name), name
        if hasattr(slow, name):
            assert getattr(fast, name) == getattr(slow, name), name
    for name in ("best_score_", "best_estimator_", "refit_time_", "scorer_", "classes_", "n_features_in_"):
        assert hasattr(fast, name) == hasattr(slow, name), name
