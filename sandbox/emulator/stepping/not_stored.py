"""Why a thread misses an element: where its path leaves that of a storing thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..lower import CodeRow
from ..names import NONE, OP
from .unwritten import Wrote
from .walk import Index, Step, TooLong, Walk

if TYPE_CHECKING:
    from .recorder import Kept, Run

_LANES = 32
_INTEGERS = ("s32", "s64", "u32", "u64")
_MOST_PARTS = 8


@dataclass(frozen=True)
class Wanted:
    """An element that nothing wrote: who would, in which launch; and ``like``, which ``wrote`` wrote by the
    same index.
    """

    work: int
    array: str
    place: int
    size: int
    block: Index
    thread: Index
    like: int
    wrote: Wrote

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Wanted:
        block, thread, like_block, like_thread = (
            (index[0], index[1], index[2])
            for index in (asked[name] for name in ("block", "thread", "like_block", "like_thread"))
        )
        wrote = Wrote(asked["work"], like_block, like_thread)
        return cls(
            asked["work"], asked["array"], asked["place"], asked["size"], block, thread, asked["like"], wrote
        )


@dataclass(frozen=True)
class Reason:
    """``how``: branch, mask (the store's condition is false) or elsewhere (other ``elements``). ``line``,
    ``store_line``: of Lowered.places. ``compared``: two integers that the condition depends on.
    """

    how: str
    step: Step
    line: int
    store_line: int
    compared: tuple[int, int] | None = None
    elements: tuple[int, ...] = ()


def reason(
    new_run: Callable[[], Run],
    kept: Kept,
    wanted: Wanted,
    start: int,
    number_of: Callable[[Index], int],
    operations: Sequence[str],
) -> tuple[Reason, Run] | None:
    """``start``: the array's. ``number_of``: a block's number. ``operations``: alu.ops' names. The run did
    the whole block. None: unknown.
    """
    rows = kept.lowered.code_rows()
    like = start + wanted.like * wanted.size
    try:
        with new_run() as run:
            walk = Walk(run, kept)
            others = walk.path(number_of(wanted.wrote.block), walk.number(wanted.wrote.thread))
        stores = [step for step in others if _writes(rows[step.pc], step, like)]
        if not stores:
            return None
        store = stores[-1].pc
        run = new_run()
        thread = Walk(run, kept).number(wanted.thread)
        own = Walk(run, kept).path(number_of(wanted.block), thread)
    except TooLong:
        return None
    found = _parted(rows, own, store, start, wanted.size)
    if found is None or found.how == "elsewhere":
        return (found, run) if found is not None else None
    values = _Values(new_run, kept, number_of(wanted.block), thread, operations)
    return _with_condition(found, own, values), run


def _writes(row: CodeRow, step: Step, address: int) -> bool:
    return (
        step.runs
        and row.op in (OP.STORE, OP.ATOMIC)
        and step.address <= address < step.address + row.size * row.elements
    )


def _parted(rows: Sequence[CodeRow], own: Sequence[Step], store: int, start: int, size: int) -> Reason | None:
    visits = [step for step in own if step.pc == store]
    at = rows[store].line
    if stored := [step for step in visits if step.runs]:
        elements = tuple((step.address - start) // size for step in stored)
        return Reason("elsewhere", stored[-1], at, at, elements=elements)
    if len(visits) == 1:
        return Reason("mask", visits[0], at, at)
    if visits:
        return None
    reach = _reaching(rows, store)
    for step, then in zip(own, [*own[1:], None], strict=True):
        if then is None or then.pc not in reach:
            row = rows[step.pc]
            return Reason("branch", step, row.line, at) if row.guard != NONE else None
    return None


def _reaching(rows: Sequence[CodeRow], target: int) -> set[int]:
    before: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        goes = [row.imm] if row.op == OP.BRANCH else []
        if row.op == OP.BRANCH_INDEX:  # to any row
            goes = list(range(len(rows)))
        if row.op not in (OP.BRANCH, OP.BRANCH_INDEX, OP.EXIT, OP.TRAP) or row.guard != NONE:
            goes.append(number + 1)
        for each in goes:
            before.setdefault(each, []).append(number)
    found, rest = {target}, [target]
    while rest:
        for each in before.get(rest.pop(), ()):
            if each not in found:
                found.add(each)
                rest.append(each)
    return found


def _with_condition(found: Reason, own: Sequence[Step], values: _Values) -> Reason:
    """With the deciding comparison's line and integers, if there is one."""
    step, unit = found.step, values.rows[found.step.pc].guard
    for _ in range(_MOST_PARTS):
        earlier = own[: own.index(step)]
        made = next((each for each in reversed(earlier) if values.rows[each.pc].d == unit), None)
        if made is None:
            return found
        step, row, name = made, values.rows[made.pc], values.name(made)
        if name == "mov_pred" or name == "not_pred":
            unit = row.a
        elif name in ("and_pred", "or_pred"):
            # If it alone is false of an "and", or true of an "or".
            deciding = [
                each for each in (row.a, row.b) if values.of(made, each, "pred") == (name == "or_pred")
            ]
            if len(deciding) != 1:
                return found
            unit = deciding[0]
        elif name.startswith("setp_") and name.rpartition("_")[2] in _INTEGERS and NONE not in (row.a, row.b):
            kind = name.rpartition("_")[2]
            compared = values.of(made, row.a, kind), values.of(made, row.b, kind)
            return Reason(found.how, found.step, row.line, found.store_line, compared)
        else:
            return found
    return found


class _Values:
    """One thread's, before a row."""

    def __init__(
        self, new_run: Callable[[], Run], kept: Kept, block: int, thread: int, operations: Sequence[str]
    ) -> None:
        self.rows = kept.lowered.code_rows()
        self._new_run, self._block, self._operations = new_run, block, operations
        self._warp, self._lane = divmod(thread, _LANES)

    def name(self, step: Step) -> str:
        """Empty outside of alu.ops."""
        number = self.rows[step.pc].op - len(OP)
        return self._operations[number] if number >= 0 else ""

    def of(self, step: Step, unit: int, kind: str) -> int:
        with self._new_run() as run:
            run.begin(self._block)
            run.on(step.row)
            if kind == "pred":
                return run.unit(self._warp, unit, wide=False)[0] >> self._lane & 1
            bits = int(kind[1:])
            value = run.unit(self._warp, unit, wide=bits == 64)[self._lane]
        return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value
