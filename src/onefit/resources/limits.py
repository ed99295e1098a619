"""Memory that this process may still take: of the machine, of its control groups, and by its resource limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
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
