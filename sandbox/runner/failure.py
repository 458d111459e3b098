"""An exception in bounded form: type, message, line and frames of the student's file.

It is the submission's object: any access may raise, hang or deceive, so each falls back to our value.
"""

from __future__ import annotations

import collections
import linecache
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

# As JSON with up to four bytes a character, below grader.limits.MESSAGE_BYTES.
_TYPE, _TEXT, _TRACE, _HINT = 200, 4000, 4000, 1000
SOURCE_NAME = "solution.py"
# Causes can form a circle, and recursion leaves a thousand frames.
_CAUSES = 16
_FRAMES = 64
_LINE_CHARS = 200
_MOST_LINE = 1_000_000
# A student's class cannot replace these.
_OWN = BaseException.__dict__

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

T = TypeVar("T")


class Described(Exception):
    """Described by our code, in a process without code of a submission."""

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure["message"])
        self.failure = failure


def describe(error: BaseException) -> dict[str, Any]:
    """The failure of the student's code.

    - ``kind``: memory, syntax, import, cuda, checker, compilation or exception
    - ``type``: the class; for CUDA its error's name
    - ``message``: of a compilation with source line and caret
    - ``line``: the last one in the student's file

    Never raises.
    """
    if type(error) is Described:
        return {**error.failure, "message": printable(error.failure["message"], _TEXT)}
    chain = _chain(error)
    root = _root(chain)
    frames = [frame for link in chain for frame in _own_frames(link)][-_FRAMES:]
    message = _answer(
        lambda: _COLOUR.sub("", _exact(str(root))), "(its message cannot be shown: str() of it fails)"
    )
    syntax = issubclass(type(root), SyntaxError)
    line = _answer(lambda: root.lineno, None) if syntax else (frames[-1][0] if frames else None)  # type: ignore[attr-defined]
    trace = "".join(f"  line {number or '?'} in {name}: {text}\n" for number, name, text in frames)
    kind = _kind(root, message)
    if kind == "exception":
        if (refused := _answer(lambda: _refused(chain), None)) is not None:
            kind, (line, message) = "compilation", refused
        elif any(_name(base) == "DSLUserCodeError" for base in type(root).__mro__):
            kind, message = "compilation", _of_cute(message)
    return {
        "kind": kind,
        "type": printable(" ".join(_type_of(root).split()), _TYPE),
        "message": printable(message, _TEXT),
        "line": _line(line) or None,
        "trace": printable(trace[-_TRACE:], _TRACE),
        "hint": printable(_answer(lambda: _exact(error.hint), ""), _HINT),  # type: ignore[attr-defined]
    }


