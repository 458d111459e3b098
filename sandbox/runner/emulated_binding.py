"""The judge's buffers at addresses that only the emulated GPU's kernels can use."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from binding import Entry, c_data
from emulated import part
from host_binding import HostBinding

engine, sample = part("engine"), part("sample")


class EmulatedBinding(HostBinding):
    def __init__(self, entries: list[Entry], descriptors: list[int]) -> None:
        super().__init__(entries, descriptors)
        self._device: Any = None
        self.addresses: dict[str, int] = {}

    def adopt(self, device: Any, entry: Entry, *, written: bool) -> int:
        """Returns the buffer's address on ``device``. ``written``: it may be read."""
        address = int(
            device.adopt(
                self.address(entry), entry["nbytes"], entry["name"], written=written, gpu=entry.get("gpu", 0)
            )
        )
        if (large := entry.get("large")) is not None:
            base = self._mappings[entry["name"]].address
            device.engine.fill_as_touched(
                address,
                engine.Pattern(
                    base + large["pattern"],
                    large["period"],
                    large["element"],
                    large["overlays"],
                    base + large["drawn"],
                ),
            )
        return address

    # See ``RunnerClient.call``.
    asked: Mapping[str, Any] = MappingProxyType({})
    check: int = engine.EVERYTHING

    def prepare(self, device: Any) -> None:
        device.engine.sample = self.sample()
        device.engine.check = engine.NOTHING if self.asked.get("unchecked") else self.check

    def sample(self) -> Any:
        """Of large arrays, or if asked for."""
        if (asked := self.asked.get("sample")) is not None:
            targets = [sample.Target(index, tuple(shape)) for index, shape in asked["targets"]]
            return sample.CountedSample(targets, asked["seed"], fill=asked["fill"])
        large = [entry for entry in self.entries if entry.get("large") is not None]
        targets = [
            sample.Target(index, tuple(entry["shape"]))
            for entry in large
            for index in entry["large"]["targets"]
        ]
        return sample.Sample(targets, large[0]["large"]["seed"]) if large else None

    @contextmanager
    def on(self, device: Any) -> Iterator[list[bytes]]:
        """C's arguments in order. ``device`` has the buffers until the next call or ``leave``."""
        self.leave()
        self._device = device
        self.prepare(device)
        values = []
        try:
            for entry in self.entries:
                if entry["kind"] != "buffer":
                    values.append(c_data(entry))
                    continue
                address = self.adopt(device, entry, written=not entry["output"])
                self.addresses[entry["name"]] = address
                values.append(bytes(ctypes.c_uint64(address)))
            yield values
        finally:
            device.engine.sample = None

    def leave(self) -> None:
        """May be called again."""
        for address in self.addresses.values():
            self._device.forget(address)
        self.addresses.clear()

    def close(self) -> None:
        self.leave()
        super().close()
