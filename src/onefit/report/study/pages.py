"""Pages from templates."""

from __future__ import annotations

import base64
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...studies.comparisons import FAILS, HOLDS, MIXED, UNTESTED
from .latex import latex, latex_heads, latex_number
from .numbers import capitalised, duration, equation, fixed, probability

STATUS_CLASSES = {HOLDS: "holds", MIXED: "mixed", FAILS: "fails", UNTESTED: "untested"}
TEMPLATES = Path(__file__).parent / "templates"


def _markdown(text: object) -> str:
    """Text for a cell or a line of Markdown: nothing in it starts a column, a tag or emphasis.

    >>> _markdown("a|b_c <d>")
    'a\\\\|b\\\\_c &lt;d&gt;'
    """
    flat = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", flat)


def _data_address(svg: str) -> str:
    """A figure as an address that loads nothing."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _as_predicate(status: str) -> str:
    """A status behind "it"."""
    return status if status in (HOLDS, FAILS) else f"is {status}"


@cache
def _environment(escaping: bool) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=escaping,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "latex": latex, "latex_number": latex_number, "latex_heads": latex_heads, "markdown": _markdown,
        "data_address": _data_address, "probability": probability, "equation": equation, "fixed": fixed,
        "duration": duration, "status_class": STATUS_CLASSES.__getitem__, "sentence": _as_predicate, "zip": zip,
        "capitalised": capitalised,
    }  # fmt: skip
    return environment


def render(template: str, **context: Any) -> str:
    """Fill a template; texts are escaped in HTML, and by filters elsewhere."""
    return _environment(".html" in template).get_template(template).render(**context)
