"""Follows a word or a thread through a block that runs alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..lower import CodeRow
from ..names import OP, SHARED_BASE, SPACE, STEP_END, STEP_LAUNCH, STEP_STATE

if TYPE_CHECKING:
    from .recorder import Kept, Run

Index = tuple[int, int, int]
# A few microseconds each.
MOST_ROWS = 200_000
_LANES = 32
_STATUS, _WARP, _PC, _RUNS, _AT = (
    STEP_STATE[f"STEP_{name}"] for name in ("STATUS", "WARP", "PC", "RUNS", "ROWS")
)
_ACCESSES = (OP.LOAD, OP.STORE, OP.ATOMIC)
_GLOBAL = (SPACE.GLOBAL, SPACE.GENERIC)


class TooLong(Exception):
    """Too many rows, a wait for others, or a fault."""


@dataclass(frozen=True)
class Touch:
    """``row``: rows of the block before it."""

    row: int
    thread: int
    place: int
    reads: bool
    writes: bool
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Step:
    """``runs``: its predicate holds."""

    row: int
    pc: int
    runs: bool
    address: int  # in global memory; else 0


class Walk:
    def __init__(self, run: Run, kept: Kept) -> None:
        self._run, self._rows = run, kept.lowered.code_rows()
        x, y, z = kept.words[STEP_LAUNCH.STEP_THREADS : STEP_LAUNCH.STEP_THREADS + 3]
        self._threads: Index = (x, y, z)

    def touches(self, block: int, address: int, size: int) -> Iterator[Touch]:
        """Raises TooLong."""
        self._run.begin(block)
        state = self._run.on(0)
        while state[_STATUS] == STEP_END.MORE:
            pc, warp, runs, at = state[_PC], state[_WARP], state[_RUNS], state[_AT]
            if at >= MOST_ROWS:
                raise TooLong
            row = self._rows[pc]
            found: list[int] = []
            if row.op in _ACCESSES and row.space in _GLOBAL:
                bytes_each = row.size * row.elements
                found = [
                    lane
                    for lane, start in self._addresses(warp, row)
                    if runs >> lane & 1 and start < address + size and address < start + bytes_each
                ]
            before = self._run.peek(address, size) if found else b""
            state = self._run.on(1)
            if found:
                reads, writes = row.op != OP.STORE, row.op != OP.LOAD
                after = self._run.peek(address, size)
                for lane in found:
                    yield Touch(at, warp * _LANES + lane, row.line, reads, writes, before, after)
        if state[_STATUS] != STEP_END.ENDED:
            raise TooLong

    def path(self, block: int, thread: int) -> list[Step]:
        """What a thread does. Raises TooLong."""
        self._run.begin(block)
        state, found = self._run.on(0), list[Step]()
        mine, lane = divmod(thread, _LANES)
        while state[_STATUS] == STEP_END.MORE:
            at, pc = state[_AT], state[_PC]
            if at >= MOST_ROWS:
                raise TooLong
            if state[_WARP] == mine:
                _, exited, active = self._run.warp(mine)
                if exited >> lane & 1:
                    return found
                if active >> lane & 1:
                    row, runs = self._rows[pc], bool(state[_RUNS] >> lane & 1)
                    address = 0
                    if runs and row.op in _ACCESSES and row.space in _GLOBAL:
                        address = dict(self._addresses(mine, row)).get(lane, 0)
                    found.append(Step(at, pc, runs, address))
            state = self._run.on(1)
        if state[_STATUS] != STEP_END.ENDED:
            raise TooLong
        return found

    @property
    def rows(self) -> int:
        return int(self._run.on(0)[_AT])

    def thread(self, number: int) -> Index:
        x, y, _ = self._threads
        return number % x, number // x % y, number // x // y

    def number(self, thread: Index) -> int:
        x, y, _ = self._threads
        return thread[0] + x * (thread[1] + y * thread[2])

    def _addresses(self, warp: int, row: CodeRow) -> Iterator[tuple[int, int]]:
        for lane, start in enumerate(self._run.addresses(warp, row)):
            if start < SHARED_BASE:
                yield lane, start
