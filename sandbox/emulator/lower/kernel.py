"""A kernel while it is lowered: register units, pool constants, label rows."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ..names import CONSTANT, EVERY, FLAG, NONE, OP, SPACE, SPECIAL
from ..ptx import (
    MOST_LOCAL,
    MOST_SHARED,
    NOWHERE,
    SIZES,
    Function,
    Instruction,
    Label,
    Module,
    Place,
    UnknownType,
    Variable,
    number,
    split_operands,
)
from .arrays import shared_origins
from .rows import ROW, CodeRow, Lowered, Malformed, Unsupported, function_address, layout

# A thread's local memory.
RECURSION_BYTES = 16384
# Compilers' largest kernels have 100,000 rows and 40,000 units (128 bytes a warp each).
MOST_ROWS, MOST_UNITS = 1 << 19, 1 << 17
# tid.x is TID_X.
_SPECIALS = {re.sub(r"_(?=[xyz]$)", ".", name.lower()): SPECIAL[name] for name in SPECIAL}


@dataclass
class Frame:
    """``words``: first units of param-space variables."""

    function: Function
    registers: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    word_bytes: dict[str, int] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    local_bytes: int = 0
    start: int = 0
    units: int = 0
    entry: int = 0
    back: int = 0
    kinds: int = 0
    recursive: bool = False


class Kernel:
    def __init__(
        self,
        module: Module,
        function: Function,
        addresses: Mapping[str, int],
        operations: Mapping[str, tuple[int, int]],
    ) -> None:
        self.module, self.function, self.addresses, self.operations = module, function, addresses, operations
        self.rows: list[CodeRow] = []
        self.origins: list[Instruction] = []
        self.pool: list[int] = []
        self.known: dict[tuple[int, int], int] = {}
        self.specials: dict[str, int] = {}
        self.places: list[Place] = [NOWHERE]
        self.place_numbers: dict[Place, int] = {NOWHERE: 0}
        self.units = 0
        self.params: dict[tuple[int, int], int] = {}
        self.param_units: list[int] = []
        self.grid_units: list[tuple[int, bool]] = []
        self.shared: dict[str, int] = {}
        self.shared_names: dict[str, tuple[int, int]] = {}
        self.granule = 4
        self.allocates = False
        self.coordinates = False
        self.frames: dict[str, Frame] = {}
        self.compared_in: dict[str, set[str]] = {}
        self.arrays: dict[str, int] = {}
        self.mentions: dict[str, Counter[str]] = {}
        self.calls: dict[str, set[str]] = {}
        self.labels: dict[str, int] = {}
        self.rolled: set[int] = set()
        self.jumps: list[tuple[int, str]] = []
        # Place in the pool, and labels.
        self.tables: list[tuple[int, list[str]]] = []
        self.function_rows: list[tuple[int, str]] = []
        self.function_table: int | None = None

    def lowered(self) -> Lowered:
        reachable = self._reachable()
        self._lay_out_shared(reachable)
        words = [
            sum(-(-variable.size // 4) for variable in each)
            for f in reachable
            for each in (f.params, f.returns)
        ]
        most = max([*words, *self._prototype_words(reachable)], default=0)
        self.abi_words = most
        self.abi_params = self._take(most)
        self.abi_returns = self._take(most)
        self.abi_back = self._take(1)
        self.spare = self._take(2)
        self.spare4 = self._take(4)
        self.spare_pred = self._take(1)
        self.spare_pred2 = self._take(1)
        self.carry = self._take(1)
        self.matrix_units = self._take(4)
        self.print_units = (self._take(2), self._take(2))
        for function in reachable:
            self.frames[function.name] = self._frame(function)
        if self.units > MOST_UNITS:
            raise self.too_large(self.units, "registers of 32 bits", MOST_UNITS)
        for function in reachable:
            self._function(self.frames[function.name])
        for index, name in self.function_rows:
            self._lead_to(index, self.frames[name].entry)
        self._fill_table()
        kinds_at = self._frame_kinds(reachable)
        for index, row in enumerate(self.rows):
            if row.flags & FLAG.RECURSIVE and row.op == OP.RETURN:
                self.rows[index] = row._replace(e=kinds_at[row.a])
        local = sum(frame.local_bytes for frame in self.frames.values())
        for what, size, most in (("shared", self.shared_bytes, MOST_SHARED), ("local", local, MOST_LOCAL)):
            if size > most:
                raise self.too_large(size, f"bytes of {what} memory", most)
        if any(frame.recursive for frame in self.frames.values()):
            local += RECURSION_BYTES
        packed = b"".join(ROW.pack(*row) for row in self.rows)
        specials = [word for name, unit in self.specials.items() for word in (_SPECIALS[name], unit)]
        return Lowered(
            name=self.function.name,
            rows=packed,
            row_count=len(self.rows),
            entry=self.frames[self.function.name].entry,
            units=self.units,
            pool=self.pool,
            specials=specials,
            local_bytes=-(-local // 16) * 16,
            shared_bytes=self.shared_bytes,
            granule=self.granule,
            places=self.places,
            params=[(offset, size, unit) for (offset, size), unit in self.params.items()],
            param_units=self.param_units,
            grid_units=self.grid_units,
            param_layout=layout(self.function.params),
            max_threads=self.function.max_threads,
            allocates=self.allocates,
            coordinates=self.coordinates,
            shared_names=self.shared_names,
            is_async=any(row.op == OP.ASYNC for row in self.rows),
            cluster=self.function.cluster,
            origins=self.origins,
            rolled=frozenset(self.rolled),
            known=frozenset(unit | CONSTANT for unit in self.known.values()),
        )

    def _reachable(self) -> list[Function]:
        """It and all callees; through a pointer, every function whose address is taken."""
        pointed = {name for variable in self.module.variables.values() for _, name, _ in variable.pointers}
        found: list[Function] = []
        waiting = [self.function.name]
        while waiting:
            function = self.module.functions.get(waiting.pop(0))
            if function is None or function in found:
                continue
            found.append(function)
            called = self.calls.setdefault(function.name, set())
            for item in function.body:
                if not isinstance(item, Instruction):
                    continue
                called |= {
                    word
                    for operand in item.operands
                    if (word := operand.strip("()")) in self.module.functions
                }
                if item.name == "call" and any(
                    operand in function.registers for operand in item.operands[:2]
                ):
                    called |= pointed & self.module.functions.keys()
            waiting.extend(sorted(called))
        return found

    def _fill_table(self) -> None:
        """For calls through a pointer, a function's number."""
        if self.function_table is not None:
            for index, name in enumerate(self.module.functions):
                entry = self.frames[name].entry if name in self.frames else NONE
                self.pool[self.function_table + index] = entry

    def table(self) -> int:
        if self.function_table is None:
            self.function_table = len(self.pool)
            self.pool.extend([NONE] * (-(-len(self.module.functions) // 32) * 32))
        return self.function_table

    def _is_recursive(self, name: str) -> bool:
        seen: set[str] = set()
        waiting = list(self.calls.get(name, ()))
        while waiting:
            callee = waiting.pop()
            if callee == name:
                return True
            if callee not in seen:
                seen.add(callee)
                waiting.extend(self.calls.get(callee, ()))
        return False

    def _prototype_words(self, functions: list[Function]) -> list[int]:
        return [
            sum(-(-v.size // 4) for v in f.variables.values() if v.space == "param")
            for f in functions
            if f.variables
        ]

    def _lay_out_shared(self, functions: list[Function]) -> None:
        text = {
            word
            for f in functions
            for i in f.body
            if isinstance(i, Instruction)
            for o in i.operands
            for word in o.replace("[", " ").replace("]", " ").replace("+", " ").split()
        }
        at, dynamic = 0, []
        for variable in [
            *self.module.variables.values(),
            *(v for f in functions for v in f.variables.values()),
        ]:
            if variable.space != "shared" or (
                variable.name in self.module.variables and variable.name not in text
            ):
                continue
            if variable.extern or variable.size == 0:
                dynamic.append(variable)
                continue
            at = -(-at // variable.align) * variable.align
            self.shared[variable.name] = at
            self.shared_names[variable.name] = (at, variable.size)
            at += variable.size
        if dynamic:
            align = max(16, *(variable.align for variable in dynamic))
            at = -(-at // align) * align
            for variable in dynamic:
                self.shared[variable.name] = at
                self.shared_names[variable.name] = (at, 0)
        self.shared_bytes = at

    def _take(self, count: int) -> int:
        first, self.units = self.units, self.units + count
        return first

    def _frame(self, function: Function) -> Frame:
        frame = Frame(function, start=self.units, recursive=self._is_recursive(function.name))
        for name, kind in function.registers.items():
            frame.registers[name] = self._take(2 if SIZES[kind] == 8 else 4 if SIZES[kind] == 16 else 1)
        frame.back = self._take(1)
        if not function.entry:
            for variable in [*function.params, *function.returns]:
                frame.words[variable.name] = self._take(-(-variable.size // 4))
                frame.word_bytes[variable.name] = variable.size
        at = 0
        for variable in function.variables.values():
            if variable.space == "param":
                frame.words[variable.name] = self._take(-(-variable.size // 4))
                frame.word_bytes[variable.name] = variable.size
            elif variable.space == "local":
                at = -(-at // variable.align) * variable.align
                frame.local[variable.name] = at
                at += variable.size
        frame.local_bytes = -(-at // 16) * 16
        frame.units = self.units - frame.start
        return frame

    def _frame_kinds(self, functions: list[Function]) -> dict[int, int]:
        """A recursive frame's first unit -> place in the pool of its units' kinds (2 bits each)."""
        found = {}
        for function in functions:
            frame = self.frames[function.name]
            if not frame.recursive:
                continue
            words = [0] * (-(-frame.units // 16))
            for name, unit in frame.registers.items():
                size = SIZES[function.registers[name]]
                kind = 2 if function.registers[name] == "pred" else 1 if size == 8 else 0
                at = unit - frame.start
                words[at // 16] |= kind << 2 * (at % 16)
            found[frame.start] = len(self.pool)
            self.pool.extend(words + [0] * (-len(words) % 32))
        return found

    def compared(self, function: Function) -> set[str]:
        """Addresses of compare-and-swaps. A loop around one begins with a plain read, also in CUDA's headers;
        the swap checks the value, so that is no race.
        """
        if function.name not in self.compared_in:
            self.compared_in[function.name] = {
                item.operands[1]
                for item in function.body
                if isinstance(item, Instruction) and item.name == "atom" and "cas" in item.modifiers
            }
        return self.compared_in[function.name]

    def constant(self, value: int, size: int) -> int:
        """``value`` in every lane; ``size``: 4 or 8 bytes."""
        key = (size, value & ((1 << 8 * size) - 1))
        if key not in self.known:
            self.known[key] = len(self.pool) // 32
            words = [key[1] & EVERY] if size == 4 else [key[1] & EVERY, key[1] >> 32]
            self.pool.extend(words * 32)
        return self.known[key] | CONSTANT

    def describe(self, words: list[int]) -> int:
        """Words in the pool. Returns their place."""
        at = len(self.pool)
        self.pool.extend(words + [0] * (-len(words) % 32))
        return at

    def fresh(self, size: int) -> int:
        unit = len(self.pool) // 32
        self.pool.extend([0] * (32 if size == 4 else 64))
        return unit

    def _function(self, frame: Frame) -> None:
        self.frame, self.labels, self.jumps, self.tables = frame, {}, [], []
        self.line, self.guard, self.guard_flags = 0, NONE, 0
        self.instruction = Instruction("entry", (), [], "", NOWHERE)
        frame.entry = len(self.rows)
        self.arrays = shared_origins(frame.function, list(self.shared_names))
        if not frame.function.entry:
            self.alu("mov_b32", frame.back, self.abi_back)
            self._copy_words(self.abi_params, frame.function.params, frame)
        for item in frame.function.body:
            if isinstance(item, Label):
                self.labels[item.name] = len(self.rows)
                if item.rolled:
                    self.rolled.add(len(self.rows))
                continue
            self.instruction = item
            if item.place is not self.places[self.line]:
                self.line = self.place_numbers.setdefault(item.place, len(self.places))
                if self.line == len(self.places):
                    self.places.append(item.place)
            self.guard, self.guard_flags = NONE, 0
            if item.guard:
                self.guard = self.register(item.guard.lstrip("!"))
                self.guard_flags = FLAG.NEGATED if item.guard[0] == "!" else 0
            handler = HANDLERS.get(item.name)
            if handler is None:
                raise Unsupported(item.opcode, item.place)
            try:
                handler(self, item, item.modifiers, item.operands)
            except UnknownType as error:
                raise self.malformed(f"has the type '.{error.kind}', which does not exist") from error
            except (IndexError, StopIteration) as error:
                raise self.malformed("lacks an operand or a part of its name") from error
            except ValueError as error:
                raise self.malformed(f"has an invalid operand: {error}") from error
            if len(self.rows) > MOST_ROWS:
                raise self.too_large(len(self.rows), "instructions", MOST_ROWS)
        self.guard, self.guard_flags = NONE, 0
        if frame.function.entry:
            self.control("EXIT")
        else:
            self.ends()
        for row, label in self.jumps:
            if label not in self.labels:
                raise Unsupported(f"bra {label}", self.places[self.rows[row].line], "there is no such label")
            self._lead_to(row, self.labels[label])
            self.add_flag(self.labels[label], FLAG.JOIN)
        for at, names in self.tables:
            for index, name in enumerate(names):
                if name not in self.labels:
                    raise Malformed(f"a branch table leads to {name}, but there is no such label", NOWHERE)
                self.pool[at + index] = self.labels[name]
                self.add_flag(self.labels[name], FLAG.JOIN)

    def _copy_words(self, source: int, variables: list[Variable], frame: Frame, out: bool = False) -> None:
        at = source
        for variable in variables:
            for word in range(-(-variable.size // 4)):
                pair = (frame.words[variable.name] + word, at)
                self.alu("mov_b32", *(reversed(pair) if out else pair))
                at += 1

    def row(
        self,
        op: int,
        d: int = NONE,
        a: int = NONE,
        b: int = NONE,
        c: int = NONE,
        e: int = NONE,
        imm: int = 0,
        size: int = 0,
        count: int = 1,
        space: int = 0,
        wide: int = 0,
        flags: int = 0,
        spare: int = NONE,
    ) -> int:
        flags |= self.guard_flags
        self.origins.append(self.instruction)
        self.rows.append(
            CodeRow(op, flags, size, count, space, wide, self.guard, d, a, b, c, e, imm, self.line, spare)
        )
        return len(self.rows) - 1

    def add_flag(self, index: int, flag: int) -> None:
        row = self.rows[index]
        self.rows[index] = row._replace(flags=row.flags | flag)

    def _lead_to(self, index: int, target: int) -> None:
        self.rows[index] = self.rows[index]._replace(imm=target)

    def control(self, name: str, **fields: int) -> int:
        return self.row(OP[name], **fields)

    def alu(self, name: str, d: int, *operands: int, imm: int = 0, flags: int = 0) -> None:
        """An operation of alu.ops on up to a, b, c and e."""
        number, arity = self.operations.get(name, (0, 0))
        if not arity:
            raise Unsupported(self.instruction.opcode, self.instruction.place)
        if d == NONE or len(operands) < arity or NONE in operands[:arity] or len(operands) > 4:
            raise self.malformed("has too few operands, or too many")
        a, b, c, e = (*operands, *[NONE] * (4 - len(operands)))
        self.row(number + len(OP), d, a, b, c, e, imm, flags=flags)

    def malformed(self, why: str) -> Malformed:
        """``why`` follows the instruction in a sentence."""
        return Malformed(f"the instruction '{self.instruction.opcode}' {why}", self.instruction.place)

    def too_large(self, count: int, what: str, most: int) -> Malformed:
        name = self.function.name
        return Malformed(
            f"{name} and the functions it calls have {count:,} {what}; at most {most:,} are allowed",
            self.function.place,
        )

    def register(self, text: str) -> int:
        if text not in self.frame.registers:
            raise self.malformed(f"names '{text}', which is not a declared register")
        return self.frame.registers[text]

    def halves(self, text: str) -> list[int]:
        """Of a 128-bit value."""
        if text[0] == "{":
            return [self.register(operand) for operand in split_operands(text[1:-1])]
        if self.width(text) != 16:
            raise ValueError(f"{text} has no 128 bits")
        return [self.register(text), self.register(text) + 2]

    def words_of(self, name: str) -> int:
        """The first unit."""
        if name not in self.frame.words:
            raise self.malformed(f"names '{name}', which is not a declared parameter")
        return self.frame.words[name]

    def sink(self, text: str) -> int:
        """``_``: none."""
        return NONE if text in ("_", "") else self.register(text)

    def word(self, name: str, offset: int, size: int) -> int:
        first = self.words_of(name)
        if offset < 0 or offset + size > self.frame.word_bytes[name] or offset % size:
            raise self.malformed(f"names {name}+{offset}, but {name} has no {size} bytes there")
        return first + offset // 4

    def is_unused(self, text: str) -> bool:
        function = self.frame.function
        if function.name not in self.mentions:
            operands = (o for item in function.body if isinstance(item, Instruction) for o in item.operands)
            words = (word for o in operands for word in re.findall(r"%\w+", o))
            self.mentions[function.name] = Counter(words)
        return text in ("", "_") or self.mentions[function.name][text] == 1

    def width(self, text: str) -> int:
        """Declared bytes; 4 for other text."""
        kind = self.frame.function.registers.get(text)
        return SIZES[kind] if kind else 8 if text in self.frame.local else 4

    def value(self, text: str, kind: str) -> int:
        """A register, immediate, special register or address."""
        size = 8 if SIZES[kind] == 8 else 4
        unit = self.frame.registers.get(text)
        if unit is not None:
            return unit
        literal = number(text)
        if literal is not None:
            if kind == "pred":
                literal = EVERY if literal else 0
            if kind == "f64" and text[:2] in ("0f", "0F"):
                literal = struct.unpack(
                    "<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", literal))[0])
                )[0]
            return self.constant(literal, size)
        if text == "WARP_SZ":
            return self.constant(32, size)
        if text[0] == "%":
            return self.special(text[1:], size)
        if text[0] == "!":  # negated
            self.alu("not_pred", self.spare_pred2, self.register(text[1:]))
            return self.spare_pred2
        name, _, offset = text.partition("+")
        return self.address_of(name.strip(), int(offset or 0), size)

    def special(self, name: str, size: int) -> int:
        if name in ("clock", "clock64", "globaltimer", "globaltimer_lo"):
            self.control("CLOCK", d=self.spare, size=size)
            return self.spare
        if name in ("clock_hi", "globaltimer_hi"):
            self.control("CLOCK", d=self.spare, size=8)
            self.alu("piece_32_of_64", self.spare, self.spare, imm=1)
            return self.spare
        if re.fullmatch(r"pm[0-7](_64)?", name):
            return self.constant(0, size)
        if name in ("envreg1", "envreg2"):
            unit = self.fresh(4)
            self.grid_units.append((unit, name == "envreg1"))
            return unit | CONSTANT
        if name.startswith("envreg") or name == "gridid":
            return self.constant(0, size)
        if name not in self.specials:
            if name not in _SPECIALS:
                raise self.malformed(
                    f"names '%{name}', which is neither declared nor a known special register"
                )
            self.specials[name] = self._take(1)
        return self.specials[name]

    def address_of(self, name: str, offset: int, size: int) -> int:
        if name in self.shared:
            return self.constant(self.shared[name] + offset, size)
        if name in self.addresses:
            return self.constant(self.addresses[name] + offset, size)
        if name in self.frame.local:
            self.control("LOCAL_ADDRESS", d=self.spare, imm=self.frame.local[name] + offset)
            return self.spare
        if name in self.module.functions:
            return self.constant(function_address(self.module, name), 8)
        for variable, (at, _) in zip(self.function.params, layout(self.function.params), strict=True):
            if variable.name == name and self.frame.function.entry:
                unit = self.fresh(8)
                self.param_units.append(unit)
                target = unit | CONSTANT
                if at + offset:
                    self.alu("add_u64", self.spare, target, self.constant(at + offset, 8))
                    return self.spare
                return target
        raise Unsupported(self.instruction.opcode, self.instruction.place, f"an unknown name '{name}'")

    def array_of(self, text: str) -> int:
        """NONE if the address in brackets is of no known array."""
        name = text[1:-1].replace("-", "+").partition("+")[0].strip()
        number = self.arrays.get(name, -1)
        return number if number >= 0 and list(self.shared_names.values())[number][1] else NONE

    def memory(self, text: str, space: int) -> tuple[int, int, int]:
        """Operand, offset and wide bit."""
        inner = text[1:-1].strip()
        name, sign, offset = inner.partition("+")
        name, at = name.strip(), number(offset.strip()) or 0 if sign else 0
        if not sign and "-" in inner[1:] and number(inner) is None:
            name, _, offset = inner.partition("-")
            at = -(number(offset.strip()) or 0)
        if name in self.frame.registers:
            return self.frame.registers[name], at, 2 if self.width(name) == 8 else 0
        if (literal := number(name)) is not None:
            return NONE, literal + at, 0
        if name in self.shared and space == SPACE.SHARED:
            return NONE, self.shared[name] + at, 0
        if name in self.addresses:
            return NONE, self.addresses[name] + at, 0
        return self.address_of(name, at, 8), 0, 2

    def ends(self) -> None:
        frame = self.frame
        self._copy_words(self.abi_returns, frame.function.returns, frame, out=True)
        flags = FLAG.RECURSIVE if frame.recursive else 0
        self.control("RETURN", d=frame.back, a=frame.start, b=frame.units, flags=flags)


Handler = Callable[[Kernel, Instruction, tuple[str, ...], list[str]], None]
Extension = Callable[..., None]
HANDLERS: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return add


def extends(*names: str) -> Callable[[Extension], Extension]:
    """The new handlers get the old ones as ``known``."""

    def add(extension: Extension) -> Extension:
        for name in names:
            HANDLERS[name] = partial(extension, known=HANDLERS[name])
        return extension

    return add


_SPACES = {name: SPACE[name] for name in ("global", "shared", "local", "const")}


def space_of(m: tuple[str, ...]) -> int:
    for modifier in m:
        if (found := _SPACES.get(modifier.partition("::")[0])) is not None:
            return found
    return SPACE.GENERIC


def bits_of(kind: str) -> str:
    return "b64" if SIZES[kind] == 8 else "b16" if SIZES[kind] <= 2 else "b32"
