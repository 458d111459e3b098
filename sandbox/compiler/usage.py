"""What each kernel takes of a multiprocessor, read from what the assembler says (``ptxas -v``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A source with more kernels than this was generated; nobody reads a longer table.
MOST_KERNELS = 64
NAME_CHARS = 200
# No GPU has so much of anything: a number beyond it is a lie of the box's.
_MOST = 2**31

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '(?P<name>.+)' for '")
_PROPERTIES = re.compile(r"ptxas info\s*: Function properties for (?P<name>.+)")
_STACK = re.compile(
    r"\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"ptxas info\s*: Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class KernelUsage:
    """One kernel: registers, bytes spilled and bytes of stack per thread; bytes of static shared memory per block."""

    name: str
    registers: int
    shared_bytes: int
    spill_stores: int
    spill_loads: int
    stack_bytes: int


def kernels_of(text: str) -> tuple[KernelUsage, ...]:
    """The kernels that ``text`` (demangled lines of ``ptxas -v``) tells of, in its order. Never raises: the text
    comes out of a box, and what makes no sense is left out."""
    found: list[KernelUsage] = []
    name, in_kernel, stack = "", False, (0, 0, 0)
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            name, stack = entry["name"], (0, 0, 0)
        elif properties := _PROPERTIES.match(line):
            # Functions that were not inlined have properties too; they come after the kernel that calls them.
            in_kernel = properties["name"] == name
        elif in_kernel and (sizes := _STACK.match(line)):
            stack = (_number(sizes["stores"]), _number(sizes["loads"]), _number(sizes["stack"]))
        elif name and (used := _USED.match(line)):
            shared = _SHARED.search(line)
            found.append(
                KernelUsage(
                    _plain(name), _number(used["registers"]), _number(shared[1]) if shared else 0, *stack
                )
            )
            name, in_kernel = "", False
    return tuple(found[:MOST_KERNELS])


def _number(digits: str) -> int:
    return min(int(digits[:12]), _MOST)


def _plain(name: str) -> str:
    """A demangled name without result type and parameters: ``void scan<8>(float*, int)`` is ``scan<8>``."""
    if name.endswith(")"):
        depth = 0
        for position in range(len(name) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(name[position], 0)
            if depth == 0:
                name = name[:position]
                break
    name = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    return "".join(letter for letter in name if letter.isprintable())[:NAME_CHARS]
