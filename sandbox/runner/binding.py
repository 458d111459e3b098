"""Arguments in the judge's memory, and a round behind its gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

# An argument, as the judge sends it:
#   buffer: {"kind": "buffer", "name", "dtype", "shape", "mapped", "memory", "offset", "nbytes", "output"},
#           a descriptor, "itemsize" in bytes, and if needed
#           "strides" in elements, of an array that is not dense; "nbytes" then covers all of it
#           "large": {"pattern", "drawn": offsets; "period", "element": bytes; "overlays"; "targets"; "seed"},
#           see ``emulator.engine.Pattern`` and ``emulator.sample``
#           "gpu", and "of" if each GPU has one: the argument's name, the entry's being "x[1]". These entries
#           are adjacent, and solve gets an array of pointers or a list of tensors
#   value:  {"kind": "value", "name", "dtype", "value", "data": C's bytes in hex}
#   absent: {"kind": "absent", "name"}
Entry = dict[str, Any]


def c_data(entry: Entry) -> bytes:
    """A value or, for an absent buffer, the null pointer."""
    return bytes.fromhex(entry["data"]) if entry["kind"] == "value" else bytes(8)


def shaped(flat: Any, entry: Entry) -> Any:
    """``flat``: an array's memory."""
    strides = entry.get("strides")
    return flat.view(entry["shape"]) if strides is None else flat.as_strided(entry["shape"], strides)


def storage_place(entry: Entry, place: int) -> int:
    """In elements; ``place`` is row-major."""
    strides = entry.get("strides")
    if strides is None:
        return place
    found = 0
    for size, stride in zip(reversed(entry["shape"]), reversed(strides), strict=True):
        place, index = divmod(place, size)
        found += index * stride
    return found


# From ``failure.describe``.
Failure = dict[str, Any]
Call = Callable[[], Any]


class CountedCall(Protocol):
    """``counted`` counts the work and sets the other two."""

    modelled_us: float | None
    # See ``grader.schemas.call_profile``.
    profile: dict[str, Any] | None

    def counted(self) -> None: ...


class RecordedCall(Protocol):
    """``recorded`` looks for the block that goes wrong, and sets the other one."""

    step: dict[str, Any] | None

    def recorded(self) -> None: ...


class Binding(Protocol):
    entries: list[Entry]

    def tensors(self) -> dict[str, Any]:
        """By name in signature order: tensors over the shared memory, and numbers."""

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        """Wait at the gate, call, say done. Calls ``queued`` meanwhile."""

    def close(self) -> None:
        """Nothing may use the memory afterwards."""


def by_argument(entries: list[Entry], values: Sequence[Any]) -> dict[str, Any]:
    """``values``: of each entry. A list for an argument that each GPU has."""
    found: dict[str, Any] = {}
    for entry, value in zip(entries, values, strict=True):
        if "of" in entry:
            found.setdefault(entry["of"], []).append(value)
        else:
            found[entry["name"]] = value
    return found


MakeCall = Callable[[Binding], Call]
