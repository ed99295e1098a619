"""Types of NumPy arrays, as annotations name them."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Indices = NDArray[np.intp]
"""Numbers of rows, columns, splits or groups, or positions among them."""

Mask = NDArray[np.bool_]
