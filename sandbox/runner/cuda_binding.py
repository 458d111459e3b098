"""Device memory: the gate is a wait on the stream, with the call enqueued behind it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import cuda_driver as driver
import gated
from cuda_memory import MAPPINGS, CudaMapping
from failure import describe
from binding import Call, Entry, Failure, by_argument, c_data, shaped


class _Bytes:
    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
            "strides": None,
        }


class CudaBinding:
    def __init__(self, entries: list[Entry], descriptors: list[int]) -> None:
        flags, *buffers = descriptors
        self.entries = entries
        # A wait for the device returned at once because the gate was closed.
        self.waits_left_out = False
        self._mappings: dict[str, CudaMapping] = {}
        self._flags = MAPPINGS.flags(flags)
        remaining = iter(buffers)
        for entry in entries:
            if entry["kind"] == "buffer":
                self._mappings[entry["name"]] = MAPPINGS.take(entry, next(remaining))

    def close(self) -> None:
        for entry in self.entries:
            if (mapping := self._mappings.pop(entry["name"], None)) is not None:
                MAPPINGS.put(entry, mapping)

    def address(self, entry: Entry) -> int:
        return self._mappings[entry["name"]].address + int(entry["offset"])

    def tensors(self) -> dict[str, Any]:
        values = [
            self._tensor(entry) if entry["kind"] == "buffer" else entry.get("value") for entry in self.entries
        ]
        return by_argument(self.entries, values)

    def _tensor(self, entry: Entry) -> Any:
        import torch

        dtype, device = getattr(torch, entry["dtype"]), f"cuda:{entry.get('gpu', 0)}"
        if entry["nbytes"] == 0:
            return torch.empty(entry["shape"], dtype=dtype, device=device)
        flat = torch.as_tensor(_Bytes(self.address(entry), entry["nbytes"]), device=device)
        return shaped(flat.view(dtype), entry)

    def c_values(self) -> list[Any]:
        """In signature order, 8 bytes apart: device pointers as 64-bit integers, numbers by dtype."""
        room = (ctypes.c_uint64 * max(len(self.entries), 1))()
        return [self._c_value(entry, room, 8 * place) for place, entry in enumerate(self.entries)]

    def _c_value(self, entry: Entry, room: Any, offset: int) -> Any:
        buffer = entry["kind"] == "buffer"
        data = self.address(entry).to_bytes(8, sys.byteorder) if buffer else c_data(entry)
        made = (ctypes.c_char * len(data)).from_buffer(room, offset)
        made.raw = data
        return made

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        """The call's exception comes before its kernels' fault, which shows only after waiting for the
        device.
        """
        failure = self._enqueue(number, call)
        queued()
        try:
            driver.synchronise()
        except driver.CudaError as error:
            self._flags.set_done(number)
            return failure or describe(error)
        if failure is not None:
            self._flags.set_done(number)
        return failure

    def _enqueue(self, number: int, call: Call) -> Failure | None:
        failure = None
        try:
            with self._flags.gate(number):
                with gated.behind(self._flags.open_word, number) as held:
                    try:
                        call()
                    except BaseException as error:  # a submission may raise SystemExit too
                        failure = describe(error)
                self.waits_left_out = held.waits_left_out
        except driver.CudaError as error:
            return failure or describe(error)
        return failure
