"""Says what wrote a wrong result's elements, by the race check's records."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from array import array
from collections.abc import Callable
from typing import Any

from binding import Entry, storage_place
from emulated import part

explain = part("explain")

# Ids of cells: unknown (outside, or not recorded), written by nothing, and the table's first row.
_UNKNOWN, _NOBODY, _FIRST = 0, 1, 2
# Of a whole map: a report keeps no more.
_MOST_CHARS = 48 << 10
_MOST_KERNELS = 64
_MOST_BLOCKS = 1 << 13
_MOST_READ = 1 << 18
# Each cell is compared with each copy and launch.
_MOST_STEPS = 1 << 26

# Work number -> the runner's process wrote the element later.
Later = Callable[[int, int], bool]


def answer(
    device: Any,
    entry: Entry,
    address: int,
    message: dict[str, Any],
    later: Later | None = None,
    *,
    programs: bool = False,
) -> dict[str, Any]:
    """``message``: the judge's. ``address``: on ``device``. ``programs``: Triton. Empty if nothing is known."""
    if not entry["nbytes"]:
        return {}
    size, total = entry["itemsize"], math.prod(entry["shape"])
    first, cells = message["first"], _places(message, total)
    if not 0 <= first < total:
        return {}

    def at(place: int) -> int:
        return address + int(size) * storage_place(entry, place)

    found: dict[str, Any] = {"first": _described(device.writer(at(first)), first, later)}
    dense = entry.get("strides") is None
    if (found["first"] or {}).get("by") == "nobody" and device.engine.sample is None and dense:
        asked = (address, size, first, entry["shape"])
        found["would"] = _would(device.engine, asked, programs=programs)
    if device.engine.sample is None and len(cells) * device.engine.works_begun <= _MOST_STEPS:
        indices, writers = device.engine.writing_blocks(
            [at(place) if place >= 0 else address - size for place in cells]
        )
        found["blocks"] = _blocks(indices, writers, cells, later)
    return found


def unread(device: Any, entries: list[tuple[Entry, int]]) -> dict[str, str]:
    """For arrays that the last call read in part: a byte for each element, 1 if read, packed."""
    found: dict[str, str] = {}
    if device.engine.sample is not None:
        return found
    for entry, address in entries:
        total = math.prod(entry["shape"])
        if not 0 < total <= _MOST_READ or entry.get("strides") is not None:
            continue
        read = device.engine.read(address, entry["itemsize"], total)
        if read is None or 0 not in read:
            continue
        packed = base64.b64encode(zlib.compress(read)).decode()
        if sum(map(len, found.values())) + len(packed) <= _MOST_CHARS:
            found[entry["name"]] = packed
    return found


def _places(message: dict[str, Any], total: int) -> list[int]:
    """A cell's first element, or -1."""
    width, (down, across) = message["width"], message["tile"]
    return [
        place if (place := row * down * width + column * across) < total and column * across < width else -1
        for row in range(message["rows"])
        for column in range(message["columns"])
    ]


def _described(writer: Any, place: int, later: Later | None) -> dict[str, Any] | None:
    if writer is None:
        return None
    if later is not None and later(place, writer.number):
        return {"by": "host"}
    if writer.work is None:
        return {"by": "nobody"}
    if writer.block is None:
        return {"by": "copy", "lines": list(writer.lines)}
    return {
        "by": "thread",
        "kernel": explain.kernel_name(writer.work.kernel),
        "block": list(writer.block),
        "thread": list(writer.thread),
        "lines": list(writer.lines),
        "many": writer.many,
    }


def _would(engine: Any, asked: tuple[int, int, int, list[int]], *, programs: bool) -> dict[str, Any] | None:
    """The thread meant for an element that nothing wrote. ``asked``: see ``Engine.would_write``."""
    told = engine.would_write(*asked, programs=programs)
    if told is None:
        return None
    work, would = told
    start, size = asked[:2]
    (like,) = engine.writers([start + size * would.like])
    return {
        "work": work,
        "kernel": explain.kernel_name(engine.work(work).kernel),
        "grid": list(would.grid),
        "threads": list(engine.work(work).threads),
        "block": list(would.block),
        "thread": list(would.thread),
        "like": would.like,
        "like_block": list(would.wrote.block),
        "like_thread": list(would.wrote.thread),
        "like_lines": list(like.lines) if like is not None else [],
        "size": size,
    }


def _blocks(
    indices: list[int], writers: list[Any], cells: list[int], later: Later | None
) -> dict[str, Any] | None:
    """A two-byte id per cell, and four words per id: an index of ``kernels`` and the block's index. None if
    too long.
    """
    blocks = [writer for writer in writers if writer is not None and writer.block is not None]
    numbers = sorted({block.number for block in blocks})
    if len(blocks) > _MOST_BLOCKS or len(numbers) > _MOST_KERNELS:
        return None
    rows = dict(zip(blocks, range(_FIRST, _FIRST + len(blocks)), strict=True))
    codes = [
        rows.get(writer, _NOBODY if writer is not None and writer.work is None else _UNKNOWN)
        for writer in writers
    ]
    ids = array(
        "H", [codes[index] if place >= 0 else _UNKNOWN for index, place in zip(indices, cells, strict=True)]
    )
    if later is not None:
        for cell, (index, place) in enumerate(zip(indices, cells, strict=True)):
            if place >= 0 and writers[index] is not None and later(place, writers[index].number):
                ids[cell] = _UNKNOWN
    table = b"".join(struct.pack("<4I", numbers.index(block.number), *block.block) for block in blocks)
    packed = [base64.b64encode(zlib.compress(data)).decode() for data in (ids.tobytes(), table)]
    if sum(map(len, packed)) > _MOST_CHARS:
        return None
    kernels = {block.number: explain.kernel_name(block.work.kernel) for block in blocks}
    return {"cells": packed[0], "table": packed[1], "kernels": [kernels[number] for number in numbers]}
