"""The pages of the papers' tables and of the benchmark of criteria, written from results/ when the docs are built."""

import json
import shutil
from pathlib import Path

from onefit.report.study import write_regrets, write_study, write_summary
from onefit.studies.catalogue import STUDIES, VARIANTS
from onefit.studies.cell_journal import Journal
from onefit.studies.outcome import collect
from onefit.studies.result_lines import read


def setup(app):
    """Write them beside the pages of the documentation."""
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _write(app, problem):
    if problem is None and app.builder.format == "html":
        write_pages(Path(app.srcdir) / "results", Path(app.outdir) / "results")


def write_pages(source: Path, folder: Path) -> None:
    """Tables, pages, LaTeX and figures of every study that ``source`` has a manifest of, and their index."""
    outcomes = []
    for study in {**STUDIES, **VARIANTS}.values():
        facts = source / f"{study.key.replace(':', '-')}-manifest.json"
        if facts.exists():
            journal = Journal(source / "journal" / f"{study.protocol.name}.sqlite")
            outcome = collect(study, journal, study.protocol.datasets)
            write_study(outcome, folder, manifest=json.loads(facts.read_text(encoding="utf-8")))
            outcomes.append(outcome)
    write_summary(outcomes, folder)
    if (source / "criteria.csv").exists():
        write_regrets(read(source / "criteria.csv"), folder)
        shutil.copy(source / "criteria.csv", folder)
