"""Readers of estimators that contain a machine: one file for each kind, and one line for each class in ``register``."""

from sklearn.compose import TransformedTargetRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline

from ...machines.wrappers import register_wrapper
from .pipelines import imblearn_pipeline, pipeline
from .separate import each_output, one_vs_rest
from .transformed_target import transformed_target

register_wrapper(Pipeline, pipeline)
register_wrapper("imblearn.pipeline.Pipeline", imblearn_pipeline)
register_wrapper(TransformedTargetRegressor, transformed_target)
register_wrapper(MultiOutputRegressor, each_output)
register_wrapper(OneVsRestClassifier, one_vs_rest)
