"""Pipelines of imbalanced-learn: samplers make the training rows of every fold."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import L2SVC, LSSVC, HingeSVC, KernelSearchCV, RetrainingWarning

from .wrapped import CLASSIFIERS, assert_delivered, assert_same, both, grid_of, name_of, problem, quiet

pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")


def sampled(machine, sampler, before=True):
    """A Pipeline of imbalanced-learn with a scaler before or behind the sampler."""
    from imblearn.pipeline import Pipeline as ResamplingPipeline

    scaler = ("scale", StandardScaler())
    steps = [scaler, ("sampler", sampler)] if before else [("sampler", sampler), scaler]
    return ResamplingPipeline([*steps, ("m", machine)])


def samplers():
    from imblearn.combine import SMOTEENN
    from imblearn.over_sampling import SMOTE, RandomOverSampler
    from imblearn.under_sampling import NearMiss, RandomUnderSampler

    return {
        "under": RandomUnderSampler(random_state=0),
        "over": RandomOverSampler(random_state=3),
        "smote": SMOTE(random_state=0, k_neighbors=3),
        "near": NearMiss(n_neighbors=2),
        "both": SMOTEENN(random_state=0, smote=SMOTE(random_state=0, k_neighbors=2)),
    }


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.parametrize("before", [True, False], ids=["scaled before", "scaled behind"])
@pytest.mark.parametrize("sampler", ["under", "over", "smote", "near", "both"])
@pytest.mark.parametrize("machine", [*CLASSIFIERS, OneVsRestClassifier(HingeSVC())], ids=name_of)
@pytest.mark.quick(6)
def test_samplers(machine, sampler, before, scoring):
    X, y = problem(SVC())
    estimator = sampled(machine, samplers()[sampler], before)
    prefix = "m__estimator__" if hasattr(machine, "estimator") else "m__"
    grid = grid_of(getattr(machine, "estimator", machine), prefix)
    if sampler == "both":  # its own cleaning may take all rows of a class: then both searches train
        slow, fast = (quiet(kind(estimator, grid, cv=3).fit, X, y) for kind in (GridSearchCV, KernelSearchCV))
        for key in (key for key in slow.cv_results_ if key.startswith("split")):
            np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_[key], atol=1e-12)
        return
    slow, fast = both(estimator, grid, X, y, cv=4, scoring=scoring)
    assert_same(slow, fast, exactly=True)
    assert_delivered(fast, X, y, 4, scoring)
    assert fast.oof_decision_.shape == (60, 3)


@pytest.mark.parametrize(
    "machine", [LSSVC(class_weight="balanced"), L2SVC(class_weight={"ant": 1, "bee": 3, "cat": 2})], ids=name_of
)
def test_classes_are_weighted_after_sampling(machine):
    from imblearn.under_sampling import RandomUnderSampler

    X, y = problem(SVC())
    estimator = sampled(machine, RandomUnderSampler(sampling_strategy={"bee": 12}, random_state=0))
    assert_same(*both(estimator, grid_of(machine, "m__"), X, y, cv=4), exactly=True)


def test_samplers_that_draw_anew_are_retrained():
    from imblearn.under_sampling import RandomUnderSampler

    X, y = problem(SVC())
    for sampler, options, fit_params, reason in (
        (RandomUnderSampler(), {}, {}, "random_state of RandomUnderSampler is no number"),
        (RandomUnderSampler(random_state=0), {"return_train_score": True}, {}, "train scores"),
        (RandomUnderSampler(random_state=0), {"scale_penalty": True}, {}, "number of training rows"),
    ):
        with pytest.warns(RetrainingWarning, match=reason):
            search = KernelSearchCV(sampled(SVC(), sampler), {"m__C": [1.0]}, cv=3, **options).fit(X, y, **fit_params)
        assert search.cv_results_["exactness"][0] == "retrained"


def test_weights_are_not_sampled():
    """imbalanced-learn hands the weights of all rows to a machine that has fewer: an error, as in GridSearchCV."""
    from imblearn.under_sampling import RandomUnderSampler

    X, y = problem(SVC())
    estimator = sampled(SVC(), RandomUnderSampler(random_state=0))
    for kind in (GridSearchCV, KernelSearchCV):
        search = kind(estimator, {"m__C": [1.0]}, cv=3, error_score="raise")
        with pytest.raises(ValueError, match="sample_weight"):
            quiet(search.fit, X, y, m__sample_weight=np.ones(len(X)))


def test_a_resampling_pipeline_without_samplers_is_a_pipeline():
    X, y = problem(SVC())
    estimator = sampled(HingeSVC(), "passthrough")
    assert_same(*both(estimator, grid_of(HingeSVC(), "m__"), X, y, cv=3), exactly=True)
