"""Answers the judge who wrote the elements of a wrong result, by the records of the emulated GPU's race check."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Callable
from typing import Any

from binding import Entry
from emulated import part

explain = part("explain")

# Ids of a map's cells: outside the array or not recorded; written by nothing. Later ids are rows of the table.
_UNKNOWN, _NOBODY, _FIRST = 0, 1, 2
# Half of what the judge accepts in a message, for both parts of a map together.
_MOST_CHARS = 96 << 10
_MOST_KERNELS = 64
# Cells times copies and launches: each cell is compared with each copy.
_MOST_STEPS = 1 << 26

# Work number -> True if the runner's process wrote the element at a place later.
Later = Callable[[int, int], bool]


def answer(
    device: Any, entry: Entry, address: int, message: dict[str, Any], later: Later | None = None
) -> dict[str, Any]:
    """``message``: the judge's; ``address``: of the array on ``device``. Empty if nothing is known."""
    if not entry["nbytes"]:
        return {}
    size = entry["nbytes"] // math.prod(entry["shape"])
    total = entry["nbytes"] // size
    first, cells = message["first"], _places(message, total)
    if len(cells) * max(device.engine.works_begun, 1) > _MOST_STEPS:
        cells = []
    places = [place for place in (first, *cells) if 0 <= place < total]
    writers = dict(zip(places, device.writers([address + size * place for place in places]), strict=True))
    found = {"first": _described(writers.get(first), first, later)}
    if cells:
        found["blocks"] = _blocks(writers, cells, later)
    return found


def _places(message: dict[str, Any], total: int) -> list[int]:
    """The first element of each of a map's cells; -1: there is none."""
    width, (down, across) = message["width"], message["tile"]
    return [
        place if (place := row * down * width + column * across) < total and column * across < width else -1
        for row in range(message["rows"])
        for column in range(message["columns"])
    ]


def _described(writer: Any, place: int, later: Later | None) -> dict[str, Any] | None:
    if writer is None:
        return None
    if later is not None and later(place, writer.number if writer.work is not None else -1):
        return {"by": "host"}
    if writer.work is None:
        return {"by": "nobody"}
    if writer.who is None:
        return {"by": "copy", "lines": list(writer.lines)}
    return {
        "by": "thread",
        "kernel": explain.kernel_name(writer.work.kernel),
        "block": list(writer.who.block),
        "thread": list(writer.who.thread),
        "lines": list(writer.lines),
        "many": writer.many,
    }


def _blocks(writers: dict[int, Any], cells: list[int], later: Later | None) -> dict[str, Any] | None:
    """Who wrote each cell: an id of two bytes each; and for each id four words: an index of ``kernels`` (launches, in
    their order) and the block's index. None if it is too long for a message."""
    ids: dict[tuple[int, tuple[int, int, int]], int] = {}
    codes = bytearray()
    kernels: dict[int, str] = {}
    for place in cells:
        writer = writers.get(place)
        code = _UNKNOWN
        number = writer.number if writer is not None and writer.work is not None else -1
        if writer is not None and not (later is not None and later(place, number)):
            if writer.work is None:
                code = _NOBODY
            elif writer.who is not None:
                code = ids.setdefault((number, writer.who.block), len(ids) + _FIRST)
                kernels.setdefault(number, writer.work.kernel)
        if code > 0xFFFF:
            return None
        codes += struct.pack("<H", code)
    numbers = sorted(kernels)
    table = b"".join(struct.pack("<4I", numbers.index(number), *block) for number, block in ids)
    packed = [base64.b64encode(zlib.compress(data)).decode() for data in (bytes(codes), table)]
    if len(numbers) > _MOST_KERNELS or sum(map(len, packed)) > _MOST_CHARS:
        return None
    names = [explain.kernel_name(kernels[number]) for number in numbers]
    return {"cells": packed[0], "table": packed[1], "kernels": names}
