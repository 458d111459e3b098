"""Debug information of nvcc's ``-G`` PTX: variables' names, types and places by label.

DWARF 2 as text. ``DW_OP_regx`` has a register's name, ``%r12``, in ASCII, first character highest; memory has
an address class of PTX. Unknown forms are skipped: a variable may lack a place, but has no wrong one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_SECTION = re.compile(r"\.section\s+(\.debug_\w+)\s*\{(.*?)\}", re.DOTALL)
_SIZES = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}
_OFFSET = re.compile(r"\.debug_loc(?:\+(\d+))?$")
_ARRAY, _PARAMETER, _BLOCK, _MEMBER, _POINTER, _REFERENCE, _UNIT, _STRUCT, _TYPEDEF, _UNION = (
    0x01, 0x05, 0x0B, 0x0D, 0x0F, 0x10, 0x11, 0x13, 0x16, 0x17,
)  # fmt: skip
_CLASS, _INHERITED, _RANGE, _BASE, _CONST, _ENUM, _FUNCTION, _VARIABLE, _VOLATILE = (
    0x02, 0x1C, 0x21, 0x24, 0x26, 0x04, 0x2E, 0x34, 0x35,
)  # fmt: skip
_LOCATION, _NAME, _BYTES, _LOW, _HIGH, _COUNT, _UPPER = 0x02, 0x03, 0x0B, 0x11, 0x12, 0x37, 0x2F
_MEMBER_AT, _LINE, _ENCODING, _TYPE, _SPACE, _LINKAGE = 0x38, 0x3B, 0x3E, 0x49, 0x33, 0x2007
_BOOL, _FLOAT, _SIGNED, _SIGNED_CHAR, _UNSIGNED, _UNSIGNED_CHAR = 2, 4, 5, 6, 7, 8
_ADDRESS_OF, _PLUS, _REGISTER = 0x03, 0x23, 0x90
CLASSES = {4: "const", 5: "global", 6: "local", 7: "param", 8: "shared"}
# Structures of CUDA's headers that are numbers.
_NUMBERS = {"__half": "f16", "__nv_bfloat16": "bf16", "__half2": "f16x2", "__nv_bfloat162": "bf16x2"}
_MOST_ENTRIES, _DEEP = 200_000, 12


@dataclass(frozen=True)
class Place:
    """Between two labels; "": the scope's beginning or end.

    ``kind``: register, or of ``CLASSES``. ``name``: the register or symbol. ``offset``: in bytes.
    """

    begin: str
    end: str
    kind: str
    name: str
    offset: int = 0


@dataclass(frozen=True)
class Named:
    """In scope between two labels. ``type``: of ``Debug.types``."""

    function: str
    name: str
    type: int
    line: int
    begin: str
    end: str
    places: tuple[Place, ...]


@dataclass
class Debug:
    """``types`` have ``kind`` (bool, char, int, uint, float, f16, bf16, f16x2, bf16x2, pointer, array,
    struct) and ``size`` in bytes; pointers and arrays ``of``, arrays ``count``, structs ``name`` and
    ``members``: name, type, offset.
    """

    types: list[dict[str, Any]] = field(default_factory=list)
    variables: list[Named] = field(default_factory=list)


@dataclass
class _Entry:
    tag: int
    values: dict[int, Any]
    children: list[_Entry] = field(default_factory=list)

    def text(self, attribute: int) -> str:
        value = self.values.get(attribute, b"")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def number(self, attribute: int) -> int:
        value = self.values.get(attribute, 0)
        return value if isinstance(value, int) else 0


@dataclass(frozen=True)
class _Bytes:
    """A section, with symbols by place."""

    data: bytes
    symbols: dict[int, str]


def debug_of(text: str) -> Debug:
    """Empty if not understood."""
    sections = {name: _section(body) for name, body in _SECTION.findall(text)}
    if not {".debug_info", ".debug_abbrev"} <= sections.keys():
        return Debug()
    try:
        return _Reader(sections).debug
    except (IndexError, KeyError, ValueError, struct.error, RecursionError):
        return Debug()


def _section(body: str) -> _Bytes:
    data, symbols = bytearray(), {}
    for line in body.splitlines():
        directive, _, rest = line.strip().partition(" ")
        size = _SIZES.get(directive)
        if size is None:
            continue
        for item in rest.split(","):
            item = item.strip()
            try:
                value = int(item, 0)
            except ValueError:
                symbols[len(data)] = item
                value = 0
            data += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    return _Bytes(bytes(data), symbols)


def _uleb(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return result, at


class _Reader:
    def __init__(self, sections: dict[str, _Bytes]) -> None:
        self._info, self._locations = sections[".debug_info"], sections.get(".debug_loc")
        self._forms = self._abbreviations(sections[".debug_abbrev"].data)
        self._entries: dict[int, _Entry] = {}
        self._types: dict[int, int] = {}
        self.debug = Debug()
        for top in self._read():
            if top.tag != _UNIT:
                continue
            for entry in top.children:
                if entry.tag == _FUNCTION:
                    self._function(entry)
                elif entry.tag == _VARIABLE:
                    self._variable(entry, "", "", "")

    @staticmethod
    def _abbreviations(data: bytes) -> dict[int, tuple[int, int, list[tuple[int, int]]]]:
        found: dict[int, tuple[int, int, list[tuple[int, int]]]] = {}
        at = 0
        while at < len(data):
            code, at = _uleb(data, at)
            if code == 0:
                break
            tag, at = _uleb(data, at)
            parent, at = data[at], at + 1
            attributes: list[tuple[int, int]] = []
            while True:
                attribute, at = _uleb(data, at)
                form, at = _uleb(data, at)
                if attribute == form == 0:
                    break
                attributes.append((attribute, form))
            found[code] = (tag, parent, attributes)
        return found

    def _read(self) -> list[_Entry]:
        data, at = self._info.data, 11  # after the unit's head
        tops: list[_Entry] = []
        open_: list[_Entry] = []
        while at < len(data) and len(self._entries) < _MOST_ENTRIES:
            start = at
            code, at = _uleb(data, at)
            if code == 0:
                if open_:
                    open_.pop()
                continue
            tag, parent, attributes = self._forms[code]
            entry = _Entry(tag, {})
            for attribute, form in attributes:
                entry.values[attribute], at = self._value(form, at)
            self._entries[start] = entry
            (open_[-1].children if open_ else tops).append(entry)
            if parent:
                open_.append(entry)
        return tops

    def _value(self, form: int, at: int) -> tuple[Any, int]:
        """Raises ValueError for an unknown form."""
        data, symbols = self._info.data, self._info.symbols
        fixed = {0x0B: 1, 0x0C: 1, 0x05: 2, 0x06: 4, 0x13: 4, 0x01: 8, 0x07: 8}.get(form)
        if fixed is not None:
            if at in symbols:
                return symbols[at], at + fixed
            return int.from_bytes(data[at : at + fixed], "little"), at + fixed
        if form == 0x08:  # a string
            end = data.index(0, at)
            return data[at:end], end + 1
        if form == 0x0A:  # a block of bytes
            size = data[at]
            return _part(self._info, at + 1, size), at + 1 + size
        if form in (0x0D, 0x0F):
            return _uleb(data, at)
        raise ValueError(f"form {form}")

    def _function(self, entry: _Entry) -> None:
        name = entry.text(_LINKAGE) or entry.text(_NAME)
        self._scope(entry, name, entry.text(_LOW), entry.text(_HIGH))

    def _scope(self, entry: _Entry, function: str, begin: str, end: str) -> None:
        for child in entry.children:
            if child.tag in (_PARAMETER, _VARIABLE):
                self._variable(child, function, begin, end)
            elif child.tag == _BLOCK:
                self._scope(child, function, child.text(_LOW) or begin, child.text(_HIGH) or end)

    def _variable(self, entry: _Entry, function: str, begin: str, end: str) -> None:
        name, of = entry.text(_NAME), entry.number(_TYPE)
        if not name or not of:
            return
        kind = self._type(of, 0)
        location = entry.values.get(_LOCATION)
        places: list[Place] = []
        if isinstance(location, _Bytes):
            places = list(self._place(location, entry.number(_SPACE), "", ""))
        elif isinstance(location, str) and (found := _OFFSET.match(location)):
            places = list(self._list(int(found[1] or 0)))
        self.debug.variables.append(
            Named(function, name, kind, entry.number(_LINE), begin, end, tuple(places))
        )

    def _list(self, at: int) -> Iterator[Place]:
        """Two labels and an expression each, then zeros."""
        section = self._locations
        while section is not None and at + 16 <= len(section.data):
            begin, end = section.symbols.get(at, ""), section.symbols.get(at + 8, "")
            if not begin and not end:
                return
            (size,) = struct.unpack_from("<H", section.data, at + 16)
            yield from self._place(_part(section, at + 18, size), 0, begin, end)
            at += 18 + size

    @staticmethod
    def _place(expression: _Bytes, space: int, begin: str, end: str) -> Iterator[Place]:
        data = expression.data
        if not data:
            return
        if data[0] == _REGISTER:
            number, after = _uleb(data, 1)
            name = number.to_bytes(-(-number.bit_length() // 8), "big").decode("ascii", "replace")
            if after == len(data) and name.startswith("%"):
                yield Place(begin, end, "register", name)
        elif data[0] == _ADDRESS_OF and space in CLASSES and 1 in expression.symbols:
            offset, after = 0, 9
            if len(data) > after and data[after] == _PLUS:
                offset, after = _uleb(data, after + 1)
            if after == len(data):
                yield Place(begin, end, CLASSES[space], expression.symbols[1], offset)

    def _type(self, at: int, depth: int) -> int:
        if at in self._types:
            return self._types[at]
        entry = self._entries.get(at)
        if entry is None or depth > _DEEP:
            return self._add({"kind": "unknown", "size": 0})
        if entry.tag in (_TYPEDEF, _CONST, _VOLATILE):
            target = entry.number(_TYPE)
            index = self._type(target, depth + 1) if target else self._add({"kind": "void", "size": 0})
        else:
            # First, because a struct may point to itself.
            index = self._add({})
            self._types[at] = index
            self.debug.types[index].update(self._described(entry, depth))
        self._types[at] = index
        return index

    def _add(self, described: dict[str, Any]) -> int:
        self.debug.types.append(described)
        return len(self.debug.types) - 1

    def _described(self, entry: _Entry, depth: int) -> dict[str, Any]:
        size = entry.number(_BYTES)
        if entry.tag in (_POINTER, _REFERENCE):
            target = entry.number(_TYPE)
            of = self._type(target, depth + 1) if target else self._add({"kind": "void", "size": 0})
            return {"kind": "pointer", "size": 8, "of": of}
        if entry.tag == _BASE:
            return {"kind": _base(entry.number(_ENCODING)), "size": size, "name": entry.text(_NAME)}
        if entry.tag == _ENUM:
            return {"kind": "int", "size": size or 4, "name": entry.text(_NAME)}
        if entry.tag in (_STRUCT, _UNION, _CLASS):
            name = entry.text(_NAME)
            if name in _NUMBERS:
                return {"kind": _NUMBERS[name], "size": size}
            members = [
                [child.text(_NAME), self._type(child.number(_TYPE), depth + 1), _member_at(child)]
                for child in entry.children
                if child.tag == _MEMBER and child.number(_TYPE)
            ]
            return {"kind": "struct", "size": size, "name": name, "members": members}
        if entry.tag == _ARRAY:
            counts = [
                child.number(_COUNT) or (child.number(_UPPER) + 1 if _UPPER in child.values else 0)
                for child in entry.children
                if child.tag == _RANGE
            ]
            inner = self._type(entry.number(_TYPE), depth + 1)
            for count in reversed(counts[1:]):
                whole = count * self.debug.types[inner].get("size", 0)
                inner = self._add({"kind": "array", "size": whole, "of": inner, "count": count})
            count = counts[0] if counts else 0
            whole = count * self.debug.types[inner].get("size", 0)
            return {"kind": "array", "size": whole, "of": inner, "count": count}
        return {"kind": "unknown", "size": size}


def _base(encoding: int) -> str:
    names = {
        _BOOL: "bool", _FLOAT: "float", _SIGNED: "int", _SIGNED_CHAR: "char", _UNSIGNED: "uint", _UNSIGNED_CHAR: "uint",
    }  # fmt: skip
    return names.get(encoding, "unknown")


def _member_at(entry: _Entry) -> int:
    location = entry.values.get(_MEMBER_AT)
    if isinstance(location, _Bytes) and location.data[:1] == bytes([_PLUS]):
        return _uleb(location.data, 1)[0]
    return location if isinstance(location, int) else 0


def _part(section: _Bytes, at: int, size: int) -> _Bytes:
    symbols = {place - at: name for place, name in section.symbols.items() if at <= place < at + size}
    return _Bytes(section.data[at : at + size], symbols)