def printable(text: str, most: int) -> str:
    """Encodings, terminals and databases reject halves of surrogate pairs and control characters."""
    text = "".join(letter if _is_plain(letter) else ascii(letter)[1:-1] for letter in text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"


def _is_plain(character: str) -> bool:
    return character in "\n\t" or not (
        character < " " or "\x7f" <= character < "\xa0" or "\ud800" <= character <= "\udfff"
    )


def _answer(ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except BaseException:
        return otherwise


def _exact(text: Any) -> str:
    """Calls no method of a subclass. Raises TypeError."""
    return str.__getitem__(text, slice(0, max(_TEXT, _TRACE) + 1))


def _name(kind: type) -> str:
    return _answer(lambda: _exact(type.__dict__["__name__"].__get__(kind)), "exception")


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while len(chain) < _CAUSES:
        cause = _OWN["__cause__"].__get__(chain[-1])
        if cause is None or any(cause is link for link in chain):
            break
        chain.append(cause)
    return chain


def _root(chain: list[BaseException]) -> BaseException:
    """Triton's interpreter wraps a kernel's exception."""
    for link in chain[:-1]:
        if _name(type(link)) != "InterpreterError":
            return link
    return chain[-1]


def _own_frames(error: BaseException) -> Iterator[tuple[int, str, str]]:
    found: collections.deque[tuple[types.CodeType, int | None]] = collections.deque(maxlen=_FRAMES)
    place: types.TracebackType | None = _OWN["__traceback__"].__get__(error)
    while place is not None:
        code = place.tb_frame.f_code
        if code.co_filename.endswith(SOURCE_NAME):
            found.append((code, place.tb_lineno))
        place = place.tb_next
    for code, line in found:
        number = _line(line)
        text = _answer(lambda code=code, number=number: linecache.getline(code.co_filename, number), "")  # type: ignore[misc]
        yield number, code.co_name[:_LINE_CHARS], text.strip()[:_LINE_CHARS]


def _line(number: Any) -> int:
    """0 if no file can have such a line."""
    return number if type(number) is int and 0 < number < _MOST_LINE else 0


# Triton's text of an exception within a message.
_WRITTEN_OUT = re.compile(r"""^(\w+)\((['"])(.*)\2,?\)$""", re.DOTALL)

# Triton's text of a compile-time number.
_CONSTANT = re.compile(r"'?constexpr\[(\w+)\]'?")


def _refused(chain: list[BaseException]) -> tuple[int, str] | None:
    """Of an error by Triton's compiler in the student's file. The deepest place counts: helpers compile
    within their kernel.
    """
    links = [link for link in chain if any(_name(kind) == "CompilationError" for kind in type(link).__mro__)]
    if not links:
        return None
    path = next(
        code.co_filename for link in chain for code in _codes(link) if code.co_filename.endswith(SOURCE_NAME)
    )
    file = linecache.getlines(path)
    places = [_place_of(link, file) for link in links]
    found = next((place for place in reversed(places) if place), None)
    if found is None:
        return None
    line, column = found
    last = chain[-1]
    said = _exact(last.error_message or "") if last in links else _exact(str(last))  # type: ignore[attr-defined]
    if written := _WRITTEN_OUT.match(said):
        said = f"{written[1]}: {written[3]}"
    text = file[line - 1].rstrip()
    indent = len(text) - len(text.lstrip())
    caret = " " * (4 + max(column - indent, 0)) + "^"
    said = _CONSTANT.sub(r"\1", " ".join(said.split("\n"))).strip() or "Triton does not say why."
    return line, f"{said}\n    {text.strip()[:_LINE_CHARS]}\n{caret[: _LINE_CHARS + 5]}"


def _of_cute(message: str) -> str:
    """CuTe DSL's sentences, source line and caret."""
    said, _, rest = message.strip().removeprefix("error").partition("\n  --> ")
    said = said.partition(": ")[2] if said.startswith(("[", ":")) else said
    shown = [line for line in rest.splitlines() if re.match(r"(?:\d+ )?\s*\| ", line)]
    caret = next((place for place, line in enumerate(shown) if set(line) <= set(" |^~") and "^" in line), 0)
    lines = [line.partition("| ")[2] for line in shown[caret - 1 : caret + 1]] if caret else []
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    advice = " ".join(" ".join(rest.partition("suggestion:")[2].split()).split())
    return "\n".join(
        [
            said.strip(),
            *(f"    {line[indent:][:_LINE_CHARS]}" for line in lines),
            *([advice] if advice else []),
        ]
    )


def _place_of(error: Any, file: list[str]) -> tuple[int, int] | None:
    """Line and column. Triton counts from the function's first line, without its indent."""
    source = [line.strip() for line in _exact(error.src).split("\n")]
    number, column = int(error.node.lineno), int(error.node.col_offset)
    for start in range(len(file)):
        if [line.strip() for line in file[start : start + number]] == source[:number]:
            text = file[start]
            return start + number, column + len(text) - len(text.lstrip())
    return None


def _codes(error: BaseException) -> Iterator[types.CodeType]:
    place: types.TracebackType | None = _OWN["__traceback__"].__get__(error)
    while place is not None:
        yield place.tb_frame.f_code
        place = place.tb_next


def _is_cuda(error: BaseException) -> bool:
    """By form: a host without a GPU imports neither CudaError nor CallFailed."""
    return _answer(lambda: hasattr(error, "out_of_memory") and hasattr(error, "code"), False)


def _type_of(error: BaseException) -> str:
    if _is_cuda(error):
        return _answer(lambda: _exact(error.name), "")  # type: ignore[attr-defined]
    return _name(type(error))


def _kind(error: BaseException, message: str) -> str:
    kind = type(error)
    if issubclass(kind, MemoryError) or "DefaultCPUAllocator" in message:
        return "memory"
    if _name(kind) == "OutOfMemoryError" or _answer(lambda: bool(error.out_of_memory), False):  # type: ignore[attr-defined]
        return "memory"
    if _is_cuda(error):
        return "cuda"
    if issubclass(kind, SyntaxError):
        return "syntax"
    if issubclass(kind, ImportError):
        return "import"
    return "exception"
