"""Searches over rows that are not in memory: the results of arrays, and refusals before any work."""

import re

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    GridEdgeWarning,
    KernelSearchCV,
    Landmarks,
    LandmarksWarning,
    RandomFeatures,
    datasets,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GRID = {"gamma": [0.02, 0.3], "alpha": [1e-2, 1.0]}


@pytest.fixture
def rows(tmp_path):
    """(X, y, the same as a scan, the file)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) * [1.0, 4.0, 0.2] + 1
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * rng.normal(size=700)
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    return X, y, datasets.scan(tmp_path / "t.npy")[0], tmp_path / "t.npy"


def split_scores(search):
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)])


def searches(model, grid, X, y, scanned, **options):
    options = {"cv": KFold(4), "approximation": Landmarks(40, random_state=0), **options}
    return (KernelSearchCV(model, grid, **options).fit(data, y) for data in (X, scanned))


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "neg_median_absolute_error"])
def test_a_scan_gives_the_bits_of_an_array(rows, scoring):
    X, y, scanned, _ = rows
    array, scan = searches(LSSVR(), GRID, X, y, scanned, scoring=scoring)
    np.testing.assert_array_equal(split_scores(scan), split_scores(array))
    np.testing.assert_array_equal(scan.predict(X), array.predict(X))
    np.testing.assert_array_equal(scan.oof_decision_, array.oof_decision_)


@pytest.mark.parametrize("preprocessing", ["per_fold", "shared"])
@pytest.mark.parametrize(
    "transformers",
    [
        [StandardScaler()],
        [MinMaxScaler()],
        [Normalizer()],
        [StandardScaler(), MinMaxScaler()],
        ["passthrough", StandardScaler()],
    ],
    ids=str,
)
def test_transformers_learn_a_block_at_a_time_on_every_fold_or_once(rows, preprocessing, transformers):
    X, y, scanned, _ = rows
    grid = {f"lssvr__{name}": values for name, values in GRID.items()}
    model = make_pipeline(*transformers, LSSVR())
    array, scan = searches(model, grid, X, y, scanned, preprocessing=preprocessing)
    np.testing.assert_allclose(split_scores(scan), split_scores(array), rtol=1e-8)
    np.testing.assert_allclose(scan.predict(X), array.predict(X), rtol=1e-7)
    if preprocessing == "per_fold":
        scores = cross_val_score(scan.best_estimator_, X, y, cv=KFold(4))
        np.testing.assert_allclose(scores, split_scores(scan)[:, scan.best_index_], rtol=1e-8)


def test_classes_and_a_width_that_follows_the_data(rows):
    X, y, scanned, _ = rows
    labels = np.where(y > 1, "high", "low")
    array, scan = searches(LSSVC(gamma="scale"), {"alpha": [0.1, 1.0]}, X, labels, scanned, scoring="balanced_accuracy")
    np.testing.assert_allclose(split_scores(scan), split_scores(array), rtol=1e-12)
    assert set(scan.predict(X)) == {"high", "low"}


def test_memory_maps_of_any_type_and_sliceable_arrays(rows, tmp_path):
    X, y, _, _ = rows
    np.save(tmp_path / "single.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "single.npy", mmap_mode="r")
    array, scan = searches(LSSVR(), GRID, X.astype(np.float32).astype(float), y, mapped)
    np.testing.assert_array_equal(split_scores(scan), split_scores(array))

    class Chunked:  # as arrays of HDF5 files are
        shape, chunks, dtype, ndim = X.shape, (100, 3), X.dtype, 2

        def __getitem__(self, rows):
            return X[rows]

        def __len__(self):
            return len(X)

        def __array__(self, dtype=None, copy=None):
            raise MemoryError("all rows at once")

    array, scan = searches(LSSVR(), GRID, X, y, Chunked())
    np.testing.assert_array_equal(split_scores(scan), split_scores(array))
    options = {"journal": tmp_path / "j.sqlite", "approximation": Landmarks(30, random_state=0)}
    assert KernelSearchCV(LSSVR(), GRID, **options).fit(Chunked(), y).ledger_["pass"] > 0
    assert KernelSearchCV(LSSVR(), GRID, **options).fit(Chunked(), y).ledger_["pass"] == 0
    X[618, 2] += 1e-9
    assert KernelSearchCV(LSSVR(), GRID, **options).fit(Chunked(), y).ledger_["pass"] > 0


@pytest.mark.parametrize("model", [LSSVR(), L2SVC(), SVC(), SVR()], ids=lambda model: type(model).__name__)
def test_missing_values_are_named_by_their_row(tmp_path, model):
    """Also far behind the first block, and whatever ``error_score`` says: no candidate could do without the row."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(250_000, 2)), rng.normal(size=250_000)
    X[211_618, 1] = np.nan
    np.save(tmp_path / "gap.npy", X)
    scanned, _ = datasets.scan(tmp_path / "gap.npy", target=False)
    y = y > 0 if is_classifier(model) else y
    search = KernelSearchCV(model, {"gamma": [0.3]}, approximation=Landmarks(20, X[:20]))
    with pytest.raises(ValueError, match=r"^Row 211618 of X has missing or infinite values\.$"):
        search.fit(scanned, y)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("approximation", [Landmarks(method=np.eye(3)), RandomFeatures(20, random_state=0)], ids=repr)
