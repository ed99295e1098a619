"""Where sets come from: scikit-learn, the data folder, a download; and what is said when none has it."""

import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn import datasets as shipped

from onefit import datasets
from onefit.datasets import loading, sources

TEXT = "+1 1:2 3:4\n-1 2:1\n+1 3:0.5\n"
ENTRY = datasets.DataSet(
    name="tiny",
    aliases=(),
    task="classification",
    rows=3,
    features=4,
    classes=((-1, 1), (1, 2)),
    bundled="",
    file="tiny",
    sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
    url="",
    encoding="",
    remark="Made for tests.",
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A function that makes ``tiny`` the only registered set; the data folder and the cache are empty."""
    for name, variable in (("data", sources.FOLDER), ("cache", sources.CACHE)):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))

    def register(**changes):
        entry = replace(ENTRY, **changes)
        monkeypatch.setattr(loading, "info", lambda name: entry)
        return entry

    register()
    return register


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The folder of a web site on this machine, and its address."""
    pytest.importorskip("pooch")
    monkeypatch.setenv("NO_PROXY", "*")
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("place", ["libsvm/tiny", "tiny"])
def test_from_the_data_folder(tiny, tmp_path, place):
    path = tmp_path / "data" / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEXT)
    X, y = datasets.load("tiny")
    assert X.tolist() == [[2, 0, 4, 0], [0, 1, 0, 0], [0, 0, 0.5, 0]]
    assert X.dtype == float
    assert y.tolist() == [1, -1, 1]
    assert y.dtype == int
    table = datasets.fetch("tiny")
    assert table.target_names == ("-1", "1")
    assert table.remarks == ("Made for tests.",)


def test_regression_targets_stay_doubles(tiny, tmp_path):
    tiny(task="regression", classes=())
    (tmp_path / "data" / "tiny").write_text(TEXT)
    assert datasets.load("tiny")[1].dtype == float
    assert datasets.fetch("tiny").target_names is None


def test_another_file_of_that_name_is_an_error_even_if_a_download_would_do(tiny, tmp_path, site):
    folder, address = site
    (folder / "tiny").write_text(TEXT)
    entry = tiny(url=f"{address}/tiny")
    path = tmp_path / "data" / "tiny"
    path.write_text(TEXT[:-3])
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match=f"its sha256 is {actual}, not {entry.sha256}") as caught:
        datasets.load("tiny")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": 4}, r"shape \(3, 4\), not \(4, 4\)"),
        ({"features": 2}, "3 features, more than"),
        ({"classes": ((-1, 2), (1, 1))}, "has the classes"),
    ],
)
def test_contents_that_are_not_as_registered(tiny, tmp_path, changes, message):
    (tmp_path / "data" / "tiny").write_text(TEXT)
    tiny(**changes)
    with pytest.raises(ValueError, match=message):
        datasets.load("tiny")


def test_download(tiny, tmp_path, site):
    folder, address = site
    (folder / "tiny.txt").write_text(TEXT)
    tiny(url=f"{address}/tiny.txt")
    assert datasets.load("tiny")[1].tolist() == [1, -1, 1]
    assert (tmp_path / "cache" / "tiny").read_text() == TEXT
    (folder / "tiny.txt").unlink()
    assert datasets.load("tiny")[1].tolist() == [1, -1, 1]  # from the cache


def test_blanks_at_the_ends_of_lines_make_no_difference(tiny, tmp_path, site):
    folder, address = site
    (folder / "tiny").write_bytes(TEXT.replace("\n", " \r\n").encode())
    tiny(url=f"{address}/tiny")
    assert datasets.load("tiny")[1].tolist() == [1, -1, 1]
    assert (tmp_path / "cache" / "tiny").read_text() == TEXT


def test_a_download_of_an_arff_file_is_encoded(tiny, tmp_path, site):
    folder, address = site
    (folder / "tiny.arff").write_text(
        "@relation t\n@attribute n real\n@attribute 'q r' {a,b}\n@attribute k {x,y,z}\n@attribute c {no,'so so',yes}\n"
        "@data\n2,b,y,yes\n?,a,z,'so so'\n-0.5,?,y,no\n3,a,?,'so so'\n"
    )
    text = "+1 1:2 2:1 4:1\n-1 1:1.5 5:1\n-1 1:3 4:1\n"  # the mean of 2, -0.5 and 3; of q r and k the most frequent
    sum_of_text = hashlib.sha256(text.encode()).hexdigest()
    tiny(url=f"{address}/tiny.arff", encoding="c:so so=-1;yes=+1", features=5, sha256=sum_of_text,
         classes=((-1, 2), (1, 1)))  # fmt: skip
    X, y = datasets.load("tiny")
    assert X.tolist() == [[2, 1, 0, 1, 0], [1.5, 0, 0, 0, 1], [3, 0, 0, 1, 0]]
    assert y.tolist() == [1, -1, -1]
    assert (tmp_path / "cache" / "tiny").read_text() == text


