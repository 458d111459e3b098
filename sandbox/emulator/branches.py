"""The branches that ptxas turns into predicates, and the loops that it unrolls."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .lower import CodeRow, Lowered
from .names import BRANCH, FLAG, NONE, OP, SPACE
from .work import Work, work_of_row


def work_of(lowered: Lowered, names: Sequence[str]) -> tuple[list[Work], Shapes]:
    """``names``: alu.ops' operations."""
    work = [work_of_row(lowered, row, names) for row in lowered.code_rows()]
    shapes = Shapes(lowered, work, names)
    predicated = Work("free", 0)
    return [
        predicated if shape & BRANCH.PREDICATED_BRANCH else each
        for shape, each in zip(shapes.branches, work, strict=True)
    ], shapes


# ptxas 13.0 for sm_90a turns a branch into predicates if the skipped rows cost at most this and have no
# atomic, barrier, shuffle or call (benchmarks/assembler.py).
_PREDICATED = 16.0
_PREDICATED_COSTS = {"global load": 0.5, "shared load": 3.0, "store": 2.0, "special": 4.0, "free": 0.0}
# It unrolls loops of one basic block with fewer rows; the second limit is for loads from shared memory.
_UNROLLED, _UNROLLED_SHARED = 50, 26
_KEPT_IN_LOOPS = ("ATOMIC", "SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT", "BARRIER", "WARP_BARRIER", "FENCE", "CALL",
                  "CALL_INDIRECT", "RETURN", "EXIT", "TRAP", "ASYNC", "BRANCH_INDEX")  # fmt: skip
_LONGEST_BRANCH = 64
# And only countable loops: the branch compares a register, to which each round adds a constant, with a value
# that the loop keeps.
_COMPARES, _STEPS, _MOVES = (
    re.compile(pattern)
    for pattern in (r"setp_[a-z]+_[us](16|32|64)$", r"(add|sub)_[us](16|32|64)$", r"mov_b(16|32|64)$")
)
# Seven per thread, and a loop needs one.
_PREDICATES = 6


def control_of(row: CodeRow) -> str:
    return OP.name_of(row.op) if row.op < len(OP) else ""


