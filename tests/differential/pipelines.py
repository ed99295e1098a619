"""Random transformers in front of a machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

MAX_CANDIDATES = 6


def draw_steps(rng, d, classifier):
    """(name, transformer) of one or two steps; the first scales, so that a machine's parameters mean something."""
    if rng.random() < 0.2:
        parts = [("numbers", StandardScaler(), [f"x{k}" for k in range(d)]), ("words", OneHotEncoder(), ["word"])]
        return [("columns", ColumnTransformer(parts))]
    scaler = StandardScaler() if rng.random() < 0.7 else MinMaxScaler((-1, 1))
    second = rng.choice(["none", "pca", "best", "products"], p=[0.4, 0.25, 0.2, 0.15])
    if second == "pca" and d > 1:
        return [("scale", scaler), ("pca", PCA(n_components=int(rng.integers(1, d)), svd_solver="full"))]
    if second == "best" and d > 1:
        return [
            ("scale", scaler),
            ("best", SelectKBest(f_classif if classifier else f_regression, k=int(rng.integers(1, d)))),
        ]
    if second == "products" and d < 5:
        return [("products", PolynomialFeatures(2, include_bias=False)), ("scale", scaler)]
    return [("scale", scaler)]


def draw_grid(rng, steps, grid):
    """Parameters of the transformers, if the grid of the machine leaves room for more candidates."""
    if np.prod([len(values) for values in grid.values()]) * 2 > MAX_CANDIDATES or rng.random() < 0.5:
        return {}
    if steps[0][0] == "scale":
        return {"scale": [steps[0][1], "passthrough"]} if len(steps) == 1 else {}
    return {"columns__numbers__with_mean": [True, False]} if steps[0][0] == "columns" else {}


def draw_container(rng, X, steps):
    """The rows as an array, or as a frame with a column of words where columns are transformed by name."""
    if steps[0][0] != "columns":
        return X
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    words = np.array(["one", "two", "three"])[np.arange(len(X)) % 3]  # in every training set, whatever the split
    return frame.assign(word=rng.permutation(words))
