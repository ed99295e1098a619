"""Compiled loops (numba), each with a NumPy twin in ``twins``.

Importing this package imports numba, which takes a moment: only what trains a support vector machine does so.
"""
