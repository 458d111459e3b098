"""A binding in the emulated GPU's memory: the judge's buffers, at addresses that only its kernels can use."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from host_binding import HostBinding

_NUMBERS = {
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
}


class EmulatedBinding(HostBinding):
    """What one case or workload is called with. It waits at the gate like one in host memory."""

    @contextmanager
    def on(self, device: Any) -> Iterator[list[bytes]]:
        """The arguments as C has them, in signature order, while ``device`` has the buffers."""
        values, addresses = [], []
        try:
            for entry in self.entries:
                if entry["kind"] == "value":
                    values.append(bytes(_NUMBERS[entry["dtype"]](entry["value"])))
                    continue
                address = device.adopt(
                    self.address(entry), entry["nbytes"], entry["name"], written=not entry["output"]
                )
                addresses.append(address)
                values.append(bytes(ctypes.c_uint64(address)))
            yield values
        finally:
            for address in addresses:
                device.forget(address)
