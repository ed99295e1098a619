"""The contract between learners, and the criteria and searches that ask them for values."""

from .contract import Exactness

__all__ = ["Exactness"]
