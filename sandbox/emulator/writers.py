"""Who wrote an element of an array last, by the records of the race check."""

from __future__ import annotations

from dataclasses import dataclass

from .findings import Operation

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Writer:
    """The last write of an element in a call."""

    work: Operation | None  # None: nothing wrote it
    number: int = -1  # of the work in its call
    block: Index | None = None  # None: a copy or memset
    thread: Index | None = None  # None: not asked for
    lines: tuple[int, ...] = ()  # where that thread stores to the array; empty: unknown
    many: bool = False  # by an atomic, so others may have added to the value
