"""A block with variables' names: nvcc's ``-G`` program of the same source, at the judged launch.

Optimised PTX has lines only (also with ``-dopt=on``). This other program gets the launch's memory, arguments
and shape.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import ptx
from ..kernel_memory import InMemory, fill, in_memory
from ..lower import Lowered, Unsupported, function_address
from ..lower.kernel import Frame, Kernel
from ..names import OP
from .dwarf import Debug, Named, Place, debug_of

# From the judged program's memory to this one's additions.
_GAP = 1 << 20
# The additions' numbers.
_FIRST_NUMBER = 1 << 30
_MOST = 2000


class NoNames(Exception):
    """The text is a sentence."""


class Module(Protocol):
    """The used part of ``engine.Loaded``."""

    module: ptx.Module
    addresses: dict[str, int]


@dataclass(frozen=True)
class Program:
    """Arguments in the kernel's layout, and the grid barrier's address."""

    loaded: Module
    params: bytes
    grid_barrier: int


@dataclass(frozen=True)
class Added:
    """A variable that the judged program lacks."""

    address: int
    number: int
    data: bytes
    constant: bool


@dataclass(frozen=True)
class NamedKernel:
    """``lines``: of ``lowered.places``, 0 outside of the kernel's file, because functions of headers are not
    inlined.
    """

    lowered: Lowered
    made: InMemory
    added: list[Added]
    lines: list[int]
    variables: dict[str, Any]


class _Labelled(Kernel):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.rows_of: dict[str, int] = {}

    def _function(self, frame: Frame) -> None:
        super()._function(frame)
        self.rows_of.update(self.labels)


def named_kernel(
    texts: Sequence[str],
    name: str,
    program: Program,
    operations: Mapping[str, tuple[int, int]],
    above: int,
) -> NamedKernel:
    """One of ``texts`` has the kernel. ``above``: free addresses. Raises NoNames."""
    text = next((text for text in texts if name in text), "")
    try:
        module = ptx.parse(text) if text else None
        if module is None or name not in module.functions:
            raise NoNames("Compiled with variables' names, the source has no such kernel.")
        addresses, added = _memory(module, program, above)
        kernel = _Labelled(module, module.functions[name], addresses, operations)
        lowered = kernel.lowered()
    except (ptx.BadPtx, Unsupported) as error:
        raise NoNames(f"Compiled with variables' names, the kernel cannot run here: {error}.") from error
    if [size for _, size in lowered.param_layout] != [size for _, size in _layout(program, name)]:
        raise NoNames("Compiled with variables' names, the kernel takes other arguments.")
    made = in_memory(lowered)
    for offset, size, unit in lowered.params:
        value = int.from_bytes(program.params[offset : offset + size], "little")
        fill(made.pool, unit, value, 8 if size == 8 else 4)
    if lowered.param_units:
        at = added[-1].address + len(added[-1].data) + _GAP if added else above + _GAP
        at = -(-at // 4096) * 4096
        added.append(Added(at, _FIRST_NUMBER + len(added), program.params, constant=True))
        for unit in lowered.param_units:
            fill(made.pool, unit, at, 8)
    for unit, upper in lowered.grid_units:
        fill(made.pool, unit, program.grid_barrier >> 32 if upper else program.grid_barrier & 0xFFFFFFFF, 4)
    own = kernel.function.place.file
    lines = [place.line if place.file == own else 0 for place in lowered.places]
    variables = _variables(kernel, lowered, debug_of(text), program.params)
    return NamedKernel(lowered, made, added, lines, variables)


def _layout(program: Program, name: str) -> list[tuple[int, int]]:
    from ..lower import layout

    return layout(program.loaded.module.functions[name].params)


def _memory(module: ptx.Module, program: Program, above: int) -> tuple[dict[str, int], list[Added]]:
    """The judged program's if it has the variable, else new ones, such as for a text that only one prints."""
    known, addresses, added = program.loaded.module.variables, {}, list[Added]()
    at = -(-(above + _GAP) // 4096) * 4096
    new: list[tuple[ptx.Variable, bytearray]] = []
    for variable in module.variables.values():
        if variable.space not in ("global", "const"):
            continue
        other = known.get(variable.name)
        if (
            other is not None
            and variable.name in program.loaded.addresses
            and (other.size, other.space, other.data, other.pointers)
            == (variable.size, variable.space, variable.data, variable.pointers)
        ):
            addresses[variable.name] = program.loaded.addresses[variable.name]
            continue
        data = bytearray(variable.data.ljust(max(variable.size, 1), b"\0"))
        addresses[variable.name] = at
        new.append((variable, data))
        at = -(-(at + len(data) + 256) // 4096) * 4096
    for number, (variable, data) in enumerate(new):
        for offset, name, addend in variable.pointers:
            if name in module.functions:
                struct.pack_into("<Q", data, offset, function_address(module, name) + addend)
            elif name in addresses:
                struct.pack_into("<Q", data, offset, addresses[name] + addend)
        constant = variable.space == "const"
        added.append(Added(addresses[variable.name], _FIRST_NUMBER + number, bytes(data), constant))
    return addresses, added


def _variables(kernel: _Labelled, lowered: Lowered, debug: Debug, params: bytes) -> dict[str, Any]:
    """``list``: name, type (see ``Debug``), line, first row and end of the scope, and places: first row, end,
    and ``["unit", unit, bits]``, ``["local", offset]``, ``["shared", offset]``, ``["global", address]`` or
    ``["bytes", hexadecimal]``.
    """
    found: list[list[Any]] = []
    for variable in debug.variables:
        if len(found) >= _MOST:
            break
        if variable.function and variable.function not in kernel.frames:
            continue
        begin = kernel.rows_of.get(variable.begin, 0 if not variable.begin else -1)
        end = kernel.rows_of.get(variable.end, lowered.row_count if not variable.end else -1)
        if begin < 0 or end < 0:
            continue
        places = [
            place
            for each in variable.places
            for place in _place(kernel, lowered, variable, each, (begin, end), params)
        ]
        found.append([variable.name, variable.type, variable.line, begin, end, places])
    return {"types": debug.types, "list": found}


def _place(
    kernel: _Labelled, lowered: Lowered, variable: Named, place: Place, scope: tuple[int, int], params: bytes
) -> Iterator[list[Any]]:
    if (place.begin and place.begin not in kernel.rows_of) or (place.end and place.end not in kernel.rows_of):
        return
    begin = kernel.rows_of.get(place.begin, scope[0])
    end = kernel.rows_of.get(place.end, scope[1])
    frame = kernel.frames.get(variable.function)
    if place.kind == "register" and frame is not None and place.name in frame.registers:
        unit, kind = frame.registers[place.name], frame.function.registers[place.name]
        if not place.begin:  # its value comes only with its instruction
            begin = max(begin, _set_at(kernel, unit, scope))
        bits = 1 if kind == "pred" else 8 * ptx.SIZES[kind]
        yield [begin, end, "unit", unit, bits]
    elif place.kind == "local" and frame is not None and place.name in frame.local:
        yield [begin, end, "local", frame.local[place.name] + place.offset]
    elif place.kind == "shared" and place.name in kernel.shared:
        yield [begin, end, "shared", kernel.shared[place.name] + place.offset]
    elif place.kind == "param":
        function = kernel.function
        for param, (at, size) in zip(function.params, lowered.param_layout, strict=True):
            if param.name == place.name:
                yield [begin, end, "bytes", params[at + place.offset : at + size].hex()]
    elif place.kind in ("global", "const") and place.name in kernel.addresses:
        yield [begin, end, "global", str(kernel.addresses[place.name] + place.offset)]


def _set_at(kernel: _Labelled, unit: int, scope: tuple[int, int]) -> int:
    """The row after a unit is first set, or the scope's end."""
    for number in range(scope[0], min(scope[1], len(kernel.rows))):
        row = kernel.rows[number]
        outs = (row.d, row.b, row.c, row.e)[: row.elements] if row.op == OP.LOAD else (row.d,)
        if unit in outs and row.op != OP.STORE:
            while number + 1 < len(kernel.rows) and kernel.origins[number + 1] is kernel.origins[number]:
                number += 1
            return number + 1
    return scope[1]


def row_types(lowered: Lowered) -> tuple[list[str], list[int]]:
    """PTX types, and for each row an index there: what it loads, stores or moves. "": none."""
    names: dict[str, int] = {"": 0}
    rows = []
    for origin in lowered.origins:
        kinds = [modifier for modifier in origin.modifiers if modifier in ptx.SIZES]
        rows.append(names.setdefault(kinds[-1] if kinds else "", len(names)))
    return list(names), rows
