"""The contract between learners, and the criteria and searches that ask them for values."""

from .exactness import Exactness

__all__ = ["Exactness"]
