"""The last lines of many docstrings (Cost, Oracle, Laws, Source) as a list of fields."""

import re

FIELD = re.compile(r"^(Cost|Oracle|Laws|Source) {2,}(\S.*)$")


def setup(app):
    """Look at docstrings before numpydoc does (its own priority is 500)."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _fields, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _fields(app, what, name, obj, options, lines):
    lines[:] = [FIELD.sub(r":\1: \2", line) for line in lines]
