"""Models the time that a card would take for the counted work of a call. The result is the same on every machine.

A launch takes as long as its slowest part: memory, the second-level cache, the busiest unit of a multiprocessor, or the
longest chain of dependent instructions. The card is an H200 with rates from NVIDIA's data sheets and microbenchmarks;
see docs/emulated-model.md for the reasons and for the agreement with a card.
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

# Increase it with each change to the model or the counts: times of two versions are not comparable.
MODEL_VERSION = 7
KINDS = tuple(name.lower() for name in CLASS)
NEEDS = (*KINDS, *(name.lower().replace("_", " ") for name in NEED))
# Units of the needs for tensor cores and for lines.
TENSOR_UNITS, LINE_UNITS = 65536, 4


@dataclass(frozen=True)
class Card:
    """A GPU. "A cycle" means for each multiprocessor in a cycle."""

    name: str
    multiprocessors: int
    clock: float  # cycles a second
    dram: float  # bytes a second
    l2: float  # bytes a second
    issue: float  # warp instructions a cycle
    rates: Mapping[str, float]  # warp instructions of each kind a cycle
    l1: float  # lines a cycle
    banks: float  # passes through shared memory a cycle
    flops: Mapping[str, float]  # of tensor cores a cycle, by type
    threads: int  # of a multiprocessor; so are the next four
    blocks: int
    shared: int  # bytes
    registers: int
    l1_bytes: int  # shared memory takes its part of them
    from_l2: float  # sectors a cycle
    launch: float  # seconds of an empty launch
    copy: float  # seconds of an empty copy or memset
    latency: float  # seconds until memory answers
    block: float  # seconds between the starts of two blocks
    update: float  # seconds between two atomics on one place of the second-level cache
    slices: int  # of the second-level cache, which work in parallel
    overlap: float  # a launch takes (sum of part ** overlap) ** (1 / overlap)


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
# The same processor with other memory.
H100 = replace(H200, name="NVIDIA H100 80GB HBM3", dram=3.0e12)
_BYTES_OF_SECTOR, _BYTES_OF_LINE, _SECTORS_OF_LINE, _WORD = 32, 128, 4, 4
# Shared memory leaves at least this much of a first-level cache.
_LEAST_L1 = 28 << 10
# Shared memory of a block is allocated in these units, and the system takes 1 KiB more.
_SHARED_UNIT, _SHARED_OWN = 128, 1024
# Registers of a warp are allocated in these units, in one of the multiprocessor's parts.
_REGISTER_UNIT, _PARTS = 256, 4

# Issue slots of PTX instructions that a card runs as several.
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
# A multiprocessor's four texture units each fetch for one thread in a cycle.
_TEXTURE_SLOTS = 8
_ACCESSES = {"LOAD": "load", "STORE": "store", "ATOMIC": "atomic", "COPY_LATE": "copy"}


@dataclass(frozen=True)
class Work:
    """The work of one instruction."""

    kind: str  # one of KINDS
    slots: int = 1  # of issue
    type: str = ""  # of a matrix product
    flops: int = 0
    access: str = ""  # load, store, atomic or copy (cp.async); empty: no memory access


def work_of(lowered: Lowered, names: Sequence[str]) -> tuple[list[Work], Shapes]:
    """The work of each row, and the shapes of branches. ``names``: of the operations of alu.ops."""
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
    # A sparse A has half of the elements.
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

# ptxas 13.0 for sm_90a turns a branch into predicates if the rows that it skips cost at most this, and include no
# atomic, barrier, shuffle or call (benchmarks/assembler.py).
_PREDICATED = 16.0
_PREDICATED_COSTS = {"global load": 0.5, "shared load": 3.0, "store": 2.0, "special": 4.0, "free": 0.0}
# It unrolls loops of one basic block with fewer rows than this, or than the second if they read shared memory.
_UNROLLED, _UNROLLED_SHARED = 50, 26
_KEPT_IN_LOOPS = ("ATOMIC", "SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT", "BARRIER", "WARP_BARRIER", "FENCE", "CALL",
                  "CALL_INDIRECT", "RETURN", "EXIT", "TRAP", "ASYNC", "BRANCH_INDEX")  # fmt: skip
_LONGEST_BRANCH = 64
# A thread has seven predicate registers, and a loop needs one.
_PREDICATES = 6


def _control_of(row: CodeRow) -> str:
    """Empty for an operation of alu.ops."""
    return OP.name_of(row.op) if row.op < len(OP) else ""


class Shapes:
    """What ptxas makes of branches. ``branches``: for each row, flags of ``BRANCH``; ``starts``: for each row, whether
    a basic block starts there once short branches are predicates."""

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
        """If a basic block has more predicated loads with a use than there are predicates, ptxas emits one after the
        other."""
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
    """For each row, whether ptxas merges it with other accesses to shared memory: the words of the merged access (2 or
    4), plus ``WIDE_PLACE`` times the row's place among them, plus ``WIDE_FIRST`` for the first; 0 if it is not merged.

    Merged words are adjacent, at addresses that are known to be aligned. Loads are in one basic block, or in one that
    only the first load's block leads to, or under a predicate that the first is not under. Stores are in one basic
    block, under one predicate. Three loads of four words become one of four; stores merge only if they write all
    words."""
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
    """Accesses from one base. ``predicates``: branches around the first; ``rows``: by offset."""

    predicates: list[int]
    rows: dict[int, int] = field(default_factory=dict)

    def may_join(self, predicates: list[int], control: str) -> bool:
        own = len(self.predicates)
        return predicates[:own] == self.predicates and (control == "LOAD" or len(predicates) == own)


def _widen(found: bytearray, offsets: Mapping[int, int], base: tuple[int, int], *, stores: bool) -> None:
    """``offsets``: from one base -> row; ``base``: its known divisor, a power of two, and remainder."""
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
    """Known remainders of registers when divided by 2, 4, 8 or 16."""

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
        """Registers that a row may write: for an operation that is not in alu.ops, all but the address."""
        control = _control_of(row)
        found = (
            () if control in ("STORE", "BRANCH") else (row.d, row.b, row.c, row.e) if control else (row.d,)
        )
        return [unit for unit in found if unit != NONE and not unit & CONSTANT]

    def of(self, base: int) -> tuple[int, int]:
        """The divisor and remainder of a base. NONE: the address is only an offset."""
        return (self._MOST, 0) if base == NONE else self._operand(base) or (1, 0)

    def _operand(self, operand: int) -> tuple[int, int] | None:
        """None if it is not known yet."""
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
        """The largest known power of two that divides it."""
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
    """Counts of a launch at one instruction, as struct counts of engine.h. A sector has 32 bytes, a line 128."""

    work: Work
    line: int  # of the source
    steps: int | None  # bytes between the addresses of neighbouring lanes, if always the same
    issued: int  # times that warps issued it
    lanes: int  # active threads, summed over these
    guarded: int  # of these, threads whose predicate was true
    divergent: int  # times that it split a warp
    waited: int  # cycles that warps waited for operands, or for others at a barrier
    requests: int  # of warps to global memory
    sectors: int
    ideal_sectors: int  # if the bytes were contiguous
    l2: int  # of the sectors, from the second-level cache
    dram: int  # of these, from memory
    same: int  # atomics: lanes that change one address in turn; a match: distinct values of lanes
    shared_requests: int
    passes: int  # through banks of shared memory
    ideal_passes: int  # without conflicts
    constant_requests: int
    constant_passes: int  # one for each address
    local_requests: int
    local_sectors: int
    lines: int  # that requests touch; the first-level cache looks them up one by one


@dataclass(frozen=True)
class Launch:
    """Counts of one launch. Blocks go to multiprocessors in turn, and then to the place that is free first."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int  # bytes of a block
    registers: int | None  # of a thread; None: unknown
    updates: int = 0  # sectors that atomics changed
    updates_most: int = 0  # of these, the most in one place of 256 bytes
    chain: int = 0  # cycles of the slowest place for blocks, by latency alone
    busiest: tuple[int, ...] = (0,) * len(NEEDS)  # for each need, the most that a multiprocessor has
    rows: tuple[Row, ...] = ()

    @property
    def blocks(self) -> int:
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        return math.prod(self.block)


