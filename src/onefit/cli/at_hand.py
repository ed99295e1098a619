"""Which registered data sets can be had, known before any work depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

STATES = ("at hand", "to download", "damaged", "missing")


def whereabouts(entry: Any) -> dict[str, str]:
    """The state of a data set, and where it is or why it is nowhere; nothing is downloaded."""
    from ..datasets.sources import NotThereError, file_in_cache, file_in_folder

    if entry.bundled:
        return {"state": "at hand", "where": "scikit-learn"}
    for find in (file_in_folder, file_in_cache):
        try:
            return {"state": "at hand", "where": str(find(entry))}
        except NotThereError:
            continue
        except ValueError as error:  # a file with other contents
            return {"state": "damaged", "where": str(error)}
    if entry.url:
        return {"state": "to download", "where": entry.url}
    return {"state": "missing", "where": entry.remark}


def not_to_be_had(names: Iterable[str]) -> dict[str, str]:
    """Data sets whose file is nowhere, with the reason; what has an address is downloaded now."""
    from ..datasets.loading import locate
    from ..datasets.registry import info

    reasons = {}
    for name in names:
        entry = info(name)
        try:
            if not entry.bundled:
                locate(entry)
        except (FileNotFoundError, ValueError) as error:  # nowhere, or with other contents
            reasons[name] = str(error).splitlines()[-1].strip()
    return reasons


def told(reasons: dict[str, str]) -> str:
    """Data sets that cannot be had, with the reasons, in lines."""
    return f"{', '.join(reasons)} cannot be had\n" + "\n".join(f"  {name}: {why}" for name, why in reasons.items())
