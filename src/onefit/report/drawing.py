"""Axes, marks and colours of small charts, in SVG that takes its other colours from the page."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape

import numpy as np

ANCHORS = (
    (68, 1, 84), (72, 35, 116), (64, 67, 135), (52, 94, 141), (41, 120, 142), (32, 144, 140),
    (34, 167, 132), (68, 190, 112), (121, 209, 81), (189, 222, 38), (253, 231, 36),
)  # fmt: skip
"""Eleven colours of viridis, equally spaced: darker is always less, also in grey."""


@cache
def palette(size: int = 256) -> np.ndarray:
    """The scale in ``size`` steps, shape (size, 3)."""
    places = np.linspace(0.0, len(ANCHORS) - 1.0, size)
    channels = [np.interp(places, range(len(ANCHORS)), channel) for channel in zip(*ANCHORS)]
    return np.rint(np.column_stack(channels)).astype(np.uint8)


def shade(share: float) -> str:
    """The colour of a number between 0 and 1.

    >>> shade(0.0), shade(1.0)
    ('#440154', '#fde724')
    """
    red, green, blue = palette()[round(255 * min(1.0, max(0.0, share)))]
    return f"#{red:02x}{green:02x}{blue:02x}"


def ink(background: str) -> str:
    """Black or white, whichever is easier to read: one of them has a contrast above 4.5.

    >>> ink("#440154"), ink("#fde724")
    ('#fff', '#000')
    """
    channels = np.array([int(background[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return "#000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#fff"


def picture(shares: np.ndarray) -> str:
    """A matrix of numbers between 0 and 1 as a PNG with a palette, in a data address."""
    pixels = np.rint(255.0 * np.clip(shares, 0.0, 1.0)).astype(np.uint8)
    height, width = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)  # each line starts with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette().tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


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
