"""Facts about a right call for questions: what threads, warps and blocks did. Only those with one answer, so
not a line's counts that differ.

Blocks are stepped on the memory that the launch began with.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..branches import work_of
from ..explain import array_name, kernel_name
from ..findings import KINDS, shared_array
from ..library import CFinding, CKernel
from ..lower import ROW
from ..names import BARRIER, LOCAL_BASE, NONE, OP, SHARED_BASE, SPACE, STEP_END, STEP_LAUNCH, STEP_STATE
from ..widths import widths_of
from .recorder import Kept, Recorder, Refused, Run

# Half a second in all.
_MOST_LAUNCHES, _MOST_MEMORY = 12, 24 << 20
_MOST_ROWS = 60_000
# For launches without each barrier, in all; barriers per kernel.
_MOST_INSTRUCTIONS, _MOST_BARRIERS = 1_500_000, 5
# With the right one.
_MOST_CHOICES = 5
_SECTOR, _BANKS, _WORD, _LANES = 32, 32, 4, 32
_OF_SHARED = ("shared_race", "warp_race")
_NOT_TRACED = (OP.HEAP, OP.TEXTURE, OP.ASYNC)
Index = tuple[int, int, int]
Fact = dict[str, Any]


@dataclass(frozen=True)
class Array:
    """``size``: bytes per element."""

    name: str
    size: int


class Launches(Recorder):
    """``wrong``: there was a finding, so nothing is asked."""

    def __init__(self, library: ctypes.CDLL, operations: Sequence[str]) -> None:
        super().__init__(library, operations)
        self.c, self.operations = self._c, operations
        self.taken: list[Kept] = []
        self.count, self.wrong = 0, False
        self._room = _MOST_MEMORY

    def begins(self, *given: Any, cooperative: bool) -> None:
        self.count += 1
        if self.count > _MOST_LAUNCHES:
            return
        super().begins(*given, cooperative=cooperative)
        kept, self.kept = self.kept, None
        assert kept is not None
        self._room -= sum(2 * len(memory.data) for memory in kept.memory or ())
        self.taken.append(kept if self._room > 0 else replace(kept, memory=None))

    def found(self, finding: CFinding, named: dict[int, str]) -> None:
        self.wrong = True


@dataclass(frozen=True)
class Request:
    """A warp's access. ``addresses``: of its lanes; offsets in shared memory."""

    line: int
    row: int
    warp: int
    verb: str
    array: str
    is_shared: bool
    size: int  # per lane
    addresses: tuple[tuple[int, int], ...]

    @property
    def lanes(self) -> tuple[int, ...]:
        return tuple(lane for lane, _ in self.addresses)

    @property
    def sectors(self) -> int:
        return len(sectors_of(self.addresses, self.size))

    @property
    def passes(self) -> int:
        """In shared memory, at most four bytes a lane."""
        words = {address // _WORD for _, address in self.addresses}
        banks = [word % _BANKS for word in words]
        return max(map(banks.count, banks), default=0)


def sectors_of(addresses: Sequence[tuple[int, int]], size: int) -> set[int]:
    return {
        sector
        for _, address in addresses
        for sector in range(address // _SECTOR, (address + size - 1) // _SECTOR + 1)
    }


@dataclass
class Traced:
    """``written``: by thread and argument, the first bytes and lines of its stores."""

    block: int
    requests: list[Request] = field(default_factory=list)
    written: dict[tuple[int, str], list[tuple[int, int, int]]] = field(default_factory=dict)


class Quiz:
    """``arguments``: by address. ``programs``: Triton's, so threads are the compiler's."""

    def __init__(
        self, launches: Launches, arguments: Mapping[int, Array], seed: int, *, programs: bool = False
    ) -> None:
        self._launches, self._arguments, self._programs = launches, arguments, programs
        self._dice = random.Random(seed)  # noqa: S311 - the judge draws the seed
        self._rows_left = _MOST_ROWS

    def facts(self) -> list[Fact]:
        """One of each kind; empty if nothing is certain."""
        launches = self._launches
        if launches.wrong or launches.count > _MOST_LAUNCHES:
            return []
        names = [kept.lowered.name for kept in launches.taken]
        found: dict[str, list[Fact]] = {}
        for kept in launches.taken:
            if names.count(kept.lowered.name) > 1:
                continue  # ambiguous
            for fact in self._of_launch(kept):
                shared = {"kernel": kernel_name(kept.lowered.name)[:100], "kernels": len(names)}
                found.setdefault(fact["kind"], []).append(
                    {**shared, "grid": list(kept.grid), "threads": list(_threads(kept)), **fact}
                )
        return [self._dice.choice(facts) for _, facts in sorted(found.items())]

    def _of_launch(self, kept: Kept) -> Iterator[Fact]:
        blocks = kept.grid[0] * kept.grid[1] * kept.grid[2]
        if blocks > 1:
            yield {"kind": "blocks", "answer": blocks, "saw": {}}
        rows = kept.lowered.code_rows()
        whole = kept.memory is not None and kept.alone and not kept.cooperative
        if not whole or kept.lowered.coordinates or any(row.op in _NOT_TRACED for row in rows):
            return
        # At the grid's end, where bounds matter, and anywhere.
        for block in dict.fromkeys((self._dice.randrange(blocks), blocks - 1)):
            traced = self._traced(kept, block)
            if traced is not None:
                yield from self._of_programs(kept, traced) if self._programs else self._of_block(kept, traced)
        if not self._programs:
            yield from self._of_barriers(kept)

    def _traced(self, kept: Kept, block: int) -> Traced | None:
        """None if it does not end within the budget."""
        rows, found = kept.lowered.code_rows(), Traced(block)
        lines = [place.line for place in kept.lowered.places]
        try:
            with Run(self._launches.c, kept) as run:
                state = self._launches.c.step_begin(run.it, block, NONE, 0, 0)
                for _ in range(self._rows_left):
                    self._rows_left -= 1
                    if state[STEP_STATE.STEP_STATUS] != STEP_END.MORE:
                        break
                    pc, runs = state[STEP_STATE.STEP_PC], state[STEP_STATE.STEP_RUNS]
                    row = rows[pc]
                    if row.op in (OP.LOAD, OP.STORE) and row.a != NONE and runs:
                        line = lines[row.line] if row.line < len(lines) else 0
                        self._note(kept, found, run, state, pc, row, line)
                    state = run.on(1)
                ended = state[STEP_STATE.STEP_STATUS] == STEP_END.ENDED
                return found if ended and not state[STEP_STATE.STEP_FINDINGS] else None
        except Refused:
            return None

    def _note(self, kept: Kept, found: Traced, run: Run, state: Any, pc: int, row: Any, line: int) -> None:
        wide, warp, runs = bool(row.wide >> 1 & 1), state[STEP_STATE.STEP_WARP], state[STEP_STATE.STEP_RUNS]
        most = (1 << 64 if wide else 1 << 32) - 1
        bases = run.unit(warp, row.a, wide=wide)
        lanes = [(lane, bases[lane] + row.imm & most) for lane in range(_LANES) if runs >> lane & 1]
        verb = "writes" if row.op == OP.STORE else "reads"
        size = row.size * row.elements
        is_shared, name = self._memory_of(kept, row.space, [address for _, address in lanes])
        if is_shared:
            lanes = [(lane, address & 0xFFFFFFFF) for lane, address in lanes]
        if not name:
            return
        found.requests.append(Request(line, pc, warp, verb, name, is_shared, size, tuple(lanes)))
        if verb == "writes" and not is_shared:
            start = next(at for at, array in self._arguments.items() if array.name == name)
            for lane, address in lanes:
                key = (warp * _LANES + lane, name)
                found.written.setdefault(key, []).append((address - start, size, line))

    def _memory_of(self, kept: Kept, space: int, addresses: Sequence[int]) -> tuple[bool, str]:
        """Whether it is shared; and the array of all addresses, or empty."""
        if space in (SPACE.LOCAL, SPACE.CONST) or (space == SPACE.GENERIC and max(addresses) >= LOCAL_BASE):
            return False, ""
        if space == SPACE.SHARED or (space == SPACE.GENERIC and min(addresses) >= SHARED_BASE):
            names = {shared_array(kept.lowered, address & 0xFFFFFFFF)[0] for address in addresses}
            return True, array_name(names.pop()) if len(names) == 1 else ""
        starts = {
            memory.address
            for address in addresses
            for memory in kept.memory or ()
            if memory.address <= address < memory.address + memory.size
        }
        array = self._arguments.get(starts.pop()) if len(starts) == 1 else None
        return False, array.name if array is not None else ""

    def _of_block(self, kept: Kept, traced: Traced) -> Iterator[Fact]:
        threads = _threads(kept)
        where: Fact = {"block": list(_index(traced.block, kept.grid))}
        if traced.written:
            number, name = self._dice.choice(sorted(traced.written))
            stores = traced.written[number, name]
            size = self._size_of(name)
            if all(at % size == 0 for at, _, _ in stores):
                yield {
                    "kind": "first_write", **where, "thread": list(_index(number, threads)), "array": name,
                    "line": stores[0][2], "answer": stores[0][0] // size,
                    "saw": {"elements": sum(bytes_ // size for _, bytes_, _ in stores)},
                }  # fmt: skip
        yield from self._elements(traced, where)
        merged = self._merged(kept)
        groups: dict[tuple[int, str, str, bool, int], list[Request]] = {}
        for request in traced.requests:
            if request.line:
                key = (request.line, request.verb, request.array, request.is_shared, request.warp)
                groups.setdefault(key, []).append(request)
        lanes_of_warps = threads[0] * threads[1] * threads[2]
        for key in sorted(groups):
            same = groups[key]
            line, verb, name, is_shared, warp = key
            first = same[0]
            if {request.lanes for request in same} != {first.lanes}:
                continue
            here: Fact = {
                **where, "line": line, "warp": warp, "array": name, "verb": verb,
            }  # fmt: skip
            saw: dict[str, int] = {"requests": len(same), "active": len(first.lanes)}
            there = min(_LANES, lanes_of_warps - _LANES * warp)
            if len(first.lanes) < there:
                yield {"kind": "active", **here, "answer": len(first.lanes), "saw": {**saw, "exist": there}}
            if is_shared and {request.size for request in same} <= {1, 2, _WORD}:
                passes = {request.passes for request in same}
                if len(passes) == 1 and not any(merged[request.row] for request in same):
                    words = len({address // _WORD for _, address in first.addresses})
                    yield {"kind": "passes", **here, "answer": passes.pop(), "saw": {**saw, "words": words}}
            elif not is_shared:
                sectors = {request.sectors for request in same}
                if len(sectors) == 1:
                    asked = len({address for _, address in first.addresses}) * first.size
                    yield {"kind": "sectors", **here, "answer": sectors.pop(), "saw": {**saw, "bytes": asked}}

    def _elements(self, traced: Traced, where: Fact) -> Iterator[Fact]:
        for name in sorted({name for _, name in traced.written}):
            size, elements = self._size_of(name), set[int]()
            for (_, array), stores in traced.written.items():
                if array == name:
                    for at, bytes_, _ in stores:
                        elements.update(range(at // size, (at + bytes_ - 1) // size + 1))
            yield {
                "kind": "elements", **where, "array": name, "answer": len(elements),
                "saw": {"least": min(elements), "most": max(elements)},
            }  # fmt: skip

    def _of_programs(self, kept: Kept, traced: Traced) -> Iterator[Fact]:
        """Of a whole program."""
        where: Fact = {"block": list(_index(traced.block, kept.grid))}
        for fact in self._elements(traced, where):
            yield fact
            saw = fact["saw"]
            yield {**fact, "kind": "first_write", "answer": saw["least"], "saw": {"elements": fact["answer"]}}
        groups: dict[tuple[int, str, str], list[Request]] = {}
        for request in traced.requests:
            if request.line and not request.is_shared:
                groups.setdefault((request.line, request.verb, request.array), []).append(request)
        for (line, verb, name), requests in sorted(groups.items()):
            sectors = set[int]().union(*(sectors_of(each.addresses, each.size) for each in requests))
            bytes_ = {
                at
                for each in requests
                for _, start in each.addresses
                for at in range(start, start + each.size)
            }
            yield {
                "kind": "sectors", **where, "line": line, "array": name, "verb": verb,
                "answer": len(sectors), "saw": {"bytes": len(bytes_)},
            }  # fmt: skip

    def _size_of(self, name: str) -> int:
        return next(array.size for array in self._arguments.values() if array.name == name)

    def _merged(self, kept: Kept) -> bytes:
        """Not 0 if the assembler merges the row's access with others."""
        _, shapes = work_of(kept.lowered, list(self._launches.operations))
        return widths_of(kept.lowered, shapes, list(self._launches.operations))

    def _of_barriers(self, kept: Kept) -> Iterator[Fact]:
        """Does the engine find a race without each barrier?"""
        rows, lines = kept.lowered.code_rows(), [place.line for place in kept.lowered.places]
        at: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            if row.op == OP.BARRIER and row.imm == BARRIER.SYNC and row.line < len(lines):
                at.setdefault(lines[row.line], []).append(number)
        if not at or 0 in at or len(at) > _MOST_BARRIERS:
            return
        whole = self._ran_without(kept, ())
        if whole is None or whole.found or whole.instructions * (1 + len(at)) > _MOST_INSTRUCTIONS:
            return
        ran: dict[int, _Ran] = {}
        for line, numbers in sorted(at.items()):
            without = self._ran_without(kept, numbers)
            if without is None or (not without.found and without.memory != whole.memory):
                continue
            ran[line] = without
        needless = [line for line, without in ran.items() if not without.found]
        needed = [line for line, without in ran.items() if without.found]
        if ran and len(needless) <= 1 and len(ran) == len(at):
            evidence = [[line, *ran[line].race] for line in needed]
            yield {
                "kind": "barrier", "choices": [*sorted(ran), 0], "answer": needless[0] if needless else 0,
                "saw": {}, "races": evidence,
            }  # fmt: skip
        for line in needed:
            yield from self._of_race(kept, line, ran[line])

    def _of_race(self, kept: Kept, line: int, without: _Ran) -> Iterator[Fact]:
        """Which line races? Wrong choices touch no shared memory."""
        spaces: dict[int, set[int]] = {}
        for row in kept.lowered.code_rows():
            if row.op >= len(OP):
                continue
            if row.op in (OP.LOAD, OP.STORE, OP.ATOMIC, OP.MATRIX, OP.COPY_LATE):
                place = kept.lowered.places[row.line].line if row.line < len(kept.lowered.places) else 0
                space = row.space if row.op in (OP.LOAD, OP.STORE, OP.ATOMIC) else SPACE.SHARED
                spaces.setdefault(place, set()).add(space)
        of_global = {place for place, found in spaces.items() if found == {SPACE.GLOBAL}}
        races = [each for each in without.found if each.is_race]
        lines = {place for each in races for place in (each.line, each.other)}
        others = sorted(of_global - lines - {0, line})
        if len(others) < 2 or not races or 0 in lines or any(each.kind not in _OF_SHARED for each in races):
            return
        right = self._dice.choice(sorted(lines))
        seen = next(each for each in races if right in (each.line, each.other))
        wrong = self._dice.sample(others, min(len(others), _MOST_CHOICES - 1))
        yield {
            "kind": "race", "line": line, "choices": sorted([right, *wrong]), "answer": right, "saw": {},
            "races": [[line, seen.line, seen.other]],
        }  # fmt: skip

    def _ran_without(self, kept: Kept, numbers: Sequence[int]) -> _Ran | None:
        """None without room."""
        changed = bytearray(kept.lowered.rows)
        for number in numbers:
            row = kept.lowered.code_rows()[number]
            ROW.pack_into(changed, number * ROW.size, *row._replace(op=OP.NOP, size=0))
        rows = ctypes.create_string_buffer(bytes(changed), len(changed))
        kernel = CKernel.from_buffer_copy(kept.kernel)
        kernel.rows = ctypes.addressof(rows)
        try:
            with Run(self._launches.c, replace(kept, kernel=kernel)) as run:
                ended, instructions, memory = run.all()
                found = run.findings(faulted=bool(ended))
                return _Ran([self._told(kept, each) for each in found], memory, instructions)
        except Refused:
            return None

    def _told(self, kept: Kept, finding: CFinding) -> _Found:
        places = kept.lowered.places
        lines = [
            places[line].line if line < len(places) else 0 for line in (finding.line, finding.other_line)
        ]
        return _Found(KINDS[finding.kind], lines[0], lines[1] if finding.has_other else 0)


@dataclass(frozen=True)
class _Found:
    kind: str
    line: int
    other: int  # the race's other line; 0: unknown

    @property
    def is_race(self) -> bool:
        return self.kind.endswith("_race") and self.other > 0


@dataclass(frozen=True)
class _Ran:
    found: list[_Found]
    memory: list[bytes]
    instructions: int

    @property
    def race(self) -> tuple[int, int]:
        """Of the first race, or of another finding and 0."""
        for each in self.found:
            if each.is_race:
                return each.line, each.other
        return self.found[0].line, 0


def _threads(kept: Kept) -> Index:
    x, y, z = kept.words[STEP_LAUNCH.STEP_THREADS : STEP_LAUNCH.STEP_THREADS + 3]
    return x, y, z


def _index(number: int, sizes: Sequence[int]) -> Index:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])
