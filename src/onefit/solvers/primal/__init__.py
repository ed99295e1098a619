"""Solvers on explicit features: m unknowns, whatever the number of rows."""
