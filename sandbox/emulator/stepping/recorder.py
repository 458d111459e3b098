"""The bundle with which a page steps through a block, by the engine as WebAssembly.

``Recorder`` copies memory as a launch begins. After a finding it runs that block alone: does the finding come
again, and which bytes does the block use? A bundle has only those. ``finish`` does the same for a chosen
block. With ``-G`` texts there is a second bundle with variables' names (``named.py``).

A bundle is gzip of the header's length (4 bytes, little-endian), the header in JSON, and blobs at multiples
of 16.
"""

from __future__ import annotations

import base64
import ctypes
import gzip
import json
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..explain import array_name, kernel_name
from ..findings import KINDS, shared_array
from ..library import CFinding, CKernel, Triple, operations_of
from ..lower import CodeRow, Lowered
from ..names import (
    ASYNC,
    CONSTANT,
    LOCAL_BASE,
    NONE,
    OP,
    SHARED_BASE,
    SPACE,
    STEP_END,
    STEP_LAUNCH,
    STEP_MEMORY,
    STEP_MOST_ROWS,
    STEP_STATE,
    TOGETHER,
)
from . import not_stored, race
from .named import NoNames, Program, named_kernel
from .named import row_types as row_types_of
from .not_stored import Wanted

# Pages compare it with theirs.
VERSION = 1
# Copied memory of a launch, the block's part, the bundle.
MOST_KEPT = 16 << 20
MOST_USED = 1 << 20
MOST_BYTES = 96 << 10
# With variables' names: both are in one message.
MOST_BOTH = 176 << 10

# Others happen at no row, or need the whole grid.
STEPPED = frozenset(
    KINDS.index(kind)
    for kind in (
        "shared_race", "warp_race", "global_race", "out_of_bounds", "misaligned", "read_only", "use_after_free",
        "unwritten", "shuffled", "barrier_places", "barrier_exited", "bad_mask", "trapped", "asserted", "bad_call",
        "stack_overflow", "early_result", "no_proxy_fence",
    )
)  # fmt: skip
_WAITS = (
    "The block alone does not go wrong: it waits for other blocks, or uses what they write, so it cannot be stepped "
    "through."
)
_ALONE = "This block waits for other blocks, or uses what they write, so it cannot be stepped through alone."
_TOO_LARGE = "The block uses too much memory to be stepped through in a browser: choose a smaller case, or another one."
_TOO_LONG = (
    f"The block runs more than {STEP_MOST_ROWS:,} instructions, which is too long to be stepped through: choose a "
    "smaller case or another block."
)
_NOT_HERE = "A kernel with textures, clusters or bulk copies cannot be stepped through yet."
_ELSEWHERE = (
    "Compiled with variables' names, without optimisation, the block does not go wrong in the same place."
)
_OPS_LEFT_OUT = (OP.TEXTURE,)
# No check notes that a bulk copy reads a tensor's map.
_ASYNC_LEFT_OUT = frozenset(
    ASYNC[name] for name in ASYNC if name.startswith(("BULK_", "CLUSTER_", "MAP_RANK", "RANK_OF"))
)
# Of malloc's heap.
_HEAP_ROOM = 256 << 10
# For a page to offer.
MOST_LAUNCHES = 64
_ALIGN = 16
_LANES = 32
# So far behind an array, an index still counts as its own.
_NEAR = 64 << 20


class Refused(Exception):
    """The text is for the page."""


@dataclass
class _Memory:
    address: int
    size: int
    number: int
    flags: int
    data: bytearray = field(default_factory=bytearray)
    valid: bytearray | None = None  # written bytes; None: all


@dataclass
class Heap:
    """``next``: free from here on. ``pieces``: place, size, freed."""

    address: int
    size: int
    next: int
    pieces: list[tuple[int, int, int]]


@dataclass(frozen=True)
class _Ran:
    """A block that ran alone: header, used bytes, and memory at its end if it went right."""

    header: dict[str, Any]
    used: list[bytearray]
    after: list[bytes]


@dataclass(frozen=True)
class Choice:
    """``launch``: from 0; None: the first that goes wrong, else the first. ``block``: x y z."""

    launch: int | None = None
    block: tuple[int, int, int] = (0, 0, 0)


@dataclass
class Kept:
    lowered: Lowered
    kernel: CKernel
    pool: bytes
    words: array[int]
    grid: tuple[int, int, int]
    memory: list[_Memory] | None  # None: too large
    alone: bool  # not in clusters
    cooperative: bool
    heap: Heap | None = None
    number: int = 0  # in the call
    names: dict[int, str] = field(default_factory=dict)
    program: Program | None = None
    went_wrong: bool = False


