"""Settings of the documentation: ``make docs`` builds it, without any network."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "onefit"
author = "the onefit developers"
copyright = "the onefit developers, BSD-3-Clause licence"
version = release = installed_version("onefit")

extensions = [
    "docstrings",
    "mathml",
    "myst_parser",
    "numpydoc",
    "results",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]

# Pages of results/ are written by studies and copied as they are; the gallery keeps its own times, which nobody reads.
exclude_patterns = ["_build", "results/**", "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,  # seconds on the clock of a busy machine say nothing
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "onefit"
html_static_path = ["_static"]
html_css_files = ["onefit.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "onefit"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],  # the field's name for a screen reader is not what it shows
    "pygments_light_style": "github-light-high-contrast",
    "pygments_dark_style": "github-dark-high-contrast",
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "show_toc_level": 2,
}
# Pages without pages below them need no list of these.
html_sidebars = {page: [] for page in ("index", "mathematics", "performance", "changelog", "contributing")}
