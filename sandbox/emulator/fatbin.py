"""PTX and register counts in ``.nv_fatbin``, nvcc's fat binaries.

Entries must be uncompressed (``--compress-mode=none``).
"""

from __future__ import annotations

import struct
from contextlib import suppress

_MAGIC = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_PTX, _MACHINE_CODE = 1, 2
# PTX with variables' names.
NAMES = ".grader_names"
_CODE = ".text."
# Notes for the driver, and the attribute with registers by function symbol.
_NOTES, _NOTE, _SIZED = ".nv.info", struct.Struct("<BBH"), 4
_REGISTERS, _COUNT = 0x2F, struct.Struct("<II")


def ptx_of(data: bytes) -> list[str]:
    """PTX texts of concatenated fat binaries. Raises ValueError if damaged."""
    return [entry.rstrip(b"\0").decode("utf-8", "replace") for entry in _entries(data, _PTX)]


def registers_of(data: bytes) -> dict[str, int]:
    """A thread's, by kernel. Damaged code yields none."""
    found: dict[str, int] = {}
    for code in machine_codes(data):
        with suppress(ValueError):
            sections = sections_of(code)
            counts = _counts(code, sections)
            for name, head in sections:
                if name.startswith(_CODE):
                    # sh_info's upper byte up to sm_89; later the notes' symbol.
                    found[name.removeprefix(_CODE)] = head[7] >> 24 or counts.get(head[7], 0)
    return found


def machine_codes(data: bytes) -> list[bytes]:
    """Of concatenated fat binaries. Raises ValueError if damaged."""
    return _entries(data, _MACHINE_CODE)


def _counts(code: bytes, sections: list[tuple[str, tuple[int, ...]]]) -> dict[int, int]:
    """By function symbol. A note is a format, an attribute, and a 16-bit value or a size and a value."""
    found: dict[int, int] = {}
    head = next((head for name, head in sections if name == _NOTES), None)
    if head is None:
        return found
    notes, at = code[head[4] : head[4] + head[5]], 0
    while at + _NOTE.size <= len(notes):
        form, attribute, size = _NOTE.unpack_from(notes, at)
        at += _NOTE.size
        if form != _SIZED:
            continue
        if attribute == _REGISTERS and size == _COUNT.size and at + size <= len(notes):
            symbol, count = _COUNT.unpack_from(notes, at)
            found[symbol] = count
        at += size
    return found


def _entries(data: bytes, wanted: int) -> list[bytes]:
    """Raises ValueError."""
    found, at = [], 0
    while at + _HEADER.size <= len(data):
        magic, _, header, size = _HEADER.unpack_from(data, at)
        if magic != _MAGIC:
            at += 8
            continue
        entry, end = at + header, at + header + size
        if end > len(data):
            raise ValueError("a fat binary is longer than what holds it")
        while entry + _ENTRY.size <= end:
            kind, _, entry_header, entry_size = _ENTRY.unpack_from(data, entry)
            if entry_header < _ENTRY.size or entry + entry_header + entry_size > end:
                raise ValueError("an entry of a fat binary is longer than what holds it")
            if kind == wanted:
                found.append(data[entry + entry_header : entry + entry_header + entry_size])
            entry += entry_header + entry_size
        at = end
    return found


def section_of(library: bytes, name: str = ".nv_fatbin") -> bytes:
    """Of a 64-bit ELF file; empty if absent. Raises ValueError for other files."""
    found = (head for its_name, head in sections_of(library) if its_name == name)
    head = next(found, None)
    return library[head[4] : head[4] + head[5]] if head is not None else b""


def sections_of(library: bytes) -> list[tuple[str, tuple[int, ...]]]:
    """Names and headers. Raises ValueError."""
    try:
        if library[:5] != b"\x7fELF\x02":
            raise ValueError("no 64-bit ELF library")
        (table,) = struct.unpack_from("<Q", library, 0x28)
        size, count, names_at = struct.unpack_from("<HHH", library, 0x3A)
        heads = [struct.unpack_from("<IIQQQQIIQQ", library, table + index * size) for index in range(count)]
        starts = [heads[names_at][4] + head[0] for head in heads]
        names = [library[start : library.index(b"\0", start)].decode("ascii", "replace") for start in starts]
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise ValueError("the library is damaged") from error
    return list(zip(names, heads, strict=True))
