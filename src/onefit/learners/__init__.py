"""Learners: a loss and its algebra. One file per machine."""
