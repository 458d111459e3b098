"""Maps the judge's shared memory."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

PAGE = mmap.PAGESIZE
_PROT_NONE = 0
_MAP_FIXED = 0x10
_MAP_NORESERVE = 0x4000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Mapping:
    """``size`` bytes (whole pages), with an unreadable page before and after."""

    def __init__(self, descriptor: int, size: int) -> None:
        self.size = size
        self._reserved = size + 2 * PAGE
        anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        self._base = _map(None, self._reserved, _PROT_NONE, anonymous, -1)
        self.address = self._base + PAGE
        _map(self.address, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | _MAP_FIXED, descriptor)

    def close(self) -> None:
        if self._base:
            _libc.munmap(self._base, self._reserved)
            self._base = 0


class Flags:
    """32-bit words that gate the rounds: word 0 opens, word 16 (another cache line) says done."""

    def __init__(self, descriptor: int) -> None:
        self._words = memoryview(mmap.mmap(descriptor, PAGE)).cast("I")

    def wait_open(self, round_number: int) -> None:
        """Spins: sleeping would add scheduler delay to the time."""
        words = self._words
        while words[0] != round_number:
            pass

    def is_open(self, round_number: int) -> bool:
        return self._words[0] == round_number

    def set_done(self, round_number: int) -> None:
        self._words[16] = round_number


def _map(address: int | None, size: int, protection: int, flags: int, descriptor: int) -> int:
    result = _libc.mmap(address, size, protection, flags, descriptor, 0)
    if result in (None, ctypes.c_void_p(-1).value):
        number = ctypes.get_errno()
        raise OSError(number, f"mmap of {size} bytes: {os.strerror(number)}")
    return int(result)


def bytes_at(address: int, size: int) -> Any:
    return (ctypes.c_char * size).from_address(address)
