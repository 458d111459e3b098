"""What both kinds of binding promise: arguments over the judge's memory, and one round behind its gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

# One entry of a binding, as the judge sends it:
#   buffer: {"kind": "buffer", "name", "dtype", "shape", "mapped", "memory", "offset", "nbytes", "output"}, and
#           a descriptor. One that is too large to be filled has "large": {"pattern", "drawn": offsets in the
#           memory, behind the array; "period", "element": bytes; "overlays"; "targets"; "seed"}, see
#           ``emulator.engine.Pattern`` and ``emulator.sample``
#   value:  {"kind": "value", "name", "dtype", "value"}
Entry = dict[str, Any]
# What ``failure.describe`` makes of an exception.
Failure = dict[str, Any]
Call = Callable[[], Any]


class CountedCall(Protocol):
    """A call on an emulated GPU: ``counted`` makes one whose work is counted, and then ``modelled_us`` is its time and
    ``profile`` what was counted, see ``grader.schemas.call_profile``."""

    modelled_us: float | None
    profile: dict[str, Any] | None

    def counted(self) -> None: ...


class Binding(Protocol):
    """What one case or workload is called with: ``HostBinding`` or ``CudaBinding``."""

    entries: list[Entry]

    def tensors(self) -> dict[str, Any]:
        """Torch tensors over the shared memory, and plain numbers, by argument name in signature order."""

    def run(self, number: int, call: Call, queued: Callable[[], None]) -> Failure | None:
        """Round ``number``: wait at the gate, call, say done. ``queued`` is called once the round waits at the gate.

        Returns what went wrong, or None.
        """

    def close(self) -> None:
        """Unmap the memory: nothing may use it any more."""


# What a loader returns: it makes a call of a submission from the binding of a case.
MakeCall = Callable[[Binding], Call]
