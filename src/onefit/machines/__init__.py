"""What a learner promises, and how criteria and searches ask for it."""

from .exactness import Exactness

__all__ = ["Exactness"]
