"""PTX out of what nvcc makes of a source: a fat binary, as it lies in a library's ``.nv_fatbin``.

Only uncompressed entries are read (``--compress-mode=none``).
"""

from __future__ import annotations

import struct

_MAGIC = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_PTX = 1


def ptx_of(data: bytes) -> list[str]:
    """Every PTX text in ``data``, fat binaries one after the other. Raises ValueError where it is damaged."""
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
            if kind == _PTX:
                text = data[entry + entry_header : entry + entry_header + entry_size]
                found.append(text.rstrip(b"\0").decode("utf-8", "replace"))
            entry += entry_header + entry_size
        at = end
    return found


def section_of(library: bytes, name: str = ".nv_fatbin") -> bytes:
    """A section of a 64-bit ELF library; empty where it has none. Raises ValueError where it is no such library."""
    try:
        if library[:5] != b"\x7fELF\x02":
            raise ValueError("no 64-bit ELF library")
        (table,) = struct.unpack_from("<Q", library, 0x28)
        size, count, names_at = struct.unpack_from("<HHH", library, 0x3A)
        heads = [struct.unpack_from("<IIQQQQIIQQ", library, table + index * size) for index in range(count)]
        for head in heads:
            start = heads[names_at][4] + head[0]
            if library[start : library.index(b"\0", start)] == name.encode():
                return library[head[4] : head[4] + head[5]]
    except (struct.error, IndexError) as error:
        raise ValueError("the library is damaged") from error
    return b""
