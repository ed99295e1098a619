"""Support vector machines: dual problems, and the named algorithms that solve them (README.md says which runs when)."""
