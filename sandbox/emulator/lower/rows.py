"""A lowered kernel: rows for the engine."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from ..names import FUNCTION_BASE
from ..ptx import Instruction, Module, Place, Variable

# As struct row.
ROW = struct.Struct("<HBBBBHIIIIIIqII")


class CodeRow(NamedTuple):
    """One instruction, as struct row of engine.h."""

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
    """An instruction that the engine does not know."""

    def __init__(self, instruction: str, place: Place, why: str = "") -> None:
        super().__init__(
            f"the emulated GPU does not know the instruction '{instruction}'{f': {why}' if why else ''}"
        )
        self.instruction, self.place = instruction, place


class Malformed(Unsupported):
    """PTX that ptxas rejects, too: an undeclared name, or a kernel that is too large."""

    def __init__(self, sentence: str, place: Place) -> None:
        Exception.__init__(self, sentence)
        self.instruction, self.place = "", place


@dataclass
class Lowered:
    """A kernel as the engine runs it."""

    name: str
    rows: bytes  # packed
    row_count: int
    entry: int
    units: int
    pool: list[int]  # 32-bit words; a unit has 32
    specials: list[int]
    local_bytes: int
    shared_bytes: int
    granule: int
    places: list[Place]
    params: list[tuple[int, int, int]]  # offset, bytes and unit of the pool that each launch fills in
    param_units: list[int]  # for the address of the parameters
    grid_units: list[tuple[int, bool]]  # for the address of the grid's barrier; whether its upper half
    param_layout: list[tuple[int, int]]
    max_threads: int
    shared_names: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_async: bool = False  # has instructions of hopper
    allocates: bool = False  # calls malloc or free
    # Polls global memory, or uses results of atomics there: what a block does depends on what others did.
    coordinates: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)  # compiled size, x y z
    origins: list[Instruction] = field(default_factory=list)  # the instruction of each row
    rolled: frozenset[int] = frozenset()  # rows at which a loop begins that ptxas must not unroll
    known: frozenset[int] = frozenset()  # operands that are numbers of the text

    def code_rows(self) -> list[CodeRow]:
        return list(map(CodeRow._make, ROW.iter_unpack(self.rows)))

    @property
    def param_bytes(self) -> int:
        return max((offset + size for offset, size in self.param_layout), default=0)


def layout(params: list[Variable]) -> list[tuple[int, int]]:
    """Offset and size in bytes of each parameter, in the driver's layout."""
    found, at = [], 0
    for param in params:
        at = -(-at // param.align) * param.align
        found.append((at, param.size))
        at += param.size
    return found


def function_address(module: Module, name: str) -> int:
    """The value of a pointer to a device function."""
    return FUNCTION_BASE + list(module.functions).index(name)
