"""Source lines of places in a CUDA source's host code, from DWARF 5.

In an inlined header function, the call's line. Inline assembly can add tables, so reading is bounded, and
malformed tables yield no line.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .fatbin import section_of
from .reader import Reader

_SUFFIXES = (b".cu", b".hip")
_MOST_ROWS = 1 << 20
_PATH = 1
# A value's bytes by form; or bytes of its length.
_FIXED = {
    0x01: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x05: 2, 0x12: 2, 0x06: 4, 0x13: 4, 0x10: 4, 0x17: 4, 0x0E: 4, 0x1F: 4, 0x07: 8,
    0x14: 8, 0x20: 8, 0x1E: 16,
}  # fmt: skip
_NUMBERS, _LENGTHS = (0x0F, 0x15, 0x22, 0x23), {0x0A: 1, 0x03: 2, 0x04: 4}
_SIGNED, _EXPRESSION = 0x0D, 0x18
_INLINED_SUBROUTINE, _LOW, _HIGH, _RANGES, _CALL_FILE, _CALL_LINE = 0x1D, 0x11, 0x12, 0x55, 0x58, 0x59
_LINE_PROGRAM = 0x10
_ADDRESS, _IMPLICIT, _PRESENT = 0x01, 0x21, 0x19
_BY_NAME, _IN_LINE_STRINGS, _IN_STRINGS, _BLOCK = 0x08, 0x1F, 0x0E, 0x09


class HostLines:
    """``library``: a 64-bit ELF library's bytes."""

    def __init__(self, library: bytes) -> None:
        # Address and line; 0: not the source.
        self._rows: list[tuple[int, int]] = []
        # Size, begin, end, the call's line.
        self._inlined: list[tuple[int, int, int, int]] = []
        try:
            table = section_of(library, ".debug_line")
            strings = {
                _IN_LINE_STRINGS: section_of(library, ".debug_line_str"),
                _IN_STRINGS: section_of(library, ".debug_str"),
            }
            files: dict[int, set[int]] = {}
            for row in _rows(table, strings, files):
                self._rows.append(row)
                if len(self._rows) > _MOST_ROWS:
                    break
            self._inlined = sorted(_inlined(library, files))
        except (ValueError, LookupError, TypeError, struct.error):
            self._rows = []
        self._rows.sort(key=lambda it: it[0])

    def line_at(self, offset: int) -> int:
        """0: unknown. In an inlined header function, the call's line."""
        at = bisect.bisect_right(self._rows, offset, key=lambda it: it[0])
        if at and self._rows[at - 1][1]:
            return self._rows[at - 1][1]
        return next((line for _, start, end, line in self._inlined if start <= offset < end), 0)


def _rows(table: bytes, strings: dict[int, bytes], files: dict[int, set[int]]) -> Iterator[tuple[int, int]]:
    """Fills ``files``: a unit's offset in the table -> the source's file numbers."""
    at = 0
    while at + 4 < len(table):
        length = int.from_bytes(table[at : at + 4], "little")
        yield from _unit(Reader(table, at + 4, at + 4 + length), strings, files.setdefault(at, set()))
        at += 4 + length


def _unit(it: Reader, strings: dict[int, bytes], ours: set[int]) -> Iterator[tuple[int, int]]:
    if it.number(2) != 5:
        return
    it.number(2)  # sizes of addresses and segments
    program = it.number(4)
    program += it.at
    shortest, _, _, base, span, count = (it.number(1) for _ in range(6))
    lengths = [it.number(1) for _ in range(count - 1)]
    ours |= {number for number, name in _names(it, strings).items() if name.endswith(_SUFFIXES)}
    it.at = program
    if span == 0:
        raise ValueError("a table without lines")
    address, file, line = 0, 1, 1
    while it.at < it.end:
        code = it.number(1)
        if code >= count:
            address += (code - count) // span * shortest
            line += base - (base & 128) * 2 + (code - count) % span
        elif code == 0:
            size = it.leb()
            following, kind = it.at + size, it.number(1)
            if kind == 1:
                yield address, 0
                address, file, line = 0, 1, 1
            elif kind == 2:
                address = it.number(size - 1)
            it.at = following
            continue
        elif code == 2:
            address += it.leb() * shortest
            continue
        elif code == 3:
            line += it.leb(signed=True)
            continue
        elif code == 4:
            file = it.leb()
            continue
        elif code == 8:
            address += (255 - count) // span * shortest
            continue
        elif code == 9:
            address += it.number(2)
            continue
        elif code != 1:
            for _ in range(lengths[code - 1]):
                it.leb()
            continue
        yield address, line if file in ours and line > 0 else 0


