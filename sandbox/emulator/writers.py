"""Who wrote an element of an array last, by the records of the race check."""

from __future__ import annotations

from dataclasses import dataclass

from .findings import Operation, Thread


@dataclass(frozen=True)
class Writer:
    """The last write of an element in a call."""

    work: Operation | None  # None: nothing wrote it
    who: Thread | None = None  # None: a copy or memset
    lines: tuple[int, ...] = ()  # where that thread stores to the array; empty: unknown
    many: bool = False  # by an atomic, so others may have added to the value
    number: int = 0  # of the work in its call
