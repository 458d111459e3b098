"""The interface of every binding: arguments in the judge's memory, and one round behind its gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

# One entry of a binding, as the judge sends it:
#   buffer: {"kind": "buffer", "name", "dtype", "shape", "mapped", "memory", "offset", "nbytes", "output"} and a
#           descriptor. An array too large to fill also has "large": {"pattern", "drawn": offsets in the memory,
#           behind the array; "period", "element": bytes; "overlays"; "targets"; "seed"}; see
#           ``emulator.engine.Pattern`` and ``emulator.sample``
#           "itemsize": bytes of an element. "strides", in elements, if it is not dense; then "nbytes" is all of it.
#           On several GPUs also "gpu"; and if each has one, "of": the argument's name, the entry's own being "x[1]".
#           Such entries follow each other, and solve gets their pointers as an array, or their tensors as a list
#   value:  {"kind": "value", "name", "dtype", "value", "data": its bytes as C has them, in hex}
#   absent: {"kind": "absent", "name"}, an optional input that is left out
Entry = dict[str, Any]


def c_data(entry: Entry) -> bytes:
    """A value, or the null pointer of an absent buffer, as C has it."""
    return bytes.fromhex(entry["data"]) if entry["kind"] == "value" else bytes(8)


def shaped(flat: Any, entry: Entry) -> Any:
    """A flat tensor of an array's memory with its shape and strides."""
    strides = entry.get("strides")
    return flat.view(entry["shape"]) if strides is None else flat.as_strided(entry["shape"], strides)


def storage_place(entry: Entry, place: int) -> int:
    """Where the element at the row-major ``place`` is in the array's memory, in elements."""
    strides = entry.get("strides")
    if strides is None:
        return place
    found = 0
    for size, stride in zip(reversed(entry["shape"]), reversed(strides), strict=True):
        place, index = divmod(place, size)
        found += index * stride
    return found


# The result of ``failure.describe``.
Failure = dict[str, Any]
Call = Callable[[], Any]


class CountedCall(Protocol):
    """A call on an emulated GPU. ``counted`` counts its work, and sets the other two."""

    modelled_us: float | None
    # See ``grader.schemas.call_profile``.
    profile: dict[str, Any] | None

    def counted(self) -> None: ...


class RecordedCall(Protocol):
    """A call on an emulated GPU. ``recorded`` looks for the block that goes wrong, and sets the other one."""

    step: dict[str, Any] | None

    def recorded(self) -> None: ...


class Binding(Protocol):
    """The arguments of one case or workload."""

    entries: list[Entry]

    def tensors(self) -> dict[str, Any]:
        """Torch tensors over the shared memory, and plain numbers, by argument name in signature order."""

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        """Wait at the gate, call, say done. Calls ``queued`` while it waits. Returns the failure, if any."""

    def close(self) -> None:
        """Unmap the memory: nothing may use it afterwards."""


def by_argument(entries: list[Entry], values: Sequence[Any]) -> dict[str, Any]:
    """``values``: of each entry. By the argument's name, a list if each GPU has one."""
    found: dict[str, Any] = {}
    for entry, value in zip(entries, values, strict=True):
        if "of" in entry:
            found.setdefault(entry["of"], []).append(value)
        else:
            found[entry["name"]] = value
    return found


# Returned by a loader: makes a submission's call for the binding of a case.
MakeCall = Callable[[Binding], Call]
