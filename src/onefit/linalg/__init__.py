"""Spectra, safe factorisations and the block hold-out identities."""
