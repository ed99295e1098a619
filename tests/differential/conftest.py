"""Small problems are solved on one thread: several only wait for each other."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    with threadpool_limits(1):
        yield
