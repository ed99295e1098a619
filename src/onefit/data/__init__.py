"""Rows, targets, weights and folds, validated and drawn once."""

from .folds import Fold, Folds
from .problem import Problem
from .targets import Targets

__all__ = ["Fold", "Folds", "Problem", "Targets"]
