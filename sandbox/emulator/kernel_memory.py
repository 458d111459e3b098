from __future__ import annotations

import ctypes
from array import array
from dataclasses import dataclass

from .library import CKernel
from .lower import Lowered


@dataclass(frozen=True)
class InMemory:
    kernel: CKernel
    pool: ctypes.Array[ctypes.c_uint32]
    keep: tuple[object, ...]


def in_memory(lowered: Lowered) -> InMemory:
    # Whole cache lines, so vector loads are aligned.
    raw = (ctypes.c_char * (4 * len(lowered.pool) + 1024))()
    start = -(-ctypes.addressof(raw) // 128) * 128
    pool = (ctypes.c_uint32 * max(len(lowered.pool), 1)).from_address(start)
    ctypes.memmove(pool, array("I", lowered.pool).tobytes(), 4 * len(lowered.pool))
    specials = (ctypes.c_uint32 * max(len(lowered.specials), 1))(*lowered.specials)
    spans = [word for span in lowered.shared_names.values() for word in span]
    arrays = (ctypes.c_uint32 * max(len(spans), 1))(*spans)
    rows = ctypes.create_string_buffer(lowered.rows, len(lowered.rows))
    kernel = CKernel(
        ctypes.addressof(rows), lowered.row_count, lowered.entry, lowered.units, len(lowered.pool) // 32,
        len(lowered.specials) // 2, lowered.local_bytes, lowered.shared_bytes, lowered.granule,
        lowered.is_async, lowered.coordinates, start,
        ctypes.addressof(specials), ctypes.addressof(arrays), len(lowered.shared_names),
    )  # fmt: skip
    return InMemory(kernel, pool, (raw, rows, specials, arrays))


def fill(pool: ctypes.Array[ctypes.c_uint32], unit: int, value: int, size: int) -> None:
    """In every lane; ``size``: 4 or 8 bytes."""
    words = [value & 0xFFFFFFFF] if size == 4 else [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF]
    for index, word in enumerate(words * 32):
        pool[unit * 32 + index] = word
