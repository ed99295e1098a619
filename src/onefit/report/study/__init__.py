"""A study as files: tables, pages and figures made of an Outcome alone, and a summary of all studies."""

from .files import write_study
from .regret_page import write_regrets
from .summary import write_summary

__all__ = ["write_regrets", "write_study", "write_summary"]
