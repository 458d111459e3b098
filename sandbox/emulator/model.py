"""The time that a card would take for what was counted in a call: a model, the same on every machine.

A launch lasts as long as what holds it up most: memory, the second-level cache, the busiest of a multiprocessor's
units, or the chain of instructions that wait for each other. The card is an H200 by NVIDIA's data sheets, with what
microbenchmarks reach of them; see docs/emulated.md for the argument and for how well it agrees with a card.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .lower import CodeRow, Lowered
from .names import (
    ASYNC,
    BRANCH,
    CLASS,
    CONSTANT,
    ELEMENT,
    FLAG,
    LOOKUP,
    MATRIX,
    MATRIX_MOVE,
    NEED,
    NONE,
    NOP,
    OP,
    SPACE,
    WIDTH,
)

# Another for each change to it or to what is counted: times of two versions are not comparable.
MODEL_VERSION = 7
KINDS = tuple(name.lower() for name in CLASS)
NEEDS = (*KINDS, *(name.lower().replace("_", " ") for name in NEED))
# Of a need for tensor cores and for lines: its units.
TENSOR_UNITS, LINE_UNITS = 65536, 4


@dataclass(frozen=True)
class Card:
    """``clock``: cycles a second. ``dram``, ``l2``: bytes a second. Of a multiprocessor in a cycle: ``issue``:
    instructions of warps, ``rates``: those of each kind, ``l1``: lines, ``banks``: passes through shared memory,
    ``flops``: of tensor cores by type. Of a multiprocessor: ``threads``, ``blocks``, ``shared`` bytes, ``registers``.
    ``l1_bytes``: of which shared memory takes its part; ``from_l2``: sectors in a cycle. ``launch``: seconds for a
    launch that does nothing; ``copy``: the same for a copy or a memset; ``latency``: seconds that memory takes to
    answer; ``block``: from one block's begin to the next one's; ``update``: between two atomics on one place of the
    second-level cache, which has so many ``slices`` that work side by side. ``overlap``: launches take (sum of part **
    overlap) ** (1 / overlap) of their parts."""

    name: str
    multiprocessors: int
    clock: float
    dram: float
    l2: float
    issue: float
    rates: Mapping[str, float]
    l1: float
    banks: float
    flops: Mapping[str, float]
    threads: int
    blocks: int
    shared: int
    registers: int
    l1_bytes: int
    from_l2: float
    launch: float
    copy: float
    latency: float
    block: float
    update: float
    slices: int
    overlap: float


H200 = Card(
    name="NVIDIA H200",
    multiprocessors=132,
    clock=1.755e9,
    dram=4.3e12,
    l2=6.0e12,
    issue=4.0,
    rates={
        "integer": 2.0, "float": 4.0, "double": 2.0, "special": 0.5, "convert": 2.0, "memory": 1.0, "shuffle": 1.0,
        "sync": 0.5, "branch": 2.0,
    },
    l1=1.0,
    banks=1.0,
    # mma.sync reaches about five eighths of what wgmma does.
    flops={
        **{"f64": 256.0, "tf32": 1280.0, "f16": 2560.0, "bf16": 2560.0},
        **dict.fromkeys(("s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2"), 5120.0),
        **{"wgmma f16": 4096.0, "wgmma bf16": 4096.0, "wgmma tf32": 2048.0},
        **dict.fromkeys(("wgmma s8", "wgmma u8", "wgmma e4m3", "wgmma e5m2", "wgmma b1"), 8192.0),
    },
    threads=2048,
    blocks=32,
    shared=233472,
    registers=65536,
    l1_bytes=262144,
    from_l2=2.0,
    launch=3.0e-6,
    copy=1.3e-6,
    latency=0.45e-6,
    block=0.58e-9,
    update=1.65e-9,
    slices=96,
    overlap=4.0,
)  # fmt: skip
# The same processor behind memory of another kind.
H100 = replace(H200, name="NVIDIA H100 80GB HBM3", dram=3.0e12)
_BYTES_OF_SECTOR, _BYTES_OF_LINE, _SECTORS_OF_LINE, _WORD = 32, 128, 4, 4
# What shared memory leaves of a first-level cache.
_LEAST_L1 = 28 << 10
# A block's shared memory is given out in this many bytes, beside 1 KiB of the system's own.
_SHARED_UNIT, _SHARED_OWN = 128, 1024
# A warp's registers are given out in this many, in one of the parts of a multiprocessor.
_REGISTER_UNIT, _PARTS = 256, 4

# What PTX writes as one instruction and a card does in several, in slots of issue.
_WEIGHTS = (
    (re.compile(r"(div|rem)_[us]64"), 70),
    (re.compile(r"(div|rem)_[us](16|32)"), 18),
    (re.compile(r"(div|rcp|sqrt|rsqrt).*f64"), 20),
    (re.compile(r"div.*f32"), 9),
    (re.compile(r"(rcp|sqrt)_(dir|ftz)?_?f32"), 6),
    (re.compile(r"popc|brev|bfind"), 4),
    (re.compile(r"(add|sub|mul_lo|mad_lo|min|max|setp_\w+)_[us]64|(shl|shr)_[bus]64"), 2),
)
_KINDS_OF_NAMES = (
    (re.compile(r"mov_|piece_|join_|ext(32|64)_u|cut32_|isspacep|.*_pred$|pred_of|b32_of_pred"), "free"),
    (re.compile(r".*f64(?!_of)"), "double"),
    (re.compile(r"(sin|cos|ex2|lg2|rsqrt|rcp|sqrt|tanh|div).*f"), "special"),
    (re.compile(r"(popc|brev|bfind)"), "convert"),
    (re.compile(r"cvt_(f16|bf16|f32|tf32|[us]\d+|rz|relu|f16x2|bf16x2|e\dm\dx2)_.*|r[npmz]i_"), "convert"),
    (re.compile(r".*(f32|f16|bf16)"), "float"),
)
_KINDS_OF_CONTROL = {
    **dict.fromkeys(("LOAD", "STORE", "ATOMIC", "COPY_LATE", "HEAP", "TEXTURE"), "memory"),
    **dict.fromkeys(("SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT"), "shuffle"),
    **dict.fromkeys(("BARRIER", "WARP_BARRIER", "FENCE", "CLOCK", "WAIT_GROUP"), "sync"),
    **dict.fromkeys(("NOP", "POP", "LOCAL_ADDRESS", "COMMIT", "ASSERT", "ACTIVE_MASK"), "free"),
    "MATRIX": "matrix",
}  # fmt: skip
_KINDS_OF_ASYNC = {
    "MAP_RANK": "integer", "RANK_OF": "integer", "CLUSTER_ARRIVE": "sync", "CLUSTER_WAIT": "sync",
    "PROXY_FENCE": "sync", "BULK_COMMIT": "sync", "BULK_WAIT": "sync", "BULK_WAIT_READ": "sync",
    "PRODUCT_FENCE": "sync", "PRODUCT_COMMIT": "sync", "PRODUCT_WAIT": "sync",
}  # fmt: skip
# A multiprocessor's four units each fetch for one thread in a cycle.
_TEXTURE_SLOTS = 8
_ACCESSES = {"LOAD": "load", "STORE": "store", "ATOMIC": "atomic", "COPY_LATE": "copy"}


@dataclass(frozen=True)
class Work:
    """What one instruction asks for: a kind of ``KINDS``, slots of issue; of a matrix product its type and flops.
    ``access``: load, store, atomic or copy (cp.async), where it reaches memory."""

    kind: str
    slots: int = 1
    type: str = ""
    flops: int = 0
    access: str = ""


def work_of(lowered: Lowered, names: Sequence[str]) -> tuple[list[Work], Shapes]:
    """Row by row, and what becomes of branches. ``names``: of the operations of alu.ops."""
    work = [_work(lowered, row, names) for row in lowered.code_rows()]
    shapes = Shapes(lowered, work)
    predicated = Work("free", 0)
    return [
        predicated if shape & BRANCH.PREDICATED_BRANCH else each
        for shape, each in zip(shapes.branches, work, strict=True)
    ], shapes


def _work(lowered: Lowered, row: CodeRow, names: Sequence[str]) -> Work:
    if row.op >= len(OP):
        return _work_of_name(names[row.op - len(OP)])
    if row.op == OP.ASYNC:
        return _work_of_async(lowered, row)
    control = OP.name_of(row.op)
    kind = _KINDS_OF_CONTROL.get(control, "branch")
    if row.op == OP.TEXTURE:
        return Work(
            "memory",
            _TEXTURE_SLOTS,
            access="store" if lowered.pool[row.imm] == LOOKUP.STORE_SURFACE else "load",
        )
    if row.op == OP.NOP and row.size in (NOP.PREFETCHES, NOP.PREFETCHES_BULK):
        return Work("memory", access="load")
    if kind != "matrix":
        return Work(kind, access=_ACCESSES.get(control, ""))
    if row.elements:  # ldmatrix, stmatrix
        return Work("memory", access="store" if row.size & MATRIX_MOVE.STORED else "load")
    which, m, n, k, a_type = lowered.pool[row.a : row.a + 5]
    if which in (MATRIX.LOAD_FRAGMENT, MATRIX.STORE_FRAGMENT):
        return Work("memory", access="load" if which == MATRIX.LOAD_FRAGMENT else "store")
    # Half of a sparse A is not there to be multiplied.
    return Work(
        "matrix",
        1,
        ELEMENT.name_of(a_type).lower(),
        (1 if which == MATRIX.MULTIPLY_SPARSE else 2) * m * n * k,
    )


def _work_of_async(lowered: Lowered, row: CodeRow) -> Work:
    name = ASYNC.name_of(row.size)
    if name != "PRODUCT":
        access = "copy" if name == "BULK_COPY" else ""
        return Work(_KINDS_OF_ASYNC.get(name, "memory"), access=access)
    n, k, _, a_type = lowered.pool[row.imm : row.imm + 4]
    return Work("matrix", 1, f"wgmma {ELEMENT.name_of(a_type).lower()}", 2 * _ROWS_OF_A_WARP * n * k)


_ROWS_OF_A_WARP = 16  # of a product of warp groups

# What the assembler makes predicates of (ptxas 13.0 for sm_90a, as benchmarks/assembler.py shows): a branch over rows
# that cost no more than this together, and none over atomics, barriers, shuffles and calls.
_PREDICATED = 16.0
_PREDICATED_COSTS = {"global load": 0.5, "shared load": 3.0, "store": 2.0, "special": 4.0, "free": 0.0}
# Loops of one basic block that it unrolls: of so many rows, or so many where they read shared memory.
_UNROLLED, _UNROLLED_SHARED = 50, 26
_KEPT_IN_LOOPS = ("ATOMIC", "SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT", "BARRIER", "WARP_BARRIER", "FENCE", "CALL",
                  "CALL_INDIRECT", "RETURN", "EXIT", "TRAP", "ASYNC", "BRANCH_INDEX")  # fmt: skip
_LONGEST_BRANCH = 64
# Of a thread's seven predicate registers, a loop needs one.
_PREDICATES = 6


def _control_of(row: CodeRow) -> str:
    """Empty for an operation of alu.ops."""
    return OP.name_of(row.op) if row.op < len(OP) else ""


class Shapes:
    """What the assembler makes of branches. ``branches``: row by row, ``PREDICATED_BRANCH``, and ``IN_ORDER`` where its
    rows wait for those of others before it, or ``UNROLLED_LOOP``; ``starts``: whether a basic block starts at a row,
    once short branches are gone."""

    def __init__(self, lowered: Lowered, work: Sequence[Work]) -> None:
        self.rows, self.work = lowered.code_rows(), work
        self.branches = bytearray(len(self.rows))
        self._ends: dict[int, int] = {}
        self._sources: dict[int, list[int]] = {}
        jumps = [number for number, row in enumerate(self.rows) if _control_of(row) == "BRANCH"]
        for number in jumps:
            self._sources.setdefault(self.rows[number].imm, []).append(number)
        forward = [branch for branch in jumps if branch < self.rows[branch].imm <= branch + _LONGEST_BRANCH]
        for number in sorted(forward, key=lambda it: self.rows[it].imm - it):
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
        """Where a basic block has more rows that use what they load under one predicate than there are predicates, the
        assembler makes one after the other."""
        waiting: list[int] = []
        until = 0
        for number in [*range(len(self.rows)), len(self.rows)]:
            ends = (
                number == len(self.rows)
                or self.starts[number]
                or (_control_of(self.rows[number]) == "BRANCH" and not self.branches[number])
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
            if _control_of(row) == "LOAD":
                loaded.add(row.d)
            elif loaded & {row.a, row.b, row.c, row.e}:
                return True
        return False

    def _predicated_sources(self, number: int) -> list[bool]:
        return [bool(self.branches[branch]) for branch in self._sources.get(number, ())] or [False]

    def _predicate(self, number: int) -> None:
        target = end = self.rows[number].imm
        last, skips = self.rows[target - 1], []
        if target - 1 > number and _control_of(last) == "BRANCH" and last.guard == NONE:
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
        control = _control_of(row)
        if control in ("LOAD", "STORE"):
            shared = row.space == SPACE.SHARED and control == "LOAD"
            return _PREDICATED_COSTS[
                "shared load" if shared else "global load" if control == "LOAD" else "store"
            ]
        if control:  # a branch over a branch stays, too
            return 0.0 if work.kind == "free" else math.inf
        if work.kind == "integer" and work.slots > 1:
            return 1.5 if work.slots == 2 else math.inf
        return _PREDICATED_COSTS.get(work.kind, 1.0)

    def _is_unrolled(self, first: int, last: int) -> bool:
        rows, shared, guarded = 0, False, 0
        for at in range(first, last):
            control = _control_of(self.rows[at])
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


def widths_of(lowered: Lowered, shapes: Shapes, names: Sequence[str]) -> bytes:
    """Row by row, of accesses to words of shared memory that the assembler makes one of: how many words the one has (2
    or 4), ``WIDE_PLACE`` times the row's place among them, and ``WIDE_FIRST``; 0 for what stays by itself.

    They lie side by side, at addresses that are known to be aligned enough. Loads are in one basic block, or in one
    that only the first load's leads to, or under a predicate that the first is not under: the first loads for all.
    Stores are in one basic block, under one predicate. Three loads of four words become one of all four; stores only
    where all words are written."""
    found = bytearray(len(shapes.rows))
    groups: dict[tuple[str, int], _Neighbours] = {}
    multiples = Multiples(lowered, shapes.rows, names)

    def end(access: str, base: int | None = None) -> None:
        for key in [group for group in groups if group[0] == access and base in (None, group[1])]:
            _widen(found, groups.pop(key).rows, multiples.of(key[1]), stores=access == "STORE")

    predicates: list[int] = []
    for number, row in enumerate(shapes.rows):
        control = _control_of(row)
        predicates = [branch for branch in predicates if number < shapes.rows[branch].imm]
        predicated = bool(shapes.branches[number] & BRANCH.PREDICATED_BRANCH)
        ahead = control == "BRANCH" and row.guard != NONE and row.imm > number
        if shapes.starts[number] or (
            control not in ("", "LOAD", "STORE") and shapes.work[number].kind != "free" and not predicated
        ):
            if shapes.starts[number] or not ahead:
                end("LOAD")
            end("STORE")
        if predicated:
            predicates.append(number)
        if control in ("LOAD", "STORE") and row.space == SPACE.SHARED:
            end("STORE" if control == "LOAD" else "LOAD")
            if (row.size, row.elements, row.guard) == (_WORD, 1, NONE):
                if (known := groups.get((control, row.a))) and not known.may_join(predicates, control):
                    end(control, row.a)
                groups.setdefault((control, row.a), _Neighbours(list(predicates))).rows.setdefault(
                    row.imm, number
                )
            elif control == "STORE":
                end("STORE")
        if control != "STORE":
            end("LOAD", row.d)
            end("STORE", row.d)
    end("LOAD")
    end("STORE")
    return bytes(found)


@dataclass
class _Neighbours:
    """Accesses from one base. ``predicates``: branches that the first is under; ``rows``: by offset."""

    predicates: list[int]
    rows: dict[int, int] = field(default_factory=dict)

    def may_join(self, predicates: list[int], control: str) -> bool:
        own = len(self.predicates)
        return predicates[:own] == self.predicates and (control == "LOAD" or len(predicates) == own)


def _widen(found: bytearray, offsets: Mapping[int, int], base: tuple[int, int], *, stores: bool) -> None:
    """``offsets``: from one base, to their rows; ``base``: a power of two, and the rest that it leaves."""
    multiple, rest = base
    units: dict[int, dict[int, int]] = {}
    for offset, number in offsets.items():
        if multiple > _WORD and (rest + offset) % _WORD == 0:
            unit, place = divmod(rest + offset, multiple)
            units.setdefault(unit, {})[place // _WORD] = number
    for places in units.values():
        if len(places) == 4 or (len(places) == 3 and not stores):
            _found_wide(found, places, 4)
            continue
        for low in (0, 2):
            if low in places and low + 1 in places:
                _found_wide(found, {0: places[low], 1: places[low + 1]}, 2)


def _found_wide(found: bytearray, places: Mapping[int, int], count: int) -> None:
    first = min(places.values())
    for place, number in places.items():
        found[number] = count + WIDTH.WIDE_PLACE * place + (WIDTH.WIDE_FIRST if number == first else 0)


class Multiples:
    """What is known of registers ahead of time: that they leave a certain rest when divided by 2, 4, 8 or 16."""

    _MOST = 16

    def __init__(self, lowered: Lowered, rows: Sequence[CodeRow], names: Sequence[str]) -> None:
        self._pool = lowered.pool
        self._filled = {*(unit for _, _, unit in lowered.params), *lowered.param_units}
        self._filled |= {unit for unit, _ in lowered.grid_units}
        self._known: dict[int, tuple[int, int] | None] = {}
        for row in rows:
            self._known.update(dict.fromkeys(self._defined(row)))
        changed = True
        while changed:
            changed = False
            for row in rows:
                for unit in self._defined(row):
                    before = self._known.get(unit)
                    now = (1, 0) if _control_of(row) else self._result(names[row.op - len(OP)], row)
                    if before is not None and now is not None:
                        now = self._joined(before, now)
                    if now is not None and now != before:
                        self._known[unit], changed = now, True

    @staticmethod
    def _defined(row: CodeRow) -> list[int]:
        """Of what is no operation of alu.ops, all but an address may be a result."""
        control = _control_of(row)
        found = (
            () if control in ("STORE", "BRANCH") else (row.d, row.b, row.c, row.e) if control else (row.d,)
        )
        return [unit for unit in found if unit != NONE and not unit & CONSTANT]

    def of(self, base: int) -> tuple[int, int]:
        """A power of two and the rest; ``base``: NONE where an address is all offset."""
        return (self._MOST, 0) if base == NONE else self._operand(base) or (1, 0)

    def _operand(self, operand: int) -> tuple[int, int] | None:
        """None: of what is not known yet."""
        if operand == NONE:
            return (1, 0)
        if operand & CONSTANT:
            unit = operand & ~CONSTANT
            return (1, 0) if unit in self._filled else (self._MOST, self._pool[32 * unit] % self._MOST)
        return self._known.get(operand, (1, 0))

    @staticmethod
    def _joined(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        multiple = math.gcd(one[0], other[0], one[1] - other[1])
        return multiple, one[1] % multiple

    def _result(self, name: str, row: CodeRow) -> tuple[int, int] | None:
        a, b, c = (self._operand(operand) for operand in (row.a, row.b, row.c))
        kind = name.partition("_")[0]
        if kind in ("mov", "cut32", "ext32", "ext64"):
            return a
        if (
            kind not in ("add", "sub", "mul", "mad", "shl", "and", "or", "selp")
            or "f" in name.rpartition("_")[2]
        ):
            return (1, 0)
        if a is None or b is None or (kind in ("mad", "selp") and c is None):
            return None
        if kind in ("add", "sub"):
            return self._sum(a, b, -1 if kind == "sub" else 1)
        if kind == "shl":
            shift = self._pool[32 * (row.b & ~CONSTANT)] if row.b & CONSTANT else 0
            multiple = min(a[0] << min(shift, 4), self._MOST)
            return multiple, (a[1] << shift) % multiple
        if kind == "selp":
            return self._joined(a, b)
        if kind == "and":
            zeros = max(self._zeros(a), self._zeros(b))
            multiple = min(a[0], b[0])
            return (zeros, 0) if zeros >= multiple else (multiple, a[1] & b[1])
        if kind == "or":
            multiple = min(a[0], b[0])
            return multiple, (a[1] | b[1]) % multiple
        if "hi" in name:
            return (1, 0)
        multiple = math.gcd(a[0] * b[1], b[0] * a[1], a[0] * b[0], self._MOST)
        product = multiple, a[1] * b[1] % multiple
        return self._sum(product, c, 1) if kind == "mad" and c is not None else product

    @staticmethod
    def _sum(one: tuple[int, int], other: tuple[int, int], sign: int) -> tuple[int, int]:
        multiple = min(one[0], other[0])
        return multiple, (one[1] + sign * other[1]) % multiple

    @staticmethod
    def _zeros(one: tuple[int, int]) -> int:
        """By what power of two it can be divided for certain."""
        return math.gcd(one[0], one[1])


_known: dict[str, Work] = {}


def _work_of_name(name: str) -> Work:
    if name not in _known:
        kind = next((kind for pattern, kind in _KINDS_OF_NAMES if pattern.match(name)), "integer")
        slots = next((slots for pattern, slots in _WEIGHTS if pattern.match(name)), 1)
        _known[name] = Work(kind, slots)
    return _known[name]


@dataclass(frozen=True)
class Row:
    """What a launch asked for at one instruction, in ``line`` of the source: as struct counts of engine.h.

    ``issued``: how often warps issued it; ``lanes``: with how many active threads in all, of which ``guarded`` had its
    predicate; ``divergent``: how often it sent a warp two ways; ``waited``: cycles of warps until its operands, or the
    others at a barrier, were there.
    Global memory: ``requests`` of warps, with ``sectors`` of 32 bytes, and ``ideal_sectors`` if their bytes lay side by
    side; of the sectors, ``l2`` came from the second-level cache, and of those ``dram`` from behind it; ``same``: of
    atomics, lanes that change one address one after the other; of a match, values that lanes have.
    Shared memory: ``shared_requests``, ``passes`` through its banks and ``ideal_passes`` without conflicts. Constant
    memory: ``constant_requests``, and ``constant_passes``, one an address. Local memory: ``local_requests``,
    ``local_sectors``.
    ``lines``: of 128 bytes, that requests touch: the first-level cache looks up one after the other.
    ``steps``: bytes between the addresses of neighbouring lanes, where that is always the same; else None."""

    work: Work
    line: int
    steps: int | None
    issued: int
    lanes: int
    guarded: int
    divergent: int
    waited: int
    requests: int
    sectors: int
    ideal_sectors: int
    l2: int
    dram: int
    same: int
    shared_requests: int
    passes: int
    ideal_passes: int
    constant_requests: int
    constant_passes: int
    local_requests: int
    local_sectors: int
    lines: int


@dataclass(frozen=True)
class Launch:
    """What one launch asked for. ``shared``: bytes of a block; ``registers``: of a thread, None: not known.
    ``updates``: sectors that atomics changed, one after the other, ``updates_most`` of them in the same 256 bytes.
    Blocks go to multiprocessors one after the other, and then where one is over first. ``chain``: cycles of the place
    for blocks that takes longest, if nothing but latency holds it up. ``busiest``: of each of ``NEEDS``, what the
    multiprocessor has that has most of it, as the engine counts it."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    registers: int | None
    updates: int = 0
    updates_most: int = 0
    chain: int = 0
    busiest: tuple[int, ...] = (0,) * len(NEEDS)
    rows: tuple[Row, ...] = ()

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.block)


