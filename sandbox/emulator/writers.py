"""The last writer of an element, from the race check's records."""

from __future__ import annotations

from dataclasses import dataclass

from .findings import Operation

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Writer:
    work: Operation | None  # None: nothing wrote it
    number: int = -1
    block: Index | None = None  # None: a copy or memset
    thread: Index | None = None
    lines: tuple[int, ...] = ()  # its stores to the array; empty: unknown
    many: bool = False  # an atomic: others may have added
