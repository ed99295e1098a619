"""``python -m onefit.cli``, the same as ``onefit``."""

from . import main

main()
