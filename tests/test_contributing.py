"""CONTRIBUTING.md names folders and files that exist, in the order in which they may import each other."""

import re
from pathlib import Path

import pytest

import onefit
from tests.test_architecture import RANK

ROOT = Path(onefit.__file__).parent
PROJECT = Path(__file__).parents[1]
TEXT = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = dict(re.findall(r"^\| `(\w+)/` \| (.*) \|$", TEXT, re.M))
LINES = [line for line in TEXT.splitlines() if not line.startswith("|") and "()" not in line]


def test_every_folder_has_its_line():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert set(FOLDERS) == packages


def test_folders_stand_below_those_that_they_import():
    ranks = [RANK[folder] for folder in FOLDERS]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_a_folder(folder):
    named = re.findall(r"`([\w/]+\.\w+)`", FOLDERS[folder])
    assert [name for name in named if not (ROOT / folder / name).exists()] == []


def test_files_that_the_text_names():
    """Paths from the package or the project; a file without a folder is in one that its line names."""
    missing = []
    for line in "\n".join(LINES).split("\n- "):
        places = [ROOT, PROJECT, *(ROOT / folder for folder in re.findall(r"`([\w/]+)/[\w.]*`", line))]
        for name in re.findall(r"`([\w./]+\.(?:py|csv|md))`", line):
            if not any((place / name).exists() for place in places):
                missing.append(name)
    assert missing == []
