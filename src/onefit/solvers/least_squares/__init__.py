"""Least squares: held-out residuals from one factorisation, for all ridges and folds."""