class Shapes:
    """``branches``: flags of ``BRANCH`` per row. ``starts``: whether a basic block starts at a row once short
    branches are predicates.
    """

    def __init__(self, lowered: Lowered, work: Sequence[Work], names: Sequence[str]) -> None:
        self.rows, self.work = lowered.code_rows(), work
        self._lowered, self._names = lowered, names
        self.branches = bytearray(len(self.rows))
        self._ends: dict[int, int] = {}
        self._sources: dict[int, list[int]] = {}
        jumps = [number for number, row in enumerate(self.rows) if control_of(row) == "BRANCH"]
        for number in jumps:
            self._sources.setdefault(self.rows[number].imm, []).append(number)
        forward = [branch for branch in jumps if branch < self.rows[branch].imm <= branch + _LONGEST_BRANCH]
        for number in sorted(forward, key=lambda branch: self.rows[branch].imm - branch):
            if self.rows[number].guard != NONE:
                self._predicate(number)
        self.starts = [
            bool(row.flags & FLAG.JOIN) and not all(self._predicated_sources(number))
            for number, row in enumerate(self.rows)
        ]
        self._keep_in_order()
        for number in jumps:
            if self.rows[number].imm <= number and self._is_unrolled(self.rows[number].imm, number):
                self.branches[number] = BRANCH.UNROLLED_LOOP

    def _keep_in_order(self) -> None:
        """With more predicated loads than predicates, ptxas emits one load and use after the other."""
        waiting: list[int] = []
        until = 0
        for number in [*range(len(self.rows)), len(self.rows)]:
            ends = (
                number == len(self.rows)
                or self.starts[number]
                or (control_of(self.rows[number]) == "BRANCH" and not self.branches[number])
            )
            if ends:
                for branch in waiting if len(waiting) > _PREDICATES else ():
                    self.branches[branch] |= BRANCH.IN_ORDER
                waiting = []
            elif self.branches[number] and number >= until:
                until = self._ends[number]
                if self._uses_own(number + 1, until):
                    waiting.append(number)

    def _uses_own(self, first: int, end: int) -> bool:
        loaded: set[int] = set()
        for row in self.rows[first:end]:
            if control_of(row) == "LOAD":
                loaded.add(row.d)
            elif loaded & {row.a, row.b, row.c, row.e}:
                return True
        return False

    def _predicated_sources(self, number: int) -> list[bool]:
        return [bool(self.branches[branch]) for branch in self._sources.get(number, ())] or [False]

    def _predicate(self, number: int) -> None:
        target = end = self.rows[number].imm
        last, skips = self.rows[target - 1], []
        if target - 1 > number and control_of(last) == "BRANCH" and last.guard == NONE:
            if not target < last.imm <= target + _LONGEST_BRANCH:
                return
            end, skips = last.imm, [target - 1]
        cost = 0.0
        for at in range(number + 1, end):
            if self.rows[at].flags & FLAG.JOIN and not all(
                number <= branch < end for branch in self._sources.get(at, [-1])
            ):
                return
            if at in skips:
                continue
            cost += self._cost(at)
        if cost <= _PREDICATED:
            for branch in (number, *skips):
                self.branches[branch], self._ends[branch] = BRANCH.PREDICATED_BRANCH, end

    def _cost(self, number: int) -> float:
        row, work = self.rows[number], self.work[number]
        control = control_of(row)
        if control in ("LOAD", "STORE"):
            shared = row.space == SPACE.SHARED and control == "LOAD"
            return _PREDICATED_COSTS[
                "shared load" if shared else "global load" if control == "LOAD" else "store"
            ]
        if control:
            return 0.0 if work.kind == "free" else math.inf
        if work.kind == "integer" and work.slots > 1:
            return 1.5 if work.slots == 2 else math.inf
        return _PREDICATED_COSTS.get(work.kind, 1.0)

    def _name(self, row: CodeRow) -> str:
        return self._names[row.op - len(OP)] if row.op >= len(OP) else ""

    def _is_counted(self, first: int, last: int) -> bool:
        changes: dict[int, list[CodeRow]] = {}
        for row in self.rows[first:last]:
            changes.setdefault(row.d, []).append(row)
        compares = changes.get(self.rows[last].guard, [])
        if len(compares) != 1 or not _COMPARES.match(self._name(compares[0])):
            return False
        for counter, limit in ((compares[0].a, compares[0].b), (compares[0].b, compares[0].a)):
            steps = changes.get(counter, [])
            if limit in changes or len(steps) != 1 or not _STEPS.match(self._name(steps[0])):
                continue
            for before, step in ((steps[0].a, steps[0].b), (steps[0].b, steps[0].a)):
                copies = changes.get(before, [])
                moved = len(copies) == 1 and _MOVES.match(self._name(copies[0])) and copies[0].a == counter
                if step in self._lowered.known and (before == counter or moved):
                    return True
        return False

    def _is_unrolled(self, first: int, last: int) -> bool:
        if first in self._lowered.rolled or not self._is_counted(first, last):
            return False
        rows, shared, guarded = 0, False, 0
        for at in range(first, last):
            control = control_of(self.rows[at])
            if self.branches[at] & BRANCH.PREDICATED_BRANCH:
                guarded = max(guarded, self._ends[at])
            if at < guarded and control == "STORE" and self.rows[at].space != SPACE.SHARED:
                return False
            if control in _KEPT_IN_LOOPS or (control == "BRANCH" and not self.branches[at]):
                return False
            if at > first and self.starts[at]:
                return False
            rows += self.work[at].kind != "free"
            shared |= control == "LOAD" and self.rows[at].space == SPACE.SHARED
        return rows < (_UNROLLED_SHARED if shared else _UNROLLED)
