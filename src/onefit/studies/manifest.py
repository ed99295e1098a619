"""Versions, machine and seeds that a result depends on."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from .fingerprint import fingerprint
from .spec import Study

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")


def manifest(study: Study, splits: dict[str, int]) -> dict[str, Any]:
    """The facts that are written beside a study's numbers."""
    return {
        "study": study.key,
        "protocol": study.protocol.name,
        "fingerprint": fingerprint(study.protocol),
        "splits": splits,
        "seeds": "SHA-256 of (purpose, data set, share of training rows, number of the split): onefit.studies.sampling",
        "onefit": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads_per_cell": 1,
    }


def _commit() -> str | None:
    """The revision of the source tree that onefit is imported from; None if it is not one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()


def processor() -> str:
    """The name of the processor, as well as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
