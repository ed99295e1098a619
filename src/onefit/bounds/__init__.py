"""The papers' theorems as functions, with explicit constants and corrected where they are wrong.

Diagnostics, never selectors: every docstring says whether a bound is informative at practical n. Notation:
``K(x, x) <= kappa``, ``|y| <= M``, ``lam`` the penalty on the mean loss (ridge ``n lam``), ``delta`` the confidence.
"""

from .._public import publish
from .cross_validation import FoldMoments, cv_moments, cv_variance, series_error
from .kernel_stability import (
    krr_change,
    krr_change_without_stability,
    krr_loss_stability,
    krr_risk_bound,
    krr_uniform_stability,
    svm_change,
    svm_risk_bound,
)
from .learner_stability import (
    empirical_uniform_stability,
    hypothesis_stability,
    hypothesis_stability_bound,
    loss_stability,
    pointwise_hypothesis_stability,
    pointwise_hypothesis_stability_bound,
    uniform_stability_bound,
)
from .spectral import (
    margin_lower_bound,
    sm_risk_bound,
    sps_change,
    sps_risk_bound,
    sps_svm_risk_bound,
    svm_margin_lower_bound,
)

__all__ = [
    "FoldMoments",
    "cv_moments",
    "cv_variance",
    "empirical_uniform_stability",
    "hypothesis_stability",
    "hypothesis_stability_bound",
    "krr_change",
    "krr_change_without_stability",
    "krr_loss_stability",
    "krr_risk_bound",
    "krr_uniform_stability",
    "loss_stability",
    "margin_lower_bound",
    "pointwise_hypothesis_stability",
    "pointwise_hypothesis_stability_bound",
    "series_error",
    "sm_risk_bound",
    "sps_change",
    "sps_risk_bound",
    "sps_svm_risk_bound",
    "svm_change",
    "svm_margin_lower_bound",
    "svm_risk_bound",
    "uniform_stability_bound",
]

__dir__ = publish(__name__)
