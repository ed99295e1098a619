"""Axes and marks of small charts, in SVG that takes its colours from the page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 46


@dataclass(frozen=True)
class Scale:
    """Maps numbers to pixels, linearly or by their logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, values: float | np.ndarray) -> np.ndarray:
        low, high = self._bend(self.low), self._bend(self.high)
        share = (self._bend(np.clip(values, self.low, self.high)) - low) / (high - low)
        return np.asarray(self.start + share * (self.end - self.start))

    def _bend(self, values: float | np.ndarray) -> np.ndarray:
        return np.asarray(np.log10(values) if self.logarithmic else values, dtype=float)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers within the range, with their texts."""
        if self.logarithmic:
            return [(float(f"1e{k}"), _power(k)) for k in self._decades()]
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(k * step, _short(k * step, step)) for k in range(first, last + 1)]

    def _decades(self) -> list[int]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, -(-(last - first) // 6))
        return list(range(first, last + 1, every))


def _round_step(length: float) -> float:
    """The smallest of 1, 2, 5, 10, … that is not below a length.

    >>> _round_step(0.13), _round_step(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(length))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= length * (1 - 1e-12)))


def _short(value: float, step: float) -> str:
    if 1e3 <= step < 1e12:  # short enough to stand beside the axis
        unit, letter = next((10.0**k, name) for k, name in ((9, "G"), (6, "M"), (3, "k")) if step >= 10.0**k)
        return f"{value / unit:g}{letter}" if value else "0"
    if not 1e-3 <= step < 1e4:
        return f"{value:.4g}"
    return f"{value:.{max(0, -math.floor(math.log10(step)))}f}"


def _power(k: int) -> str:
    return f"{10.0**k:g}" if -3 <= k <= 4 else f"1e{k}"


def horizontal(values: Iterable[float], logarithmic: bool = False) -> Scale:
    """A scale for the x axis that holds some values."""
    return Scale(*_range(values, logarithmic), LEFT, WIDTH - RIGHT, logarithmic)


def vertical(values: Iterable[float], logarithmic: bool = False) -> Scale:
    """A scale for the y axis that holds some values."""
    return Scale(*_range(values, logarithmic), HEIGHT - BOTTOM, TOP, logarithmic)


def _range(values: Iterable[float], logarithmic: bool) -> tuple[float, float]:
    """From the smallest to the largest, and a little more on both sides."""
    known = np.asarray(list(values), dtype=float)
    known = known[np.isfinite(known) & ((known > 0) | (not logarithmic))]
    if len(known) == 0:
        return (0.1, 10.0) if logarithmic else (0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    if logarithmic:
        margin = (high / low) ** 0.04 if high > low else 10.0
        return low / margin, high * margin
    margin = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    return low - margin, high + margin


def chart(label: str, x: Scale, y: Scale, x_name: str, y_name: str, marks: str) -> str:
    """An SVG picture with axes; ``label`` says in words what it shows."""
    middle = (LEFT + WIDTH - RIGHT) / 2
    lines = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">',
        *(_x_tick(float(x(value)), text) for value, text in x.ticks()),
        *(_y_tick(float(y(value)), text) for value, text in y.ticks()),
        f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text>',
        f'<text class="name" transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_name)}</text>',
        marks,
        "</svg>",
    ]
    return "".join(lines)


def _x_tick(place: float, text: str) -> str:
    return (
        f'<path class="tick" d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{text}</text>'
    )


def _y_tick(place: float, text: str) -> str:
    return (
        f'<path class="tick" d="M{LEFT} {place:.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{text}</text>'
    )


def line(x: np.ndarray, y: np.ndarray, kind: str = "line", closed: bool = False) -> str:
    """A polygon line through pixels; ``kind`` is its class."""
    points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y))
    return f'<path class="{kind}" d="M{points}{"Z" if closed else ""}"/>' if points else ""


def dots(x: np.ndarray, y: np.ndarray, tips: Iterable[str] = (), kind: str = "dot", radius: float = 3.5) -> str:
    """Circles at pixels, each with a text for its tooltip if there are any."""
    texts = list(tips) or [""] * len(x)
    return "".join(
        f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="{radius}"'
        + (f' data-tip="{escape(text)}"' if text else "")
        + "/>"
        for a, b, text in zip(x, y, texts)
    )


def star(x: float, y: float) -> str:
    """The mark of what was chosen."""
    angles = np.pi * np.arange(10) / 5 - np.pi / 2
    radii = np.where(np.arange(10) % 2 == 0, 9.0, 4.0)
    return line(x + radii * np.cos(angles), y + radii * np.sin(angles), "star", closed=True)


def diamond(x: float, y: float) -> str:
    """The mark of the one-standard-error choice."""
    return line(x + np.array([0, 8, 0, -8]), y + np.array([-8, 0, 8, 0]), "diamond", closed=True)
