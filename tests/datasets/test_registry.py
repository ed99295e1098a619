"""The registry against the manifest of the data folder, the files themselves and the papers' names."""

import csv
import hashlib

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from onefit import datasets
from onefit.datasets.encoding import encode_arff

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
ARFF = "https://raw.githubusercontent.com/renatopp/arff-datasets/c59f172882592bb58982cc54d2d3c8a2b57e9b73/"
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
        if entry.url:
            assert entry.url.startswith(ARFF if entry.encoding else LIBSVM), name
            assert entry.url.endswith(".arff") == bool(entry.encoding), name


@pytest.mark.parametrize("name", [name for name in datasets.names() if datasets.info(name).encoding])
def test_encoded_originals_have_the_registered_checksum(folder, name):
    entry = datasets.info(name)
    original = folder / "arff" / entry.url.rpartition("/")[2]
    if not original.is_file():
        pytest.skip(f"{original.name} is not in the data folder")
    assert hashlib.sha256(encode_arff(original, entry.encoding)).hexdigest() == entry.sha256


HOUSES = (
    "longitude", "latitude", "housingMedianAge", "totalRooms", "totalBedrooms", "population", "households",
    "medianIncome", "medianHouseValue",
)  # fmt: skip
ORIGINALS = {
    "cadata": (HOUSES, (8, 7, 2, 3, 4, 5, 6, 1, 0)),
    "bodyfat": (("Density", *(f"f{k}" for k in range(13)), "class"), (0, *range(2, 15), 1)),
    "cpusmall": ((*(f"f{k}" for k in range(12)), "usr"), (*range(1, 13), 0)),
    "mpg": ((*(f"f{k}" for k in range(7)), "class"), (*range(1, 8), 0)),
}
"""Attributes of ARFF originals in their order, and of each where it is in the LIBSVM text (0: the target)."""


@pytest.mark.parametrize("name", ORIGINALS)
def test_originals_of_regressions_are_put_into_the_order_of_the_registered_text(folder, name, tmp_path):
    entry, (attributes, places) = datasets.info(name), ORIGINALS[name]
    cells = [dict(pair.split(":") for pair in f"0:{line}".split()) for line in lines_of(folder, name)]
    rows = [",".join(row.get(str(place), "0") for place in places) for row in cells]
    header = "".join(f"@attribute {attribute} numeric\n" for attribute in attributes)
    incomplete = ",".join("?" if place == 1 else "3" for place in places)
    original = tmp_path / "original.arff"
    original.write_text(f"@relation r\n{header}@data\n" + "\n".join([*rows, incomplete]) + "\n")
    assert hashlib.sha256(encode_arff(original, entry.encoding)).hexdigest() == entry.sha256


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
