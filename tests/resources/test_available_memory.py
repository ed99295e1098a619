"""Limits on memory: control groups of both versions as trees of files, resource limits for real."""

import math
import subprocess
import sys

import pytest

from onefit.resources.memory import available_memory, control_group_memory, machine_memory, resource_memory

MIB = 2**20
NO_LIMIT_1 = 9223372036854771712  # what version 1 writes where there is no limit


@pytest.fixture
def tree(tmp_path):
    """Write files below a root: {path: content}."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
        return tmp_path

    return write


def group_2(folder, limit, used, cache=0):
    place = f"sys/fs/cgroup/{folder}".rstrip("/")
    stat = f"anon 5\nfile {2 * cache}\ninactive_file {cache}\nactive_file {cache}"
    return {f"{place}/memory.max": limit, f"{place}/memory.current": used, f"{place}/memory.stat": stat}


def group_1(folder, limit, used, cache=0):
    place = f"sys/fs/cgroup/memory/{folder}".rstrip("/")
    stat = f"cache {2 * cache}\ninactive_file 0\ntotal_inactive_file {cache}"
    return {f"{place}/memory.limit_in_bytes": limit, f"{place}/memory.usage_in_bytes": used,
            f"{place}/memory.stat": stat}  # fmt: skip


VERSION_1 = "9:cpu,cpuacct:/a\n4:hugetlb,memory:/{}\n0::/"

CASES = {
    "a container of version 2": ("0::/", group_2("", 300 * MIB, 100 * MIB), 200 * MIB),
    "a group of version 2": ("0::/a/b", group_2("a/b", 300 * MIB, 100 * MIB), 200 * MIB),
    "no limit in version 2": ("0::/a", group_2("a", "max", 100 * MIB), math.inf),
    "a tighter parent": (
        "0::/a/b",
        group_2("a/b", 300 * MIB, 100 * MIB) | group_2("a", 500 * MIB, 450 * MIB) | group_2("", "max", 1),
        50 * MIB,
    ),
    "a parent alone": ("0::/a/b", group_2("a/b", "max", MIB) | group_2("a", 500 * MIB, 450 * MIB), 50 * MIB),
    "a cache that can be reclaimed": ("0::/", group_2("", 300 * MIB, 250 * MIB, cache=100 * MIB), 150 * MIB),
    "nothing left": ("0::/", group_2("", 300 * MIB, 301 * MIB), 0.0),
    "outside the name space": ("0::/../../x", group_2("", 300 * MIB, 100 * MIB), 200 * MIB),
    "version 1": (VERSION_1.format("a"), group_1("a", 300 * MIB, 100 * MIB, cache=50 * MIB), 250 * MIB),
    "version 1, a tighter parent": (
        VERSION_1.format("a/b"),
        group_1("a/b", NO_LIMIT_1, MIB) | group_1("a", 300 * MIB, 100 * MIB),
        200 * MIB,
    ),
    "version 1, a path of the host": (VERSION_1.format("docker/123"), group_1("", 300 * MIB, 100 * MIB), 200 * MIB),
    "no files": ("0::/a", {}, math.inf),
    "no control groups": ("", {}, math.inf),
}


@pytest.mark.parametrize("name", CASES)
def test_control_groups(tree, name):
    groups, files, expected = CASES[name]
    assert control_group_memory(tree({"proc/self/cgroup": groups, **files})) == expected


def test_no_limit_of_version_1_is_more_than_any_machine_has(tree):
    root = tree({"proc/self/cgroup": VERSION_1.format("a"), **group_1("a", NO_LIMIT_1, MIB)})
    assert control_group_memory(root) > 2**60


def test_the_least_limit_counts(tree):
    files = {"proc/self/cgroup": "0::/", "proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  1024 kB\nHugePages_Total:  0"}
    assert machine_memory(tree(files)) == MIB
    assert available_memory(tree(files | group_2("", 300 * MIB, MIB))) == MIB
    assert available_memory(tree(group_2("", 3000, 1000))) == 2000


def test_a_machine_that_says_nothing(tmp_path):
    assert machine_memory(tmp_path) > 0  # of all systems that tests run on
    assert control_group_memory(tmp_path) == math.inf


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_resource_limits(limit):
    """What is left falls by what is allocated, and more than that cannot be allocated."""
    pytest.importorskip("resource")
    script = f"""
import resource, numpy as np
from onefit.resources.memory import available_memory, resource_memory
resource.setrlimit(resource.{limit}, (4 * 2**30, resource.RLIM_INFINITY))
before = resource_memory()
held = np.empty(2**30, dtype=np.uint8)
print(before, before - resource_memory(), available_memory() <= before)
try:
    np.empty(int(before), dtype=np.uint8)
except MemoryError:
    print("refused")
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("other systems do not enforce these limits")
    command = [sys.executable, "-c", script]
    environment = {"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    numbers, refused = result.stdout.splitlines()
    before, fallen, within = numbers.split()
    assert 0 < float(before) < 4 * 2**30
    assert abs(float(fallen) - 2**30) < MIB
    assert within == "True"
    assert refused == "refused"


@pytest.mark.slow
def test_without_resource_limits():
    pytest.importorskip("resource")
    script = "from onefit.resources.memory import resource_memory; print(resource_memory())"
    command = ["sh", "-c", 'ulimit -v unlimited; ulimit -d unlimited; exec "$0" -c "$1"', sys.executable, script]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(result.stdout) == math.inf
    assert resource_memory() > 0
