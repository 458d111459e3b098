"""Reads from a CUDA source what hints need.

No parser: follows no macros, skips what it does not understand. Rules compare all pairs, so it refuses sources longer
than people write.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from grader.challenge.model import Argument, Manifest
from grader.sandbox.compiler.outline import plain_text

# More than twice our longest solution.
_MOST_CHARS = 1 << 16
_MOST_MARKS = {"=": 500, "(": 600, "[": 400, "{": 300, "\n\n": 500}
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_NO_FUNCTIONS = frozenset("if for while switch catch return sizeof".split())
_LAUNCHED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;(){}]{0,200}>)?\s*<<<")
_INDEXED = re.compile(r"\b([A-Za-z_]\w*)\s*\[")
# A dereferenced pointer, not a product: no factor precedes it, or it is assigned to.
_FOLLOWED = re.compile(
    r"(?:(?<=[;{}(=,+\-!&|?:])|\breturn)\s*\*\s*([A-Za-z_]\w*)"
    r"|(?<=\))\s*\*\s*([A-Za-z_]\w*)(?=\s*(?:[-+*/]?=(?!=)|\+\+|--))"
)
_ASSIGNED = re.compile(r"(?<![\w.>\]])([A-Za-z_]\w*)\s*([-+*/%&|^]?|<<|>>)=(?!=)")
# A dereference, not a declaration.
_DEREFERENCES = re.compile(r"(?:^|[;{})])\s*\*\s*$")
_AFTER = re.compile(r"\s*(\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))")
_COUNTED = re.compile(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*(?:\+\+|--)")
_CAST = re.compile(
    r"\b(?:static_cast|reinterpret_cast|const_cast)\s*<[^<>]*>"
    r"|\(\s*(?:const\s+)?(?:unsigned|int|long|float|double|half|__half|size_t|u?int\d+_t|long long|unsigned int"
    r"|unsigned long long)\s*[*]*\s*\)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_INTEGER = re.compile(r"(?:(?:const|unsigned|signed|int|long|short|size_t|u?int\d+_t)\s*)+")
_OPENING, _CLOSING = "([{", ")]}"
_EXPRESSION_CHARS = 2_000
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\\\n]|\\.|\\\n)*)", re.MULTILINE)
_CONSTANT = re.compile(
    r"\b(?:constexpr|const)\s+(?:static\s+)?(?:unsigned |long )*(?:int|unsigned|long|size_t|u?int\d+_t|auto)\s+"
    r"([A-Za-z_]\w*)\s*=\s*(\d{1,9})[uUlL]*\s*(?=[;,])"
)
_NUMBERED = ("threadIdx", "blockIdx")


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str

    @property
    def pointer(self) -> bool:
        return "*" in self.type

    @property
    def constant(self) -> bool:
        """Nothing can be written through it."""
        return re.search(r"\bconst\b[^*]*\*|^[^*]*\bconst\s*\*", self.type) is not None


@dataclass(frozen=True)
class Access:
    place: int
    line: int
    array: str
    index: str
    #: Empty for a read.
    operator: str = ""
    #: The expression to the right of the operator.
    value: str = ""


@dataclass(frozen=True)
class Assignment:
    place: int
    line: int
    name: str
    operator: str
    value: str


@dataclass
class Function:
    name: str
    line: int
    head: str
    parameters: list[Parameter]
    body: str
    begin: int
    source: CudaSource = field(repr=False)

    @property
    def kernel(self) -> bool:
        return "__global__" in self.head

    @cached_property
    def numbered_by_macro(self) -> bool:
        """Some uses of threads are then not seen."""
        return not names_in(self.body).isdisjoint(self.source.numbering_macros)

    @cached_property
    def assignments(self) -> list[Assignment]:
        found = []
        for match in _ASSIGNED.finditer(self.body):
            if _DEREFERENCES.search(self.body, max(0, match.start() - 40), match.start()):
                continue
            value = _expression(self.body, match.end())
            found.append(
                Assignment(
                    match.start(), self.line_at(match.start()), match[1], f"{match[2]}=", plain_value(value)
                )
            )
        return found

    @cached_property
    def accesses(self) -> list[Access]:
        found = [self._indexed(match) for match in _INDEXED.finditer(self.body)]
        for match in _FOLLOWED.finditer(self.body):
            group = 1 if match[1] else 2
            found.append(self._access(match.start(group), match.end(), match[group], "0", match.start()))
        return [access for access in found if access is not None]

    def _indexed(self, match: re.Match[str]) -> Access | None:
        end, parts = match.end() - 1, []
        while self.body[end : end + 1] == "[":
            close = self.source.partner(self.begin + end) - self.begin
            if close < end:
                return None
            parts.append(self.body[end + 1 : close])
            end = close + 1
        return self._access(match.start(), end, match[1], "][".join(parts), match.start())

    def _access(self, place: int, end: int, array: str, index: str, begin: int) -> Access:
        before = self.body[:begin].rstrip()[-2:] if begin < 4 else self.body[begin - 4 : begin].rstrip()[-2:]
        after = _AFTER.match(self.body, end)
        operator = after[1] if after else before if before in ("++", "--") else ""
        value = _expression(self.body, after.end()) if after and after[1].endswith("=") else ""
        return Access(place, self.line_at(place), array, plain_value(index), operator, plain_value(value))

    def line_at(self, place: int) -> int:
        return self.source.line_at(self.begin + place)

    @cached_property
    def values(self) -> dict[str, str]:
        counted = {match[1] or match[2] for match in _COUNTED.finditer(self.body)}
        found: dict[str, list[str]] = {}
        for assignment in self.assignments:
            found.setdefault(assignment.name, []).append(assignment.value)
        return {name: values[0] for name, values in found.items() if len(values) == 1 and name not in counted}

    def is_integer(self, name: str) -> bool:
        types = [parameter.type for parameter in self.parameters if parameter.name == name]
        types += [match[1] for match in re.finditer(rf"([\w ]+?)\s+{name}\s*[=;,)]", self.body)]
        # A later one of a declaration: int i = 0, n = 4;
        later = rf"(?:^|[;{{}}(])\s*([\w ]+?)\s+\w+\s*=[^;{{}}]*,\s*{name}\s*[=;,]"
        types += [match[1] for match in re.finditer(later, self.body)]
        return bool(types) and all(_INTEGER.fullmatch(kind.strip()) for kind in types)

    def resolved(self, expression: str) -> str:
        for _ in range(2):
            if len(expression) > _EXPRESSION_CHARS:
                break
            expression = _NAME.sub(
                lambda match: f"({self.values[match[0]]})" if match[0] in self.values else match[0],
                expression,
            )
        return expression

    def arguments_of(self, *names: str) -> Iterator[tuple[int, str, list[str]]]:
        for match in re.finditer(rf"\b({'|'.join(names)})\s*\(", self.body):
            close = self.source.partner(self.begin + match.end() - 1) - self.begin
            if close > match.end():
                yield match.start(), match[1], split(self.body[match.end() : close])

    def loops(self) -> Iterator[tuple[int, int, str]]:
        """Begin, end and parentheses."""
        for match in re.finditer(r"\b(?:for|while)\s*\(", self.body):
            close = self.source.partner(self.begin + match.end() - 1) - self.begin
            if close < 0:
                continue
            opened = re.compile(r"\s*\{").match(self.body, close + 1)
            if opened:
                end = self.source.partner(self.begin + opened.end() - 1) - self.begin
            else:
                end = self.body.find(";", close)
                inner = self.body.rfind("for", close, end)
                # A loop in a body without braces.
                while (
                    inner > 0
                    and end > 0
                    and self.body.count("(", close, end) > self.body.count(")", close + 1, end)
                ):
                    end = self.body.find(";", end + 1)
            if end > close:
                yield close, end, self.body[match.end() : close]


@dataclass(frozen=True)
class Launch:
    line: int
    kernel: Function
    caller: Function
    grid: str
    block: str
    #: Bytes of dynamic shared memory, or empty.
    shared: str
    #: Parameter -> passed expression, without casts.
    given: dict[str, str]


class CudaSource:
    """``text``: without comments, literals and directives."""

    def __init__(
        self,
        text: str,
        numbering_macros: frozenset[str] = frozenset(),
        macros: Mapping[str, int] | None = None,
    ) -> None:
        self.text, self.numbering_macros = text, numbering_macros
        self._macros = dict(macros or {})
        self._partners = _partners(self.text)
        self._lines = [match.end() for match in re.finditer("\n", self.text)]
        self.functions = {function.name: function for function in self._read_functions()}
        self.kernels = [function for function in self.functions.values() if function.kernel]
        self.launches = list(self._read_launches())

    @property
    def solve(self) -> Function | None:
        return self.functions.get("solve")

    @cached_property
    def constants(self) -> dict[str, int]:
        """Whole numbers that are set once."""
        found: dict[str, set[int]] = {name: {value} for name, value in self._macros.items()}
        for match in _CONSTANT.finditer(self.text):
            found.setdefault(match[1], set()).add(int(match[2]))
        return {name: values.pop() for name, values in found.items() if len(values) == 1}

    def number_of(self, expression: str) -> int | None:
        text = plain_value(expression)
        if re.fullmatch(r"\d{1,9}[uUlL]*", text):
            return int(text.rstrip("uUlL"))
        return self.constants.get(text)

    def line_at(self, place: int) -> int:
        return bisect_right(self._lines, place) + 1

    def partner(self, place: int) -> int:
        return self._partners.get(place, -1)

    def kernel_at(self, line: int) -> Function | None:
        for function in self.functions.values():
            if self.line_at(function.begin) <= line <= self.line_at(function.begin + len(function.body)):
                return function
        return None

    def launches_of(self, kernel: Function) -> list[Launch]:
        return [launch for launch in self.launches if launch.kernel is kernel]

    def _read_functions(self) -> Iterator[Function]:
        end = 0
        for match in _CALLED.finditer(self.text):
            close = self.partner(match.end() - 1)
            if match.start() < end or close < 0 or match[1] in _NO_FUNCTIONS or match[1].startswith("__"):
                continue
            opened = re.compile(r"\s*(?:(?:const|noexcept)\s*)*\{").match(self.text, close + 1)
            last = self.partner(opened.end() - 1) if opened else -1
            if opened is None or last < 0:
                continue
            before = max(self.text.rfind(mark, 0, match.start()) for mark in ";{}")
            parameters = [_parameter(each) for each in split(self.text[match.end() : close])]
            body = self.text[opened.end() : last]
            head = self.text[before + 1 : match.start()]
            yield Function(match[1], self.line_at(match.start()), head, parameters, body, opened.end(), self)
            end = last

    def _read_launches(self) -> Iterator[Launch]:
        for match in _LAUNCHED.finditer(self.text):
            kernel, caller = self.functions.get(match[1]), self._around(match.start())
            close = self.text.find(">>>", match.end())
            opened = re.compile(r"\s*\(").match(self.text, close + 3) if close > 0 else None
            last = self.partner(opened.end() - 1) if opened else -1
            if kernel is None or caller is None or opened is None or last < 0:
                continue
            shape = [*split(self.text[match.end() : close]), "", "", ""]
            passed = [plain_value(each) for each in split(self.text[opened.end() : last])]
            names = [each.name for each in kernel.parameters]
            yield Launch(
                self.line_at(match.start()),
                kernel,
                caller,
                shape[0],
                shape[1],
                shape[2],
                dict(zip(names, passed, strict=False)),
            )

    def _around(self, place: int) -> Function | None:
        return next(
            (
                function
                for function in self.functions.values()
                if function.begin <= place < function.begin + len(function.body)
            ),
            None,
        )


@dataclass
class Arguments:
    """Maps parameters to the challenge's arguments."""

    manifest: Manifest
    source: CudaSource
    _known: dict[str, dict[str, Argument]] = field(default_factory=dict)

    def of(self, function: Function) -> dict[str, Argument]:
        if function.name not in self._known:
            self._known[function.name] = self._find_arguments(function)
        return self._known[function.name]

    def _find_arguments(self, function: Function) -> dict[str, Argument]:
        solve = self.source.solve
        if solve is None or len(solve.parameters) != len(self.manifest.args):
            return {}
        own = {
            parameter.name: given
            for parameter, given in zip(solve.parameters, self.manifest.args, strict=True)
        }
        if function is solve:
            return own
        found: dict[str, Argument] = {}
        unclear = set()
        for launch in self.source.launches_of(function):
            for name, value in launch.given.items():
                value = launch.caller.values.get(value, value)
                known = own.get(value) if launch.caller is solve else None
                if known is None or found.setdefault(name, known) is not known:
                    unclear.add(name)
        return {name: argument for name, argument in found.items() if name not in unclear}


