"""The Gram matrix of one kernel on the rows: the contract, and its representations."""

from .contract import Gram
from .dense import DenseGram
from .feature_map import FourierMap, LandmarkMap
from .features import FeatureGram

__all__ = ["DenseGram", "FeatureGram", "FourierMap", "Gram", "LandmarkMap"]
