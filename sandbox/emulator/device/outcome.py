from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..findings import Finding
from ..lower import Unsupported
from ..model import Launch


@dataclass(frozen=True)
class Misuse:
    """A refused runtime call, or a remark on one."""

    kind: str  # double_free, bad_free, bad_copy, bad_launch, bad_symbol, not_here or device_memory_on_host
    line: int
    message: str


@dataclass(frozen=True)
class Unfreed:
    """An allocation that was not freed."""

    size: int  # in bytes
    line: int


@dataclass
class Returned:
    code: int  # that grader_entry returned
    name: str
    text: str
    fault: Finding | None  # it ended a launch
    findings: list[Finding]
    unsupported: Unsupported | None
    refused: str
    printed: bytes  # by kernels
    instructions: int  # warps', in all launches
    launches: int
    unfreed: list[Unfreed]
    misuses: list[Misuse]
    remarks: list[Misuse]  # on calls done differently from what they say
    forgotten: int  # work on own streams that nothing waited for
    forgotten_lines: list[int]
    counted: tuple[Launch, ...]  # empty unless the call was counted
    modelled: float | None
    profile: dict[str, Any] | None
    taken: int  # bytes copied to the host
    heap_leaked: tuple[int, int]  # allocations that kernels did not free, and their bytes
    broken: str  # traceback of our own fault
    constructs: dict[str, Any] | None = None


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
    # Ended the host code's process by touching device memory.
    on_host: Misuse | None = None
