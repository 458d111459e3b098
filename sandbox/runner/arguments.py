"""Turns the judge's description of a binding into the arguments that a call takes."""

from __future__ import annotations

from typing import Any

from memory import Mapping, bytes_at

# One entry of a binding, as the judge sends it:
#   buffer: {"kind": "buffer", "name", "dtype", "shape", "mapped", "offset", "nbytes"}, its descriptor in order
#   value:  {"kind": "value", "name", "value"}


class Binding:
    """What one case or workload is called with. Old mappings end when the next binding replaces this one."""

    def __init__(self, entries: list[dict[str, Any]], descriptors: list[int]) -> None:
        self.entries = entries
        remaining = iter(descriptors)
        self.mappings = {
            entry["name"]: Mapping(next(remaining), entry["mapped"])
            for entry in entries
            if entry["kind"] == "buffer"
        }

    def close(self) -> None:
        for mapping in self.mappings.values():
            mapping.close()

    def memory(self, entry: dict[str, Any]) -> Any:
        return bytes_at(self.mappings[entry["name"]].address + entry["offset"], entry["nbytes"])

    def tensors(self) -> dict[str, Any]:
        """Torch tensors over the shared memory, and plain numbers, by argument name in signature order."""
        import torch

        values: dict[str, Any] = {}
        for entry in self.entries:
            if entry["kind"] == "value":
                values[entry["name"]] = entry["value"]
                continue
            dtype = getattr(torch, entry["dtype"])
            if entry["nbytes"] == 0:
                values[entry["name"]] = torch.empty(entry["shape"], dtype=dtype)
            else:
                flat = torch.frombuffer(self.memory(entry), dtype=dtype)
                values[entry["name"]] = flat.view(entry["shape"])
        return values
