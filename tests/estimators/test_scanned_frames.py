"""Searches over files with columns of text and dates: the results of the same rows as a frame in memory."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

from onefit import (
    LSSVC,
    LSSVR,
    GridEdgeWarning,
    KernelSearchCV,
    LandmarkFeatures,
    Landmarks,
    LandmarksWarning,
    RandomFeatures,
    datasets,
)
from onefit.data.blocks import GATHERED
from onefit.data.streamed_fit import fit_streamed
from onefit.kernels import Gaussian

pd = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")
arrow = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

TOWNS = ["Bonn", "Jena", "Trier"]
GRID = {"lssvr__gamma": [0.05, 0.3], "lssvr__alpha": [1e-2, 1.0]}
ENCODER = OneHotEncoder(categories=[TOWNS], handle_unknown="ignore")


def calendar(dates):
    """Day of the year and weekday of columns of dates."""
    return np.column_stack([part for name in dates for part in (dates[name].dt.dayofyear, dates[name].dt.weekday)])


DATES = FunctionTransformer(calendar)


@pytest.fixture
def rows(tmp_path):
    """(frame, target, scan, file), in groups of 170 rows; one town is rare, one unknown to the encoder."""
    rng = np.random.default_rng(0)
    n = 700
    frame = pd.DataFrame({
        "day": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D"),
        "price": 5 + 3 * rng.normal(size=n),
        "size": rng.normal(size=n) * 0.1,
        "town": rng.choice([*TOWNS, "Ulm"], n, p=[0.5, 0.4, 0.05, 0.05]),
    })  # fmt: skip
    y = np.sin(frame["price"]) + (frame["town"] == "Jena") + frame["day"].dt.dayofyear / 200 + 0.1 * rng.normal(size=n)
    path = tmp_path / "t.parquet"
    frame.assign(y=y).to_parquet(path, row_group_size=170)
    return frame, y.to_numpy(), datasets.scan(path)[0], path


def split_scores(search):
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)])


def test_rows_are_those_of_pandas(rows):
    frame, _, scanned, path = rows
    assert scanned.shape == (700, 4)
    assert scanned.feature_names == ("day", "price", "size", "town")
    for part in (
        slice(0, 0),
        slice(0, 1),
        slice(165, 345),
        slice(None),
        np.array([600, 3, 3, 171]),
        np.arange(700) % 3 == 0,
    ):
        expected = frame.iloc[part] if not isinstance(part, np.ndarray) or part.dtype != bool else frame[part]
        pd.testing.assert_frame_equal(
            scanned[part].reset_index(drop=True), expected.reset_index(drop=True), check_dtype=len(expected) > 0
        )
    read = pd.read_parquet(path)
    assert (scanned[:10].dtypes == read.dtypes[:4]).all()
    several, _ = datasets.scan([path, path])
    pd.testing.assert_frame_equal(several[690:710], pd.concat([frame[690:], frame[:10]], ignore_index=True))


TRANSFORMERS = {
    "numbers and text": [("n", StandardScaler(), ["price", "size"]), ("t", ENCODER, ["town"])],
    "chains": [
        ("n", make_pipeline(StandardScaler(), MinMaxScaler(), "passthrough"), ["price", "size"]),
        ("d", make_pipeline(DATES, MaxAbsScaler()), ["day"]),
        ("t", make_pipeline(ENCODER, StandardScaler(with_mean=False)), ["town"]),
    ],
    "positions": [("n", MinMaxScaler(), [1]), ("rest", "passthrough", slice(2, 3)), ("t", ENCODER, [-1])],
    "selectors": [
        ("n", StandardScaler(), make_column_selector(dtype_include=float)),
        ("t", OrdinalEncoder(categories=[[*TOWNS, "Ulm"]]), ["town"]),
        ("d", "drop", ["day"]),
    ],
    "one inside another": [
        ("n", make_column_transformer((StandardScaler(), ["price"]), remainder="passthrough"), ["size", "price"]),
        ("t", ENCODER, ["town"]),
    ],
}


@pytest.mark.quick(5)
@pytest.mark.parametrize("preprocessing", ["per_fold", "shared"])
@pytest.mark.parametrize("parts", TRANSFORMERS)
def test_a_column_transformer_learns_a_block_at_a_time(rows, preprocessing, parts, monkeypatch):
    frame, y, scanned, _ = rows
    monkeypatch.setattr("onefit.data.blocks.GATHERED", 150)
    model = make_pipeline(ColumnTransformer(TRANSFORMERS[parts]), LSSVR())
    options = {"cv": KFold(4), "approximation": Landmarks(40, random_state=0), "preprocessing": preprocessing}
    scan, memory = (KernelSearchCV(model, GRID, **options).fit(X, y) for X in (scanned, frame))
    np.testing.assert_allclose(split_scores(scan), split_scores(memory), rtol=1e-10)
    np.testing.assert_allclose(scan.predict(frame), memory.predict(frame), rtol=1e-8)
    if preprocessing == "per_fold":
        scores = cross_val_score(clone(scan.best_estimator_), frame, y, cv=KFold(4))
        np.testing.assert_allclose(scores, split_scores(scan)[:, scan.best_index_], rtol=1e-8)


@pytest.mark.quick(3)
@pytest.mark.parametrize("remainder", ["drop", "passthrough", StandardScaler()], ids=str)
@pytest.mark.parametrize("behind", [[], [StandardScaler()], [IncrementalPCA(2)]], ids=str)
def test_scores_are_those_of_grid_search_on_the_same_features(rows, remainder, behind):
    """Every fold has transformers of its own, trained by scikit-learn on its rows."""
    frame, y, _, path = rows
    columns = ColumnTransformer([("d", DATES, ["day"]), ("t", ENCODER, ["town"])], remainder=remainder)
    scanned, _ = datasets.scan(path)
    if behind and isinstance(behind[0], IncrementalPCA):
        behind = [IncrementalPCA(2, batch_size=GATHERED)]
    model = make_pipeline(columns, *behind, LSSVR())
    landmarks = Landmarks(method=frame[:30])
    search = KernelSearchCV(model, GRID, cv=KFold(3), approximation=landmarks).fit(scanned, y)
    for gamma in GRID["lssvr__gamma"]:
        features = LandmarkFeatures(frame[:30], Gaussian(gamma), make_pipeline(columns, *behind))
        brute = GridSearchCV(
            Pipeline([("z", features), ("r", Ridge())]), {"r__alpha": GRID["lssvr__alpha"]}, cv=KFold(3)
        ).fit(frame, y)
        own = [k for k, params in enumerate(search.cv_results_["params"]) if params["lssvr__gamma"] == gamma]
        expected = [brute.cv_results_[f"split{i}_test_score"] for i in range(3)]
        np.testing.assert_allclose(split_scores(search)[:, own], expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_learned_in_blocks_is_what_is_learned_at_once(rows, seed, monkeypatch):
    """The oracle is ``fit`` on the marked rows."""
    frame, _, scanned, _ = rows
    monkeypatch.setattr("onefit.data.blocks.GATHERED", 64)
    rng = np.random.default_rng(seed)
    masks = [None, rng.random(700) < 0.7, np.arange(700) >= 400]
    for parts in TRANSFORMERS.values():
        model = make_pipeline(
            ColumnTransformer(parts, verbose_feature_names_out=False), StandardScaler(with_mean=False)
        )
        for mask, fitted in zip(masks, fit_streamed(model, scanned, masks)):
            own = frame if mask is None else frame[mask]
            expected, found = clone(model).fit(own).transform(frame), fitted.transform(frame)
            dense = [Z.toarray() if hasattr(Z, "toarray") else Z for Z in (found, expected)]
            np.testing.assert_allclose(*dense, rtol=1e-9, atol=1e-12)
            assert isinstance(fitted, Pipeline)


def test_named_columns_of_a_file_of_numbers(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "y"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame = pd.read_csv(tmp_path / "t.csv")
    X, y = datasets.scan(tmp_path / "t.csv")
    assert isinstance(X[:3], np.ndarray)
    model = make_pipeline(make_column_transformer((StandardScaler(), ["b"]), remainder="passthrough"), LSSVR())
    options = {"cv": 3, "approximation": Landmarks(20, random_state=0)}
    scan, memory = (KernelSearchCV(model, GRID, **options).fit(rows, y) for rows in (X, frame[["a", "b"]]))
    np.testing.assert_allclose(split_scores(scan), split_scores(memory), rtol=1e-10)
    assert scan.feature_names_in_.tolist() == ["a", "b"]
    np.save(tmp_path / "t.npy", frame.to_numpy())
    unnamed, y = datasets.scan(tmp_path / "t.npy")
    with pytest.raises(ValueError, match="names columns, but those of X have no names"):
        KernelSearchCV(model, GRID, **options).fit(unnamed, y)
    model = make_pipeline(make_column_transformer((StandardScaler(), [1]), remainder="passthrough"), LSSVR())
    by_position = KernelSearchCV(model, GRID, **options).fit(unnamed, y)
    np.testing.assert_allclose(split_scores(by_position), split_scores(memory), rtol=1e-10)


def test_classes_random_features_and_journals(rows, tmp_path):
    frame, y, scanned, path = rows
    labels = np.where(y > np.median(y), "high", "low")
    columns = ColumnTransformer([("n", StandardScaler(), ["price"]), ("t", ENCODER, ["town"]), ("d", DATES, ["day"])])
    model = make_pipeline(columns, MinMaxScaler(), LSSVC(gamma="scale"))
    model[0].sparse_threshold = 0
    for approximation in (RandomFeatures(40, random_state=0), Landmarks(30, random_state=0)):
        options = {"cv": 3, "approximation": approximation, "scoring": "balanced_accuracy"}
        grid = {"lssvc__alpha": [0.1, 1.0]}
        scan = KernelSearchCV(model, grid, **options, journal=tmp_path / "j.sqlite").fit(scanned, labels)
        memory = KernelSearchCV(model, grid, **options).fit(frame, labels)
        np.testing.assert_allclose(split_scores(scan), split_scores(memory), rtol=1e-10)
        again = KernelSearchCV(model, grid, **options, journal=tmp_path / "j.sqlite").fit(
            datasets.scan(path)[0], labels
        )
        assert again.ledger_["pass"] == 0


@pytest.mark.slow
def test_workers_read_frames_by_themselves(rows, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("onefit.data.dask_rows.GATHERED", 150)
    _, y, scanned, _ = rows
    model = make_pipeline(ColumnTransformer(TRANSFORMERS["chains"], sparse_threshold=1), LSSVR())
    options = {"cv": KFold(4), "approximation": Landmarks(40, random_state=0)}
    here = KernelSearchCV(model, GRID, **options).fit(scanned, y)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster) as client:
        there = KernelSearchCV(model, GRID, **options).fit(scanned, y)
        done = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    np.testing.assert_allclose(split_scores(there), split_scores(here), rtol=1e-10)
    assert "read" in done


def test_missing_values_are_named_behind_the_transformers(rows, tmp_path):
    frame, y, _, _ = rows
    frame.loc[[5, 618], "town"] = None  # unknown: no indicator is set
    frame.loc[618, "size"] = np.nan  # dropped
    columns = ColumnTransformer([("n", StandardScaler(), ["price"]), ("t", ENCODER, ["town"])])
    search = KernelSearchCV(make_pipeline(columns, LSSVR()), GRID, approximation=Landmarks(30, random_state=0))

    def scanned():
        frame.assign(y=y).to_parquet(tmp_path / "gap.parquet")
        return datasets.scan(tmp_path / "gap.parquet")[0]

    scan = search.fit(scanned(), y)
    np.testing.assert_allclose(split_scores(scan), split_scores(search.fit(frame, y)), rtol=1e-10)
    frame.loc[617, "price"] = np.nan
    with pytest.raises(ValueError, match=r"^Row 617 of X has missing or infinite values\.$"):
        search.set_params(approximation=Landmarks(method=frame[:30])).fit(scanned(), y)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (PCA(1), "PCA"),
        (OneHotEncoder(), "OneHotEncoder"),
        (OneHotEncoder(categories=[TOWNS], min_frequency=3), "OneHotEncoder"),
        (OneHotEncoder(categories=[TOWNS], max_categories=2), "OneHotEncoder"),
        (OrdinalEncoder(), "OrdinalEncoder"),
        (TargetEncoder(categories=[TOWNS]), "TargetEncoder"),
        (make_pipeline(StandardScaler(), PCA(1)), "PCA"),
        (FeatureUnion([("s", StandardScaler())]), "FeatureUnion"),
    ],
    ids=str,
)
@pytest.mark.parametrize("place", ["part", "remainder", "behind"])
@pytest.mark.quick(8)
def test_parts_that_learn_from_all_rows_are_refused_by_name(rows, step, name, place):
    _, y, scanned, _ = rows
    columns = {
        "part": make_column_transformer((StandardScaler(), ["price"]), (step, ["town"])),
        "remainder": make_column_transformer((StandardScaler(), ["price"]), remainder=step),
        "behind": make_pipeline(make_column_transformer((StandardScaler(), ["price"])), step),
    }[place]
    search = KernelSearchCV(make_pipeline(columns, LSSVR()), GRID, approximation=Landmarks(20))
    with pytest.raises(ValueError, match=f"^{name} learns from all rows at once"):
        search.fit(scanned, y)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (None, "could not convert|float"),
        (StandardScaler(), "could not convert|float|datetime"),
        (make_column_transformer((StandardScaler(), ["price"]), remainder="passthrough"), "float"),
        (make_column_transformer((StandardScaler(), ["prize"])), "prize"),
        (make_column_transformer((OneHotEncoder(categories=[TOWNS]), ["town"])), "unknown categories"),
    ],
    ids=str,
)
def test_columns_that_do_not_become_numbers_are_refused_before_work(rows, columns, why, monkeypatch):
    _, y, scanned, _ = rows
    monkeypatch.setattr("onefit.search.execution.choose_basis", lambda *_: pytest.fail("this is work"))
    model = LSSVR() if columns is None else make_pipeline(columns, LSSVR())
    with pytest.raises(ValueError, match=rf"^X has columns of text or dates, and kernels read numbers(?s:.*)({why})"):
        KernelSearchCV(model, {}, approximation=Landmarks(20)).fit(scanned, y)


def test_default_grids_of_a_scan(rows):
    frame, y, scanned, _ = rows
    model = make_pipeline(ColumnTransformer(TRANSFORMERS["numbers and text"]), LSSVR())
    few = {"cv": 3, "approximation": Landmarks(20, random_state=0)}
    searches = [KernelSearchCV(model, "auto", **few).fit(X, y) for X in (frame, scanned)]
    for name in ("param_lssvr__gamma", "param_lssvr__alpha", "mean_test_score"):
        in_memory, scan = (search.cv_results_[name].astype(float) for search in searches)
        np.testing.assert_allclose(scan, in_memory, rtol=1e-10)
    with pytest.raises(ValueError, match="columns of text or dates"):
        KernelSearchCV(LSSVR(), "auto", **few).fit(scanned, y)
