"""Reads kernels' registers and memory from ``ptxas -v``."""

from __future__ import annotations

import re

from grader.schemas.hardware import KernelUsage

__all__ = ["MOST_KERNELS", "NAME_CHARS", "KernelUsage", "kernels_of"]

# Only generated sources have more.
MOST_KERNELS = 64
NAME_CHARS = 200
# Larger numbers are forged.
_MOST = 2**31

_ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '(?P<name>.+)' for '")
_PROPERTIES = re.compile(r"ptxas info\s*: Function properties for (?P<name>.+)")
_STACK = re.compile(
    r"\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"ptxas info\s*: Used (?P<registers>\d+) registers")
# A source can print such lines with any digits; (?<!\d) keeps the search from trying each.
_SHARED = re.compile(r"(?<!\d)(\d{1,12}) bytes smem")
# CUDA 13 omits it for the newest architectures.
_CONSTANT = re.compile(r"(?<!\d)(\d{1,12}) bytes cmem\[\d{1,2}\]")
_NO_STACK = {"stack": 0, "stores": 0, "loads": 0}


def kernels_of(text: str) -> tuple[KernelUsage, ...]:
    """``text``: demangled. Never raises: malformed lines come from a box and are skipped."""
    found: list[KernelUsage] = []
    name, in_kernel, stack = "", False, _NO_STACK
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            name, stack = entry["name"], _NO_STACK
        elif properties := _PROPERTIES.match(line):
            # Functions that are not inlined follow their kernel.
            in_kernel = properties["name"] == name
        elif in_kernel and (sizes := _STACK.match(line)):
            stack = {key: _number(digits) for key, digits in sizes.groupdict().items()}
        elif name and (used := _USED.match(line)):
            found.append(_usage(name, used["registers"], line, stack))
            name, in_kernel = "", False
    return tuple(found[:MOST_KERNELS])


def _usage(name: str, registers: str, line: str, stack: dict[str, int]) -> KernelUsage:
    shared = _SHARED.search(line)
    constant = [_number(digits) for digits in _CONSTANT.findall(line)]
    return KernelUsage(
        name=_plain(name),
        registers=_number(registers),
        shared_bytes=_number(shared[1]) if shared else 0,
        constant_bytes=min(sum(constant), _MOST) if constant else None,
        stack_bytes=stack["stack"],
        spill_stores=stack["stores"],
        spill_loads=stack["loads"],
    )


def _number(digits: str) -> int:
    return min(int(digits[:12]), _MOST)


def _plain(name: str) -> str:
    """``void scan<8>(float*, int)`` becomes ``scan<8>``."""
    if name.endswith(")"):
        depth = 0
        for position in range(len(name) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(name[position], 0)
            if depth == 0:
                name = name[:position]
                break
    name = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    return "".join(letter for letter in name if letter.isprintable())[:NAME_CHARS]
