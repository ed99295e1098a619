"""The ledger of work done, and the memory that there is for more."""

from .ledger import Ledger

__all__ = ["Ledger"]
