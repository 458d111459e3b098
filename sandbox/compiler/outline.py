"""Finds functions, macros and open braces of a CUDA source, for messages. Ignores conditionals and
expansions; takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SKIPPED = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|R"(?P<end>[^()\\\s"]{0,16})\(.*?(?:\)(?P=end)"|\Z)"""
    r"""|"(?:\\.|[^"\\\n])*"?|(?<![0-9A-Za-z])'(?:\\.|[^'\\\n])*'?|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|[(){}\[\];,=<>]|\n")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_PARENTHESES = re.compile(r"[()\[\]<>,]")
# Words before a parenthesis that name no function.
_NO_NAMES = frozenset(
    "alignas decltype noexcept requires throw "
    "__align__ __attribute__ __cluster_dims__ __launch_bounds__ __maxnreg__".split()
)


@dataclass(frozen=True)
class Function:
    """Not in a class; ``line`` counts from 1."""

    name: str
    line: int
    parameters: int
    kernel: bool
    host: bool
    namespace: bool


@dataclass(frozen=True)
class Outline:
    """``macros``: name -> first line. ``open_brace``: line of the outermost unclosed brace, or 0."""

    functions: Sequence[Function]
    macros: Mapping[str, int]
    open_brace: int

    def named(self, name: str) -> Function | None:
        """The last, preferably outside of namespaces."""
        found = sorted(
            (function for function in self.functions if function.name == name),
            key=lambda function: not function.namespace,
        )
        return found[0] if found else None


def parameter_count(text: str) -> int:
    if text.strip() in ("", "void"):
        return 0
    depth, count = 0, 1
    for found in _PARENTHESES.findall(text):
        if found == ",":
            count += depth == 0
        else:
            depth += 1 if found in "([<" else -1
    return count


def outline_of(source: str) -> Outline:
    macros: dict[str, int] = {}
    line, place = 1, 0
    for found in _DEFINE.finditer(source):
        line, place = line + source.count("\n", place, found.start()), found.start()
        macros.setdefault(found[1], line)
    functions, open_brace = _read(plain_text(source))
    return Outline(functions, macros, open_brace)


def plain_text(source: str) -> str:
    """Blanks out comments, literals and directives, keeping positions."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def _read(plain: str) -> tuple[list[Function], int]:
    functions: list[Function] = []
    head: list[tuple[str, int, int]] = []  # since the last declaration: text, place, line
    braces: list[tuple[int, str]] = []  # line, and "namespace", "linkage" or "body"
    line = 1
    for found in _TOKEN.finditer(plain):
        word = found[0]
        in_body = bool(braces) and braces[-1][1] == "body"
        if word == "\n":
            line += 1
        elif word == "{":
            kind = "body" if in_body else _kind(head)
            if kind == "body" and not in_body:
                functions += _function(plain, head, any(name == "namespace" for _, name in braces))
            braces.append((line, kind))
            head = []
        elif word == "}":
            head = []
            if braces:
                braces.pop()
        elif word == ";":
            head = []
        elif not in_body:
            head.append((word, found.start(), line))
    return functions, braces[0][0] if braces else 0


def _kind(head: list[tuple[str, int, int]]) -> str:
    words = [text for text, _, _ in head]
    if "namespace" in words:
        return "namespace"
    return "linkage" if words == ["extern"] else "body"


def _function(plain: str, head: list[tuple[str, int, int]], namespace: bool) -> list[Function]:
    """The function whose body follows ``head``, if any."""
    depth, angles, opened = 0, 0, -1
    found: tuple[tuple[str, int, int], str] | None = None
    for index, (text, place, _) in enumerate(head):
        angles += (text == "<") - (text == ">") if depth == 0 else 0
        if text == "=" and depth == 0 and angles == 0:
            return []
        if text == "(":
            depth += 1
            opened = index if depth == 1 else opened
        elif text == ")":
            depth -= 1
            name = head[opened - 1] if opened > 0 else None
            if depth == 0 and name and re.match(r"\w", name[0]) and name[0] not in _NO_NAMES:
                found = (name, plain[head[opened][1] + 1 : place])
    if found is None:
        return []
    (called, _, line), parameters = found
    words = {text for text, _, _ in head}
    kernel = "__global__" in words
    host = not kernel and ("__device__" not in words or "__host__" in words)
    return [Function(called, line, parameter_count(parameters), kernel, host, namespace)]
