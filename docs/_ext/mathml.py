"""Formulas as MathML, which browsers draw by themselves: the pages need no network and no TeX."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

SHORT_FRACTION = re.compile(r"(\\t?frac)(\d)(\d)")  # docutils takes the 12 of \frac12 for one number


def setup(app):
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator, node):
    translator.body.append(_drawn(node))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="formula">{_drawn(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _drawn(node, as_block=False):
    """MathML of a formula; what docutils does not know of TeX is a warning that names the page."""
    text = node.astext()
    try:
        return tex2mathml(SHORT_FRACTION.sub(r"\1{\2}{\3}", text), as_block=as_block)
    except MathError as problem:
        logger.warning("%s in the formula %r", problem, text, location=node)
        return f"<code>{text}</code>"
