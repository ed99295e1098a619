"""Problem, Workspace and the words that the other packages share."""

from .folds import Fold, Folds
from .ledger import Ledger
from .problem import Problem
from .score import Exactness
from .targets import Targets
from .workspace import Workspace

__all__ = ["Exactness", "Fold", "Folds", "Ledger", "Problem", "Targets", "Workspace"]
