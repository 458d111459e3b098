"""Instructions of PTX become rows of the engine's table: registers are given their units, types their operations.

What is not known raises ``Unsupported`` with the instruction and its line: a kernel is run whole or not at all.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .ptx import (
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

CONSTANT, NONE, EVERY = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
SHARED_BASE, LOCAL_BASE, FUNCTION_BASE = 0x0002000000000000, 0x0004000000000000, 0x0008000000000000
NEGATED, JOIN, ROUNDED, STRONG, SIGNED, RECURSIVE, CLUSTER, RELEASES = 1, 2, 4, 8, 16, 32, 64, 128
# As enum atomic_flags.
COUNTS_UP, RETRIED = SIGNED, STRONG
GENERIC, GLOBAL, SHARED, LOCAL, CONST = range(5)
# As enum operation in engine.h.
CONTROL = (
    "NOP BRANCH BRANCH_INDEX EXIT CALL CALL_INDIRECT RETURN TRAP BARRIER WARP_BARRIER FENCE LOAD STORE ATOMIC SHUFFLE "
    "VOTE MATCH REDUX ACTIVE_MASK ELECT COPY_LATE COMMIT WAIT_GROUP LOCAL_ADDRESS CLOCK PRINT ASSERT MATRIX POP ASYNC "
    "HEAP TEXTURE"
).split()
# As enum nop: the size of a NOP.
SLEEPS, PREFETCHES, PREFETCHES_BULK = 1, 2, 3
# As struct row.
ROW = struct.Struct("<HBBBBHIIIIIIqII")
# Local memory of kernels whose functions call themselves, in bytes a thread.
RECURSION_BYTES = 16384
_SPECIALS = {
    **{f"tid.{axis}": index for index, axis in enumerate("xyz")},
    **{f"ntid.{axis}": 3 + index for index, axis in enumerate("xyz")},
    **{f"ctaid.{axis}": 6 + index for index, axis in enumerate("xyz")},
    **{f"nctaid.{axis}": 9 + index for index, axis in enumerate("xyz")},
    "laneid": 12, "warpid": 13, "nwarpid": 14, "lanemask_eq": 15, "lanemask_le": 16, "lanemask_lt": 17,
    "lanemask_ge": 18, "lanemask_gt": 19, "smid": 20, "nsmid": 21, "gridid": 22, "dynamic_smem_size": 23,
    "total_smem_size": 24,
    **{f"cluster_ctaid.{axis}": 25 + index for index, axis in enumerate("xyz")},
    **{f"cluster_nctaid.{axis}": 28 + index for index, axis in enumerate("xyz")},
    "cluster_ctarank": 31, "cluster_nctarank": 32,
    **{f"clusterid.{axis}": 33 + index for index, axis in enumerate("xyz")},
    **{f"nclusterid.{axis}": 36 + index for index, axis in enumerate("xyz")},
}  # fmt: skip
_ATOMICS = {
    "add": 0,
    "min": 1,
    "max": 2,
    "inc": 3,
    "dec": 4,
    "and": 5,
    "or": 6,
    "xor": 7,
    "exch": 8,
    "cas": 9,
}
_ATOMIC_TYPES = {
    "u32": 0, "b32": 0, "s32": 1, "f32": 2, "f16x2": 3, "bf16x2": 4, "u64": 5, "b64": 5, "s64": 6, "f64": 7, "f16": 8,
    "bf16": 9, "b16": 10, "u16": 10,
}  # fmt: skip
_ROUNDINGS = {"rn": 0, "rz": 1, "rm": 2, "rp": 3, "rni": 0, "rzi": 1, "rmi": 2, "rpi": 3}
_SPACES = {"global": GLOBAL, "shared": SHARED, "local": LOCAL, "const": CONST}


class Unsupported(Exception):
    """``instruction``: as PTX writes it; ``place``: the source's line."""

    def __init__(self, instruction: str, place: Place, why: str = "") -> None:
        super().__init__(
            f"the emulated GPU does not know the instruction '{instruction}'{f': {why}' if why else ''}"
        )
        self.instruction, self.place = instruction, place


class Malformed(Unsupported):
    """PTX that no assembler takes: an instruction that names what nobody declared, or a kernel that is too large."""

    def __init__(self, sentence: str, place: Place) -> None:
        Exception.__init__(self, sentence)
        self.instruction, self.place = "", place


# Rows of a kernel, and units of registers of all its functions, each 128 bytes of a warp. The largest that compilers
# made here have 100,000 and 40,000.
MOST_ROWS, MOST_UNITS = 1 << 19, 1 << 17


@dataclass
class Lowered:
    """A kernel as the engine runs it. ``rows``: packed; ``pool``: words of 32 bits, a unit being 32 of them.
    ``params``: (offset, bytes, unit) of the pool that each launch fills in; ``param_units``: those that want the
    address of the parameters; ``grid_units``: those that want that of a grid's barrier, as (unit, whether its
    upper half)."""

    name: str
    rows: bytes
    row_count: int
    entry: int
    units: int
    pool: list[int]
    specials: list[int]
    local_bytes: int
    shared_bytes: int
    granule: int
    places: list[Place]
    params: list[tuple[int, int, int]]
    param_units: list[int]
    grid_units: list[tuple[int, bool]]
    param_layout: list[tuple[int, int]]
    max_threads: int
    shared_names: dict[str, tuple[int, int]] = field(default_factory=dict)
    # Whether it has instructions of ``hopper``; blocks of a cluster that it was compiled for, x y z.
    is_async: bool = False
    # Whether it calls malloc or free.
    allocates: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def param_bytes(self) -> int:
        return max((offset + size for offset, size in self.param_layout), default=0)


