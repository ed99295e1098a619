"""The pages of results/ beside the documentation, as they are: their links lead to one another."""

import shutil
from pathlib import Path


def setup(app):
    """Copy them when the pages are written."""
    app.connect("build-finished", _copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _copy(app, problem):
    if problem is None and app.builder.format == "html":
        ignored = shutil.ignore_patterns("journal")
        shutil.copytree(Path(app.srcdir) / "results", Path(app.outdir) / "results", dirs_exist_ok=True, ignore=ignored)
