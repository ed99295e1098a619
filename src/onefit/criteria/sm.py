"""The spectral measure of a Gram matrix and its labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from .._checks import check_count
from ..kernels import NotDifferentiableError
from ..machines.capabilities import Gradient, symmetric_product
from ..machines.evidence import Evidence
from ._checks import indefinite, refuse_indefinite
from .base import Criterion


@dataclass(frozen=True)
class SM(Criterion):
    r"""How much of the labels lies along the leading eigenvectors of the normalised Gram matrix.

    .. math:: SM = \frac1n \sum_i \varphi(\lambda_i) (y^T v_i)^2, \qquad N = K / \sum_{ij} K_{ij}

    over the eigenpairs of N, with :math:`\varphi(t) = t^r`, so that :math:`SM = y^T N^r y / n`, or with a
    ``threshold`` h the hinge form :math:`\varphi(t) = t\,1[t > h]`. ``weighted`` replaces y by n/n₊ on one class and
    -n/n₋ on the other. Of more than two classes it is the mean over the one-vs-rest problems.

    Needs entries that are not negative: then the eigenvalues of N lie in [0, 1]. ``absolute=True`` is a variant for
    kernels with negative entries, with ``N = K / Σ |K_ij|``. An indefinite K is refused where one of its rows shows it,
    in the hinge form where its spectrum does.

    The paper's chain of equalities lacks the 1/n, its relation to the cut a factor of two (of weighted labels and
    equal classes ``yᵀLy / yᵀDy = 1 - (n/4) SM``), and that to the distance of the class means a square and a factor n.

    Cost    r/2 products with K, O(n²) each; the hinge form one spectrum.
    Oracle  ``matrix_power``; a sum over all eigenpairs.
    Laws    invariant to scaling of K; degree one, unweighted: n SM = 1 - yᵀLy / yᵀDy, at most 1; weighted: n times the
            squared distance of the class means over Σ K_ij.
    Source  Li, Liu, Lin, Yue & Wang, Efficient kernel selection via spectral analysis: Definition 1, and equation 1 for
            the weighted form.

    Parameters
    ----------
    degree : int, default=3
        Power r of the normalised Gram matrix.
    weighted : bool, default=True
        Whether classes count alike, whatever their sizes.
    threshold : float, default=None
        Least eigenvalue h of the hinge form, which takes the place of the power.
    absolute : bool, default=False
        Whether K is divided by the sum of its absolute entries, which may then be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> y = np.array([-1, -1, 1, 1])
    >>> round(criteria.SM(degree=3, weighted=False)(np.outer(y, y) + 1, y), 12)
    0.015625
    """

    degree: int = 3
    weighted: bool = True
    threshold: float | None = None
    absolute: bool = False

    name = "sm"
    greater_is_better = True
    classes = "labels"
    formula = "(1/n) yᵀ N^r y, N = K / Σ K_ij"
    cost = "O(r n²); hinge form: one spectrum"
    estimates = "no error"
    use = "screening widths before cross-validation"
    failures = "degree 1 and 2 prefer K = I, larger ones still narrow kernels; needs K_ij >= 0"

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        if self.threshold is not None and not 0 <= self.threshold < 1:
            raise ValueError(f"threshold must be None or a number from 0 up to 1, got {self.threshold!r}.")
        if self.threshold is None and self.degree < 3:
            warnings.warn(
                f"The spectral measure of degree {self.degree} is largest for K = I, the narrowest kernel of any grid: "
                "use a degree of three or more.",
                UserWarning,
                stacklevel=3,
            )

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The hinge form reads the spectrum too."""
        return ("gram", "labels") if self.threshold is None else ("gram", "labels", "spectrum")

    def path(self, evidence: Evidence) -> Array:
        """The value of the kernel, once for every candidate: it does not depend on the penalty."""
        total = self._total(evidence)
        values = self._hinge(evidence, total) if self.threshold is not None else self._power(evidence, total)
        return np.full(evidence.size, float(values.mean()))

    def _total(self, evidence: Evidence) -> float:
        """The sum over the entries of K that normalises it."""
        rows = evidence.gram
        refuse_indefinite(evidence, self.name)
        if self.absolute:
            total = rows.absolute_sum
        else:
            largest = float(rows.diagonal.max(initial=0.0))
            if float(rows.smallest.min(initial=0.0)) < -evidence.n * np.finfo(np.float64).eps * largest:
                raise ValueError(
                    "The spectral measure needs a Gram matrix without negative entries; "
                    "SM(absolute=True) is a variant that takes them."
                )
            total = float(rows.sums.sum())
        if total <= 0:
            raise ValueError("The spectral measure of a zero Gram matrix is not defined.")
        return total

    def _labels(self, evidence: Evidence) -> tuple[Array, Array]:
        """(labels, K times the labels), columns (n, k)."""
        assert evidence.labels is not None
        if not self.weighted:
            return evidence.labels.codes, evidence.images
        positive = evidence.labels.positive
        n, sizes = evidence.n, positive.sum(axis=0)
        if (sizes == n).any():
            raise ValueError("The weighted spectral measure needs two classes: the target has one.")
        towards, away = n / sizes, n / (n - sizes)
        sums, rest = evidence.class_sums, evidence.gram.sums[:, None] - evidence.class_sums
        return towards * positive - away * (1.0 - positive), towards * sums - away * rest

    def _power(self, evidence: Evidence, total: float) -> Array:
        y, image = self._labels(evidence)
        rows = evidence.gram
        left, right = y, image / total  # N^a y and N^(a+1) y
        for _ in range((self.degree - 1) // 2):
            left, right = right, rows.times(right) / total
        values = (left * right if self.degree % 2 else right * right).sum(axis=0)
        return np.asarray(values / evidence.n)

    def tangent(self, evidence: Evidence) -> Gradient:
        """``(1/n) [C^-r sym Σ_s v_s v_{r-1-s}ᵀ - r C^{-r-1} (v_0ᵀ v_r) 1 1ᵀ]``, ``v_s = K^s y``, C the sum of K.

        The mean over columns of labels. The hinge form jumps where an eigenvalue crosses the threshold, and the sum of
        absolute values has kinks: neither has derivatives here.
        """
        if self.threshold is not None or self.absolute:
            raise NotDifferentiableError("Derivatives of sm are those of its powers: without threshold and absolute.")
        total, r = self._total(evidence), self.degree
        powers = [self._labels(evidence)[0]]
        for _ in range(r):
            powers.append(evidence.gram.times(powers[-1]) / total)  # N^s y: no power overflows
        columns = powers[0].shape[1]
        value = float((powers[0] * powers[r]).sum()) / (evidence.n * columns)
        gram = symmetric_product(np.hstack(powers[:r]), np.hstack(powers[r - 1 :: -1]))
        gram /= total * evidence.n * columns
        gram -= r * value / total
        return Gradient(value, gram)

    def _hinge(self, evidence: Evidence, total: float) -> Array:
        y, _ = self._labels(evidence)
        threshold = float(self.threshold or 0.0)
        spectrum = evidence.spectrum()
        if spectrum.smallest < 0:
            raise indefinite(self.name)
        shares = (spectrum.vectors.T @ y) ** 2  # (p, k)
        eigenvalues = spectrum.values / total
        values = np.where(eigenvalues > threshold, eigenvalues, 0.0) @ shares
        if spectrum.flat is not None and spectrum.flat / total > threshold:
            values = values + spectrum.flat / total * np.maximum((y**2).sum(axis=0) - shares.sum(axis=0), 0.0)
        return np.asarray(values / evidence.n)