@pytest.mark.parametrize(
    "model",
    [LSSVR(gamma=0.3), LSSVR(kernel="laplacian"), LSSVR(kernel="cosine"), make_pipeline(StandardScaler(), LSSVR())],
    ids=lambda model: str(getattr(model, "kernel", "behind a scaler")),
)
def test_missing_values_are_named_whatever_reads_them(rows, tmp_path, model, approximation, value):
    """Kernels and transformers that refuse such values by themselves do not know the number of the row."""
    X, y, _, _ = rows
    X[618, 2] = value
    np.save(tmp_path / "gap.npy", X)
    scanned, _ = datasets.scan(tmp_path / "gap.npy", target=False)
    if isinstance(approximation, RandomFeatures) and getattr(model, "kernel", "rbf") != "rbf":
        pytest.skip("random features stand for Gaussian kernels")
    with pytest.raises(ValueError, match=r"^Row 618 of X has missing or infinite values\.$"):
        KernelSearchCV(model, {}, approximation=approximation).fit(scanned, y)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_inputs_that_overflow_are_named_by_their_row(rows, kernel):
    X, y, _, _ = rows
    X[618, 2] = 1e200
    search = KernelSearchCV(LSSVR(kernel=kernel, gamma=0.3), {}, approximation=Landmarks(method=X[:30]))
    with pytest.raises(ValueError, match=r"^Row 618 of X has inputs so large that kernels of it overflow\.$"):
        search.fit(X, y)


def test_missing_values_among_possible_landmarks_are_named_by_their_row(rows, tmp_path):
    X, y, _, _ = rows
    X[618, 2] = np.nan
    np.save(tmp_path / "gap.npy", X)
    scanned, _ = datasets.scan(tmp_path / "gap.npy", target=False)
    with pytest.raises(ValueError, match=r"^Row 618 of X has missing or infinite values\.$"):
        KernelSearchCV(LSSVR(), GRID, approximation=Landmarks(20, random_state=0)).fit(scanned, y)


@pytest.mark.parametrize("error_score", ["raise", np.nan])
def test_a_file_that_changes_between_passes_is_refused(rows, error_score):
    X, y, scanned, path = rows

    def scorer(model, rows, target):
        np.save(path, np.column_stack([X + 1, y]))
        return 0.0

    search = KernelSearchCV(
        LSSVR(), GRID, scoring=scorer, cv=3, approximation=Landmarks(20, random_state=0), error_score=error_score
    )
    with pytest.raises(ValueError, match="has changed while it was being read"):
        search.fit(scanned, y)


def test_what_cannot_be_read_twice_or_learned_in_blocks_is_refused(rows):
    X, y, scanned, _ = rows
    for approximation in (None, Landmarks(20)):
        with pytest.raises(ValueError, match="X is a generator, which gives its rows only once"):
            KernelSearchCV(LSSVR(), GRID, approximation=approximation).fit((row for row in X), y)
        with pytest.raises(ValueError, match="y is a generator, which gives its values only once"):
            KernelSearchCV(LSSVR(), GRID, approximation=approximation).fit(X, (value for value in y))
    with pytest.raises(ValueError, match=r"pass approximation=Landmarks"):
        KernelSearchCV(LSSVR(), GRID).fit(scanned, y)
    search = KernelSearchCV(make_pipeline(PCA(2), LSSVR()), {}, approximation=Landmarks(20))
    with pytest.raises(ValueError, match="PCA learns from all rows at once"):
        search.fit(scanned, y)


def test_a_journal_knows_a_file_by_its_stamp(rows, tmp_path):
    _, y, scanned, _ = rows
    options = {"cv": 4, "journal": tmp_path / "j.sqlite", "approximation": Landmarks(30, random_state=3)}
    first = KernelSearchCV(LSSVR(), GRID, **options).fit(scanned, y)
    second = KernelSearchCV(LSSVR(), GRID, **options).fit(datasets.scan(rows[3])[0], y)
    assert first.ledger_["pass"] > 0
    assert second.ledger_["pass"] == 0


def test_a_long_search_says_how_long_before_the_first_pass(rows, capsys):
    _, y, scanned, _ = rows
    many = {"gamma": np.logspace(-2, 0, 30).tolist()}
    KernelSearchCV(LSSVR(), many, verbose=1, approximation=Landmarks(300, random_state=0)).fit(scanned, y)
    said = r"30 kernels, 30 passes over 700 rows: about \d+ (seconds|minutes), [\d.]+ [MG]B besides the data"
    printed = capsys.readouterr().out
    assert re.search(said, printed)
    told = re.findall(r"^Gaussian\(gamma=.+\): ([\d,]+) rows a second(; about .+ left)?$", printed, re.MULTILINE)
    assert [bool(left) for _, left in told] == [True] * 29 + [False]
    assert all(int(rate.replace(",", "")) > 0 for rate, _ in told)


def test_the_forecast_knows_passes_of_iterative_solutions_and_of_folds(rows, capsys):
    """It said two passes for machines that take a hundred."""
    _, y, scanned, _ = rows
    options = {"cv": 3, "verbose": 1, "approximation": Landmarks(699, "uniform", random_state=0)}

    def said_and_done(model, target, **grid):
        search = KernelSearchCV(model, grid, **options).fit(scanned, target)
        said = re.search(r"kernels, (\d+) passes over 700 rows: [^;\n]+(; .*)?", capsys.readouterr().out)
        return int(said[1]), said[2], search.ledger_["pass"]

    widths = [0.01, 0.1, 1.0]
    said, _, done = said_and_done(L2SVC(), y > 1, gamma=widths, C=[0.01, 0.1, 1.0])
    assert done / 2 < said < 2 * done
    model = make_pipeline(StandardScaler(), LSSVR())
    assert said_and_done(model, y, lssvr__gamma=widths) == (9, '; preprocessing="shared" needs 3 of them', 9)
