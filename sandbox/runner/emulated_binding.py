"""A binding in the emulated GPU's memory: the judge's buffers, at addresses that only its kernels can use."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from binding import Entry
from host_binding import HostBinding

_NUMBERS: dict[str, Any] = {
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
}


class EmulatedBinding(HostBinding):
    """What one case or workload is called with. It waits at the gate like one in host memory."""

    def adopt(self, device: Any, entry: Entry, *, written: bool) -> int:
        """The address at which ``device`` has a buffer; ``written``: it may be read."""
        return int(device.adopt(self.address(entry), entry["nbytes"], entry["name"], written=written))

    @contextmanager
    def on(self, device: Any) -> Iterator[list[bytes]]:
        """The arguments as C has them, in signature order, while ``device`` has the buffers."""
        values, addresses = [], []
        try:
            for entry in self.entries:
                if entry["kind"] == "value":
                    values.append(bytes(_NUMBERS[entry["dtype"]](entry["value"])))
                    continue
                addresses.append(self.adopt(device, entry, written=not entry["output"]))
                values.append(bytes(ctypes.c_uint64(addresses[-1])))
            yield values
        finally:
            for address in addresses:
                device.forget(address)