@dataclass(frozen=True)
class Occupancy:
    """How much of a launch a multiprocessor runs at a time."""

    blocks: int  # at least 1
    warps: int
    limiter: str  # registers, shared memory, threads or blocks


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
    """A block's share of the card."""

    l1_lines: int  # of 128 bytes in the first-level cache
    live: int  # blocks that the card runs at a time


def share_of(launch: Launch, card: Card = H200) -> Share:
    most = min(occupancy_of(launch, card).blocks, math.ceil(launch.blocks / card.multiprocessors))
    shared = -(-launch.shared // _SHARED_UNIT) * _SHARED_UNIT + _SHARED_OWN
    left = max(card.l1_bytes - most * shared, _LEAST_L1)
    return Share(left // most // _BYTES_OF_LINE, min(most * card.multiprocessors, launch.blocks))


def cycles_of(card: Card = H200) -> tuple[float, ...]:
    """Cycles of a multiprocessor for one unit of each of ``NEEDS``."""
    return (
        *(1.0 / card.rates[kind] if kind in card.rates else 0.0 for kind in KINDS),
        1.0 / card.issue,
        1.0 / TENSOR_UNITS,
        1.0 / (LINE_UNITS * card.l1),
        1.0 / card.banks,
        1.0 / card.from_l2,
    )


def weights_of(work: Sequence[Work], card: Card = H200) -> list[int]:
    """For each row, issue slots and units of tensor cores, as struct weight of engine.h."""
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
    """Seconds of each part of a launch on its own."""
    l2 = dram = 0
    for row in launch.rows:
        # Stores move whole lines.
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
    """Seconds of all parts together. Parts that are nearly as long as the longest add a little."""
    most = max(parts.values(), default=0.0)
    if not most:
        return 0.0
    summed = math.fsum(math.pow(seconds / most, card.overlap) for seconds in parts.values())
    return most * math.pow(summed, 1.0 / card.overlap)


def seconds_of(launches: Sequence[Launch], copies: int = 0, copied: int = 0, card: Card = H200) -> float:
    """Seconds of a call: its launches in sequence, and ``copies`` and memsets of ``copied`` bytes in all."""
    launched = sum(card.launch + longest_of(parts_of(launch, card), card) for launch in launches)
    return launched + copies_seconds(copies, copied, card)


def copies_seconds(copies: int, copied: int, card: Card = H200) -> float:
    return copies * card.copy + 2 * copied / card.dram


def least_seconds(moved: float, operations: float, rate: float, card: Card = H200) -> float:
    """The lower bound for a call that moves ``moved`` bytes once, in one launch, and does ``operations`` at ``rate`` a
    second."""
    return card.launch + longest_of({"DRAM": moved / card.dram, "units": operations / rate}, card)
