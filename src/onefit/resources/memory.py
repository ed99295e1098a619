"""Memory: what this process may still take, and whether a search fits into it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from numbers import Real
from pathlib import Path, PurePosixPath

try:
    import resource
except ImportError:  # Windows has none
    resource = None  # type: ignore[assignment]

ROOT = Path("/")


def available_memory(root: Path = ROOT) -> float:
    """Bytes that can be allocated before some limit is reached; infinite if nothing is known.

    The least of what the machine has available, what each control group of Linux (a container) leaves below its limit,
    and what ``ulimit`` leaves. Files are read below ``root``.
    """
    return min(machine_memory(root), control_group_memory(root), resource_memory(root))


def machine_memory(root: Path = ROOT) -> float:
    """Bytes that the machine has available, or else has in all."""
    known = _kilobytes(root / "proc/meminfo")
    if "MemAvailable" in known:
        return known["MemAvailable"]
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def control_group_memory(root: Path = ROOT) -> float:
    """Bytes that the process's control group, and each group that contains it, leaves below its limit (version 1, 2).

    Pages of files that were not used lately are counted as free: the kernel reclaims them before it refuses memory.
    """
    free = math.inf
    for folder in _control_groups(root):
        version_2 = (folder / "memory.max").exists()
        limit = _number(folder / ("memory.max" if version_2 else "memory.limit_in_bytes"))
        used = _number(folder / ("memory.current" if version_2 else "memory.usage_in_bytes"))
        if limit is None or used is None:
            continue
        cache = _statistics(folder / "memory.stat").get("inactive_file" if version_2 else "total_inactive_file", 0.0)
        free = min(free, max(limit - max(used - cache, 0.0), 0.0))
    return free


def resource_memory(root: Path = ROOT) -> float:
    """Bytes that the limits on address space and data segment (``ulimit -v`` and ``-d``) leave."""
    if resource is None:
        return math.inf
    used = _kilobytes(root / "proc/self/status")
    free = math.inf
    for limit, size in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            free = min(free, max(soft - used.get(size, 0.0), 0.0))
    return free


def _control_groups(root: Path) -> Iterator[Path]:
    """Folders of the process's memory control groups, innermost first.

    A container may see its own group as the root of the file system although ``/proc/self/cgroup`` has the path of the
    host: folders that do not exist are passed over by whoever reads them, and the root is always among them.
    """
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number != "0" and "memory" not in controllers.split(","):  # 0 is version 2, which names no controllers
            continue
        mount = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        group = PurePosixPath(path.lstrip("/"))
        if ".." in group.parts:  # outside the container's name space
            group = PurePosixPath()
        yield from dict.fromkeys(mount / part for part in (group, *group.parents))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _number(path: Path) -> float | None:
    """The number in a file; None if it has a word ("max"), or is not there."""
    for line in _lines(path)[:1]:
        if line.strip().isdigit():
            return float(line)
    return None


def _statistics(path: Path) -> dict[str, float]:
    """Lines of a name and a number."""
    words = [line.split() for line in _lines(path)]
    return {pair[0]: float(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _kilobytes(path: Path) -> dict[str, float]:
    """Lines such as ``MemAvailable: 17 kB``, in bytes."""
    words = [line.split() for line in _lines(path)]
    return {part[0].rstrip(":"): float(part[1]) * 1024 for part in words if len(part) == 3 and part[2] == "kB"}


WORK = 3
"""n x n arrays of doubles that a worker needs besides the base matrices: Gram, and LAPACK's work space."""

_UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}


def parse_budget(budget: float | str | None) -> float:
    """Bytes from a number, a string such as "4GB" or "512MiB", or None: what this process may still take.

    >>> parse_budget("2KiB")
    2048.0
    """
    if budget is None:
        return available_memory()
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*((?:[KMGT]I?)?)B?\s*", budget.upper())
        if not match:
            raise ValueError(f"memory_budget {budget!r} is not a number of bytes, nor a string such as '4GB'.")
        budget = float(match[1]) * _UNITS[match[2]]
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise ValueError(f"memory_budget must be a number of bytes or a string such as '4GB', got {budget!r}.")
    if not budget > 0:  # nor is NaN
        raise ValueError(f"memory_budget must be positive, got {budget!r}.")
    return float(budget)


def check_budget(n: int, *, bases: int, views: int, workers: int, budget: float, work: int = WORK) -> bool:
    """Whether all views' base matrices may be kept; an error if not even one kernel at a time fits.

    A worker has ``bases`` n x n arrays for each view, and needs ``work`` more; ``budget`` is in bytes. Without room for
    all views' bases they are computed anew for each kernel.
    """
    square = 8.0 * n * n
    if (bases * views + work) * workers * square <= budget:
        return True
    arrays = (bases + work) * workers
    if views > 1 and arrays * square <= budget:
        return False
    largest = math.isqrt(int(budget / (8 * arrays)))
    alone = math.isqrt(int(budget / (8 * (bases + work))))
    hint = f", or {alone:,} rows with n_jobs=1" if workers > 1 else ""
    raise ValueError(
        f"{n:,} rows need {human(arrays * square)} ({arrays} arrays of n x n doubles for {workers} worker(s)), "
        f"more than the memory budget of {human(budget)}, in which {largest:,} rows would fit{hint}. "
        "Use fewer rows or workers, raise memory_budget, or pass approximation=Landmarks(1000) to KernelSearchCV."
    )


def human(size: float) -> str:
    """Bytes with three digits and a unit."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
