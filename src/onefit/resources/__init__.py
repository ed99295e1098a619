"""What was computed, and how much memory there is for it."""

from .ledger import Ledger

__all__ = ["Ledger"]
