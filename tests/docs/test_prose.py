"""Docstrings stand alone: who jumps to one from a traceback has not read the line above it."""

import ast
import re
from pathlib import Path

import onefit

ROOT = Path(onefit.__file__).parent
DEPENDENT = re.compile(r"(What|The same|Those|That|Such|These|This|It)\b")
"""First words of sentences that mean something only beside another one."""


def texts(path):
    """(line, text) of the docstrings of a module, of those of its constants too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip()


def test_docstrings_begin_with_a_word_of_their_own():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, text in texts(path)
        if DEPENDENT.match(text)
    ]
    assert found == []