def _names(it: Reader, strings: dict[int, bytes]) -> dict[int, bytes]:
    names: dict[int, bytes] = {}
    for _ in range(2):  # folders, then files
        forms = [(it.leb(), it.leb()) for _ in range(it.number(1))]
        names = {}
        for number in range(it.leb()):
            for content, form in forms:
                value = _value(it, form, strings)
                if content == _PATH and isinstance(value, bytes):
                    names[number] = value
            if it.at >= it.end or number > _MOST_ROWS:
                raise ValueError("a list of files is too long")
    return names


def _value(it: Reader, form: int, strings: dict[int, bytes]) -> bytes | int:
    if form == _BY_NAME:
        return it.text()
    if form in _NUMBERS:
        return it.leb()
    if form == _SIGNED:
        return it.leb(signed=True)
    if form == _PRESENT:
        return 1
    if form in (_BLOCK, _EXPRESSION):
        size = it.leb()
        it.at += size
        return 0
    if form in _LENGTHS:
        size = it.number(_LENGTHS[form])
        it.at += size
        return 0
    if form not in _FIXED:
        raise ValueError(f"a value of form {form}")
    value = it.number(_FIXED[form])
    if form in strings:
        return strings[form][value : strings[form].index(b"\0", value)]
    return value


@dataclass(frozen=True)
class _Abbreviation:
    tag: int
    # The value is 0 unless the form has one.
    attributes: tuple[tuple[int, int, int], ...]


def _inlined(library: bytes, files: dict[int, set[int]]) -> Iterator[tuple[int, int, int, int]]:
    """Size, begin, end and line of code that was inlined into the source."""
    info, abbreviations, ranges = (
        section_of(library, f".debug_{section}") for section in ("info", "abbrev", "rnglists")
    )
    at = found = 0
    while at + 12 < len(info):
        length = int.from_bytes(info[at : at + 4], "little")
        it = Reader(info, at + 4, at + 4 + length)
        at += 4 + length
        if it.number(2) != 5 or it.number(1) not in (1, 2):
            continue
        it.number(1)
        known = _abbreviations(abbreviations, it.number(4))
        ours: set[int] = set()
        base = 0
        while it.at < it.end:
            if (code := it.leb()) == 0:
                continue
            entry = known[code]
            values = {
                attribute: given if form == _IMPLICIT else _value(it, form, {})
                for attribute, form, given in entry.attributes
            }
            if _LINE_PROGRAM in values:
                ours, base = files.get(int(values[_LINE_PROGRAM]), set()), int(values.get(_LOW, 0))
            if entry.tag == _INLINED_SUBROUTINE and values.get(_CALL_FILE) in ours:
                for start, end in _spans(values, base, ranges):
                    yield end - start, start, end, int(values.get(_CALL_LINE, 0))
                    found += 1
            if found > _MOST_ROWS:
                return


def _abbreviations(data: bytes, at: int) -> dict[int, _Abbreviation]:
    it, found = Reader(data, at, len(data)), {}
    while code := it.leb():
        tag, _ = it.leb(), it.number(1)
        attributes = []
        while True:
            attribute, form = it.leb(), it.leb()
            given = it.leb(signed=True) if form == _IMPLICIT else 0
            if attribute == form == 0:
                break
            attributes.append((attribute, form, given))
        found[code] = _Abbreviation(tag, tuple(attributes))
    return found


def _spans(values: dict[int, bytes | int], base: int, ranges: bytes) -> Iterator[tuple[int, int]]:
    if _RANGES not in values:
        low, high = int(values.get(_LOW, 0)), int(values.get(_HIGH, 0))
        yield low, low + high
        return
    it = Reader(ranges, int(values[_RANGES]), len(ranges))
    while (kind := it.number(1)) != 0:
        if kind == 4:
            start, end = it.leb(), it.leb()
            yield base + start, base + end
        elif kind == 5:
            base = it.number(8)
        elif kind in (6, 7):
            start = it.number(8)
            yield start, it.number(8) if kind == 6 else start + it.leb()
        else:
            return
