"""Random searches agree with GridSearchCV, unless a label says that they need not."""

import numpy as np
import pytest

from onefit import KernelSearchCV

from .comparison import differences, run
from .searches import draw, draw_on_features

LONGEST = (11, 39)
FAST = [seed for seed in range(42) if seed not in LONGEST]
ONCE_DIFFERENT = (1059, 1166, 1205)
SLOW = [*LONGEST, *range(42, 360), *ONCE_DIFFERENT]


@pytest.mark.parametrize("seed", FAST)
def test_agrees_with_grid_search(seed):
    search = draw(seed)
    assert not (found := differences(search)), f"{search}\n" + "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_agrees_with_grid_search_in_many_more(seed):
    search = draw(seed)
    assert not (found := differences(search)), f"{search}\n" + "\n".join(found)


@pytest.mark.parametrize("seed", range(12))
def test_linear_machines_on_features_agree_with_grid_search(seed):
    search = draw_on_features(seed)
    assert not (found := differences(search)), f"{search}\n" + "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 120))
def test_linear_machines_on_features_agree_with_grid_search_in_many_more(seed):
    search = draw_on_features(seed)
    assert not (found := differences(search)), f"{search}\n" + "\n".join(found)


@pytest.mark.slow
def test_labels_are_not_an_excuse():
    """Nine of ten rows say that they are GridSearchCV's, so that the comparisons above have something to compare."""
    fitted = [run(KernelSearchCV, draw(seed)).fitted for seed in range(60)]
    labels = np.concatenate([search.cv_results_["exactness"] for search in fitted if search is not None])
    assert np.isin(labels, ["exact", "retrained"]).mean() >= 0.9


def test_searches_are_what_their_seed_says():
    one, two = draw(7), draw(7)
    assert str(one) == str(two)
    np.testing.assert_array_equal(np.asarray(one.y), np.asarray(two.y))


def test_searches_are_of_every_kind():
    """Machines, kernels, Pipelines, splitters, weights and scorings all occur in the searches."""
    searches = [draw(seed) for seed in [*FAST, *SLOW]]
    machines = {type(search.machine).__name__ for search in searches}
    own = {"HingeSVC", "EpsilonSVR", "L2SVC", "KernelLogisticRegression", "LSSVC", "LSSVR"}
    assert machines == {"SVC", "SVR", "KernelRidge"} | own
    kernels = {search.machine.kernel for search in searches}
    assert kernels == {"rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed"}
    steps = {
        name for search in searches if search.estimator is not search.machine for name, _ in search.estimator.steps
    }
    assert steps == {"scale", "pca", "best", "products", "columns", "machine"}
    assert len({type(search.options["cv"]).__name__ for search in searches}) == 10
    weighted = [search for search in searches if any("weight" in name for name in search.fit_params)]
    balanced = [search for search in searches if getattr(search.machine, "class_weight", None) is not None]
    several = [search for search in searches if isinstance(search.options["scoring"], dict)]
    assert min(len(weighted), len(balanced), len(several)) >= 40