def test_rows_that_miss_a_feature_may_be_left_out(tiny, site):
    folder, address = site
    (folder / "tiny.arff").write_text(
        "@relation t\n@attribute n real\n@attribute k {8,4}\n@attribute m real\n@attribute c {no,yes}\n@data\n"
        "2,8,5,yes\n?,4,6,no\n-0.5,?,7,no\n3,4,0,no\n"
    )
    text = "+1 1:5 2:2 3:8\n-1 2:3 3:4\n"
    tiny(url=f"{address}/tiny.arff", encoding="c:no=-1;yes=+1~m;*@complete", features=3, rows=2,
         classes=((-1, 1), (1, 1)), sha256=hashlib.sha256(text.encode()).hexdigest())  # fmt: skip
    X, y = datasets.load("tiny")
    assert X.tolist() == [[5, 2, 8], [0, 3, 4]]
    assert y.tolist() == [1, -1]


def test_an_arff_file_without_the_target_is_no_source(tiny, site):
    folder, address = site
    (folder / "tiny.arff").write_text("@relation t\n@attribute n real\n@attribute c {no,yes}\n@data\n2,yes\n1,no\n")
    tiny(url=f"{address}/tiny.arff", encoding="d:no=-1;yes=+1")
    with pytest.raises(FileNotFoundError, match="no attribute is called 'd'"):
        datasets.load("tiny")


def test_the_data_folder_comes_before_a_download(tiny, tmp_path, site):
    _, address = site
    tiny(url=f"{address}/tiny")  # where there is no such file
    (tmp_path / "data" / "tiny").write_text(TEXT)
    assert len(datasets.load("tiny")[1]) == 3


def test_a_download_with_another_checksum_is_not_kept(tiny, tmp_path, site):
    folder, address = site
    (folder / "tiny").write_text(TEXT.replace("0.5", "0.6"))
    tiny(url=f"{address}/tiny")
    with pytest.raises(FileNotFoundError, match="hash") as caught:
        datasets.load("tiny")
    assert ENTRY.sha256 in str(caught.value)
    assert not (tmp_path / "cache" / "tiny").exists()
    (tmp_path / "cache" / "tiny").write_text("damaged")
    (folder / "tiny").write_text(TEXT)
    assert len(datasets.load("tiny")[1]) == 3  # a damaged copy in the cache is fetched again


def test_nowhere(tiny, tmp_path, site, monkeypatch):
    _, address = site
    tiny(url=f"{address}/absent")
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("tiny")
    message = str(caught.value)
    assert "1. scikit-learn does not ship tiny" in message
    assert f"2. data folder: {tmp_path / 'data'} has neither libsvm/tiny nor tiny" in message
    assert f"3. download: {address}/absent: 404" in message
    tiny(url="")
    monkeypatch.setenv(sources.FOLDER, str(tmp_path / "no such folder"))
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("tiny")
    message = str(caught.value)
    assert "no such folder is not a folder" in message
    assert "3. download: no address is known" in message
    assert "Made for tests." in message


def test_default_folder(tmp_path, monkeypatch):
    monkeypatch.delenv(sources.FOLDER, raising=False)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert sources.data_folder() == tmp_path / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "loader"),
    [("iris", "iris"), ("wine", "wine"), ("digits", "digits"), ("diabetes-progression", "diabetes")],
)
def test_bundled_sets_need_no_folder(monkeypatch, tmp_path, name, loader):
    monkeypatch.setenv(sources.FOLDER, str(tmp_path / "nowhere"))
    X, y = datasets.load(name)
    expected_X, expected_y = getattr(shipped, f"load_{loader}")(return_X_y=True)
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)


def test_diabetes_is_not_scikit_learns(folder):
    X, y = datasets.load("diabetes")
    assert X.shape == (768, 8)
    assert sorted(set(y.tolist())) == [-1, 1]
