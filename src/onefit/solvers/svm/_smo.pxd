from ._problem cimport Problem

cdef Py_ssize_t smo(const Problem *p, double *beta, double *u, double tolerance, Py_ssize_t max_steps, double *work) noexcept nogil
