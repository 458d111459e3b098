"""Parses PTX into functions of instructions.

Source: the PTX ISA's grammar, as far as nvcc and Triton use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Compilers' largest text has 5 MB.
MOST_TEXT = 64 << 20
# Functions, and registers of one and of all. Compilers use one for each value; an unrolled kernel has 20,000.
MOST_FUNCTIONS, MOST_REGISTERS, MOST_MODULE_REGISTERS = 8192, 1 << 16, 1 << 20
# Bytes: ptxas's limits for sm_90, and the device's global memory.
MOST_PARAMS, MOST_CONSTANT, MOST_SHARED, MOST_LOCAL, MOST_GLOBAL = 32764, 65536, 49152, 512 << 10, 2 << 30
_MOST_ALIGN = 1 << 20


class BadPtx(ValueError):
    """The text is not valid PTX."""


class UnknownType(BadPtx):
    """``kind``: the text."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"there is no type '.{kind}'")
        self.kind = kind


class _Sizes(dict[str, int]):
    def __missing__(self, kind: str) -> int:
        raise UnknownType(kind)


# Raises UnknownType.
SIZES = _Sizes({
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4,
    "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8,
    "b128": 16, "u8x4": 4, "s8x4": 4, "u16x2": 4, "s16x2": 4, "e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """``Module.files``' number, and a line from 1; 0: unknown."""

    file: int = 0
    line: int = 0


NOWHERE = Place()


@dataclass(slots=True)
class Instruction:
    """``add.rn.f32 %f1, %f2, %f3``: name ``add``, modifiers ``("rn", "f32")``, three operands. ``guard``: a
    predicate, maybe with ``!``; empty: always.
    """

    name: str
    modifiers: tuple[str, ...]
    operands: list[str]
    guard: str
    place: Place

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".rstrip()

    @property
    def opcode(self) -> str:
        return ".".join((self.name, *self.modifiers))


@dataclass(slots=True)
class Label:
    """``rolled``: its loop is not unrolled."""

    name: str
    rolled: bool = False


@dataclass(slots=True)
class Variable:
    """``space``: global, const, shared, local or param. ``extern``: the launch sets its size. ``managed``:
    the host reaches it. ``pointers``: (offset, name, addend) in ``data``.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    data: bytes = b""
    extern: bool = False
    managed: bool = False
    pointers: list[tuple[int, str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """``entry``: a kernel. ``tables``: labels of ``brx.idx`` by name. ``cluster``: x y z."""

    name: str
    entry: bool
    params: list[Variable]
    returns: list[Variable]
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    body: list[Instruction | Label] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)
    max_threads: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    place: Place = NOWHERE


@dataclass(slots=True)
class Module:
    target: str
    files: dict[int, str]
    functions: dict[str, Function]
    variables: dict[str, Variable]


_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# LLVM advances the line with each line of inline assembly.
_ASSEMBLY = re.compile(r"//[ \t]*(begin|end) inline asm\b[^\n]*")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_MOST_INLINED = 64
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_REG = re.compile(r"\.reg\s*\.(\w+)\s+(.*)")
_RANGE = re.compile(r"(.*)<(\d+)>$")
_VARIABLE = re.compile(
    r"\.(pred|b8|u8|s8|b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|b64|u64|s64|f64|b128)\s+([\w$%]+)\s*((?:\[\d*\])*)"
)
_POINTER = re.compile(r"\.ptr\b(\s*\.(?:global|shared|const|local))?(\s*\.align\s+\d+)?")
_LABEL = re.compile(r"([$%\w]+)\s*:(?!:)\s*")
_HEAD = re.compile(r"\.(entry|func)\b")
_SPACES = ("global", "const", "shared", "local", "param")


def parse(text: str) -> Module:
    """Raises BadPtx."""
    return _Parser(text).module


def _place_merged(function: Function) -> None:
    """For instructions merged from two lines: a load gets its first use's line, almost always the next one;
    others get the line before.
    """
    known, following = NOWHERE, NOWHERE
    after: list[Place] = []
    for item in reversed(function.body):
        if isinstance(item, Instruction):
            following = item.place if item.place.line else following
        after.append(following)
    for item, later in zip(function.body, reversed(after), strict=True):
        if not isinstance(item, Instruction):
            continue
        if not item.place.line:
            item.place = later if item.name == "ld" and later.line else known
        else:
            known = item.place


def split_operands(text: str) -> list[str]:
    if "{" not in text and "[" not in text and "(" not in text:
        return [part.strip() for part in text.split(",")] if text.strip() else []
    found, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "{[(":
            depth += 1
        elif character in "}])":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[start:index].strip())
            start = index + 1
    if last := text[start:].strip():
        found.append(last)
    return found


def number(text: str) -> int | None:
    """Of an integer, or a float's bits (``0f3F800000``); else None."""
    if text[:2] in ("0f", "0F", "0d", "0D") and len(text) in (10, 18):
        return int(text[2:], 16)
    try:
        plain = text.rstrip("U")
        digits = plain.lstrip("-")
        if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xXbB":
            return int(plain, 8)
        return int(plain, 0)
    except ValueError:
        return None


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise BadPtx(f"it has {len(text):,} characters, and a module at most {MOST_TEXT:,}")
        text = _ASSEMBLY.sub(r".inline_asm \1", text)
        text = (
            _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
            if "/*" in text or "//" in text
            else text
        )
        target = re.search(r"\.target\s+(\w+)", text)
        if target is None:
            raise BadPtx("it names no target")
        files = {int(found[1]): found[2] for found in _FILE.finditer(text)}
        self.module = Module(target[1], files, {}, {})
        self._lines = self._numbered(text.split("\n"))
        self._number = 0
        self._registers = 0
        self._places: dict[tuple[int, int], Place] = {}
        # (file, line, column) -> its call's.
        self._callers: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        try:
            self._top()
            self._check_variables()
        except BadPtx as error:
            raise BadPtx(f"line {self._number}: {error}") from error
        except ValueError as error:
            raise BadPtx(f"line {self._number}: a number is not understood: {error}") from error

    def _numbered(self, lines: list[str]) -> Iterator[str]:
        for self._number, line in enumerate(lines, 1):
            yield line

    def _check_variables(self) -> None:
        for space, most in (("const", MOST_CONSTANT), ("global", MOST_GLOBAL)):
            size = sum(
                variable.size for variable in self.module.variables.values() if variable.space == space
            )
            if size > most:
                raise BadPtx(f"the module has {size:,} bytes of {space} memory, and may have {most:,}")

    def _top(self) -> None:
        for line in self._lines:
            stripped = line.strip()
            if not stripped or stripped.startswith(
                (".version", ".target", ".address_size", ".file", ".loc ", ".loc\t")
            ):
                continue
            if stripped.startswith(".section"):
                self._skip_section(stripped)
            elif _HEAD.search(stripped):
                self._function(stripped)
            elif any(f".{space}" in stripped for space in _SPACES):
                variable = _variable(self._until_semicolon(stripped))
                self.module.variables[variable.name] = variable

    def _skip_section(self, line: str) -> None:
        depth = line.count("{") - line.count("}")
        opened = "{" in line
        while not (opened and depth == 0):
            line = next(self._lines, "}")
            opened = opened or "{" in line
            depth += line.count("{") - line.count("}")

    def _until_semicolon(self, line: str) -> str:
        parts = [line]
        while ";" not in parts[-1]:
            following = next(self._lines, None)
            if following is None:
                raise BadPtx("a statement has no end")
            parts.append(following.strip())
        return " ".join(parts).partition(";")[0]

    def _function(self, line: str) -> None:
        head = [line]
        while "{" not in head[-1] and not head[-1].rstrip().endswith(";"):
            following = next(self._lines, None)
            if following is None:
                raise BadPtx("a function has no body")
            head.append(following.strip())
        text = " ".join(head)
        if "{" not in text:  # declared only
            return
        text = text.partition("{")[0]
        found = re.search(
            r"\.(entry|func)\s*(\([^)]*\)\s*)?([\w$]+)\s*(\((?:[^()]|\([^)]*\))*\))?(.*)", text, re.DOTALL
        )
        if found is None:
            raise BadPtx(f"a function's head is not understood: {text[:100]}")
        kind, returns, name, params, rest = found.groups()
        function = Function(name, kind == "entry", _params(params), _params(returns))
        if limit := re.search(r"\.maxntid\s+([\d,\s]+)", rest):
            function.max_threads = 1
            for size in limit[1].split(","):
                function.max_threads *= int(size)
        if sizes := re.search(r"\.reqnctapercluster\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", rest):
            x, y, z = (int(size) if size else 1 for size in sizes.groups())
            function.cluster = (x, y, z)
        self._body(function)
        _check_function(function)
        self.module.functions[name] = function
        if len(self.module.functions) > MOST_FUNCTIONS:
            raise BadPtx(f"a module has at most {MOST_FUNCTIONS:,} functions")

    def _body(self, function: Function) -> None:
        place = NOWHERE
        # An inner block's names -> the function's.
        scopes: list[dict[str, str]] = [{}]
        begins: list[int] = []
        inner = 0
        text = ""
        in_assembly = False
        for line in self._lines:
            stripped = line.strip()
            if not stripped:
                continue
            if stripped.startswith(".inline_asm "):
                in_assembly = stripped.endswith("begin")
                continue
            if stripped.startswith((".loc ", ".loc\t")):
                if in_assembly:
                    continue
                place = self._place(stripped, function.place.file)
                if function.place is NOWHERE:
                    function.place = place
                continue
            text = f"{text} {stripped}" if text else stripped
            while text:
                if text[0] == "{" and not text.startswith("{%"):
                    inner += 1
                    scopes.append({})
                    begins.append(len(function.body))
                    text = text[1:].lstrip()
                    continue
                if text[0] == "}":
                    left = scopes.pop()
                    if begins:
                        _branch_within(function.body[begins.pop() :], left)
                    text = text[1:].lstrip()
                    if not scopes:
                        _place_merged(function)
                        return
                    continue
                if ":" in text and (label := _LABEL.match(text)):
                    rest = text[label.end() :]
                    if rest.startswith((".branchtargets", ".callprototype", ".calltargets")):
                        if ";" not in rest:
                            break
                        statement, _, text = rest.partition(";")
                        if statement.startswith(".branchtargets"):
                            function.tables[label[1]] = split_operands(
                                statement.removeprefix(".branchtargets")
                            )
                        text = text.lstrip()
                        continue
                    name = label[1]
                    if inner and len(scopes) > 1:
                        name = scopes[-1].setdefault(name, name if inner == 0 else f"{name}~{inner}")
                    function.body.append(Label(name))
                    text = rest
                    continue
                if ";" not in text:
                    break
                statement, _, text = text.partition(";")
                text = text.lstrip()
                if statement.strip():
                    self._statement(function, statement.strip(), place, scopes, inner)
        raise BadPtx(f"the function {function.name} has no end")

    def _place(self, text: str, kernels_file: int) -> Place:
        found = _LOC.match(text)
        if found is None:
            return NOWHERE
        at = (int(found[1]), int(found[2]), int(found[3]))
        if found[4] and (inlined := _INLINED.search(found[4])):
            self._callers[at] = (int(inlined[1]), int(inlined[2]), int(inlined[3]))
            # Callers come first, so an inlined library function gets the student's line.
            for _ in range(_MOST_INLINED):
                if not self._is_library(at[0], kernels_file) or at not in self._callers:
                    break
                at = self._callers[at]
        if self._is_python(at[0]) and self._is_library(at[0], kernels_file):
            return NOWHERE
        return self._places.setdefault(at[:2], Place(*at[:2]))

    def _is_library(self, file: int, kernels_file: int) -> bool:
        """Not the student's: a header, or another Python file."""
        name = self.module.files.get(file, "")
        if self._is_python(file):
            return file != (kernels_file or file)
        return "/include/" in name or name.endswith((".h", ".hpp", ".inl", ".cuh"))

    def _is_python(self, file: int) -> bool:
        return self.module.files.get(file, "").endswith(".py")

    def _statement(
        self, function: Function, text: str, place: Place, scopes: list[dict[str, str]], inner: int
    ) -> None:
        if text[0] == ".":
            self._directive(function, text, scopes, inner)
            return
        guard = ""
        if text[0] == "@":
            guard, _, text = text[1:].partition(" ")
            text = text.lstrip()
        head, _, rest = text.partition(" ")
        if "\t" in head:
            head, _, more = text.partition("\t")
            rest = more
        name, *modifiers = head.split(".")
        modifiers = [modifier for modifier in modifiers if modifier]
        operands = split_operands(rest)
        if len(scopes) > 1:
            renames = {old: new for scope in scopes for old, new in scope.items()}
            if renames:
                operands, guard = (
                    [_renamed(operand, renames) for operand in operands],
                    _renamed(guard, renames),
                )
        function.body.append(Instruction(name, tuple(modifiers), operands, guard, place))

    def _directive(self, function: Function, text: str, scopes: list[dict[str, str]], inner: int) -> None:
        if text.startswith(".reg"):
            found = _REG.match(text)
            if found is None:
                raise BadPtx(f"registers are not understood: {text[:100]}")
            if found[1] not in SIZES:
                raise UnknownType(found[1])
            for item in split_operands(found[2]):
                ranged = _RANGE.match(item)
                count = len(function.registers) + (int(ranged[2]) if ranged else 1)
                if count > MOST_REGISTERS:
                    raise BadPtx(
                        f"{function.name} declares {count:,} registers, and may have {MOST_REGISTERS:,}"
                    )
                self._registers += int(ranged[2]) if ranged else 1
                if self._registers > MOST_MODULE_REGISTERS:
                    raise BadPtx(
                        f"the functions of a module declare {self._registers:,} registers, and may have "
                        f"{MOST_MODULE_REGISTERS:,}"
                    )
                names = [f"{ranged[1]}{index}" for index in range(int(ranged[2]))] if ranged else [item]
                for name in names:
                    unique = name
                    if len(scopes) > 1:
                        unique = scopes[-1][name] = f"{name}~{inner}"
                    function.registers[unique] = found[1]
        elif text.startswith(".pragma"):
            if '"nounroll"' in text and function.body and isinstance(function.body[-1], Label):
                function.body[-1].rolled = True
        elif text.startswith((".maxntid", ".minnctapersm", ".maxnreg", ".noreturn")):
            return
        elif any(text.startswith((f".{space}", ".align")) for space in _SPACES):
            variable = _variable(text)
            if len(scopes) > 1:
                scopes[-1][variable.name] = unique = f"{variable.name}~{inner}"
                variable.name = unique
            function.variables[variable.name] = variable


def _check_function(function: Function) -> None:
    """Raises BadPtx beyond ptxas's limits."""
    variables = function.variables.values()
    for what, size, most in (
        ("parameters", sum(variable.size for variable in function.params), MOST_PARAMS),
        ("results", sum(variable.size for variable in function.returns), MOST_PARAMS),
        (
            "arguments of one call",
            max((variable.size for variable in variables if variable.space == "param"), default=0),
            MOST_PARAMS,
        ),
        (
            "local memory",
            sum(variable.size for variable in variables if variable.space == "local"),
            MOST_LOCAL,
        ),
        (
            "shared memory",
            sum(variable.size for variable in variables if variable.space == "shared"),
            MOST_SHARED,
        ),
    ):
        if size > most:
            raise BadPtx(f"{function.name} has {size:,} bytes of {what}, and may have {most:,}")


def _branch_within(body: list[Instruction | Label], names: dict[str, str]) -> None:
    """Labels that follow in an inner block."""
    for item in body:
        if isinstance(item, Instruction) and item.name == "bra":
            item.operands = [names.get(operand, operand) for operand in item.operands]


def _renamed(text: str, renames: dict[str, str]) -> str:
    return re.sub(r"[%$\w]+", lambda found: renames.get(found[0], found[0]), text)


def _params(text: str | None) -> list[Variable]:
    if not text:
        return []
    return [_variable(operand) for operand in split_operands(text.strip()[1:-1])]


def _variable(text: str) -> Variable:
    declared, _, initial = text.partition("=")
    space = next((space for space in _SPACES if f".{space}" in declared), "param")
    align = re.search(r"\.align\s+(\d+)", _POINTER.sub("", declared))
    found = _VARIABLE.search(_POINTER.sub("", declared))
    if found is None:
        raise BadPtx(f"a variable is not understood: {text[:100]}")
    kind, name, dimensions = found.groups()
    count, extern = 1, False
    aligned = max(int(align[1]) if align else 1, SIZES[kind])
    if aligned > _MOST_ALIGN or aligned & (aligned - 1):
        raise BadPtx(
            f"{name} is aligned to {aligned:,} bytes: that is a power of two of at most {_MOST_ALIGN:,}"
        )
    for size in re.findall(r"\[(\d*)\]", dimensions):
        extern = extern or not size
        count *= int(size or 0)
    extern = extern or (".extern" in declared and count == 0)
    variable = Variable(
        name, space, kind, SIZES[kind] * count, aligned, extern=extern,
        managed=".managed" in declared,
    )  # fmt: skip
    if initial.strip():
        _initialise(variable, SIZES[kind], declared, initial)
    return variable


def _initialise(variable: Variable, unit: int, declared: str, text: str) -> None:
    data = bytearray()
    for item in re.split(r",", text.replace("{", "").replace("}", "")):
        item = item.strip()
        if not item:
            continue
        value = number(item)
        if value is None:
            inner = re.fullmatch(r"(?:generic\()?([\w$]+)\)?(?:\s*\+\s*(\d+))?", item)
            if inner is None:
                mask = re.fullmatch(r"(0x[0-9a-fA-F]+)\((.*)\)", item)
                raise BadPtx(f"an initial value is not understood: {item[:60]}{' (masked)' if mask else ''}")
            variable.pointers.append((len(data), inner[1], int(inner[2] or 0)))
            value = 0
        data += (value & ((1 << 8 * unit) - 1)).to_bytes(unit, "little")
    if "[]" in declared and ".extern" not in declared:  # its values give the size
        variable.size, variable.extern = len(data), False
    if len(data) > variable.size:
        raise BadPtx(f"{variable.name} has {variable.size:,} bytes, and initial values of {len(data):,}")
    variable.data = bytes(data)
