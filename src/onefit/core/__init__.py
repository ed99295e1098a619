"""Problem, Gram and the words that the other packages share."""

from .dense_gram import DenseGram
from .feature_gram import FeatureGram
from .folds import Fold, Folds
from .gram import Gram
from .ledger import Ledger
from .problem import Problem
from .score import Exactness
from .targets import Targets

__all__ = ["DenseGram", "Exactness", "FeatureGram", "Fold", "Folds", "Gram", "Ledger", "Problem", "Targets"]
