"""README's pictures: a PNG of few colours keeps every pixel, for all of the browser's row filters."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts import palette_png  # noqa: E402 - found by the line above

FILTERS = {0: "none", 1: "sub", 2: "up", 3: "average", 4: "paeth"}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels: NDArray[np.uint8], kind: int, *, depth: int = 8) -> bytes:
    """``pixels``: height, width, 3. Each row has the filter ``kind``, applied as the specification says."""
    height, width, channels = pixels.shape
    rows = pixels.reshape(height, -1).astype(int)
    lines = b""
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else np.zeros_like(row)
        left = np.concatenate([np.zeros(channels, int), row[:-channels]])
        corner = np.concatenate([np.zeros(channels, int), above[:-channels]])
        guess = left + above - corner
        apart = [abs(guess - near) for near in (left, above, corner)]
        paeth = np.where(
            (apart[0] <= apart[1]) & (apart[0] <= apart[2]),
            left,
            np.where(apart[1] <= apart[2], above, corner),
        )
        taken = (np.zeros_like(row), left, above, (left + above) // 2, paeth)[kind]
        lines += bytes([kind]) + ((row - taken) % 256).astype(np.uint8).tobytes()
    head = struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, data) for name, data in parts)


def shown(small: bytes) -> NDArray[np.uint8]:
    found = dict(palette_png._chunks(small))
    width, height, depth, kind, *_ = struct.unpack(">IIBBBBB", found[b"IHDR"])
    assert (depth, kind) == (8, 3)
    palette = np.frombuffer(found[b"PLTE"], np.uint8).reshape(-1, 3)
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not lines[:, 0].any()
    return palette[lines[:, 1:]]


@pytest.mark.parametrize("kind", FILTERS, ids=FILTERS.values())
def test_few_colours_are_kept_exactly(kind: int) -> None:
    generator = np.random.default_rng(7)
    colours = generator.integers(0, 256, (200, 3), dtype=np.uint8)
    pixels = colours[generator.integers(0, 200, (31, 17))]
    assert (shown(palette_png.reduced(png(pixels, kind))) == pixels).all()


def test_backgrounds_are_kept_exactly_and_other_colours_nearly() -> None:
    generator = np.random.default_rng(8)
    pixels = np.full((64, 64, 3), (246, 247, 249), np.uint8)
    pixels[:16] = np.linspace(0, 255, 16 * 64, dtype=np.uint8).reshape(16, 64)[:, :, None]
    pixels[16:24] = generator.integers(100, 110, (8, 64, 3), dtype=np.uint8)
    after = shown(palette_png.reduced(png(pixels, 0)))
    assert (after[24:] == pixels[24:]).all()
    assert np.abs(after.astype(int) - pixels).max() < 12


@pytest.mark.parametrize("data", [b"GIF89a", png(np.zeros((2, 2, 3), np.uint8), 0, depth=16)])
def test_another_kind_of_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="PNG"):
        palette_png.reduced(data)


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "images").glob("*.png")), ids=lambda path: path.stem)
def test_committed_pictures_have_a_palette_and_the_agreed_size(path: Path) -> None:
    assert (
        shown(path.read_bytes()).shape
        == {"board": (872, 1280, 3), "challenge": (860, 1280, 3)}[path.stem.split("-")[0]]
    )
