"""Losses l(y, f) of a target and a decision value: what machines minimise and criteria average.

Each has its value and its slope in f, at a kink one of the two; those that Newton's method minimises have a curvature
too, where need be after their kinks are smoothed. Dual problems stand with the solvers of them (``solvers/svm``).
"""
