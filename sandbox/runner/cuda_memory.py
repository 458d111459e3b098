"""Device memory of the judge's, mapped so that an array runs into unmapped address space, and the gate's words."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from collections.abc import Callable, Iterator

import cuda_driver as driver
from memory import PAGE

DONE_WORD = 16
_WORD_BYTES = 4


class CudaMapping:
    """One shared buffer at ``address``, ``size`` bytes (whole granules), with an unmapped granule after it."""

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
        """Unmap. A context that a fault has ended refuses; the process ends soon then."""
        while self._undo:
            with contextlib.suppress(driver.CudaError):
                self._undo.pop()()


class CudaFlags:
    """The page of 32-bit words that gate the rounds, in host memory that the device sees too."""

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, PAGE)
        self._words = memoryview(self._map).cast("I")
        # The address only: a ctypes view that lived on would forbid to close the map.
        self._host = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._device = driver.register_host(self._host, PAGE)

    def is_open(self, round_number: int) -> bool:
        """Whether the gate is open before the call is enqueued: nothing of the call is hidden or held back then."""
        return self._words[0] == round_number

    @contextlib.contextmanager
    def gate(self, round_number: int) -> Iterator[None]:
        """What is enqueued inside runs when the judge opens the gate; "done" is written once it has run.

        Everything is on the legacy default stream, with which every blocking stream is ordered.
        """
        driver.wait_value(driver.LEGACY_STREAM, self._device, round_number)
        try:
            yield
        finally:
            driver.write_value(driver.LEGACY_STREAM, self._device + DONE_WORD * _WORD_BYTES, round_number)

    def set_done(self, round_number: int) -> None:
        """Say "done" from the host: a stream whose context is dead writes nothing any more."""
        self._words[DONE_WORD] = round_number

    def close(self) -> None:
        with contextlib.suppress(driver.CudaError):
            driver.unregister_host(self._host)
        self._words.release()
        self._map.close()
