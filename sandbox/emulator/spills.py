"""Spilled registers, from machine code for sm_70 and newer.

The engine never sees them, because PTX has no limit of registers. Debug information gives each access a
source line.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress

from .fatbin import machine_codes, sections_of
from .reader import Reader

# Kernel -> line -> bytes that a thread moves each time.
Spills = dict[str, dict[int, int]]

_CODE, _LINES = ".text.", ".debug_line"
_INSTRUCTION = struct.Struct("<QQ")
_LOADS, _STORES, _OPCODE = 0x983, 0x387, 0xFFF
# In the instruction's upper half.
_SIZE_AT, _SIZES = 9, (1, 1, 2, 2, 4, 8, 16, 0)
_ADDEND = struct.Struct("<QQq")
_SYMBOL = struct.Struct("<IBBHQQ")
_MOST_ROWS = 1 << 18


def spills_of(data: bytes) -> Spills:
    """Of concatenated fat binaries; damaged code yields none."""
    found: Spills = {}
    with suppress(ValueError):
        for code in machine_codes(data):
            found |= spills_of_code(code)
    return found


def spills_of_code(code: bytes) -> Spills:
    """Only kernels with spills; line 0: unknown."""
    found: Spills = {}
    try:
        sections = sections_of(code)
        lines = _lines(code, sections)
        for name, head in sections:
            if not name.startswith(_CODE):
                continue
            of_line: dict[int, int] = {}
            for at, size in _accesses(code[head[4] : head[4] + head[5]]):
                line = _line_at(lines.get(name, []), at)
                of_line[line] = of_line.get(line, 0) + size
            if of_line:
                found[name.removeprefix(_CODE)] = of_line
    except (ValueError, LookupError, OverflowError, struct.error):
        return {}
    return found


def _accesses(text: bytes) -> Iterator[tuple[int, int]]:
    """Offset and bytes."""
    whole = len(text) // _INSTRUCTION.size * _INSTRUCTION.size
    for number, (low, high) in enumerate(_INSTRUCTION.iter_unpack(text[:whole])):
        if low & _OPCODE in (_LOADS, _STORES):
            yield number * _INSTRUCTION.size, _SIZES[high >> _SIZE_AT & 7]


def _line_at(rows: list[tuple[int, int]], at: int) -> int:
    index = bisect.bisect_right(rows, at, key=lambda row: row[0])
    return rows[index - 1][1] if index else 0


def _lines(code: bytes, sections: list[tuple[str, tuple[int, ...]]]) -> Mapping[str, list[tuple[int, int]]]:
    """By section; line 0 outside of the kernel's file."""
    heads = dict(sections)
    if _LINES not in heads:
        return {}
    table = _bytes(code, heads[_LINES])
    # Place in the table -> the section that it names.
    named: dict[int, str] = {}
    if f".rela{_LINES}" in heads:
        symbols = _bytes(code, heads[".symtab"])
        for offset, info, _ in _ADDEND.iter_unpack(_bytes(code, heads[f".rela{_LINES}"])):
            section = _SYMBOL.unpack_from(symbols, (info >> 32) * _SYMBOL.size)[3]
            named[offset] = sections[section][0]
    found: dict[str, list[tuple[int, int]]] = {}
    at = 0
    while at + 4 < len(table):
        length = int.from_bytes(table[at : at + 4], "little")
        for section, first_file, rows in _sequences(Reader(table, at + 4, at + 4 + length), named):
            found[section] = sorted(
                (offset, line if file == first_file else 0) for offset, file, line in rows
            )
        at += 4 + length
    return found


def _sequences(it: Reader, named: Mapping[int, str]) -> Iterator[tuple[str, int, list[tuple[int, int, int]]]]:
    """Section, first file, rows (offset, file, line). DWARF 2 to 4."""
    version = it.number(2)
    if not 2 <= version <= 4:
        return
    program = it.number(4)
    program += it.at
    shortest = it.number(1)
    if version == 4:
        it.number(1)
    _, base, span, count = (it.number(1) for _ in range(4))
    lengths = [it.number(1) for _ in range(count - 1)]
    if span == 0:
        raise ValueError("a table without lines")
    it.at = program
    address, file, line, section = 0, 1, 1, ""
    rows: list[tuple[int, int, int]] = []
    while it.at < it.end:
        code = it.number(1)
        if code >= count:
            address += (code - count) // span * shortest
            line += base - (base & 128) * 2 + (code - count) % span
            rows.append((address, file, line))
        elif code == 0:
            size = it.leb()
            following, kind = it.at + size, it.number(1)
            if kind == 1:
                if rows:
                    yield section, rows[0][1], rows
                address, file, line, section, rows = 0, 1, 1, "", []
            elif kind == 2:
                section = named.get(it.at, section)
                address = it.number(size - 1)
            it.at = following
        elif code == 1:
            rows.append((address, file, line))
        elif code == 2:
            address += it.leb() * shortest
        elif code == 3:
            line += it.leb(signed=True)
        elif code == 4:
            file = it.leb()
        elif code == 8:
            address += (255 - count) // span * shortest
        elif code == 9:
            address += it.number(2)
        else:
            for _ in range(lengths[code - 1]):
                it.leb()
        if len(rows) > _MOST_ROWS:
            raise ValueError("a table of lines is too long")


def _bytes(code: bytes, head: tuple[int, ...]) -> bytes:
    return code[head[4] : head[4] + head[5]]
