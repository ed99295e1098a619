from ._problem cimport Problem

cdef double gap_of(const Problem *p, const double *beta, const double *u, double b) noexcept nogil
