"""Reads DWARF within bounds."""

from __future__ import annotations


class Reader:
    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, min(end, len(data))

    def number(self, size: int) -> int:
        if self.at + size > self.end:
            raise IndexError(self.at)
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def leb(self, *, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise ValueError("a number is too long")
            if not byte & 128:
                return value - (1 << shift) if signed and byte & 64 else value

    def text(self) -> bytes:
        end = self.data.index(b"\0", self.at, self.end)
        text, self.at = self.data[self.at : end], end + 1
        return text