class Recorder:
    """The bundle of the first steppable finding, or of ``choice``. Sets ``bundle`` or ``why``."""

    def __init__(
        self,
        library: ctypes.CDLL,
        operations: Sequence[str],
        choice: Choice | None = None,
        *,
        programs: bool = False,
        wanted: Wanted | None = None,
    ) -> None:
        """``operations``: alu.ops' names. ``wanted``: record the block that would write an element."""
        self._c = _declared(library)
        self._programs, self._wanted = programs, wanted
        self._operations = operations
        self.kept: Kept | None = None
        self.bundle = b""
        self.why = ""
        # The wrong row's, see ``_lanes``.
        self.lanes: list[dict[str, Any]] = []
        # See ``race``; and the element that both access.
        self.orders: list[list[dict[str, Any]]] = []
        self.word = ""
        # See ``not_stored.Reason``.
        self.reason: dict[str, Any] | None = None
        self.choice = choice
        # From texts compiled with -G; or why not.
        self.texts: Sequence[str] = ()
        self.named = b""
        self.named_why = ""
        self.launches: list[dict[str, Any]] = []
        self._count = 0
        # Memory's names by number.
        self.names: dict[int, str] = {}
        self.program: Program | None = None
        self._chosen: Kept | None = None
        self.launch = choice.launch or 0 if choice is not None else 0
        self.block = list(choice.block) if choice is not None else [0, 0, 0]

    def wants(self, work: int) -> bool:
        """``work``: a launch's number."""
        if self._wanted is None:
            return True
        return self._wanted.work == work and not (self.bundle or self.why or self.reason)

    def begins(
        self,
        engine: ctypes.c_void_p,
        lowered: Lowered,
        kernel: CKernel,
        pool: bytes,
        shape: tuple[Sequence[int], Sequence[int], Sequence[int]],
        shared: int,
        check: int,
        *,
        cooperative: bool,
    ) -> None:
        """``shape``: blocks, threads, a cluster's blocks."""
        grid, threads, cluster = shape
        number, self._count = self._count, self._count + 1
        if number < MOST_LAUNCHES:
            name = kernel_name(lowered.name)[:200]
            self.launches.append({"kernel": name, "grid": list(grid), "threads": list(threads)})
        wanted = None if self.choice is None else self.choice.launch
        self.kept = None
        if self.bundle or self.why or wanted not in (None, number):
            return
        words = _words(grid, threads, shared, check, kernel)
        heap = self._heap(engine)
        self.kept = Kept(
            lowered, kernel, pool, words, (grid[0], grid[1], grid[2]), self._memory(engine, heap),
            cluster[0] * cluster[1] * cluster[2] == 1, cooperative, heap, number, self.names, self.program,
        )  # fmt: skip
        if self.choice is not None and self._chosen is None:
            self._chosen = self.kept

    def found(self, finding: CFinding, named: dict[int, str]) -> None:
        """``named``: memory's names by number."""
        if self._programs and _is_compilers(finding):
            return
        if self.kept is not None:
            self.kept.went_wrong = True
        if self.bundle or self.why or self.kept is None or finding.kind not in STEPPED or self._wanted:
            return
        if self.choice is not None and self.choice.launch is not None:
            return
        self.launch, self.block = self.kept.number, list(finding.block)
        try:
            self.bundle = self._made(self.kept, finding, named)
        except Refused as refused:
            self.why = self._worded(refused)
        self.kept = None

    def _worded(self, refused: Refused) -> str:
        return str(refused).replace("block", "program") if self._programs else str(refused)

    def ended(self, named: dict[int, str]) -> None:
        if self._wanted is None or self.kept is None:
            return
        kept, self.kept = self.kept, None
        try:
            self._explain(kept, self._wanted, named)
        except Refused as refused:
            self.why = self._worded(refused)

    def _explain(self, kept: Kept, wanted: Wanted, named: dict[int, str]) -> None:
        """Raises Refused."""
        self._check(kept)
        array = next(
            (memory for memory in kept.memory or () if named.get(memory.number) == wanted.array), None
        )
        if array is None:
            return

        def number_of(index: Sequence[int]) -> int:
            return _number(index, kept.grid)

        found = not_stored.reason(
            lambda: Run(self._c, kept), kept, wanted, array.address, number_of, self._operations
        )
        if found is None:
            return
        reason, run = found
        with run:
            used = [run.used(memory) for memory in kept.memory or ()]
        lines = [kept.lowered.places[line].line for line in (reason.line, reason.store_line)]
        self.reason = {
            "how": reason.how, "line": lines[0], "store_line": lines[1], "compared": list(reason.compared or ()),
            "elements": list(reason.elements[:4]), "stores": len(reason.elements),
        }  # fmt: skip
        number = number_of(wanted.block)
        header = {
            "block": number, "index": list(wanted.block), "before": NONE, "kind": 0, "kind_name": "not_stored",
            "line": reason.line, "rows": reason.step.row + 1, "finding": {"other_line": reason.store_line},
            "thread": list(wanted.thread), "how": reason.how,
        }  # fmt: skip
        self.bundle = self._within(self.packed(kept, header, used, named), MOST_BYTES)

    def finish(self) -> None:
        """The call's end: bundle the chosen block, unless one went wrong."""
        if self.choice is None or self.bundle or self.why:
            return
        try:
            self.bundle = self._made_of_choice(self.choice)
        except Refused as refused:
            self.why = self._worded(refused)

    def told(self) -> dict[str, Any]:
        """The judge's ``Stepped``."""
        return {
            "data": base64.b64encode(self.bundle).decode(),
            "why": self.why,
            "lanes": self.lanes,
            "named": base64.b64encode(self.named).decode(),
            "named_why": self.named_why,
            "launches": self.launches,
            "launch": self.launch,
            "block": self.block,
            "orders": self.orders,
            "word": self.word,
        }

    def _made_of_choice(self, choice: Choice) -> bytes:
        kept, count = self._chosen, self._count
        if kept is None:
            if not count:
                raise Refused("In this case no kernel is launched.")
            raise Refused(
                f"There is no launch {(choice.launch or 0) + 1}: this case has {count} "
                f"launch{'' if count == 1 else 'es'}."
            )
        if any(at >= size for at, size in zip(choice.block, kept.grid, strict=True)):
            raise Refused(
                f"Block {_shape(choice.block)} is outside the grid: {kernel_name(kept.lowered.name)} has "
                f"{' x '.join(map(str, kept.grid))} blocks, numbered from 0."
            )
        self._check(kept)
        ran = self._whole_block(kept, choice.block)
        packed = self._within(self.packed(kept, ran.header, ran.used, kept.names), MOST_BYTES)
        self._name(kept, ran.header, MOST_BOTH - len(packed), ran.after)
        return packed

    def _check(self, kept: Kept) -> None:
        """Raises Refused for what cannot be stepped."""
        left_out = any(
            row.op in _OPS_LEFT_OUT or (row.op == OP.ASYNC and row.size in _ASYNC_LEFT_OUT)
            for row in kept.lowered.code_rows()
        )
        if not kept.alone or left_out:
            raise Refused(_NOT_HERE)
        if kept.memory is None:
            raise Refused(_TOO_LARGE)

    @staticmethod
    def _within(packed: bytes, most: int) -> bytes:
        """Raises Refused."""
        if len(packed) > most:
            raise Refused(_TOO_LARGE)
        return packed

    def _whole_block(self, kept: Kept, index: tuple[int, int, int]) -> _Ran:
        """To its end or its finding. Raises Refused."""
        block = _number(index, kept.grid)
        header = {"block": block, "index": list(index), "before": NONE, "kind": 0, "kind_name": "", "line": 0}
        with Run(self._c, kept) as run:
            run.begin(block, NONE, 0, 0)
            state = run.on(STEP_MOST_ROWS)
            status, findings = state[STEP_STATE.STEP_STATUS], state[STEP_STATE.STEP_FINDINGS]
            if status == STEP_END.MORE:
                waits = kept.lowered.coordinates or kept.cooperative
                raise Refused(_ALONE if waits else _TOO_LONG)
            if status == STEP_END.NO_ROOM or run.lacked_heap():
                raise Refused(_TOO_LARGE)
            if status == STEP_END.ENDED and not findings:
                used = [run.used(memory) for memory in kept.memory or ()]
                rows = int(state[STEP_STATE.STEP_ROWS])
                return _Ran({**header, "rows": rows, "finding": {}}, used, run.after())
            first = self._c.step_first(run.it)
            if not kept.went_wrong or not first:
                raise Refused(_ALONE)
            finding = CFinding.from_buffer_copy(CFinding.from_address(first))
        count, used, shown = self._run_alone(kept, finding, block, NONE, kept.names)
        wrong = {"kind": finding.kind, "kind_name": KINDS[finding.kind], "line": finding.line}
        return _Ran({**header, **wrong, "rows": count, "finding": _shown(shown)}, used, [])

    def _name(self, kept: Kept, header: dict[str, Any], most: int, after: Sequence[bytes] = ()) -> None:
        """Set ``named`` (at most ``most`` bytes) or ``named_why``. ``header``: the judged program's.
        ``after``: memory at its end.
        """
        if not self.texts or kept.program is None:
            return
        try:
            self.named = self._within(self._made_with_names(kept, header, after), most)
        except (Refused, NoNames) as refused:
            self.named_why = str(refused)

    def _made_with_names(self, kept: Kept, header: dict[str, Any], after: Sequence[bytes]) -> bytes:
        """Raises Refused, NoNames."""
        assert kept.program is not None
        assert kept.memory is not None
        above = max((memory.address + memory.size for memory in kept.memory), default=0)
        operations = operations_of(self._c)
        made = named_kernel(self.texts, kept.lowered.name, kept.program, operations, above)
        memory = [*kept.memory]
        for added in made.added:
            flags = STEP_MEMORY.STEP_TRACKED | (STEP_MEMORY.STEP_CONSTANT if added.constant else 0)
            memory.append(_Memory(added.address, len(added.data), added.number, flags, bytearray(added.data)))
        shape = kept.words[STEP_LAUNCH.STEP_GRID : STEP_LAUNCH.STEP_GRID + 6]
        shared, check = kept.words[STEP_LAUNCH.STEP_DYNAMIC_SHARED], kept.words[STEP_LAUNCH.STEP_CHECK]
        other = replace(
            kept,
            lowered=made.lowered,
            kernel=made.made.kernel,
            pool=bytes(made.made.pool),
            words=_words(shape[:3], shape[3:], shared, check, made.made.kernel),
            memory=memory,
        )
        self._check(other)
        new = {**header, "variables": made.variables, "lines": made.lines}
        new.pop("orders", None)  # the judged program's rows
        if header["kind"]:
            line = kept.lowered.places[header["line"]].line
            numbers = [number for number, other_line in enumerate(made.lines) if other_line == line and line]
            new["line"] = self._same_place(other, header, numbers)
            finding = CFinding(kind=header["kind"], line=new["line"])
            finding.block[:] = header["index"]
            try:
                new["rows"], used, shown = self._run_alone(
                    other, finding, header["block"], header["before"], kept.names, lanes=False
                )
                new["finding"] = _shown(shown)
            except Refused:
                raise Refused(_ELSEWHERE) from None
        else:
            x, y, z = header["index"]
            ran = self._whole_block(replace(other, went_wrong=False), (x, y, z))
            used = ran.used
            new |= ran.header | {"differs": _words_that_differ(after, ran.after)}
        return self.packed(other, new, used, kept.names)

    def _same_place(self, kept: Kept, header: dict[str, Any], lines: Sequence[int]) -> int:
        """Which of ``lines``, all the same line, has such a finding. Raises Refused."""
        for line in lines:
            with Run(self._c, kept) as run:
                run.begin(header["block"], header["before"], header["kind"], line)
                run.on(STEP_MOST_ROWS)
                at = self._c.step_finding(run.it)
                found = CFinding.from_address(at) if at else CFinding()
                if (found.kind, found.line) == (header["kind"], line):
                    return line
        raise Refused(_ELSEWHERE)

    def _heap(self, engine: ctypes.c_void_p) -> Heap | None:
        out = (ctypes.c_uint64 * 4)()
        if not self._c.step_heap(engine, out):
            return None
        address, size, after, count = out
        size = min(size, -(-(after + _HEAP_ROOM) // _ALIGN) * _ALIGN)
        pieces = []
        for number in range(count):
            self._c.step_heap_piece(engine, number, out)
            pieces.append((out[0], out[1], out[2]))
        return Heap(address, size, after, pieces)

    def _memory(self, engine: ctypes.c_void_p, heap: Heap | None) -> list[_Memory] | None:
        found: list[_Memory] = []
        total, out = 0, (ctypes.c_uint64 * 6)()
        while self._c.step_memory(engine, len(found), out):
            address, size, data, valid, number, flags = out
            it = _Memory(address, size, number, flags)
            if heap is not None and heap.address == address:
                it.size = size = heap.size
            total += size * (2 if valid else 1)
            if flags & STEP_MEMORY.STEP_LAZY or total > MOST_KEPT:
                return None
            if data and not flags & STEP_MEMORY.STEP_FREED:
                it.data = bytearray(ctypes.string_at(data, size))
                it.valid = bytearray(ctypes.string_at(valid, size)) if valid else None
            found.append(it)
        return found

    def _made(self, kept: Kept, finding: CFinding, named: dict[int, str]) -> bytes:
        """Raises Refused."""
        self._check(kept)
        block = _number(finding.block, kept.grid)
        races = KINDS[finding.kind] == "global_race" and finding.has_other
        other = _number(finding.other_block, kept.grid) if races else block
        before = other if other != block else NONE
        count, used, shown = self._run_alone(kept, finding, block, before, named)
        pairs = self._pairs(kept, shown, block, before, used, named) if before != NONE else []
        header = {
            "block": block,
            "index": list(finding.block),
            "before": before,
            "kind": finding.kind,
            "kind_name": KINDS[finding.kind],
            "line": finding.line,
            "rows": count,
            "finding": _shown(shown),
            **({"orders": pairs} if pairs else {}),
        }
        packed = self._within(self.packed(kept, header, used, named), MOST_BYTES)
        self._name(kept, header, MOST_BOTH - len(packed))
        return packed

    def _pairs(
        self,
        kept: Kept,
        finding: CFinding,
        block: int,
        other: int,
        used: list[bytearray],
        named: dict[int, str],
    ) -> list[dict[str, Any]]:
        """Both orders of a race. ``used`` gets what the second order adds."""
        memory = next((each for each in kept.memory or () if each.number == finding.region), None)
        if memory is None:
            return []
        first = race.Side(
            other, tuple(finding.other_block), tuple(finding.other_thread), bool(finding.other_is_write)
        )
        second = race.Side(block, tuple(finding.block), tuple(finding.thread), bool(finding.is_write))
        found = list[dict[str, Any]]()
        for _ in range(2):
            with Run(self._c, kept) as run:
                order = race.in_order(
                    run, kept, memory.address + finding.offset, finding.size, (first, second)
                )
                if order is None:
                    return []
                found.append(order)
                # With the same two accesses.
                first, second = (
                    replace(side, place=at)
                    for side, at in zip((second, first), reversed(order.pop("places")), strict=True)
                )
                for all_used, each in zip(used, map(run.used, kept.memory or ()), strict=True):
                    all_used[:] = bytes(map(max, all_used, each))
        self.orders = [order.pop("accesses") for order in found]
        name = array_name(named.get(finding.region, "")) or "memory"
        index, rest = divmod(finding.offset, finding.size)
        self.word = f"{name[:80]}[{index}]" if not rest else f"{name[:80]}, byte {finding.offset}"
        return found

    def packed(
        self, kept: Kept, header: dict[str, Any], used: Sequence[bytearray], named: dict[int, str]
    ) -> bytes:
        """Only ``used`` bytes of memory. Raises Refused."""
        regions, blobs = [], _Blobs()
        total = 0
        for memory, each in zip(kept.memory or (), used, strict=True):
            first, last = each.find(1), each.rfind(1) + 1
            first -= first % _ALIGN if first > 0 else 0
            name = array_name(named.get(memory.number, ""))
            region: dict[str, Any] = {
                "address": str(memory.address), "size": str(memory.size), "number": memory.number,
                "flags": memory.flags, "name": name, "from": max(first, 0), "bytes": 0,
            }  # fmt: skip
            if last > 0:
                region["bytes"] = last - first
                total += last - first
                if total > MOST_USED:
                    raise Refused(_TOO_LARGE)
                window = zip(memory.data[first:last], each[first:last], strict=True)
                region["data"] = blobs.add(bytes(byte if there else 0 for byte, there in window))
                if memory.valid is not None:
                    region["valid"] = blobs.add(bytes(memory.valid[first:last]))
            regions.append(region)
        spans = [word for span in kept.lowered.shared_names.values() for word in span]
        types, row_types = row_types_of(kept.lowered)
        whole = {
            "version": VERSION,
            "engine": self._c.step_version(),
            "kernel": kernel_name(kept.lowered.name),
            "words": list(kept.words),
            "lines": [place.line for place in kept.lowered.places],
            "arrays": [[array_name(name), *span] for name, span in kept.lowered.shared_names.items()],
            "operations": self._names(kept.lowered.code_rows()),
            "operand_types": self._types_of_operands(kept.lowered.code_rows()),
            "spaces": [name.lower() for name in SPACE],
            "regions": regions,
            "types": types,
            "row_types": row_types,
            **_heap_header(kept.heap),
            "code": blobs.add(kept.lowered.rows),
            "pool": blobs.add(kept.pool),
            "specials": blobs.add(array("I", kept.lowered.specials).tobytes()),
            "spans": blobs.add(array("I", spans).tobytes()),
            **header,
        }
        text = json.dumps(whole, separators=(",", ":")).encode()
        head = struct.pack("<I", len(text)) + text
        return gzip.compress(head + bytes(-len(head) % _ALIGN) + bytes(blobs.data), 9, mtime=0)

    def _names(self, rows: Sequence[Any]) -> dict[int, str]:
        control = len(OP)
        return {
            op: OP.name_of(op).lower() if op < control else self._operations[op - control]
            for op in sorted({row.op for row in rows})
        }

    def _types_of_operands(self, rows: Sequence[Any]) -> dict[int, list[str]]:
        """By alu.ops operation: the result's type, then the operands'."""
        control = len(OP)
        return {
            op: self._c.engine_alu_types(op - control).decode().split()
            for op in sorted({row.op for row in rows if row.op >= control})
        }

    def _run_alone(
        self,
        kept: Kept,
        finding: CFinding,
        block: int,
        before: int,
        named: dict[int, str],
        *,
        lanes: bool = True,
    ) -> tuple[int, list[bytearray], CFinding]:
        """Rows before the finding, used bytes, and the finding. Raises Refused if it does not come."""
        assert kept.memory is not None
        with Run(self._c, kept) as run:
            run.begin(block, before, finding.kind, finding.line)
            state = run.on(STEP_MOST_ROWS)
            found = self._c.step_finding(run.it)
            ends = STEP_END.FAULT_THERE, STEP_END.FOUND_THERE
            if state[STEP_STATE.STEP_STATUS] not in ends or not found:
                raise Refused(_WAITS)
            shown = CFinding.from_buffer_copy(CFinding.from_address(found))
            if (shown.kind, shown.line, tuple(shown.block)) != (
                finding.kind,
                finding.line,
                tuple(finding.block),
            ):
                raise Refused(_WAITS)
            used = [run.used(memory) for memory in kept.memory]
            count = int(state[STEP_STATE.STEP_ROWS])
        if not lanes:
            return count, used, shown
        with Run(self._c, kept) as run:
            run.begin(block, before, finding.kind, finding.line)
            state = run.on(count - 1)
            self.lanes = _lanes(run, kept, state, named)
        return count, used, shown


class Run:
    """One block alone, on a copy of the memory."""

    def __init__(self, c: ctypes.CDLL, kept: Kept) -> None:
        """Raises Refused."""
        assert kept.memory is not None
        self._c, self._kept, self.it = c, kept, ctypes.c_void_p()
        self._engine = ctypes.c_void_p(c.engine_new(1))
        self._buffers: list[Any] = []
        if not self._engine:
            raise Refused(_TOO_LARGE)
        granule, kernel = kept.lowered.granule, kept.kernel
        for memory in kept.memory:
            data, valid = _buffer(memory.data), _buffer(memory.valid)
            seen = (ctypes.c_char * (12 * len(memory.data)))() if memory.data else None
            self._buffers += [data, valid, seen]
            numbers = (memory.address, memory.size, memory.number, memory.flags)
            if not c.step_region(self._engine, *numbers, 0, memory.size, data, valid, seen, granule):
                raise Refused(_TOO_LARGE)
        if (heap := kept.heap) is not None:
            made = c.step_heap_begin(self._engine, heap.address, heap.size, heap.next)
            if not made or not all(c.step_heap_add(self._engine, *piece) for piece in heap.pieces):
                raise Refused(_TOO_LARGE)
        words = (ctypes.c_uint32 * len(kept.words))(*kept.words)
        raw = (ctypes.c_char * (len(kept.pool) + 1024))()
        self.pool = -(-ctypes.addressof(raw) // 128) * 128
        ctypes.memmove(self.pool, kept.pool, len(kept.pool))
        self._buffers.append(raw)
        made = c.step_new(self._engine, words, kernel.rows, self.pool, kernel.specials, kernel.arrays)
        if not made:
            raise Refused(_TOO_LARGE)
        self.it = ctypes.c_void_p(made)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._c.step_delete(self.it)
        self._c.step_end(self._engine)

    def begin(self, block: int, before: int = NONE, kind: int = 0, line: int = 0) -> None:
        """``before``: runs to its end first. Pauses at a finding of ``kind``; 0: at none."""
        self._c.step_begin(self.it, block, before, kind, line)

    def on(self, rows: int) -> Any:
        return self._c.step_on(self.it, rows)

    def all(self) -> tuple[int, int, list[bytes]]:
        """The whole launch: its end, warps' instructions, memory."""
        ended = self._c.step_all(self.it, Triple(1, 1, 1), self._kept.cooperative)
        return ended, int(self._c.engine_instructions(self._engine)), self.after()

    def findings(self, *, faulted: bool) -> list[CFinding]:
        """Of ``all``. ``faulted``: it ended early."""
        at = ctypes.c_void_p()
        count = self._c.engine_findings(self._engine, ctypes.byref(at))
        found = list((CFinding * count).from_address(at.value or 0)) if count else []
        if faulted and (fault := self._c.engine_fault(self._engine)):
            found.append(CFinding.from_address(fault))
        return [CFinding.from_buffer_copy(each) for each in found]

    def used(self, memory: _Memory) -> bytearray:
        """Read or written bytes."""
        each = (ctypes.c_char * max(len(memory.data), 1))()
        if memory.data:
            self._c.step_touched(self._engine, memory.address, self._kept.lowered.granule, each)
        found = bytearray(each.raw[: len(memory.data)])
        heap, out = self._kept.heap, (ctypes.c_uint64 * 4)()
        if heap is not None and heap.address == memory.address and self._c.step_heap(self._engine, out):
            known = {place for place, _, _ in heap.pieces}
            for number in range(out[3]):
                self._c.step_heap_piece(self._engine, number, out)
                if out[0] not in known:
                    found[out[0] : out[0] + out[1]] = b"\1" * out[1]
        return found

    def after(self) -> list[bytes]:
        return [bytes(self._buffers[3 * number] or b"") for number in range(len(self._kept.memory or ()))]

    def lacked_heap(self) -> bool:
        """Less heap is kept than the launch has."""
        return bool(self._c.step_heap_lacked(self._engine))

    def peek(self, address: int, size: int) -> bytes:
        """As they are now; maybe fewer."""
        for index, memory in enumerate(self._kept.memory or ()):
            offset = address - memory.address
            if 0 <= offset < len(memory.data):
                return bytes(self._buffers[3 * index][offset : offset + size])
        return b""

    def warp(self, number: int) -> tuple[int, int, int]:
        """Lanes that exist, returned, and are active."""
        words = self._c.step_warp(self.it, number)
        return words[0], words[1], words[2]

    def addresses(self, warp: int, row: CodeRow) -> list[int]:
        """Of each lane."""
        wide = bool(row.wide >> 1 & 1)
        most = (1 << 64 if wide else 1 << 32) - 1
        base = [0] * _LANES if row.a == NONE else self.unit(warp, row.a, wide=wide)
        return [start + row.imm & most for start in base]

    def unit(self, warp: int, operand: int, *, wide: bool) -> Sequence[int]:
        """In each lane."""
        base = self.pool if operand & CONSTANT else self._c.step_registers(self.it, warp)
        kind = ctypes.c_uint64 if wide else ctypes.c_uint32
        return list((kind * _LANES).from_address(base + (operand & ~CONSTANT) * 128))


def _is_compilers(finding: CFinding) -> bool:
    within = finding.has_other and tuple(finding.block) == tuple(finding.other_block)
    return (
        bool(within)
        and not finding.together & TOGETHER.TOGETHER_WRITE
        and KINDS[finding.kind].endswith("_race")
    )


def _words(
    grid: Sequence[int], threads: Sequence[int], shared: int, check: int, kernel: CKernel
) -> array[int]:
    words = array("I", bytes(4 * len(STEP_LAUNCH)) + bytes(16))
    words[STEP_LAUNCH.STEP_GRID : STEP_LAUNCH.STEP_GRID + 3] = array("I", grid)
    words[STEP_LAUNCH.STEP_THREADS : STEP_LAUNCH.STEP_THREADS + 3] = array("I", threads)
    for name, value in (
        ("DYNAMIC_SHARED", shared), ("CHECK", check), ("ROW_COUNT", kernel.row_count), ("ENTRY", kernel.entry),
        ("UNITS", kernel.units), ("POOL_UNITS", kernel.pool_units), ("SPECIAL_COUNT", kernel.special_count),
        ("LOCAL_BYTES", kernel.local_bytes), ("STATIC_SHARED", kernel.shared_bytes),
        ("GRANULE", kernel.granule), ("ASYNC", kernel.is_async), ("ARRAY_COUNT", kernel.array_count),
    ):  # fmt: skip
        words[STEP_LAUNCH[f"STEP_{name}"]] = value
    return words


def _heap_header(heap: Heap | None) -> dict[str, Any]:
    if heap is None:
        return {}
    numbers = {"address": heap.address, "size": heap.size, "next": heap.next}
    pieces = [[str(place), str(size), freed] for place, size, freed in heap.pieces]
    return {"heap": {**{name: str(number) for name, number in numbers.items()}, "pieces": pieces}}


def _words_that_differ(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """32-bit words."""
    found, part = 0, 4096
    for a, b in zip(one, other, strict=False):
        for start in range(0, min(len(a), len(b)), part):
            left, right = a[start : start + part], b[start : start + part]
            if left != right:
                found += sum(left[at : at + 4] != right[at : at + 4] for at in range(0, len(left), 4))
    return found


def _shape(index: Sequence[int]) -> str:
    """Without trailing zeros."""
    x, y, z = index
    return str(x) if y == z == 0 else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def _lanes(run: Run, kept: Kept, state: Any, named: dict[int, str]) -> list[dict[str, Any]]:
    """What each lane of the wrong row accesses: thread, memory's name, byte."""
    row = kept.lowered.code_rows()[state[STEP_STATE.STEP_PC]]
    if row.op not in (OP.LOAD, OP.STORE, OP.ATOMIC) or row.a == NONE:
        return []
    wide, warp, runs = bool(row.wide >> 1 & 1), state[STEP_STATE.STEP_WARP], state[STEP_STATE.STEP_RUNS]
    most = (1 << 64 if wide else 1 << 32) - 1
    threads = kept.words[STEP_LAUNCH.STEP_THREADS : STEP_LAUNCH.STEP_THREADS + 3]
    found = []
    for lane, base in enumerate(run.unit(warp, row.a, wide=wide)):
        if not runs >> lane & 1:
            continue
        address, number = base + row.imm & most, warp * _LANES + lane
        thread = [number % threads[0], number // threads[0] % threads[1], number // threads[0] // threads[1]]
        name, byte = _place(kept, row.space, address, named)
        found.append({"thread": thread, "name": name[:100], "byte": byte})
    return found


def _place(kept: Kept, space: int, address: int, named: dict[int, str]) -> tuple[str, int]:
    """The memory's name, and the byte there."""
    if space == SPACE.GENERIC and address >= SHARED_BASE:
        space = SPACE.LOCAL if address >= LOCAL_BASE else SPACE.SHARED
    if space == SPACE.SHARED:
        name, start, _ = shared_array(kept.lowered, address & 0xFFFFFFFF)
        return array_name(name) or "shared memory", (address & 0xFFFFFFFF) - start
    if space == SPACE.LOCAL:
        return "a local array", address & 0xFFFFFFFF
    before = [memory for memory in kept.memory or () if memory.address <= address]
    if not before or address - before[-1].address - before[-1].size > _NEAR:
        return "no memory", -1
    nearest = before[-1]
    return array_name(named.get(nearest.number, "")) or "memory", address - nearest.address


class _Blobs:
    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, data: bytes) -> list[int]:
        """Place and size."""
        self.data += bytes(-len(self.data) % _ALIGN)
        at = len(self.data)
        self.data += data
        return [at, len(data)]


def _shown(finding: CFinding) -> dict[str, Any]:
    names = "kind line other_line region space size is_write other_is_write has_other".split()
    shown: dict[str, Any] = {name: getattr(finding, name) for name in names}
    for name in ("block", "thread", "other_block", "other_thread"):
        shown[name] = list(getattr(finding, name))
    return {**shown, "offset": finding.offset}


def _number(index: Sequence[int], grid: Sequence[int]) -> int:
    return int(index[0] + grid[0] * (index[1] + grid[1] * index[2]))


def _buffer(data: bytearray | None) -> ctypes.Array[ctypes.c_char] | None:
    return (ctypes.c_char * len(data)).from_buffer_copy(data) if data else None


def _declared(c: ctypes.CDLL) -> ctypes.CDLL:
    pointer, word, long = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    words = ctypes.POINTER(word)
    for name, result, arguments in (
        ("step_version", word, []),
        ("step_memory", ctypes.c_bool, [pointer, word, ctypes.POINTER(long)]),
        (
            "step_region",
            ctypes.c_bool,
            [pointer, long, long, word, word, long, long, pointer, pointer, pointer, word],
        ),
        ("step_touched", None, [pointer, long, word, pointer]),
        ("step_new", pointer, [pointer, words, pointer, pointer, pointer, pointer]),
        ("step_begin", words, [pointer, word, word, word, word]),
        ("step_on", words, [pointer, long]),
        ("step_registers", pointer, [pointer, word]),
        ("step_warp", words, [pointer, word]),
        ("step_finding", pointer, [pointer]),
        ("step_all", ctypes.c_int, [pointer, Triple, word]),
        ("step_checksum", word, [pointer]),
        ("step_first", pointer, [pointer]),
        ("step_heap", ctypes.c_bool, [pointer, ctypes.POINTER(long)]),
        ("step_heap_piece", None, [pointer, long, ctypes.POINTER(long)]),
        ("step_heap_begin", ctypes.c_bool, [pointer, long, long, long]),
        ("step_heap_add", ctypes.c_bool, [pointer, long, long, word]),
        ("step_heap_lacked", word, [pointer]),
        ("step_delete", None, [pointer]),
        ("step_end", None, [pointer]),
    ):
        function = getattr(c, name)
        function.restype, function.argtypes = result, arguments
    return c
