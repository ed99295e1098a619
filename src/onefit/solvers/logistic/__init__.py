"""Kernel logistic regression by Newton's method."""
