"""Host memory: the runner spins on the gate's word and calls in this thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from failure import describe
from memory import Flags, Mapping, bytes_at
from binding import Call, Entry, Failure, by_argument, shaped


class HostBinding:
    def __init__(self, entries: list[Entry], descriptors: list[int]) -> None:
        flags, *buffers = descriptors
        self.entries = entries
        self._flags = Flags(flags)
        remaining = iter(buffers)
        self._mappings = {
            entry["name"]: Mapping(next(remaining), entry["mapped"])
            for entry in entries
            if entry["kind"] == "buffer"
        }

    def close(self) -> None:
        for mapping in self._mappings.values():
            mapping.close()

    @property
    def flags(self) -> Flags:
        return self._flags

    def address(self, entry: Entry) -> int:
        return int(self._mappings[entry["name"]].address + entry["offset"])

    def memory(self, entry: Entry) -> Any:
        return bytes_at(self.address(entry), entry["nbytes"])

    def tensors(self) -> dict[str, Any]:
        import torch

        values: list[Any] = []
        for entry in self.entries:
            if entry["kind"] != "buffer":
                values.append(entry.get("value"))
                continue
            dtype = getattr(torch, entry["dtype"])
            if entry["nbytes"] == 0:
                values.append(torch.empty(entry["shape"], dtype=dtype))
            else:
                flat = torch.frombuffer(self.memory(entry), dtype=dtype)
                values.append(shaped(flat, entry))
        return by_argument(self.entries, values)

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        """Returns what the call raised, or None."""
        failure = None
        queued()
        self._flags.wait_open(number)
        try:
            call()
        except BaseException as error:  # a submission may raise SystemExit too
            failure = describe(error)
        self._flags.set_done(number)
        return failure
