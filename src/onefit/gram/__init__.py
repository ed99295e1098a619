"""What is known of one kernel on the rows, behind one contract."""

from .contract import Gram
from .dense import DenseGram
from .features import FeatureGram

__all__ = ["DenseGram", "FeatureGram", "Gram"]