def layout(params: list[Variable]) -> list[tuple[int, int]]:
    """Offset and size of each, in bytes, as the driver lays them out."""
    found, at = [], 0
    for param in params:
        at = -(-at // param.align) * param.align
        found.append((at, param.size))
        at += param.size
    return found


def function_address(module: Module, name: str) -> int:
    """What a pointer to a device function holds."""
    return FUNCTION_BASE + list(module.functions).index(name)


def lower(
    module: Module, name: str, addresses: Mapping[str, int], operations: Mapping[str, tuple[int, int]]
) -> Lowered:
    """``addresses``: of the module's global and constant variables; ``operations``: numbers of alu.ops by name, and how
    many operands each must have.

    Raises Unsupported.
    """
    return _Kernel(module, module.functions[name], addresses, operations).lowered()


# Code of compilers needs two or three.
_MOST_PASSES = 16


def shared_origins(function: Function, arrays: Sequence[str]) -> dict[str, int]:
    """By the name of a register or an array: the number of the array in ``arrays`` whose address it was computed from.
    -1 where it is none's, or where it may be that of several."""
    known = {name: number for number, name in enumerate(arrays)}
    origins: dict[str, int] = dict(known)

    def of(text: str) -> int | None:
        """None: not known yet."""
        if text in function.registers:
            return origins.get(text)
        return known.get(text.partition("+")[0].strip(), -1)

    changed, passes = bool(arrays), 0
    while changed:
        changed, passes = False, passes + 1
        if passes > _MOST_PASSES:
            return known
        for item in function.body:
            if not isinstance(item, Instruction) or not item.operands:
                continue
            for name in item.operands[0].strip("{}").replace("|", ",").split(","):
                if (d := name.strip()) not in function.registers or origins.get(d) == -1:
                    continue
                found = _combined(item, [of(it) for it in item.operands[1:]])
                if found is not None and origins.get(d) != found:
                    origins[d] = found if d not in origins else -1
                    changed = True
    return origins


def _combined(item: Instruction, origins: list[int | None]) -> int | None:
    """Of an instruction's result, by those of its operands."""
    match item.name:
        case "mov" | "cvta" | "cvt":
            return origins[0] if len(origins) == 1 else -1
        case "selp":
            pair = origins[:2]
        case "add" | "or" | "sub":
            pair = origins[:2]
            if None in pair:
                return None
            if item.name == "sub" and pair[1] != -1:
                return -1
            bases = [it for it in pair if it != -1]
            return bases[0] if len(bases) == 1 else -1
        case "mad":
            return origins[2] if len(origins) == 3 else -1
        case _:
            return -1
    if None in pair:
        return None
    return pair[0] if pair[0] == pair[1] else -1


@dataclass
class _Frame:
    """What a function has of a warp's registers. ``words``: param-space variables, the first unit of each."""

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


class _Kernel:
    def __init__(
        self,
        module: Module,
        function: Function,
        addresses: Mapping[str, int],
        operations: Mapping[str, tuple[int, int]],
    ) -> None:
        self.module, self.function, self.addresses, self.operations = module, function, addresses, operations
        self.rows: list[list[int]] = []
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
        self.frames: dict[str, _Frame] = {}
        self.compared_in: dict[str, set[str]] = {}
        self.arrays: dict[str, int] = {}
        # How often each function names each register.
        self.mentions: dict[str, Counter[str]] = {}
        # Functions that each function calls.
        self.calls: dict[str, set[str]] = {}
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[int, str]] = []
        # Tables of jumps: where in the pool, and the labels.
        self.tables: list[tuple[int, list[str]]] = []
        self.function_rows: list[tuple[int, str]] = []
        self.function_table: int | None = None

    # ---- the whole ----

    def lowered(self) -> Lowered:
        reachable = self._reachable()
        self._lay_out_shared(reachable)
        words = [sum(-(-it.size // 4) for it in each) for f in reachable for each in (f.params, f.returns)]
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
            self.rows[index][12] = self.frames[name].entry
        self._fill_table()
        kinds_at = self._frame_kinds(reachable)
        for row in self.rows:
            if row[1] & RECURSIVE and row[0] == CONTROL.index("RETURN"):
                row[11] = kinds_at[row[8]]
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
            shared_names=self.shared_names,
            is_async=any(row[0] == CONTROL.index("ASYNC") for row in self.rows),
            cluster=self.function.cluster,
        )

    def _reachable(self) -> list[Function]:
        """The kernel and what it may call: by name or, where it calls through addresses, all whose address is known."""
        pointed = {name for it in self.module.variables.values() for _, name, _ in it.pointers}
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
                called |= {word for it in item.operands if (word := it.strip("()")) in self.module.functions}
                if item.name == "call" and any(it in function.registers for it in item.operands[:2]):
                    called |= pointed & self.module.functions.keys()
            waiting.extend(sorted(called))
        return found

    def _fill_table(self) -> None:
        """Where each function of the module begins, for calls through an address, which is a function's number."""
        if self.function_table is not None:
            for index, name in enumerate(self.module.functions):
                entry = self.frames[name].entry if name in self.frames else NONE
                self.pool[self.function_table + index] = entry

    def _table(self) -> int:
        if self.function_table is None:
            self.function_table = len(self.pool)
            self.pool.extend([NONE] * (-(-len(self.module.functions) // 32) * 32))
        return self.function_table

    def _is_recursive(self, name: str) -> bool:
        seen: set[str] = set()
        waiting = list(self.calls.get(name, ()))
        while waiting:
            it = waiting.pop()
            if it == name:
                return True
            if it not in seen:
                seen.add(it)
                waiting.extend(self.calls.get(it, ()))
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
            align = max(16, *(it.align for it in dynamic))
            at = -(-at // align) * align
            for variable in dynamic:
                self.shared[variable.name] = at
                self.shared_names[variable.name] = (at, 0)
        self.shared_bytes = at

    def _take(self, count: int) -> int:
        first, self.units = self.units, self.units + count
        return first

    def _frame(self, function: Function) -> _Frame:
        frame = _Frame(function, start=self.units, recursive=self._is_recursive(function.name))
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
        """For each recursive frame, by its first unit: where the pool says what its units are (2 bits each)."""
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
        """Addresses, as PTX writes them, of a function's compare-and-swaps. What a loop of them begins with is a plain
        read, in CUDA's own headers too; the swap finds out whether it was right, so it is no race."""
        if function.name not in self.compared_in:
            self.compared_in[function.name] = {
                it.operands[1]
                for it in function.body
                if isinstance(it, Instruction) and it.name == "atom" and "cas" in it.modifiers
            }
        return self.compared_in[function.name]

    # ---- operands ----

    def constant(self, value: int, size: int) -> int:
        """A unit of the pool that holds ``value`` in every lane; ``size``: 4 or 8 bytes."""
        key = (size, value & ((1 << 8 * size) - 1))
        if key not in self.known:
            self.known[key] = len(self.pool) // 32
            words = [key[1] & EVERY] if size == 4 else [key[1] & EVERY, key[1] >> 32]
            self.pool.extend(words * 32)
        return self.known[key] | CONSTANT

    def describe(self, words: list[int]) -> int:
        """Words of the pool that say what an instruction does: where they begin."""
        at = len(self.pool)
        self.pool.extend(words + [0] * (-len(words) % 32))
        return at

    def _fresh(self, size: int) -> int:
        unit = len(self.pool) // 32
        self.pool.extend([0] * (32 if size == 4 else 64))
        return unit

    def _function(self, frame: _Frame) -> None:
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
                continue
            self.instruction = item
            if item.place is not self.places[self.line]:
                self.line = self.place_numbers.setdefault(item.place, len(self.places))
                if self.line == len(self.places):
                    self.places.append(item.place)
            self.guard, self.guard_flags = NONE, 0
            if item.guard:
                self.guard = self.register(item.guard.lstrip("!"))
                self.guard_flags = NEGATED if item.guard[0] == "!" else 0
            handler = _HANDLERS.get(item.name)
            if handler is None:
                raise Unsupported(item.opcode, item.place)
            try:
                handler(self, item, item.modifiers, item.operands)
            except UnknownType as error:
                raise self.malformed(f"has the type '.{error.kind}', which there is not") from error
            except (IndexError, StopIteration) as error:
                raise self.malformed("lacks an operand or a part of its name") from error
            except ValueError as error:
                raise self.malformed(f"has an operand that makes no sense: {error}") from error
            if len(self.rows) > MOST_ROWS:
                raise self.too_large(len(self.rows), "instructions", MOST_ROWS)
        self.guard, self.guard_flags = NONE, 0
        if frame.function.entry:
            self.control("EXIT")
        else:
            self._return()
        for row, label in self.jumps:
            if label not in self.labels:
                raise Unsupported(f"bra {label}", self.places[self.rows[row][13]], "there is no such label")
            self.rows[row][12] = self.labels[label]
            self.rows[self.labels[label]][1] |= JOIN
        for at, names in self.tables:
            for index, name in enumerate(names):
                if name not in self.labels:
                    raise Malformed(
                        f"a table of branches leads to {name}, and there is no such label", NOWHERE
                    )
                self.pool[at + index] = self.labels[name]
                self.rows[self.labels[name]][1] |= JOIN

    def _copy_words(self, source: int, variables: list[Variable], frame: _Frame, out: bool = False) -> None:
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
        self.rows.append(
            [
                op,
                flags | self.guard_flags,
                size,
                count,
                space,
                wide,
                self.guard,
                d,
                a,
                b,
                c,
                e,
                imm,
                self.line,
                spare,
            ]
        )
        # The order of struct row: op flags size count space wide guard d a b c e imm line spare.
        row = self.rows[-1]
        row[7:13] = [d, a, b, c, e, imm]
        return len(self.rows) - 1

    def control(self, name: str, **fields: int) -> int:
        return self.row(CONTROL.index(name), **fields)

    def alu(self, name: str, d: int, *operands: int, imm: int = 0, flags: int = 0) -> None:
        """An operation of alu.ops; ``operands``: a, b, c and e, as many as it has."""
        number, arity = self.operations.get(name, (0, 0))
        if not arity:
            raise Unsupported(self.instruction.opcode, self.instruction.place)
        if d == NONE or len(operands) < arity or NONE in operands[:arity] or len(operands) > 4:
            raise self.malformed("has too few operands, or too many")
        a, b, c, e = (*operands, *[NONE] * (4 - len(operands)))
        self.row(number + len(CONTROL), d, a, b, c, e, imm, flags=flags)

    def malformed(self, why: str) -> Malformed:
        """``why``: the rest of a sentence that the present instruction begins."""
        return Malformed(f"the instruction '{self.instruction.opcode}' {why}", self.instruction.place)

    def too_large(self, count: int, what: str, most: int) -> Malformed:
        name = self.function.name
        return Malformed(
            f"{name} and what it calls have {count:,} {what}, and may have {most:,}", self.function.place
        )

    def register(self, text: str) -> int:
        if text not in self.frame.registers:
            raise self.malformed(f"names '{text}', which is no register that is declared")
        return self.frame.registers[text]

    def words_of(self, name: str) -> int:
        """The first unit of a param-space variable."""
        if name not in self.frame.words:
            raise self.malformed(f"names '{name}', which is no parameter that is declared")
        return self.frame.words[name]

    def sink(self, text: str) -> int:
        """A register that may be left out (``_``)."""
        return NONE if text in ("_", "") else self.register(text)

    def word(self, name: str, offset: int, size: int) -> int:
        """The unit of a word of a param-space variable."""
        first = self.words_of(name)
        if offset < 0 or offset + size > self.frame.word_bytes[name] or offset % size:
            raise self.malformed(f"names {name}+{offset}, and {name} has no {size} bytes there")
        return first + offset // 4

    def is_unused(self, text: str) -> bool:
        """Whether a result is in no other operand of its function."""
        function = self.frame.function
        if function.name not in self.mentions:
            operands = (o for it in function.body if isinstance(it, Instruction) for o in it.operands)
            words = (word for o in operands for word in re.findall(r"%\w+", o))
            self.mentions[function.name] = Counter(words)
        return text in ("", "_") or self.mentions[function.name][text] == 1

    def width(self, text: str) -> int:
        """Bytes of a register as it is declared; 4 for what is none."""
        kind = self.frame.function.registers.get(text)
        return SIZES[kind] if kind else 8 if text in self.frame.local else 4

    def value(self, text: str, kind: str) -> int:
        """A source operand of a type: a register, an immediate, a special register or an address."""
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
        if text[0] == "!":  # a negated predicate
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
            unit = self._fresh(4)
            self.grid_units.append((unit, name == "envreg1"))
            return unit | CONSTANT
        if name.startswith("envreg") or name == "gridid":
            return self.constant(0, size)
        if name not in self.specials:
            if name not in _SPECIALS:
                raise self.malformed(
                    f"names '%{name}', which is neither declared nor a special register known here"
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
                unit = self._fresh(8)
                self.param_units.append(unit)
                target = unit | CONSTANT
                if at + offset:
                    self.alu("add_u64", self.spare, target, self.constant(at + offset, 8))
                    return self.spare
                return target
        raise Unsupported(self.instruction.opcode, self.instruction.place, f"an unknown name '{name}'")

    def array_of(self, text: str) -> int:
        """The number of the shared array that an address in brackets is computed from; NONE where that is not known."""
        name = text[1:-1].replace("-", "+").partition("+")[0].strip()
        number = self.arrays.get(name, -1)
        return number if number >= 0 and list(self.shared_names.values())[number][1] else NONE

    def memory(self, text: str, space: int) -> tuple[int, int, int]:
        """Operand, offset and the wide bit of an address in brackets."""
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
        if name in self.shared and space == SHARED:
            return NONE, self.shared[name] + at, 0
        if name in self.addresses:
            return NONE, self.addresses[name] + at, 0
        return self.address_of(name, at, 8), 0, 2

    def _return(self) -> None:
        frame = self.frame
        self._copy_words(self.abi_returns, frame.function.returns, frame, out=True)
        flags = RECURSIVE if frame.recursive else 0
        self.control("RETURN", d=frame.back, a=frame.start, b=frame.units, flags=flags)


Handler = Callable[[_Kernel, Instruction, tuple[str, ...], list[str]], None]
_HANDLERS: dict[str, Handler] = {}


def _handles(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            _HANDLERS[name] = handler
        return handler

    return add


def _bits(kind: str) -> str:
    return "b64" if SIZES[kind] == 8 else "b16" if SIZES[kind] <= 2 else "b32"


@_handles(
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "min",
    "max",
    "abs",
    "neg",
    "sqrt",
    "rcp",
    "rsqrt",
    "ex2",
    "lg2",
    "sin",
    "cos",
    "tanh",
    "rem",
    "sad",
)
def _arithmetic(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, name = m[-1], i.name
    if kind == "f32x2":
        raise Unsupported(i.opcode, i.place)
    if "cc" in m:
        _carry(k, i, m, o)
        return
    floats = kind[0] == "f" or kind.startswith("bf")
    if kind == "b32" or kind == "b64" or kind == "b16":
        kind = kind.replace("b", "u")
    if name == "mad" and floats:
        name = "fma"
    d = k.register(o[0])
    if not floats:
        if "wide" in m:
            wide = f"{kind[0]}{2 * int(kind[1:])}"
            operands = [k.value(o[1], kind), k.value(o[2], kind)] + (
                [k.value(o[3], wide)] if len(o) > 3 else []
            )
            k.alu(f"{name}_wide_{kind}", d, *operands)
            return
        operands = [k.value(it, kind) for it in o[1:]]
        if name in ("mul", "mad"):
            name += "_hi" if "hi" in m else "_lo"
        if "sat" in m:
            name += "_sat"
        if "relu" in m:
            name += "_relu"
        k.alu(f"{name}_{kind}", d, *operands)
        return
    operands = [k.value(it, kind) for it in o[1:]]
    if "ftz" in m and kind in ("f16", "f16x2"):
        operands = _flushed(k, operands, kind)
    if "NaN" in m:
        name += "_nan"
    if "xorsign" in m:
        name += "_xorsign"
    if "relu" in m and name == "fma":
        name += "_relu"
    rounding = next((_ROUNDINGS[it] for it in m if it in ("rz", "rm", "rp")), 0)
    if rounding and kind in ("f32", "f64"):
        if "ftz" in m:
            operands = _flushed(k, operands, kind)
        k.alu(f"{name}_dir_{kind}", d, *operands, imm=rounding, flags=ROUNDED)
        if "ftz" in m:
            k.alu(f"flush_{kind}", d, d)
    elif kind == "f64" and "approx" in m and "ftz" in m:
        k.alu(f"{name}_approx_f64", d, *operands)
    else:
        if name == "div" and "approx" in m:
            name = "div_approx"
        k.alu(f"{name}_ftz_f32" if kind == "f32" and "ftz" in m else f"{name}_{kind}", d, *operands)
    if "ftz" in m and kind in ("f16", "f16x2"):
        k.alu(f"flush_{kind}", d, d)
    if "sat" in m:
        k.alu(f"sat_{kind}", d, d)


def _flushed(k: _Kernel, operands: list[int], kind: str) -> list[int]:
    """Operands whose subnormal values are zeros."""
    for index, (at, operand) in enumerate(zip(range(k.spare4, k.spare4 + 4), operands, strict=False)):
        k.alu(f"flush_{kind}", at, operand)
        operands[index] = at
    return operands


@_handles("addc", "subc", "madc")
def _carry(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1].replace("s", "u").replace("b", "u")
    takes, gives = i.name.endswith("c") and i.name != "c", "cc" in m
    d, operands = k.register(o[0]), [k.value(it, kind) for it in o[1:]]
    if i.name.startswith("mad"):
        k.alu(f"mul_{'hi' if 'hi' in m else 'lo'}_{kind}", k.spare, operands[0], operands[1])
        operands = [k.spare, operands[2]]
    k.alu(
        f"addc_{kind}",
        d,
        operands[0],
        operands[1],
        k.carry if takes else NONE,
        k.carry if gives else NONE,
        imm=1 if i.name.startswith("sub") else 0,
    )


@_handles("mul24", "mad24")
def _mul24(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, d, part = m[-1], k.register(o[0]), "hi" if "hi" in m else "lo"
    to = d if i.name == "mul24" else k.spare
    k.alu(f"mul24_{part}_{kind}", to, k.value(o[1], kind), k.value(o[2], kind))
    if i.name == "mad24":
        k.alu(f"add_sat_{kind}" if "sat" in m else f"add_{kind}", d, k.spare, k.value(o[3], kind))


@_handles("and", "or", "xor", "not", "cnot", "shl")
def _logic(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    suffix = "pred" if kind == "pred" else _bits(kind)
    second = "b32" if i.name == "shl" else kind
    k.alu(f"{i.name}_{suffix}", k.register(o[0]), k.value(o[1], kind), *[k.value(it, second) for it in o[2:]])


@_handles("shr")
def _shr(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"shr_{m[-1].replace('b', 'u')}", k.register(o[0]), k.value(o[1], m[-1]), k.value(o[2], "b32"))


@_handles("shf")
def _shf(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"shf_{m[0]}_{m[1]}", k.register(o[0]), *[k.value(it, "b32") for it in o[1:]])


@_handles("popc", "clz", "brev", "bfind", "bfe", "bfi")
def _bit_field(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    if "shiftamt" in m:
        kind = f"shiftamt_{kind}"
    words = {"bfe": [kind, "b32", "b32"], "bfi": [kind, kind, "b32", "b32"]}.get(i.name, [kind])
    k.alu(
        f"{i.name}_{kind}",
        k.register(o[0]),
        *[k.value(it, word.removeprefix("shiftamt_")) for it, word in zip(o[1:], words, strict=True)],
    )


@_handles("fns", "bmsk")
def _bit_search(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu("_".join((i.name, *m)), k.register(o[0]), *[k.value(it, "b32") for it in o[1:]])


@_handles("prmt")
def _prmt(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    mode = ("b32", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16").index(m[-1])
    k.alu("prmt_b32", k.register(o[0]), *[k.value(it, "b32") for it in o[1:]], imm=mode)


@_handles("lop3")
def _lop3(k: _Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    first, _, second = o[0].partition("|")
    d = k.spare if first == "_" else k.register(first)
    k.alu("lop3_b32", d, *[k.value(it, "b32") for it in o[1:4]], imm=number(o[4]) or 0)
    if len(m) > 1:  # whether it has a bit, combined with a predicate
        k.alu("pred_of_b32", k.spare_pred, d)
        k.alu(f"{m[0]}_pred", k.register(second), k.spare_pred, k.value(o[5], "pred"))


@_handles("szext")
def _szext(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"szext_{m[0]}_{m[-1]}", k.register(o[0]), k.value(o[1], "b32"), k.value(o[2], "b32"))


@_handles("dp4a", "dp2a")
def _dot(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kinds = (m[-2][0] == "s") | (m[-1][0] == "s") << 1 | ("hi" in m) << 2
    k.alu(i.name, k.register(o[0]), *[k.value(it, "b32") for it in o[1:]], imm=int(kinds))


_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vshl", "vshr", "vmad", "vset")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SECOND = ("", "add", "min", "max")


def _part(text: str) -> tuple[str, str]:
    """``-%r1.h0`` is ``-%r1`` and ``h0``."""
    name, _, part = text.partition(".")
    return name, part


def _one_part(part: str) -> int:
    """As struct video has it: bits and place."""
    if part[:1] not in ("", "b", "h"):
        raise ValueError(f"a selector '{part}'")
    return {"": 32, "b": 8, "h": 16}[part[:1]] | int(part[1:] or 0) << 8


def _parts(part: str, lanes: int, default: int) -> int:
    """As struct video has it: a place of each lane, from ``h10`` or ``b3210``; the last is the first lane's."""
    digits = [int(it) for it in reversed(part[1:])] or list(range(default, default + lanes))
    if len(digits) != lanes or any(it >= 2 * lanes for it in digits):
        raise ValueError(f"a selector '{part}'")
    return sum(it << 4 * lane for lane, it in enumerate(digits))


@_handles(*_VIDEO, *(name + lanes for name in (*_VIDEO[:6], "vset") for lanes in "24"))
def _video(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    lanes = int(i.name[-1]) if i.name[-1] in "24" else 1
    operation = _VIDEO.index(i.name.rstrip("24"))
    signs = [it == "s32" for it in m if it in ("u32", "s32")]
    compares = i.name.startswith("vset")
    d_signed, a_signed, b_signed = [False, *signs] if compares else signs
    (d, into), (a, a_from), (b, b_from) = (_part(it) for it in o[:3])
    second = next((_SECOND.index(it) for it in m if it in _SECOND), 0)
    negated = (a[0] == "-") ^ (b[0] == "-")
    c_negated = len(o) > 3 and o[3][0] == "-"
    mad = ("po" in m) | negated << 1 | c_negated << 2 | ("shr7" in m) << 3 | ("shr15" in m) << 4
    if lanes == 1:
        selectors = [_one_part(it) for it in (a_from, b_from, into)]
    else:
        written = sum(1 << int(it) for it in into[1:]) if into else (1 << lanes) - 1
        selectors = [_parts(a_from, lanes, 0), _parts(b_from, lanes, lanes), written]
    words = [
        operation, lanes, d_signed, a_signed, b_signed, "sat" in m, second, *selectors,
        next((_COMPARISONS.index(it) for it in m if it in _COMPARISONS), 0), mad, "wrap" in m,
    ]  # fmt: skip
    described = k.describe([int(it) for it in words])
    operands = [k.value(it.lstrip("-"), "b32") for it in (a, b, *o[3:])]
    k.alu("video", k.register(d), *operands, *[k.constant(0, 4)] * (3 - len(operands)), imm=described)


@_handles("copysign")
def _copysign(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"copysign_{m[-1]}", k.register(o[0]), k.value(o[1], m[-1]), k.value(o[2], m[-1]))


@_handles("testp")
def _testp(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    k.alu(f"testp_{m[0]}_{m[-1]}", k.register(o[0]), k.value(o[1], m[-1]))


@_handles("selp")
def _selp(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    suffix = "pred" if kind == "pred" else _bits(kind)
    k.alu(f"selp_{suffix}", k.register(o[0]), k.value(o[1], kind), k.value(o[2], kind), k.value(o[3], "pred"))


@_handles("slct")
def _slct(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind, by = m[-2], m[-1]
    selector = k.value(o[3], by)
    if "ftz" in m:
        k.alu("flush_f32", k.spare, selector)
        selector = k.spare
    width = "b64" if SIZES[kind] == 8 else "b32"
    k.alu(f"slct_{width}_{by}", k.register(o[0]), k.value(o[1], kind), k.value(o[2], kind), selector)


_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@_handles("setp")
def _setp(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    first, _, second = o[0].partition("|")
    combine = next((it for it in m[1:] if it in ("and", "or", "xor")), None)
    operands = _compared(k, m, o[1:3])
    if kind in ("f16x2", "bf16x2"):  # a predicate for each half
        for half, name in enumerate((first, second)):
            if name != "_":
                d = k.register(name)
                _compare_halves(k, m[0], kind, operands, half, d)
                if combine:
                    k.alu(f"{combine}_pred", d, d, k.value(o[3], "pred"))
        return
    d = k.register(first) if not second and not combine else k.spare_pred
    _compare(k, m[0], kind, operands, d)
    if d is not k.spare_pred and not second and not combine:
        return
    other = k.value(o[3], "pred") if combine else NONE
    if second and second != "_":
        k.alu("not_pred", k.register(second), k.spare_pred)
        if combine:
            k.alu(f"{combine}_pred", k.register(second), k.register(second), other)
    if first != "_":
        if combine:
            k.alu(f"{combine}_pred", k.register(first), k.spare_pred, other)
        else:
            k.alu("mov_pred", k.register(first), k.spare_pred)


def _compared(k: _Kernel, m: tuple[str, ...], o: list[str]) -> list[int]:
    """The operands of a comparison, as the kind that it ends with."""
    kind = m[-1]
    operands = [k.value(it, kind) for it in o]
    return _flushed(k, operands, kind) if "ftz" in m and kind in ("f32", "f16", "f16x2") else operands


def _compare(k: _Kernel, how: str, kind: str, operands: list[int], d: int) -> None:
    if kind[0] == "b" and kind not in ("bf16", "bf16x2"):
        kind = kind.replace("b", "u")
    k.alu(f"setp_{_UNSIGNED.get(how, how)}_{kind}", d, *operands)


def _compare_halves(k: _Kernel, how: str, kind: str, operands: list[int], half: int, d: int) -> None:
    for at, operand in zip((k.spare, k.spare + 1), operands, strict=True):
        k.alu("half_f16x2", at, operand, imm=half)
    _compare(k, how, kind.removesuffix("x2"), [k.spare, k.spare + 1], d)


@_handles("set")
def _set(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    source, target = m[-1], m[-2]
    d, operands = k.register(o[0]), _compared(k, m, o[1:3])
    combine = next((it for it in m[1:] if it in ("and", "or", "xor")), None)
    found = (k.spare_pred, k.spare_pred2)
    for half in range(2 if source.endswith("x2") else 1):
        if source.endswith("x2"):
            _compare_halves(k, m[0], source, operands, half, found[half])
        else:
            _compare(k, m[0], source, operands, found[half])
        if combine:
            k.alu(f"{combine}_pred", found[half], found[half], k.register(o[3]))
    if source.endswith("x2"):
        k.alu("join_preds" if target == "u32" else f"join_ones_{target}", d, *found)
    elif target in ("u32", "s32", "b32"):
        k.alu("b32_of_pred", d, found[0])
    elif target in ("u16", "s16"):
        k.alu("b16_of_pred", d, found[0])
    elif target == "f32":
        k.alu("f32_of_pred", d, found[0])
    elif target in ("f16", "bf16"):
        one = 0x3C00 if target == "f16" else 0x3F80
        k.alu("selp_b16", d, k.constant(one, 4), k.constant(0, 4), found[0])
    else:
        raise Unsupported(i.opcode, i.place)


@_handles("mov")
def _mov(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    if kind == "pred":
        k.alu("mov_pred", k.register(o[0]), k.value(o[1], "pred"))
    elif kind == "b128":  # two registers of 64 bits, one behind the other
        for at, half in zip(_halves_of_128(k, o[0]), _halves_of_128(k, o[1]), strict=True):
            k.alu("mov_b64", at, half)
    elif o[1].startswith("{"):
        parts = split_operands(o[1][1:-1])
        names = {
            (8, 2): "join_64",
            (4, 2): "join_32",
            (8, 4): "join_64_of_16",
            (4, 4): "join_32_of_8",
            (2, 2): "join_16_of_8",
        }
        name = names.get((SIZES[kind], len(parts)))
        if name is None:
            raise Unsupported(i.opcode, i.place)
        k.alu(name, k.register(o[0]), *[k.value(it, "b32") for it in parts])
    elif o[0].startswith("{"):
        parts = split_operands(o[0][1:-1])
        bits = 8 * SIZES[kind] // len(parts)
        source = k.value(o[1], kind)
        if source in [k.frame.registers.get(it) for it in parts]:
            k.alu(f"mov_{_bits(kind)}", k.spare, source)
            source = k.spare
        for index, part in enumerate(parts):
            if part != "_":
                k.alu(f"piece_{bits}_of_{8 * SIZES[kind]}", k.register(part), source, imm=index)
    else:
        source, d = k.value(o[1], kind), k.register(o[0])
        k.alu(f"mov_{_bits(kind)}", d, source)


def _halves_of_128(k: _Kernel, text: str) -> list[int]:
    if text[0] == "{":
        return [k.register(it) for it in split_operands(text[1:-1])]
    if k.width(text) != 16:
        raise ValueError(f"{text} has no 128 bits")
    return [k.register(text), k.register(text) + 2]


@_handles("cvta")
def _cvta(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    space = next(it for it in m if it not in ("to", "u64", "u32"))
    base = {"shared": SHARED_BASE, "local": LOCAL_BASE}.get(space.partition("::")[0], 0)
    d, kind = k.register(o[0]), m[-1]
    source = k.value(o[1], kind)
    if base:
        k.alu("add_u64" if "to" not in m else "sub_u64", d, source, k.constant(base, 8))
    else:
        k.alu("mov_b64", d, source)


@_handles("isspacep")
def _isspacep(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    which = {"global": GLOBAL, "shared": SHARED, "local": LOCAL}.get(m[0].partition("::")[0])
    if which is None:
        k.alu("mov_pred", k.register(o[0]), k.constant(0, 4))
    else:
        k.alu("isspacep", k.register(o[0]), k.value(o[1], "b64"), k.constant(which, 4))


def _is_float(kind: str) -> bool:
    return kind in ("f16", "bf16", "f32", "f64", "tf32")


@_handles("cvt")
def _cvt(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "pack":
        _cvt_pack(k, m, o)
        return
    to, source_kind = m[-2], m[-1]
    d, rounding = k.register(o[0]), next((it for it in m if it in _ROUNDINGS), "")
    if (
        to in ("f16", "bf16", "tf32", "f16x2", "bf16x2")
        and to != source_kind
        and "x2" not in source_kind
        and (rounding in ("rz", "rm", "rp") or "satfinite" in m or "relu" in m or to == "tf32")
    ):
        how = _ROUNDINGS.get(rounding, 0) | ("satfinite" in m) << 2 | ("relu" in m) << 3 | ("rna" in m) << 4
        operands = [k.value(it, source_kind) for it in o[1:]]
        if "ftz" in m and source_kind == "f32":
            operands = _flushed(k, operands, "f32")
        k.alu(f"cvt_by_{to}_{source_kind}", d, *operands, imm=how)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
        return
    if len(o) == 3:  # two floats into one register
        relu = "relu_" if "relu" in m else ""
        k.alu(f"cvt_{relu}{to}_{source_kind}", d, k.value(o[1], "f32"), k.value(o[2], "f32"))
        return
    source = k.value(o[1], source_kind)
    if (
        k.width(o[1]) == 8 and SIZES[source_kind] < 8 and (_is_float(to) or "sat" in m)
    ):  # the lower part of a wider register
        k.alu(f"cut32_{source_kind.replace('b', 'u')}", k.spare, source)
        source = k.spare
    if "x2" in to or "x2" in source_kind:
        if "relu" in m and to[0] == "e":
            k.alu(f"relu_{source_kind}", k.spare, source)
            source = k.spare
        k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "relu" in m and to[0] != "e":
            k.alu(f"relu_{to}", d, d)
        return
    if "ftz" in m and source_kind == "f32":
        k.alu("flush_f32", k.spare, source)
        source = k.spare
    if _is_float(to) and _is_float(source_kind):
        if to == source_kind:
            step = rounding if rounding in ("rni", "rzi", "rmi", "rpi") else ""
            k.alu(f"{step}_{to}" if step else f"mov_{_bits(to)}", d, source)
        elif rounding in ("rz", "rm", "rp") and (to, source_kind) == ("f32", "f64"):
            k.alu("cvt_dir_f32_f64", d, source, imm=_ROUNDINGS[rounding], flags=ROUNDED)
        else:
            k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "ftz" in m and to == "f32":
            k.alu("flush_f32", d, d)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
    elif _is_float(source_kind):
        k.alu(f"cvt_{to}_{source_kind}", d, source, imm=_ROUNDINGS[rounding or "rzi"])
        if k.width(o[0]) == 8 and SIZES[to] < 8:
            k.alu(f"ext64_{to}", d, d)
    elif _is_float(to):
        name = f"cvt_dir_{to}_{source_kind}"
        if rounding in ("rz", "rm", "rp") and name in k.operations:
            k.alu(name, d, source, imm=_ROUNDINGS[rounding], flags=ROUNDED)
        else:  # nothing to round, where there is no such operation
            k.alu(f"cvt_{to}_{source_kind}", d, source)
        if "sat" in m:
            k.alu(f"sat_{to}", d, d)
    else:
        _cvt_int(k, i, m, d, source, o)


def _cvt_pack(k: _Kernel, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[2]
    a, b = k.spare, k.spare + 1
    k.alu(f"cvt_pack_{kind}", a, k.value(o[1], "s32"))
    k.alu(f"cvt_pack_{kind}", b, k.value(o[2], "s32"))
    rest = k.value(o[3], "b32") if len(o) > 3 else k.constant(0, 4)
    k.alu("cvt_pack", k.register(o[0]), a, b, rest, imm=int(kind[1:]))


def _cvt_int(k: _Kernel, i: Instruction, m: tuple[str, ...], d: int, source: int, o: list[str]) -> None:
    to, kind = m[-2].replace("b", "u"), m[-1].replace("b", "u")
    if "sat" in m:
        low = 0 if to[0] == "u" else -(1 << (8 * SIZES[to] - 1))
        high = (1 << (8 * SIZES[to] - (to[0] == "s"))) - 1
        wide = f"{kind[0]}{max(32, 8 * SIZES[kind])}"
        if SIZES[kind] < 4:
            k.alu(f"ext32_{kind}", k.spare, source)
            source = k.spare
        size = SIZES[wide]
        least, most = (
            (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1) if kind[0] == "s" else (0, (1 << 8 * size) - 1)
        )
        if low > least:
            k.alu(f"max_{wide}", k.spare, source, k.constant(low, size))
            source = k.spare
        if high < most:
            k.alu(f"min_{wide}", k.spare, source, k.constant(high, size))
            source = k.spare
        if SIZES[to] == 8:
            k.alu("mov_b64" if size == 8 else f"ext64_{wide}", d, source)
        elif k.width(o[0]) == 8:
            if size == 8:
                k.alu("cut32_u32", k.spare, source)
                source = k.spare
            k.alu(f"ext64_{to}", d, source)
        else:
            k.alu("cut32_u32" if size == 8 else "mov_b32", d, source)
        return
    wide_d, wide_s = k.width(o[0]) == 8, k.width(o[1]) == 8 or SIZES[kind] == 8
    # The narrower of the two types says what is kept, the source's sign how it is extended.
    narrow = kind if SIZES[kind] <= SIZES[to] else to
    if SIZES[narrow] == 8:
        k.alu("mov_b64", d, source)
    elif wide_d and wide_s:
        k.alu(f"cut32_{narrow}", k.spare, source)
        k.alu(f"ext64_{narrow}", d, k.spare)
    elif wide_d:
        k.alu(f"ext64_{narrow}", d, source)
    elif wide_s:
        k.alu(f"cut32_{narrow}", d, source)
    else:
        k.alu(f"ext32_{narrow}", d, source)


def _space(m: tuple[str, ...]) -> int:
    for it in m:
        if (found := _SPACES.get(it.partition("::")[0])) is not None:
            return found
    return GENERIC


_PARAM_BITS = {1: "u8", 2: "u16"}


@_handles("ld", "ldu")
def _ld(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    outs = split_operands(o[0][1:-1]) if o[0].startswith("{") else [o[0]]
    if any(it.startswith("param") for it in m) and _load_param(k, i, kind, outs, o[1]):
        return
    space = GENERIC if any(it.startswith("param") for it in m) else _space(m)
    base, offset, wide = k.memory(o[1], space)
    strong = {"volatile", "relaxed", "acquire"} & set(m) or o[1] in k.compared(k.frame.function)
    flags = STRONG if strong and space != LOCAL else 0
    flags |= SIGNED if kind[0] == "s" else 0
    if k.width(outs[0]) == 8:
        wide |= 1
    if len(outs) > (2 if SIZES[kind] == 8 else 1 if SIZES[kind] == 16 else 4):
        raise Unsupported(i.opcode, i.place)
    units = _halves_of_128(k, outs[0]) if kind == "b128" else [k.sink(it) for it in outs]
    count = len(units)
    units += [NONE] * (4 - count)
    k.control(
        "LOAD",
        d=units[0],
        a=base,
        b=units[1],
        c=units[2],
        e=units[3],
        imm=offset,
        size=min(SIZES[kind], 8),
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=k.array_of(o[1]),
    )


def _load_param(k: _Kernel, i: Instruction, kind: str, outs: list[str], where: str) -> bool:
    """False: it is read through an address."""
    name, _, offset_text = where[1:-1].partition("+")
    offset, name = int(offset_text or 0), name.strip()
    size = SIZES[kind]
    if name in k.frame.words:
        for index, out in enumerate(outs):
            wider = k.width(out) == 8 and size < 8
            if out != "_":
                _param_word(k, kind, k.spare if wider else k.register(out), name, offset + index * size)
            if wider:
                k.alu(f"ext64_{kind.replace('b', 'u') if kind != 'f32' else 'u32'}", k.register(out), k.spare)
        return True
    for variable, (at, _) in zip(k.function.params, layout(k.function.params), strict=True):
        if variable.name == name and k.frame.function.entry:
            for index, out in enumerate(outs):
                if out == "_":
                    continue
                key = (at + offset + index * size, size)
                if key not in k.params:
                    k.params[key] = k._fresh(8 if size == 8 else 4)
                source, d = k.params[key] | CONSTANT, k.register(out)
                if k.width(out) == 8 and size < 8:
                    k.alu(f"ext64_{kind.replace('b', 'u')}", d, source)
                elif kind in ("s8", "s16"):
                    k.alu(f"ext32_{kind}", d, source)
                else:
                    k.alu("mov_b64" if size == 8 else "mov_b32", d, source)
            return True
    return False


def _param_word(k: _Kernel, kind: str, d: int, name: str, offset: int) -> None:
    size, at = SIZES[kind], k.word(name, offset, SIZES[kind])
    if size == 8:
        k.alu("join_64", d, at, at + 1)
    elif size == 4:
        k.alu("mov_b32", d, at)
    else:
        signed = "s" if kind[0] == "s" else "u"
        k.alu(f"bfe_{signed}32", d, at, k.constant(8 * (offset % 4), 4), k.constant(8 * size, 4))


def _store_param(k: _Kernel, kind: str, value: int, name: str, offset: int) -> None:
    size, at = SIZES[kind], k.word(name, offset, SIZES[kind])
    if size == 8:
        k.alu("piece_32_of_64", at, value, imm=0)
        k.alu("piece_32_of_64", at + 1, value, imm=1)
    elif size == 4:
        k.alu("mov_b32", at, value)
    elif offset % 4 == 0 and size == 2:
        k.alu("ext32_u16", at, value)
    else:
        k.alu("bfi_b32", at, value, at, k.constant(8 * (offset % 4), 4), k.constant(8 * size, 4))


@_handles("st")
def _st(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = m[-1]
    ins = split_operands(o[1][1:-1]) if o[1].startswith("{") else [o[1]]
    if any(it.startswith("param") for it in m):
        name, _, offset = o[0][1:-1].partition("+")
        for index, item in enumerate(ins):
            value = k.value(item, kind)
            if k.width(item) == 8 and SIZES[kind] < 8:
                k.alu("cut32_u32", k.spare, value)
                value = k.spare
            _store_param(
                k,
                kind,
                value,
                name.strip(),
                int(offset or 0) + index * SIZES[kind],
            )
        return
    space = _space(m)
    base, at, wide = k.memory(o[0], space)
    flags = STRONG if {"volatile", "relaxed", "release"} & set(m) and space != LOCAL else 0
    flags |= RELEASES if "release" in m else 0
    if k.width(ins[0]) == 8 and ins[0] in k.frame.registers:
        wide |= 1
    if len(ins) > (2 if SIZES[kind] == 8 else 1 if SIZES[kind] == 16 else 4):
        raise Unsupported(i.opcode, i.place)
    if space != LOCAL:
        k.granule = min(k.granule, SIZES[kind])
    units = _halves_of_128(k, ins[0]) if kind == "b128" else [k.value(it, kind) for it in ins]
    count = len(units)
    units += [NONE] * (4 - count)
    k.control(
        "STORE",
        d=units[0],
        a=base,
        b=units[1],
        c=units[2],
        e=units[3],
        imm=at,
        size=min(SIZES[kind], 8),
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=k.array_of(o[0]),
    )


@_handles("atom", "red")
def _atom(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = next((it for it in m if it in _ATOMIC_TYPES), "")
    o = o[:-1] if "L2::cache_hint" in m else o
    how = next((it for it in m if it in _ATOMICS), None)
    if how is None or not kind:
        raise Unsupported(i.opcode, i.place)
    d, rest = (o[0], o[1:]) if i.name == "atom" else ("", o)
    count = next((int(it[1]) for it in m if it in ("v2", "v4", "v8")), 1)
    # Vectors are of global memory, also where their address says no space.
    space = _space(m) if count == 1 else GLOBAL
    base, at, wide = k.memory(rest[0], space)
    if count > 1:
        values, spare = [NONE, NONE], _atomic_vector(k, i, kind, count, d, rest[1])
        if how not in ("add", "min", "max") or _space(m) not in (GENERIC, GLOBAL):
            raise Unsupported(i.opcode, i.place)
    else:
        values, spare = [k.value(it, kind) for it in rest[1:]] + [NONE], k.array_of(rest[0])
    k.granule = min(k.granule, SIZES[kind])
    floats = "f" in kind
    flags = RETRIED if floats else 0
    if how == "add" and SIZES[kind] == 4 and not floats and k.is_unused(d) and values[0] & CONSTANT:
        flags |= COUNTS_UP
    k.control(
        "ATOMIC",
        d=k.sink(d) if count == 1 else NONE,
        a=base,
        b=values[0],
        c=values[1],
        e=_ATOMICS[how] | _ATOMIC_TYPES[kind] << 8,
        imm=at,
        size=SIZES[kind],
        count=count,
        space=space,
        wide=wide,
        flags=flags,
        spare=spare,
    )


# Elements of a vector by type: at most 16 bytes, or 8 of 2 bytes.
_ATOMIC_VECTORS = {"f32": 4, "f16": 8, "bf16": 8, "f16x2": 4, "bf16x2": 4}


def _atomic_vector(k: _Kernel, i: Instruction, kind: str, count: int, d: str, values: str) -> int:
    """Where the pool has the units of the values, and of what was there before."""
    given = [k.value(it, kind) for it in split_operands(values[1:-1])]
    before = [k.sink(it) for it in split_operands(d[1:-1])] if d.startswith("{") else [NONE] * count
    if len(given) != count or len(before) != count or count > _ATOMIC_VECTORS.get(kind, 0):
        raise Unsupported(i.opcode, i.place)
    return k.describe(given + before)


@_handles("bra")
def _bra(k: _Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.jumps.append((k.control("BRANCH"), o[0]))


@_handles("brx")
def _brx(k: _Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    names = k.frame.function.tables.get(o[1])
    if names is None:
        raise k.malformed(f"names '{o[1]}', which is no table of labels")
    at = len(k.pool)
    k.pool.extend([0] * (-(-len(names) // 32) * 32))
    k.tables.append((at, names))
    k.control("BRANCH_INDEX", a=k.register(o[0]), b=at, c=len(names))


@_handles("ret")
def _ret(k: _Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    if k.frame.function.entry:
        k.control("EXIT")
    else:
        k._return()


@_handles("exit")
def _exit(k: _Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("EXIT")


@_handles("trap")
def _trap(k: _Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("TRAP")


@_handles(
    "brkpt",
    "pmevent",
    "applypriority",
    "discard",
    "setmaxnreg",
    "griddepcontrol",
)
def _nothing(k: _Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP")


@_handles("nanosleep")
def _nanosleep(k: _Kernel, _: Instruction, __: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP", size=SLEEPS)


@_handles("prefetch", "prefetchu")
def _prefetch(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    """Into the second-level cache, whatever level it says."""
    if _space(m) not in (GENERIC, GLOBAL) or "tensormap" in m:
        k.control("NOP")
        return
    base, at, wide = k.memory(o[0], GLOBAL)
    k.control("NOP", size=PREFETCHES, a=base, imm=at, wide=wide)


@_handles("createpolicy")
def _createpolicy(k: _Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.alu("mov_b64", k.register(o[0]), k.constant(0, 8))


@_handles("bar", "barrier")
def _bar(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[0] == "warp":
        k.control("WARP_BARRIER", a=k.value(o[0], "b32"))
        return
    kind = (
        0
        if "sync" in m
        else 1
        if "arrive" in m
        else 2 + ("popc", "and", "or").index(next(it for it in m if it in ("popc", "and", "or")))
    )
    if kind < 2:
        limit = k.value(o[1], "b32") if len(o) > 1 else NONE
        k.control("BARRIER", a=k.value(o[0], "b32"), b=limit, imm=kind)
        return
    limit = k.value(o[2], "b32") if len(o) > 3 else NONE
    k.control(
        "BARRIER",
        d=k.register(o[0]),
        a=k.value(o[1], "b32"),
        b=limit,
        c=k.register(o[-1].lstrip("!")),
        imm=kind,
        wide=0x4000 if o[-1][0] == "!" else 0,
    )


@_handles("membar", "fence")
def _fence(k: _Kernel, _: Instruction, m: tuple[str, ...], ___: list[str]) -> None:
    k.control("NOP" if "proxy" in m or "cta" in m else "FENCE")


@_handles("shfl")
def _shfl(k: _Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = ("up", "down", "bfly", "idx").index(next(it for it in m if it in ("up", "down", "bfly", "idx")))
    d, _, inside = o[0].partition("|")
    k.control(
        "SHUFFLE",
        d=k.register(d),
        a=k.value(o[1], "b32"),
        b=k.value(o[2], "b32"),
        c=k.value(o[3], "b32"),
        e=k.register(inside) if inside else NONE,
        size=kind,
        spare=k.value(o[4], "b32") if "sync" in m else NONE,
    )


@_handles("vote")
def _vote(k: _Kernel, _: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    kind = next(index for index, it in enumerate(("all", "any", "uni", "ballot")) if it in m)
    k.control(
        "VOTE",
        d=k.register(o[0]),
        a=k.value(o[1].lstrip("!"), "pred"),
        size=kind,
        flags=SIGNED if o[1][0] == "!" else 0,
        spare=k.value(o[2], "b32") if "sync" in m else NONE,
    )


@_handles("match")
def _match(k: _Kernel, __: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    d, _, inside = o[0].partition("|")
    k.control(
        "MATCH",
        d=k.register(d),
        a=k.value(o[1], m[-1]),
        size=int("all" in m),
        count=SIZES[m[-1]],
        e=k.register(inside) if inside else NONE,
        spare=k.value(o[2], "b32"),
    )


@_handles("redux")
def _redux(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-1] == "f32":
        raise Unsupported(i.opcode, i.place)
    kind = next(index for index, it in enumerate(("add", "min", "max", "and", "or", "xor")) if it in m)
    k.control(
        "REDUX",
        d=k.register(o[0]),
        a=k.value(o[1], "b32"),
        size=kind,
        flags=SIGNED if m[-1] == "s32" else 0,
        spare=k.value(o[2], "b32"),
    )


@_handles("activemask")
def _activemask(k: _Kernel, _: Instruction, __: tuple[str, ...], o: list[str]) -> None:
    k.control("ACTIVE_MASK", d=k.register(o[0]))


@_handles("elect")
def _elect(k: _Kernel, __: Instruction, ___: tuple[str, ...], o: list[str]) -> None:
    d, _, inside = o[0].partition("|")
    k.control("ELECT", d=k.sink(d), e=k.register(inside))


@_handles("cp")
def _cp(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[:2] == ("async", "commit_group"):
        k.control("COMMIT")
    elif m[:2] == ("async", "wait_group"):
        k.control("WAIT_GROUP", imm=number(o[0]) or 0)
    elif m[:2] == ("async", "wait_all"):
        k.control("WAIT_GROUP")
    elif m[0] == "async" and m[1] in ("ca", "cg") and "mbarrier" not in m:
        to, to_at, to_wide = k.memory(o[0], SHARED)
        source, source_at, source_wide = k.memory(o[1], GLOBAL)
        size = number(o[2])
        if size not in (4, 8, 16):
            raise Unsupported(i.opcode, i.place, f"a copy of {o[2]} bytes")
        bytes_of = NONE
        o = o[:-1] if "L2::cache_hint" in m else o
        if len(o) > 3 and k.frame.function.registers.get(o[3].lstrip("!")) == "pred":
            k.alu("selp_b32", k.spare, k.constant(0, 4), k.constant(size, 4), k.value(o[3], "pred"))
            bytes_of = k.spare
        elif len(o) > 3:
            bytes_of = k.value(o[3], "b32")
        k.granule = min(k.granule, 4)
        k.control(
            "COPY_LATE",
            a=to,
            b=source,
            c=bytes_of,
            e=source_at & EVERY,
            imm=to_at,
            size=size,
            space=SHARED,
            wide=to_wide | (4 if source_wide else 0),
        )
    else:
        raise Unsupported(i.opcode, i.place)


@_handles("ldmatrix", "stmatrix")
def _move_matrices(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-1] != "b16" or "m8n8" not in m:
        raise Unsupported(i.opcode, i.place)
    stores = i.name == "stmatrix"
    fragment, address = (o[1], o[0]) if stores else (o[0], o[1])
    registers = [k.register(it) for it in split_operands(fragment[1:-1])]
    if len(registers) not in (1, 2, 4):
        raise Unsupported(i.opcode, i.place)
    base, at, wide = k.memory(address, SHARED)
    padded = registers + [NONE] * (4 - len(registers))
    k.control(
        "MATRIX",
        d=padded[0],
        a=base,
        b=padded[1],
        c=padded[2],
        e=padded[3],
        imm=at,
        size=int("trans" in m) | (MATRIX_STORED if stores else 0),
        count=len(registers),
        space=SHARED,
        wide=wide,
    )


MATRIX_TYPES = (
    "f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32", "s4", "u4", "b1", "e4m3", "e5m2",
)  # fmt: skip
# Of an element of A.
MATRIX_BITS = {
    "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4,
}  # fmt: skip
# In the size of a row of stmatrix.
MATRIX_STORED = 2
# Kinds of struct matrix.
_LOAD_FRAGMENT, _STORE_FRAGMENT, _WMMA, _MMA, _TRANSPOSE, _QUADS, MATRIX_SPARSE = range(7)
# Types with several elements in a byte: bits of each.
_SMALL = {"s4": 4, "u4": 4, "b1": 1}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")


def _units(k: _Kernel, text: str, kind: str) -> list[int]:
    return (
        [k.value(it, kind) for it in split_operands(text[1:-1])] if text[0] == "{" else [k.value(text, kind)]
    )


def _matrix(
    k: _Kernel,
    i: Instruction,
    kind: int,
    types: list[str],
    which: int,
    by_row: tuple[bool, bool],
    flag: bool,
    groups: list[list[int]],
) -> int:
    """Describes an instruction of matrices in the pool, see matrix.c: at which word."""
    shape = next(found for it in i.modifiers if (found := _SHAPE.match(it)))
    if any(it not in MATRIX_TYPES or (it[0] == "e" and kind not in (_MMA, MATRIX_SPARSE)) for it in types):
        raise Unsupported(i.opcode, i.place)
    m, n, depth = (int(it) for it in shape.groups())
    if not (
        min(m, n, depth) > 0 and max(m * n, m * depth, depth * n) <= 4096 and sum(map(len, groups)) <= 64
    ):
        raise Unsupported(i.opcode, i.place)
    if types[0] in _SMALL and (
        kind == _STORE_FRAGMENT or (kind == _LOAD_FRAGMENT and (which == 2 or depth * _SMALL[types[0]] % 32))
    ):
        raise Unsupported(i.opcode, i.place)
    numbers = [MATRIX_TYPES.index(it) for it in types]
    words = [
        kind,
        m,
        n,
        depth,
        *numbers,
        which,
        *map(int, by_row),
        int(flag),
        *map(len, groups),
    ]
    words += [unit for group in groups for unit in group]
    return k.describe(words)


@_handles("wmma")
def _wmma(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    layouts = [it for it in m if it in ("row", "col")]
    if m[0] in ("load", "store"):
        which, kind = {"a": 0, "b": 1, "c": 2, "d": 2}.get(m[1]), m[-1]
        if which is None:
            raise Unsupported(i.opcode, i.place)
        fragment, address = (o[0], o[1]) if m[0] == "load" else (o[1], o[0])
        space = _space(m)
        base, at, wide = k.memory(address, space)
        if base == NONE:
            base = k.constant(at, 8)
            at, wide = 0, 2
        units = _units(k, fragment, "f64" if kind == "f64" else "b32")
        groups: list[list[int]] = [[], [], [], []]
        groups[0 if which == 2 else which + 1] = units
        described = _matrix(
            k,
            i,
            _LOAD_FRAGMENT if m[0] == "load" else _STORE_FRAGMENT,
            [kind] * 4,
            which,
            (layouts[0] == "row",) * 2,
            False,
            groups,
        )
        k.granule = min(k.granule, SIZES[kind] if m[0] == "store" else 4)
        stride = k.value(o[2], "b32") if len(o) > 2 else NONE
        k.control(
            "MATRIX",
            a=described,
            b=base,
            c=stride,
            e=k.matrix_units,
            imm=at,
            count=0,
            space=space,
            wide=4 if wide else 0,
        )
        return
    # f16 operands are not named: .d.c; else .d.a.b.c
    named = [it for it in m if it in MATRIX_TYPES]
    d_type, a_type, b_type, c_type = (named[0], "f16", "f16", named[1]) if len(named) == 2 else named
    _multiply(k, i, _WMMA, (d_type, a_type, b_type, c_type), o, "satfinite" in m or "xor" in m)


@_handles("mma")
def _mma(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    named = [it for it in m if it in MATRIX_TYPES]
    if len(named) != 4:
        raise Unsupported(i.opcode, i.place)
    if m[0].partition("::")[0] == "sp":
        _mma_sparse(k, i, named, o)
        return
    quads = "m8n8k4" in m and named[1] == "f16"
    _multiply(
        k,
        i,
        _QUADS if quads else _MMA,
        (named[0], named[1], named[2], named[3]),
        o,
        "satfinite" in m or "xor" in m,
    )


# Of mma.sp: by the type and depth of A how many sparsity selectors there are.
_SELECTORS = {
    **dict.fromkeys((("f16", 16), ("bf16", 16), ("tf32", 8)), 4),
    **dict.fromkeys((("f16", 32), ("bf16", 32), ("tf32", 16), ("s8", 32), ("u8", 32), ("s4", 64), ("u4", 64)), 2),
    **dict.fromkeys((("s8", 64), ("u8", 64), ("e4m3", 64), ("e5m2", 64), ("s4", 128), ("u4", 128)), 1),
}  # fmt: skip


def _mma_sparse(k: _Kernel, i: Instruction, named: list[str], o: list[str]) -> None:
    """``named``: types of D, A, B and C."""
    shape = next(found for it in i.modifiers if (found := _SHAPE.match(it)))
    d, a, b, c = named
    m, n, depth = (int(it) for it in shape.groups())
    selector = number(o[5])
    groups = [_units(k, text, "b32") for text in o[:4]]
    if a not in MATRIX_BITS:
        raise Unsupported(i.opcode, i.place)
    packed = 32 // MATRIX_BITS[a]
    wanted = [
        2 if d == "f16" else 4,
        m * depth // 2 // packed // 32,
        depth * n // packed // 32,
        2 if c == "f16" else 4,
    ]
    if (
        (m, n) != (16, 8)
        or MATRIX_BITS.get(b) != MATRIX_BITS[a]
        or [len(it) for it in groups] != wanted
        or selector is None
        or not 0 <= selector < _SELECTORS.get((a, depth), 0)
    ):
        raise Unsupported(i.opcode, i.place)
    groups[3].append(k.value(o[4], "b32"))
    described = _matrix(
        k, i, MATRIX_SPARSE, [a, b, c, d], selector, (True, False), "satfinite" in i.modifiers, groups
    )
    k.control("MATRIX", a=described, count=0)


@_handles("movmatrix")
def _movmatrix(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    if m[-3:] != ("m8n8", "trans", "b16"):
        raise Unsupported(i.opcode, i.place)
    words = [_TRANSPOSE, 8, 8, *[0] * 9, 1, 1, 0, 0, k.register(o[0]), k.register(o[1])]
    k.control("MATRIX", a=k.describe(words), count=0)


def _multiply(
    k: _Kernel, i: Instruction, kind: int, types: tuple[str, str, str, str], o: list[str], flag: bool
) -> None:
    d, a, b, c = types
    groups = [
        _units(k, text, "f64" if it == "f64" else "b32") for text, it in zip(o, (d, a, b, c), strict=True)
    ]
    if kind == _QUADS:
        expected = [4 if d == "f16" else 8, 2, 2, 4 if c == "f16" else 8]
        if (
            [len(it) for it in groups] != expected
            or any(it not in ("f16", "f32") for it in (d, c))
            or b != "f16"
        ):
            raise Unsupported(i.opcode, i.place)
    layouts = [it for it in i.modifiers if it in ("row", "col")]
    by_row = (layouts[0] == "row", layouts[1] == "row")
    k.control("MATRIX", a=_matrix(k, i, kind, [a, b, c, d], 2, by_row, flag, groups), count=0)


# Of textures and surfaces: axes, and whether a layer comes first.
_GEOMETRIES = {"1d": (1, 0), "2d": (2, 0), "3d": (3, 0), "a1d": (1, 1), "a2d": (2, 1)}
_BEYOND = ("trap", "clamp", "zero")
_TEXTURES = ("tex", "suld", "sust")
TEXTURE_STORED = _TEXTURES.index("sust")


def _object_and_places(k: _Kernel, text: str, kind: str) -> tuple[int, list[int]]:
    """Of ``[%rd1, {%f1, %f2}]``."""
    name, places = split_operands(text[1:-1])
    if k.width(name) != 8:
        raise ValueError(f"{name} is no object")
    return k.register(name), [k.value(it, kind) for it in split_operands(places.strip("{}"))]


@_handles(*_TEXTURES)
def _texture(k: _Kernel, i: Instruction, m: tuple[str, ...], o: list[str]) -> None:
    geometry = next((it for it in m if it in _GEOMETRIES), None)
    if geometry is None or (i.name != "tex" and m[0] != "b"):
        raise Unsupported(i.opcode, i.place)
    axes, layered = _GEOMETRIES[geometry]
    where, values = (o[0], o[1]) if i.name == "sust" else (o[1], o[0])
    by_floats = i.name == "tex" and m[-1] == "f32"
    kind = m[-2]
    if i.name == "tex":
        if kind not in ("f32", "u32", "s32"):
            raise Unsupported(i.opcode, i.place)
        size = 4  # and a level or a gradient says nothing: there is one level
    else:
        size = SIZES[kind]
    item, places = _object_and_places(k, where, "f32" if by_floats else "b32")
    names = split_operands(values.strip("{}"))
    units = [k.value(it, kind) if i.name == "sust" else k.sink(it) for it in names]
    if (
        len(places) < axes + layered
        or size * len(units) > 16
        or any(k.width(it) == 8 for it in names) != (size == 8)
    ):
        raise Unsupported(i.opcode, i.place)
    places = (places + [places[0]] * 4)[:4]
    beyond = next((_BEYOND.index(it) for it in m if it in _BEYOND), 0)
    words = [
        _TEXTURES.index(i.name), axes, layered, by_floats, size, beyond, len(units), item,
        *(units + [NONE] * 4)[:4], *places,
    ]  # fmt: skip
    k.granule = min(k.granule, size)
    k.control("TEXTURE", imm=k.describe([int(it) for it in words]))


@_handles("call")
def _call(k: _Kernel, i: Instruction, _: tuple[str, ...], o: list[str]) -> None:
    returned: list[str] = []
    if o[0].startswith("("):
        returned, o = split_operands(o[0][1:-1]), o[1:]
    target = o[0]
    given = split_operands(o[1][1:-1]) if len(o) > 1 and o[1].startswith("(") else []
    if target in ("vprintf", "__assertfail"):
        a, b = k.print_units
        for unit, name in ((a, given[0]), (b, given[1])):
            _param_word(k, "b64", unit, name, 0)
        k.control(
            "PRINT" if target == "vprintf" else "ASSERT",
            a=a,
            b=b,
            d=k.words_of(returned[0]) if returned else NONE,
        )
        return
    if target in ("malloc", "free"):
        k.allocates = True
        a = k.print_units[0]
        _param_word(k, "b64", a, given[0], 0)
        k.control("HEAP", d=a, a=a, imm=int(target == "free"))
        if returned:
            _store_param(k, "b64", a, returned[0], 0)
        return
    for names in (given, returned):
        for name in names:
            k.words_of(name)
        if sum(-(-k.frame.word_bytes[name] // 4) for name in names) > k.abi_words:
            raise Unsupported(i.opcode, i.place, "more arguments than it declares")
    at = k.abi_params
    for name in given:
        for word in range(-(-k.frame.word_bytes[name] // 4)):
            k.alu("mov_b32", at, k.words_of(name) + word)
            at += 1
    frame = k.frame
    if target in k.frames:
        callee = k.frames[target]
        recursive = RECURSIVE if callee.recursive else 0
        row = k.control(
            "CALL", d=k.abi_back, a=callee.start, b=callee.units, c=frame.local_bytes, flags=recursive
        )
        k.function_rows.append((row, target))
    elif target in frame.registers:
        k.control(
            "CALL_INDIRECT",
            d=k.abi_back,
            a=k._table(),
            b=len(k.module.functions),
            c=frame.local_bytes,
            e=k.register(target),
        )
    else:
        raise Unsupported(f"call {target}", i.place)
    k.control("POP", c=frame.local_bytes)
    k.rows[-1][1] |= JOIN
    at = k.abi_returns
    for name in returned:
        for word in range(-(-k.frame.word_bytes[name] // 4)):
            k.alu("mov_b32", k.words_of(name) + word, at)
            at += 1
