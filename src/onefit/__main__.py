"""``python -m onefit``, the same as ``onefit``."""

from .cli import main

main()
