"""
From a file to a model
======================

``datasets.read`` reads CSV, TSV, ARFF, Parquet and LIBSVM files. Here a CSV file with a column of text and a missing
number becomes a Pipeline, and the search runs over the whole of it.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from onefit import KernelSearchCV, ValidationSurfaceDisplay, datasets

# %%
# A file to read: the iris flowers, with the colour of the paper they were drawn on, and a measurement missing.

iris = load_iris()
lines = ["sepal length,sepal width,petal length,petal width,paper,species"]
for number, (row, label) in enumerate(zip(iris.data, iris.target)):
    cells = [f"{value:.1f}" for value in row]
    cells[1] = "" if number == 7 else cells[1]
    lines.append(",".join([*cells, ("white", "grey")[number % 2], str(iris.target_names[label])]))
path = Path(tempfile.mkdtemp()) / "flowers.csv"
path.write_text("\n".join(lines), encoding="utf-8")

table = datasets.read(path)
print(table.X.shape, table.feature_names)
print("classes:", table.target_names)
print("columns of text:", [table.feature_names[column] for column in table.categorical])
print("remarks:", *table.remarks, sep="\n  ")

# %%
# scikit-learn's transformers do the rest, inside the Pipeline, so that every fold learns them anew.

text = list(table.categorical)
numbers = [column for column in range(table.X.shape[1]) if column not in text]
columns = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), numbers), (OneHotEncoder(drop="if_binary"), text)
)
model = make_pipeline(columns, SVC())
grid = {"svc__gamma": np.logspace(-3, 1, 9), "svc__C": np.logspace(-1, 3, 9)}
search = KernelSearchCV(model, grid, cv=5).fit(table.X, table.y)
print({name: f"{value:.3g}" for name, value in search.best_params_.items()}, f"accuracy {search.best_score_:.4f}")

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
ValidationSurfaceDisplay.from_search(search, ax=axes)
plt.show()

# %%
# What cannot be read is refused with the file, the line and the reason.

broken = path.with_name("broken.csv")
broken.write_text("a,b,c\n1,2,3\n4,5\n", encoding="utf-8")
try:
    datasets.read(broken)
except ValueError as refusal:
    print(str(refusal).replace(str(broken.parent), "…"))

# %%
# Benchmark sets have names; those that scikit-learn ships need neither a file nor a network.

X, y = datasets.load("wdbc")
print(X.shape, np.unique(y), "of", len(datasets.names()), "known sets")
