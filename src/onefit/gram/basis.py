"""The landmarks or frequencies of explicit features, drawn once for all kernels and folds, and sent with every task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..kernels import Kernel
from .feature_map import FeatureMap, FourierMap, LandmarkMap

CURVE = (8, 4, 2)
"""Parts of the landmarks, besides all, for which scores are reported."""

SHORTEST_CURVE = 16
"""Landmarks from which on scores of parts of them are reported."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Landmarks (rows like those of the data, before any transformers), or the seed of random features."""

    count: int
    landmarks: Any = None
    seed: int = 0

    @property
    def label(self) -> str:
        """Given what scores are exact, for the status of rows."""
        kind = "random features" if self.landmarks is None else "landmarks"
        return f"exact given {self.count} {kind}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of landmarks, the first of all, for which scores are reported; the last is all of them."""
        if self.landmarks is None or self.count < SHORTEST_CURVE:
            return (self.count,)
        return (*(self.count // part for part in CURVE), self.count)

    def feature_map(self, kernel: Kernel, landmarks: Any, n_features: int) -> FeatureMap:
        """The features of a kernel; ``landmarks`` are those of the basis after the transformers."""
        if self.landmarks is None:
            return FourierMap.build(kernel, self.count, n_features, self.seed)
        return LandmarkMap.build(kernel, landmarks)
