"""The pass over a matrix that turns inner products into squared distances."""

import numpy as np


def complete_distances(
    double[:, ::1] D, const double[::1] x_norms, const double[::1] y_norms, double cancellation, Py_ssize_t first, Py_ssize_t stop
):
    """Overwrite rows ``first`` to ``stop`` of inner products D by ``|x|² + |y|² - 2 x·y``.

    Returns the places (rows, columns) at which at most ``cancellation`` of the norms is left, so that digits are lost.
    """
    cdef Py_ssize_t i, j, count = 0, n = D.shape[1]
    cdef double norms
    cdef Py_ssize_t[::1] columns = np.empty(n * (stop - first), dtype=np.intp)
    cdef Py_ssize_t[::1] rows = np.empty(n * (stop - first), dtype=np.intp)
    with nogil:
        for i in range(first, stop):
            for j in range(n):
                norms = x_norms[i] + y_norms[j]  # added first: D stays exactly symmetric
                D[i, j] = norms - 2.0 * D[i, j]
                if D[i, j] <= cancellation * norms:
                    rows[count], columns[count] = i, j
                    count += 1
    return np.asarray(rows[:count]), np.asarray(columns[:count])
