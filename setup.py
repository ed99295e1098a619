"""Builds the compiled loops of the support vector solver and of the band form; pyproject.toml has everything else.

Without a C compiler the installation succeeds all the same: searches over support vector machines are then retrained by
scikit-learn. ``ONEFIT_SANITIZE=1`` builds with the address sanitizer and checks of bounds.
"""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

SOLVER = ("_smo", "_cholesky", "_active_set", "_solver", "_fold_removal", "_duality")
MODULES = [
    "onefit.kernels._distances",
    "onefit.linalg._band",
    "onefit.linalg._unlocked",
    *(f"onefit.solvers.svm.{name}" for name in SOLVER),
]
SANITIZE = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g", "-O1"] if os.environ.get("ONEFIT_SANITIZE") else []

setup(
    ext_modules=cythonize(
        [
            Extension(
                name,
                [f"src/{name.replace('.', '/')}.pyx"],
                extra_compile_args=SANITIZE or ["-O3", "-g0"],
                extra_link_args=SANITIZE[:1],
                optional=True,
            )
            for name in MODULES
        ],
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(SANITIZE),
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
)
