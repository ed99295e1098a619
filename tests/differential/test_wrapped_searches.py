"""Random searches inside of wrappers (transformed targets, samplers, one machine for each output) agree as well."""

import numpy as np
import pytest

from onefit import KernelSearchCV

from .comparison import differences, run
from .wrappers import ResamplingPipeline, draw

SEEDS = range(240)


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_grid_search(seed):
    search = draw(seed)
    assert not (found := differences(search)), f"{search}\n" + "\n".join(found)


@pytest.mark.slow
def test_most_candidates_have_the_fast_path():
    """Seven of ten rows are exact: comparisons above are not those of retraining with itself."""
    fitted = [run(KernelSearchCV, draw(seed)).fitted for seed in range(60)]
    labels = np.concatenate([search.cv_results_["exactness"] for search in fitted if search is not None])
    assert (labels == "exact").mean() >= 0.7


def test_wrappers_are_of_every_kind():
    found = {type(draw(seed).estimator).__name__ for seed in SEEDS}
    assert found == {"Pipeline", "TransformedTargetRegressor", "MultiOutputRegressor", "OneVsRestClassifier"}
    samplers = {
        type(step).__name__
        for search in map(draw, SEEDS)
        for _, step in getattr(search.estimator, "steps", [])
        if hasattr(step, "fit_resample")
    }
    if ResamplingPipeline is None:
        pytest.skip("imbalanced-learn is not installed")
    assert len(samplers) == 4
