"""Docker's attached stream: what a container prints comes in frames, a header of 8 bytes (stream, 0, 0, 0, length) and
that many bytes."""

from __future__ import annotations

from collections.abc import Iterator

HEADER = 8


class Frames:
    """Takes the stream in pieces of any size and gives what was printed, headers left out."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._left = 0  # of the frame that was begun

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._held += data
        while self._held:
            if self._left == 0:
                if len(self._held) < HEADER:
                    return
                self._left = int.from_bytes(self._held[4:HEADER], "big")
                del self._held[:HEADER]
            part = bytes(self._held[: self._left])
            del self._held[: self._left]
            self._left -= len(part)
            yield part
