"""Numbers as text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

MISSING = "–"


def exact(value: float | None) -> str:
    """For files that programs read: six digits, nothing where there is no number.

    >>> exact(15.1884057971), exact(1.81e-05), exact(None)
    ('15.1884', '1.81e-05', '')
    """
    return "" if value is None or np.isnan(value) else f"{value:.6g}"


class RowFormat:
    """One way to write the numbers of a row, ours and printed, so that they can be compared at a glance.

    >>> percent, tiny = RowFormat([15.1884, 14.9]), RowFormat([1.81e-05])
    >>> percent.pair(15.1884, 0.884), tiny.pair(1.81e-05, 6.8e-06)
    ('15.19 ± 0.88', '1.81e-05 ± 6.8e-06')
    """

    def __init__(self, values: Iterable[float | None]) -> None:
        sizes = [abs(value) for value in values if value is not None and np.isfinite(value)]
        largest = max(sizes, default=0.0)
        self.scientific = not (largest == 0 or 0.1 <= largest < 1e5)
        self.decimals = 3 if largest < 1 else 2 if largest < 1000 else 1

    def pair(self, mean: float | None, std: float | None) -> str:
        """The mean ± the standard deviation, without the latter if it is unknown."""
        if mean is None or np.isnan(mean):
            return MISSING
        small = 0 < abs(mean) < 0.5 * 10.0**-self.decimals  # would read as zero
        scientific = (self.scientific or small) and np.isfinite(mean)
        text = f"{mean:.2e}" if scientific else f"{mean:.{self.decimals}f}"
        if std is not None and np.isfinite(std):
            text += f" ± {std:.1e}" if scientific else f" ± {std:.{self.decimals}f}"
        return text.replace("-", "−") if mean < 0 and not scientific else text


def signed(value: float | None, decimals: int = 1) -> str:
    """A difference with its sign.

    >>> signed(0.31), signed(-12.0), signed(0.0), signed(float("inf"))
    ('+0.3', '−12.0', '0.0', '+∞')
    """
    if value is None or np.isnan(value):
        return ""
    if np.isinf(value):
        return "+∞" if value > 0 else "−∞"
    text = f"{value:+.{decimals}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def probability(p: float) -> str:
    """A p-value with as many digits as anyone reads."""
    if np.isnan(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def equation(p: float) -> str:
    """A p-value behind the letter p.

    >>> equation(0.04), equation(1e-9)
    ('= 0.040', '< 0.001')
    """
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def fixed(value: float) -> str:
    """A statistic or a rank with two decimals.

    >>> fixed(3.14159), fixed(float("inf"))
    ('3.14', '∞')
    """
    return MISSING if np.isnan(value) else "∞" if np.isinf(value) else f"{value:.2f}"


def ratio(value: float | None) -> str:
    """A ratio with about three digits.

    >>> ratio(0.853), ratio(30.4), ratio(1234.5)
    ('0.85', '30.4', '1234')
    """
    if value is None or np.isnan(value):
        return MISSING
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def duration(seconds: float) -> str:
    """CPU time for people.

    >>> duration(3.2), duration(95), duration(7320)
    ('3 s', '1 min 35 s', '2 h 2 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def capitalised(text: str) -> str:
    """The beginning of a sentence; abbreviations stay as they are.

    >>> capitalised("error of SM")
    'Error of SM'
    """
    return text[:1].upper() + text[1:]


def as_number(setting: str) -> float | None:
    """The number that a setting names, also behind a sign of equality and as a power.

    >>> as_number("0.1"), as_number("σ = 2^-3"), as_number("both")
    (0.1, 0.125, None)
    """
    text = setting.rpartition("=")[2].strip()
    base, power, exponent = text.partition("^")
    try:
        return float(base) ** float(exponent) if power else float(text)
    except ValueError:
        return None