def read(text: str) -> CudaSource | None:
    if len(text) > _MOST_CHARS:
        return None
    plain = re.sub(r"[ \t\r]+(?=\n)|[ \t\r]*$", "", re.sub(r"[ \t\r\f\v]+", " ", plain_text(text)))
    if any(plain.count(mark) > most for mark, most in _MOST_MARKS.items()):
        return None
    numbers = {
        match[1]: int(match[2])
        for match in re.finditer(
            r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?(\d{1,9})\)?[ \t]*(?://.*)?$", text, re.MULTILINE
        )
    }
    return CudaSource(plain, _numbering_macros(text), numbers)


def _numbering_macros(text: str) -> frozenset[str]:
    """Macros that mention threads or blocks, also indirectly."""
    bodies = [(match[1], names_in(match[2])) for match in _DEFINED.finditer(text)]
    found: set[str] = set(_NUMBERED)
    for _ in range(4):
        found |= {name for name, names in bodies if names & found}
    return frozenset(found.difference(_NUMBERED))


def _partners(text: str) -> dict[int, int]:
    """Opening bracket -> closing one."""
    found, opened = {}, []
    for match in re.finditer(r"[()\[\]{}]", text):
        if match[0] in _OPENING:
            opened.append((match[0], match.start()))
        elif opened and _OPENING.index(opened[-1][0]) == _CLOSING.index(match[0]):
            found[opened.pop()[1]] = match.start()
    return found


def split(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for place, mark in enumerate(text):
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    parts.append(text[begin:])
    stripped = [part.strip() for part in parts]
    return stripped if stripped != [""] else []


def _expression(text: str, begin: int) -> str:
    """Up to a semicolon, a comma, or an unmatched closing bracket."""
    depth, text = 0, text[: begin + _EXPRESSION_CHARS]
    for match in re.compile(r"[()\[\]{};,]").finditer(text, begin):
        if match[0] in _OPENING:
            depth += 1
        elif match[0] in _CLOSING:
            depth -= 1
        if depth < 0 or (depth == 0 and match[0] in ";,"):
            return text[begin : match.start()]
    return text[begin:]


def _parameter(text: str) -> Parameter:
    plain = re.sub(r"__restrict__|\[\s*\]", " ", text.partition("=")[0])
    names = _NAME.findall(plain)
    name = names[-1] if names else ""
    return Parameter(name, plain[: plain.rfind(name)] if name else plain)


def plain_value(text: str) -> str:
    text = " ".join(_CAST.sub("", text).split())
    while text.startswith("(") and _partners(text).get(0) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def names_in(text: str) -> set[str]:
    return set(_NAME.findall(text))
