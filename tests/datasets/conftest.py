"""Files that tests write, and the folder of benchmark sets."""

import pytest

from onefit.datasets.sources import NotThereError, data_folder


@pytest.fixture
def write(tmp_path):
    """A function that writes text or bytes to a file and returns its path."""

    def writer(contents, name="data"):
        path = tmp_path / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return writer


@pytest.fixture
def folder():
    """The data folder, where there is one."""
    try:
        return data_folder()
    except NotThereError as reason:
        pytest.skip(f"no benchmark sets: {reason}")
