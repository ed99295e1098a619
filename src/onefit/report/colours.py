"""A colour scale that colour-blind readers can use, and pictures in it."""

from __future__ import annotations

import base64
import struct
import zlib
from functools import cache

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
