"""Mistakes in CUDA sources where threads meet: elements that are changed without an atomic operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.judge.cuda_source import (
    Access,
    Arguments,
    Function,
    names_in,
    split,
)

if TYPE_CHECKING:
    pass

# The condition of a statement that begins where the text ends, for one thread.
_GUARD = re.compile(r"\bif\s*\([^;{}]*==[^;{}]*\)\s*\{?\s*\*?\s*$")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# Calls of which the result depends on the arguments alone.
_PLAIN_CALL = re.compile(
    r"u?int(?:\d+_t)?|unsigned|long|size_t|float|double|short|char|bool|sizeof|f?(?:min|max)f?|abs|fabsf?|floorf?|ceilf?"
    r"|__float2int_r[dnuz]"
)


@dataclass(frozen=True)
class Update:
    """``meets_by_data``: threads meet where data sends them; ``everywhere``: no condition picks one thread."""

    function: Function
    access: Access
    meets_by_data: bool
    everywhere: bool


@dataclass
class UpdateRules:
    arguments: Arguments
    # By function, expression and depth: variables that are given many values of each other are asked again and again.
    _known_tags: dict[tuple[str, str, int], set[str]] = field(default_factory=dict)

    def updates(self) -> Iterator[Update]:
        """Elements that are read, changed and stored without an atomic operation, at places where threads meet."""
        for function in self.arguments.source.functions.values():
            arrays = self._arrays_of(function)
            scalars = [
                Access(it.place, it.line, it.name, "", it.operator, it.value)
                for it in function.assignments
                if it.name in arrays
            ]
            for access in (*function.accesses, *scalars):
                if access.array not in arrays or not _changes_itself(access):
                    continue
                tags = self._tags(function, access.index)
                if "unknown" in tags or {"thread", "block"} <= tags:
                    continue
                if "thread" in tags and ("data" in tags or arrays[access.array]):
                    continue
                guarded = (
                    "data" not in tags and _GUARD.search(function.body[: access.place][-200:]) is not None
                )
                if guarded and arrays[access.array]:
                    continue  # one thread of the block does it
                yield Update(function, access, "data" in tags, not guarded)

    def _arrays_of(self, function: Function) -> dict[str, bool]:
        """Arrays that several threads see; whether only those of one block do."""
        found = {it.name: False for it in function.parameters if it.pointer and function.kernel}
        for it in re.finditer(r"__shared__\s+[\w:<> ]{1,60}?\s+([^;=]*)", function.body):
            found |= {name: True for each in split(it[1]) for name in re.findall(r"^\w+", each)}
        return found

    def _tags(self, function: Function, expression: str, depth: int = 0) -> set[str]:
        """What decides an index: the thread, the block, or data that is read."""
        key = function.name, expression, depth
        if key not in self._known_tags:
            self._known_tags[key] = self._find_tags(function, expression, depth)
        return self._known_tags[key]

    def _find_tags(self, function: Function, expression: str, depth: int) -> set[str]:
        found: set[str] = set()
        outside = expression
        for _ in range(8):
            # What is read from an array is data, however its place is made.
            outside, count = re.subn(r"\b[A-Za-z_]\w*\s*\[[^\[\]]*\]", " DATA ", outside)
            if not count:
                break
        if function.numbered_by_macro or any(
            not _PLAIN_CALL.fullmatch(it[1]) for it in _CALL.finditer(outside)
        ):
            found.add("unknown")
        for name in names_in(outside):
            if name == "DATA":
                found.add("data")
            elif name == "threadIdx":
                found.add("thread")
            elif name == "blockIdx":
                found.add("block")
            elif any(it.name == name for it in function.parameters):
                found |= set() if function.kernel else {"unknown"}
            else:
                values = [it.value for it in function.assignments if it.name == name]
                if depth > 3:
                    found.add("unknown")
                    continue
                for value in values:
                    found |= self._tags(function, re.sub(rf"\b{name}\b", " ", value), depth + 1)
        return found

    def update(self, function: Function, access: Access) -> str:
        element = f"{access.array}[{access.index}]" if access.index else access.array
        given = self.arguments.of(function).get(access.array)
        told = (
            f" ({access.array} is {given.name})" if given is not None and given.name != access.array else ""
        )
        return (
            f"Line {access.line} reads {element}{told}, changes it and stores it: what another thread stores in "
            f"between is lost. No barrier helps, as several threads do this to the same element: {_atomic_for(access)}."
        )

    def of_race(self, line: int, message: str) -> str:
        lines = {line, *(int(it) for it in re.findall(r" in line (\d+)", message.split("\n")[0]))}
        array = re.search(r" of (?:the shared array )?(\w+)(?:,| *$)", message.split(", and ")[0])
        for it in self.updates():
            given = self.arguments.of(it.function).get(it.access.array)
            names = {it.access.array, given.name if given is not None else it.access.array}
            if it.access.line in lines and (array is None or array[1] in names | {"memory"}):
                return self.update(it.function, it.access)
        return ""


def _changes_itself(access: Access) -> bool:
    """Whether what is stored comes of what was there, and of no other element of that array."""
    if access.operator in ("++", "--"):
        return True
    others = len(re.findall(rf"\b{access.array}\b", access.value))
    if access.operator == "=":
        return others > 0 and len(re.findall(_element_pattern(access), access.value)) == others
    return access.operator.endswith("=") and not others


def _element_pattern(access: Access) -> str:
    array = rf"\b{access.array}\b"
    if not access.index:
        return array
    element = rf"{array}\s*\[\s*{re.escape(access.index)}\s*\]"
    return element if access.index != "0" else rf"{element}|\*\s*{array}"


def _atomic_for(access: Access) -> str:
    place = f"&{access.array}[{access.index}]" if access.index else f"&{access.array}"
    if access.operator == "--":
        return f"atomicSub({place}, 1) does it in one step"
    if access.operator in ("++", "+=", "-="):
        value = "1" if access.operator == "++" else f"{'-' * (access.operator == '-=')}..."
        return f"atomicAdd({place}, {value}) does it in one step"
    if extreme := re.search(r"\bf?(max|min)f?\s*\(", access.value):
        return f"atomic{extreme[1].capitalize()} does it in one step (for integers)"
    if "+" in access.value:
        return f"atomicAdd({place}, ...) does it in one step"
    return "an atomic operation does it in one step"
