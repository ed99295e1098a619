"""Running a search over kernels: what to evaluate, scores, the results table. No mathematics."""
