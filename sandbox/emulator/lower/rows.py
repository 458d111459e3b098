"""What a kernel becomes: rows, as the engine runs them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from ..names import FUNCTION_BASE
from ..ptx import Module, Place, Variable

# As struct row.
ROW = struct.Struct("<HBBBBHIIIIIIqII")


class CodeRow(NamedTuple):
    """One instruction, as struct row of engine.h has it."""

    op: int
    flags: int
    size: int
    elements: int
    space: int
    wide: int
    guard: int
    d: int
    a: int
    b: int
    c: int
    e: int
    imm: int
    line: int
    spare: int


class Unsupported(Exception):
    """``instruction``: as PTX writes it; ``place``: the source's line."""

    def __init__(self, instruction: str, place: Place, why: str = "") -> None:
        super().__init__(
            f"the emulated GPU does not know the instruction '{instruction}'{f': {why}' if why else ''}"
        )
        self.instruction, self.place = instruction, place


class Malformed(Unsupported):
    """PTX that no assembler takes: an instruction that names what nobody declared, or a kernel that is too large."""

    def __init__(self, sentence: str, place: Place) -> None:
        Exception.__init__(self, sentence)
        self.instruction, self.place = "", place


@dataclass
class Lowered:
    """A kernel as the engine runs it. ``rows``: packed; ``pool``: words of 32 bits, a unit being 32 of them.
    ``params``: (offset, bytes, unit) of the pool that each launch fills in; ``param_units``: those that want the
    address of the parameters; ``grid_units``: those that want that of a grid's barrier, as (unit, whether its
    upper half)."""

    name: str
    rows: bytes
    row_count: int
    entry: int
    units: int
    pool: list[int]
    specials: list[int]
    local_bytes: int
    shared_bytes: int
    granule: int
    places: list[Place]
    params: list[tuple[int, int, int]]
    param_units: list[int]
    grid_units: list[tuple[int, bool]]
    param_layout: list[tuple[int, int]]
    max_threads: int
    shared_names: dict[str, tuple[int, int]] = field(default_factory=dict)
    # Whether it has instructions of ``hopper``; blocks of a cluster that it was compiled for, x y z.
    is_async: bool = False
    # Whether it calls malloc or free.
    allocates: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)

    def code_rows(self) -> list[CodeRow]:
        return list(map(CodeRow._make, ROW.iter_unpack(self.rows)))

    @property
    def param_bytes(self) -> int:
        return max((offset + size for offset, size in self.param_layout), default=0)


def layout(params: list[Variable]) -> list[tuple[int, int]]:
    """Offset and size of each, in bytes, as the driver lays them out."""
    found, at = [], 0
    for param in params:
        at = -(-at // param.align) * param.align
        found.append((at, param.size))
        at += param.size
    return found


def function_address(module: Module, name: str) -> int:
    """What a pointer to a device function holds."""
    return FUNCTION_BASE + list(module.functions).index(name)