@dataclass(frozen=True)
class Occupancy:
    """How many ``blocks`` of a launch a multiprocessor has at a time, at least 1, of how many ``warps`` in all, and
    what keeps it from having more: ``limiter``: registers, shared memory, threads or blocks."""

    blocks: int
    warps: int
    limiter: str


def occupancy_of(launch: Launch, card: Card = H200) -> Occupancy:
    warps = -(-launch.threads // 32)
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    most = {
        "threads": card.threads // (32 * warps),
        "shared memory": card.shared // shared,
        "blocks": card.blocks,
    }
    if launch.registers:
        of_warp = -(-32 * launch.registers // _REGISTER_UNIT) * _REGISTER_UNIT
        most["registers"] = card.registers // _PARTS // of_warp * _PARTS // warps
    limiter = min(most, key=lambda it: most[it])
    blocks = max(1, most[limiter])
    return Occupancy(blocks, blocks * warps, limiter)


@dataclass(frozen=True)
class Share:
    """``l1_lines``: of 128 bytes, that each of the blocks on a multiprocessor has of its first-level cache; ``live``:
    how many blocks the card runs at a time."""

    l1_lines: int
    live: int


def share_of(launch: Launch, card: Card = H200) -> Share:
    most = min(occupancy_of(launch, card).blocks, math.ceil(launch.blocks / card.multiprocessors))
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    left = max(card.l1_bytes - most * shared, _LEAST_L1)
    return Share(left // most // _BYTES_OF_LINE, min(most * card.multiprocessors, launch.blocks))


def cycles_of(card: Card = H200) -> tuple[float, ...]:
    """Of a multiprocessor, for one unit of each of ``NEEDS``."""
    return (
        *(1.0 / card.rates[kind] if kind in card.rates else 0.0 for kind in KINDS),
        1.0 / card.issue,
        1.0 / TENSOR_UNITS,
        1.0 / (LINE_UNITS * card.l1),
        1.0 / card.banks,
        1.0 / card.from_l2,
    )


def weights_of(work: Sequence[Work], card: Card = H200) -> list[int]:
    """Row by row: slots of issue, and units of tensor cores, as struct weight of engine.h."""
    found = []
    for row_work in work:
        tensor = (
            row_work.flops / card.flops.get(row_work.type, card.flops["f16"])
            if row_work.kind == "matrix"
            else 0.0
        )
        found += [0 if row_work.kind == "free" else row_work.slots, round(TENSOR_UNITS * tensor)]
    return found


_NAMES_OF_NEEDS = {
    "issue": "instruction issue",
    "tensor": "tensor cores",
    "lines": "L1 lines",
    "banks": "shared memory",
    "from l2": "L2 to a multiprocessor",
}


def parts_of(launch: Launch, card: Card = H200) -> dict[str, float]:
    """Seconds that each thing would take if it alone held the launch up."""
    l2 = dram = 0
    for row in launch.rows:
        # What is stored travels by lines, however little of one is written.
        stored = _SECTORS_OF_LINE * row.lines if row.work.access == "store" else 0
        l2 += max(row.l2, stored) * _BYTES_OF_SECTOR
        dram += row.dram * _BYTES_OF_SECTOR
    needs = zip(NEEDS, launch.busiest, cycles_of(card), strict=True)
    found = {
        _NAMES_OF_NEEDS.get(need, f"{need} units"): units * cycles / card.clock
        for need, units, cycles in needs
    }
    found |= {
        "L2": l2 / card.l2,
        "DRAM": dram / card.dram,
        "atomics on one address": card.update * max(launch.updates_most, launch.updates / card.slices),
        "blocks": card.block * launch.blocks,
        "latency": launch.chain / card.clock,
    }
    return {name: seconds for name, seconds in found.items() if seconds}


def longest_of(parts: Mapping[str, float], card: Card = H200) -> float:
    """What all parts take together: those that are nearly as long as the longest hold it up a little, too."""
    most = max(parts.values(), default=0.0)
    if not most:
        return 0.0
    summed = math.fsum(math.pow(seconds / most, card.overlap) for seconds in parts.values())
    return most * math.pow(summed, 1.0 / card.overlap)


def seconds_of(launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200) -> float:
    """Of a call: its launches one after the other, and ``copies`` (and memsets) of ``copied`` bytes in all."""
    launched = sum(card.launch + longest_of(parts_of(launch, card), card) for launch in launches)
    return launched + copies_seconds(copies, copied, card)


def copies_seconds(copies: int, copied: int, card: Card = H200) -> float:
    return copies * card.copy + 2 * copied / card.dram


def least_seconds(moved: float, operations: float, rate: float, card: Card = H200) -> float:
    """No call takes less that reads and writes ``moved`` bytes of its arrays, each once, in one launch, and does
    ``operations`` of them at ``rate`` a second."""
    return card.launch + longest_of({"DRAM": moved / card.dram, "units": operations / rate}, card)
