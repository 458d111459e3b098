"""The judge's device memory, with unmapped space behind each array, and the gate's words."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections.abc import Callable, Iterator
from typing import Any

import cuda_driver as driver
from memory import PAGE

DONE_WORD = 16
_WORD_BYTES = 4
# Pieces that stay mapped, and their largest size.
_MOST_KEPT, _KEPT_BYTES = 16, 4 << 20


class CudaMapping:
    """``size`` bytes (whole granules) and an unmapped granule."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._undo: list[Callable[[], None]] = []
        try:
            handle = driver.import_memory(descriptor)
            self._undo.append(lambda: driver.release_memory(handle))
            reserved = size + driver.granularity()
            self.address = address = driver.reserve(reserved)
            self._undo.append(lambda: driver.unreserve(address, reserved))
            driver.map_memory(address, size, handle)
            self._undo.append(lambda: driver.unmap_memory(address, size))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """A context that a fault has ended refuses; its process ends soon."""
        while self._undo:
            with contextlib.suppress(driver.CudaError):
                self._undo.pop()()


class Mappings:
    """Small pieces stay mapped, because mapping one takes as long as a small case."""

    def __init__(self) -> None:
        # Least recently used first.
        self._kept: dict[int, CudaMapping] = {}
        self._flags: tuple[tuple[int, int], CudaFlags] | None = None

    def take(self, entry: dict[str, Any], descriptor: int) -> CudaMapping:
        kept = self._kept.pop(entry.get("memory", 0), None)
        return kept if kept is not None else CudaMapping(descriptor, entry["mapped"])

    def put(self, entry: dict[str, Any], mapping: CudaMapping) -> None:
        number = entry.get("memory", 0)
        if not number or entry["mapped"] > _KEPT_BYTES:
            mapping.close()
            return
        self._kept[number] = mapping
        while len(self._kept) > _MOST_KEPT:
            self._kept.pop(next(iter(self._kept))).close()

    def flags(self, descriptor: int) -> CudaFlags:
        """The gate's page, shared by all bindings."""
        found = os.fstat(descriptor)
        page = found.st_dev, found.st_ino
        if self._flags is None or self._flags[0] != page:
            if self._flags is not None:
                self._flags[1].close()
            self._flags = page, CudaFlags(descriptor)
        return self._flags[1]


MAPPINGS = Mappings()


class CudaFlags:
    """32-bit words that gate the rounds, in host memory that the device sees."""

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, PAGE)
        self._words = memoryview(self._map).cast("I")
        # A live ctypes view would keep the map from closing.
        self._host = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._device = driver.register_host(self._host, PAGE)
        # Of each device but the first: its work of the round is done.
        self._events: dict[int, int] = {}
        for number in driver.devices()[1:]:
            driver.use(number)
            self._events[number] = driver.make_event(timed=False)
        if self._events:
            driver.use(0)
        self.open_word = ctypes.c_uint32.from_address(self._host)

    @contextlib.contextmanager
    def gate(self, round_number: int) -> Iterator[None]:
        """The body's work runs once the gate opens; "done" is written after it. Uses the legacy default
        stream, which orders all blocking streams. The first of several devices writes "done" after all.
        """
        for number in self._events:
            driver.use(number)
            driver.wait_value(driver.LEGACY_STREAM, self._device, round_number)
        if self._events:
            driver.use(0)
        driver.wait_value(driver.LEGACY_STREAM, self._device, round_number)
        try:
            yield
        finally:
            for number, event in self._events.items():
                driver.use(number)
                driver.record(event, driver.LEGACY_STREAM)
            if self._events:
                driver.use(0)
            for event in self._events.values():
                driver.wait_event(driver.LEGACY_STREAM, event)
            driver.write_value(driver.LEGACY_STREAM, self._device + DONE_WORD * _WORD_BYTES, round_number)

    def set_done(self, round_number: int) -> None:
        """A stream of a dead context writes nothing."""
        self._words[DONE_WORD] = round_number

    def close(self) -> None:
        with contextlib.suppress(driver.CudaError):
            driver.unregister_host(self._host)
        self._words.release()
        self._map.close()
