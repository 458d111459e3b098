"""The outcome of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding
from ..lower import Unsupported
from ..model import Launch


@dataclass(frozen=True)
class Misuse:
    """A runtime call that was refused, or a remark on one."""

    kind: str  # double_free, bad_free, bad_copy, bad_launch, bad_symbol, not_here or device_memory_on_host
    line: int  # of the source, from 1; 0: unknown
    message: str


@dataclass(frozen=True)
class Unfreed:
    """An allocation that was not freed."""

    size: int  # in bytes
    line: int  # as in Misuse


@dataclass
class Returned:
    """The outcome of a call."""

    code: int  # that grader_entry returned
    name: str  # CUDA's name and text of the code
    text: str
    fault: Finding | None  # that ended a launch
    findings: list[Finding]  # the others
    unsupported: Unsupported | None
    refused: str
    printed: bytes  # by kernels
    instructions: int  # of warps, in all launches
    launches: int
    unfreed: list[Unfreed]
    misuses: list[Misuse]  # refused calls
    remarks: list[Misuse]  # on calls that were done differently from what they say
    forgotten: (
        int  # launches, copies and memsets on own streams that were left out, because nothing waited for them
    )
    forgotten_lines: list[int]
    counted: tuple[Launch, ...]  # empty unless the call was counted
    modelled: float | None  # seconds by the model
    profile: dict[str, Any] | None  # see profile_of
    taken: int  # bytes copied from the device to the host
    heap_leaked: tuple[int, int]  # allocations of kernels, and their bytes
    broken: str  # traceback of a fault in our own code
    constructs: dict[str, Any] | None = None  # of a watched call, see constructs_of


@dataclass
class Call:
    fault: Finding | None = None
    findings: list[Finding] = field(default_factory=list)
    unsupported: Unsupported | None = None
    refused: str = ""
    instructions: int = 0
    launches: int = 0
    copies: int = 0
    copied: int = 0
    linked: int = 0  # bytes of copies between GPUs
    taken: int = 0
    misuses: list[Misuse] = field(default_factory=list)
    broken: str = ""
    remarks: list[Misuse] = field(default_factory=list)
    forgotten_lines: list[int] = field(default_factory=list)
    # An access to device memory that ended the host code's process.
    on_host: Misuse | None = None
