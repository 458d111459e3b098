"""Accesses to shared memory that ptxas merges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .branches import Shapes, control_of
from .lower import CodeRow, Lowered
from .names import BRANCH, CONSTANT, NONE, OP, SPACE, WIDTH

_WORD = 4


def widths_of(lowered: Lowered, shapes: Shapes, names: Sequence[str]) -> bytes:
    """For each row the merged access's words (2 or 4), plus ``WIDE_PLACE`` times its place, plus
    ``WIDE_FIRST`` for the first; 0: not merged.

    Merged words are adjacent and known to be aligned. Loads are in one basic block, or in one that only the
    first's leads to. Stores share block and predicate, and write all words; three loads of four words become
    one.
    """
    found = bytearray(len(shapes.rows))
    groups: dict[tuple[str, int], _Neighbours] = {}
    multiples = Multiples(lowered, shapes.rows, names)

    def end(access: str, base: int | None = None) -> None:
        for key in [group for group in groups if group[0] == access and base in (None, group[1])]:
            _widen(found, groups.pop(key).rows, multiples.of(key[1]), stores=access == "STORE")

    predicates: list[int] = []
    for number, row in enumerate(shapes.rows):
        control = control_of(row)
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
    """``predicates``: branches around the first. ``rows``: by offset."""

    predicates: list[int]
    rows: dict[int, int] = field(default_factory=dict)

    def may_join(self, predicates: list[int], control: str) -> bool:
        own = len(self.predicates)
        return predicates[:own] == self.predicates and (control == "LOAD" or len(predicates) == own)


def _widen(found: bytearray, offsets: Mapping[int, int], base: tuple[int, int], *, stores: bool) -> None:
    """``offsets`` -> row. ``base``: divisor (a power of two) and remainder."""
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
    """Registers' known remainders by 2, 4, 8 or 16."""

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
                    now = (1, 0) if control_of(row) else self._result(names[row.op - len(OP)], row)
                    if before is not None and now is not None:
                        now = self._joined(before, now)
                    if now is not None and now != before:
                        self._known[unit], changed = now, True

    @staticmethod
    def _defined(row: CodeRow) -> list[int]:
        """Outside of alu.ops, all but the address."""
        control = control_of(row)
        found = (
            () if control in ("STORE", "BRANCH") else (row.d, row.b, row.c, row.e) if control else (row.d,)
        )
        return [unit for unit in found if unit != NONE and not unit & CONSTANT]

    def of(self, base: int) -> tuple[int, int]:
        """Divisor and remainder. NONE: no base register."""
        return (self._MOST, 0) if base == NONE else self._operand(base) or (1, 0)

    def _operand(self, operand: int) -> tuple[int, int] | None:
        """None: not known yet."""
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
        return math.gcd(one[0], one[1])
