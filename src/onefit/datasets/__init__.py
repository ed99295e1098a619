"""Data: readers of common file formats, and benchmark sets by name."""

from .._public import publish
from .loading import fetch, load
from .reading import read
from .registry import DataSet, info, names
from .scan import scan
from .table import Table

__all__ = ["DataSet", "Table", "fetch", "info", "load", "names", "read", "scan"]

__dir__ = publish(__name__)
