"""Reduces a PNG to 256 colours; flat areas keep theirs.

Reads 8 bits a channel, RGB or RGBA, not interlaced. Source: https://www.w3.org/TR/png-3/
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS = 256
# Backgrounds and plain text stay; the palette's rest moves to suit everything else.
_FIXED = 48
_ROUNDS = 8
_CHANNELS = {2: 3, 6: 4}

Pixels = NDArray[np.uint8]


def reduced(png: bytes) -> bytes:
    """Without transparency. Raises ValueError for another kind of PNG."""
    pixels = _pixels(png)
    height, width, _ = pixels.shape
    colours, inverse, counts = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    palette, index = _palette(colours.astype(np.int64), counts)
    rows = index[inverse.reshape(-1)].astype(np.uint8).reshape(height, width)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    return _SIGNATURE + b"".join(
        _chunk(kind, data)
        for kind, data in [
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            (b"PLTE", palette.astype(np.uint8).tobytes()),
            (b"IDAT", zlib.compress(filtered.tobytes(), 9)),
            (b"IEND", b""),
        ]
    )


def _palette(
    colours: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The palette, and each colour's place, by k-means from the most frequent ones."""
    palette = colours[np.argsort(-counts, kind="stable")[:_COLOURS]].copy()
    index = _nearest(colours, palette)
    for _ in range(_ROUNDS):
        for place in range(min(_FIXED, len(palette)), len(palette)):
            own = index == place
            if own.any():
                palette[place] = np.round(np.average(colours[own], axis=0, weights=counts[own]))
        index = _nearest(colours, palette)
    return palette, index


def _nearest(colours: NDArray[np.int64], palette: NDArray[np.int64]) -> NDArray[np.int64]:
    distance = ((colours[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    return distance.argmin(axis=1)


def _pixels(png: bytes) -> Pixels:
    found = list(_chunks(png))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", found[0][1])
    if depth != 8 or kind not in _CHANNELS or interlaced:
        raise ValueError("not a PNG as browsers write it: 8 bits a channel, RGB or RGBA, not interlaced")
    channels = _CHANNELS[kind]
    raw = zlib.decompress(b"".join(data for name, data in found if name == b"IDAT"))
    lines = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * channels)
    rows = np.zeros((height, width * channels), np.uint8)
    above = np.zeros(width * channels, np.uint8)
    for number, line in enumerate(lines):
        above = rows[number] = _unfiltered(int(line[0]), line[1:], above, channels)
    return rows.reshape(height, width, channels)[:, :, :3]


def _unfiltered(kind: int, line: Pixels, above: Pixels, channels: int) -> Pixels:
    """Section 9 of the specification."""
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    if kind == 1:
        sums = np.cumsum(line.reshape(-1, channels), axis=0, dtype=np.uint8)
        return sums.reshape(-1)
    out = [0] * len(line)
    up = above.tolist()
    for at, value in enumerate(line.tolist()):
        left = out[at - channels] if at >= channels else 0
        corner = up[at - channels] if at >= channels else 0
        guess = (left + up[at]) // 2 if kind == 3 else _paeth(left, up[at], corner)
        out[at] = (value + guess) & 255
    return np.array(out, np.uint8)


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(_SIGNATURE):
        raise ValueError("not a PNG")
    at = len(_SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
