"""The registry against the manifest of the data folder, the files themselves and the papers' names."""

import csv
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from onefit import datasets

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
WITH_FILE = [name for name in datasets.names() if datasets.info(name).file]
PAPER_SIZES = {  # Table I of the kernel stability paper: rows, features
    "sonar": (208, 60),
    "a2a": (2265, 123),
    "diabetes": (768, 8),
    "heart": (270, 13),
    "ionosphere": (351, 34),
    "breast": (683, 10),
    "australian": (690, 14),
    "german": (1000, 24),
    "liver": (345, 5),
    "bodyfat": (252, 14),
    "mpg": (392, 7),
    "housing": (506, 13),
    "triazines": (186, 60),
    "pyrim": (74, 27),
    "mg": (1385, 6),
    "eunite": (336, 16),
    "space-ga": (3107, 6),
    "cpusmall": (8192, 12),
}


def word_by_word(lines, features):
    """X and y by plain Python."""
    X, y = [], []
    for line in lines:
        label, *pairs = line.split()
        row = [0.0] * features
        for pair in pairs:
            index, value = pair.split(":")
            row[int(index) - 1] = float(value)
        X.append(row)
        y.append(float(label))
    return np.array(X), np.array(y)


def lines_of(folder, name):
    path = folder / "libsvm" / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path.read_text().splitlines()


def test_same_facts_as_the_manifest(folder):
    manifest = folder / "MANIFEST.csv"
    if not manifest.exists():
        pytest.skip(f"{manifest} is not there")
    with manifest.open(newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file) if "/" not in row["name"]}  # others are no LIBSVM text
    assert set(WITH_FILE) == set(rows)
    for name, row in rows.items():
        entry = datasets.info(name)
        features = 123 if name in ("a1a", "a2a") else int(row["features"])
        assert (entry.task, entry.rows, entry.features) == (row["task"], int(row["rows"]), features), name
        assert entry.sha256 == row["sha256"], name
        assert "; ".join(f"{label}:{count}" for label, count in entry.classes) == row["classes"], name


@pytest.mark.parametrize("name", WITH_FILE)
@pytest.mark.quick(5)
def test_files_word_by_word(folder, name):
    lines = lines_of(folder, name)
    entry = datasets.info(name)
    X, y = datasets.load(name)
    assert X.shape == (len(lines), entry.features)
    assert y.dtype == (int if entry.task == "classification" else float)
    step = max(1, len(lines) // 1000)  # of large files some rows
    expected_X, expected_y = word_by_word(lines[::step], entry.features)
    np.testing.assert_array_equal(X[::step], expected_X)
    np.testing.assert_array_equal(y[::step], expected_y)


def test_every_set_of_the_papers_tables_is_known(folder):
    tables = folder.parent / "papers" / "tables"
    if not tables.is_dir():
        pytest.skip(f"{tables} is not there")
    used = set()
    for path in tables.glob("*.csv"):
        with path.open(newline="") as file:
            used |= {row["dataset"] for row in csv.DictReader(file)}
    assert len(used) > 30
    for name in used:
        assert datasets.info(name) == datasets.info(name.upper()), name


@pytest.mark.parametrize(("name", "size"), PAPER_SIZES.items())
def test_papers_names_mean_sets_of_the_papers_sizes(name, size):
    entry = datasets.info(name)
    assert (entry.rows, entry.features) == size
    assert entry.task == ("classification" if entry.classes else "regression")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("space-ga", "space_ga"),
        ("breast", "breast-cancer"),
        ("breast_cancer", "breast-cancer"),
        ("german", "german.numer"),
        ("liver", "liver-disorders"),
        ("guide", "svmguide3"),
        ("Guide", "svmguide3"),
        ("eunite", "eunite2001"),
    ],
)
def test_aliases(alias, name):
    assert datasets.info(alias).name == name


def test_every_spelling_leads_to_its_set():
    for name in datasets.names():
        for spelling in (name, *datasets.info(name).aliases):
            assert datasets.info(spelling.upper().replace("_", "-")).name == name


def test_entries_are_complete():
    for name in datasets.names():
        entry = datasets.info(name)
        assert entry.bundled or (entry.file and len(entry.sha256) == 64), name
        assert entry.remark.endswith("."), name
        assert sum(count for _, count in entry.classes) in (0, entry.rows), name
        if not entry.url and not entry.bundled:
            assert "No download: " in entry.remark, name
        if entry.url:  # LIBSVM's site, or a commit of a repository, which does not change
            assert re.match(
                rf"{re.escape(LIBSVM)}|https://raw\.githubusercontent\.com/\w+/[\w-]+/[0-9a-f]{{40}}/", entry.url
            )


def test_wdbc_is_the_set_that_scikit_learn_ships(folder):
    shipped = load_breast_cancer()
    X, y = word_by_word(lines_of(folder, "wdbc"), 30)
    np.testing.assert_array_equal(shipped.data, X)
    np.testing.assert_array_equal(shipped.target_names[shipped.target] == "malignant", y == 1)
    np.testing.assert_array_equal(datasets.load("wdbc")[1], y)


def test_unknown_names_get_a_hint():
    with pytest.raises(ValueError, match=r"no data set is called 'hart'\. Did you mean heart"):
        datasets.info("hart")
    with pytest.raises(ValueError, match="names"):
        datasets.load("zzzzzz")
