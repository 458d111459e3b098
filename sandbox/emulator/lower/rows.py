from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from ..names import FUNCTION_BASE
from ..ptx import Instruction, Module, Place, Variable

# struct row
ROW = struct.Struct("<HBBBBHIIIIIIqII")


class CodeRow(NamedTuple):
    """As engine.h's struct row."""

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


UNKNOWN_INSTRUCTION = "the emulated GPU does not know the instruction"


class Unsupported(Exception):
    def __init__(self, instruction: str, place: Place, why: str = "") -> None:
        super().__init__(f"{UNKNOWN_INSTRUCTION} '{instruction}'{f': {why}' if why else ''}")
        self.instruction, self.place = instruction, place


class Malformed(Unsupported):
    """ptxas rejects it, too: an undeclared name, or a kernel that is too large."""

    def __init__(self, sentence: str, place: Place) -> None:
        Exception.__init__(self, sentence)
        self.instruction, self.place = "", place


@dataclass
class Lowered:
    name: str
    rows: bytes  # packed
    row_count: int
    entry: int
    units: int
    pool: list[int]  # words; a unit has 32
    specials: list[int]
    local_bytes: int
    shared_bytes: int
    granule: int
    places: list[Place]
    params: list[tuple[int, int, int]]  # offset, bytes and unit, filled by each launch
    param_units: list[int]  # parameters' address
    grid_units: list[tuple[int, bool]]  # the grid barrier's address; True: upper half
    param_layout: list[tuple[int, int]]
    max_threads: int
    shared_names: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_async: bool = False
    allocates: bool = False  # calls malloc or free
    # Polls global memory or uses its atomics' results, so a block depends on others.
    coordinates: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)  # compiled size, x y z
    origins: list[Instruction] = field(default_factory=list)  # each row's
    rolled: frozenset[int] = frozenset()  # loops that ptxas must not unroll, by first row
    known: frozenset[int] = frozenset()  # numbers in the text

    def code_rows(self) -> list[CodeRow]:
        return list(map(CodeRow._make, ROW.iter_unpack(self.rows)))

    @property
    def param_bytes(self) -> int:
        return max((offset + size for offset, size in self.param_layout), default=0)


def layout(params: list[Variable]) -> list[tuple[int, int]]:
    """In bytes, as the driver has them."""
    found, at = [], 0
    for param in params:
        at = -(-at // param.align) * param.align
        found.append((at, param.size))
        at += param.size
    return found


def function_address(module: Module, name: str) -> int:
    return FUNCTION_BASE + list(module.functions).index(name)
