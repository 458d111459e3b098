"""Mistakes in CUDA sources where threads change an element without atomics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.judge.explaining.cuda.source import (
    Access,
    Arguments,
    Function,
    names_in,
    split,
)

# A condition for one thread.
_GUARD = re.compile(r"\bif\s*\([^;{}]*==[^;{}]*\)\s*\{?\s*\*?\s*$")
# The head of a loop whose step is halved.
_HALVES = re.compile(r"(?:/=\s*2|>>=\s*1|=\s*\w+\s*/\s*2|=\s*\w+\s*>>\s*1)\s*$")
_FOR_ONE = re.compile(r"\bif\s*\(\s*([^();=]*(?:\([^();=]*\))?[^();=]*?)\s*==\s*(\d+)\s*\)")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# Calls that depend on their arguments alone.
_PLAIN_CALL = re.compile(
    r"u?int(?:\d+_t)?|unsigned|long|size_t|float|double|short|char|bool|sizeof|f?(?:min|max)f?|abs|fabsf?|floorf?|ceilf?"
    r"|__float2int_r[dnuz]"
)


@dataclass(frozen=True)
class Update:
    function: Function
    access: Access
    #: Data decides where threads meet.
    meets_by_data: bool
    #: No condition picks one thread.
    everywhere: bool


@dataclass
class UpdateRules:
    arguments: Arguments
    # Variables that depend on each other are looked up often.
    _known_tags: dict[tuple[str, str, int], set[str]] = field(default_factory=dict)

    def updates(self) -> Iterator[Update]:
        for function in self.arguments.source.functions.values():
            launches = self.arguments.source.launches_of(function)
            if launches and all((launch.grid, launch.block) == ("1", "1") for launch in launches):
                continue  # a single thread
            arrays = self._arrays_of(function)
            scalars = [
                Access(
                    assignment.place,
                    assignment.line,
                    assignment.name,
                    "",
                    assignment.operator,
                    assignment.value,
                )
                for assignment in function.assignments
                if arrays.get(assignment.name)  # a parameter's own pointer is each thread's
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
                    continue  # only one thread of the block does it
                yield Update(function, access, "data" in tags, not guarded)

    def _arrays_of(self, function: Function) -> dict[str, bool]:
        """Arrays that several threads see; True if these are in one block."""
        found = {
            parameter.name: False
            for parameter in function.parameters
            if parameter.pointer and function.kernel
        }
        for match in re.finditer(r"__shared__\s+[\w:<> ]{1,60}?\s+([^;=]*)", function.body):
            found |= {name: True for each in split(match[1]) for name in re.findall(r"^\w+", each)}
        return found

    def _tags(self, function: Function, expression: str, depth: int = 0) -> set[str]:
        """What an index depends on: thread, block, or data."""
        key = function.name, expression, depth
        if key not in self._known_tags:
            self._known_tags[key] = self._find_tags(function, expression, depth)
        return self._known_tags[key]

    def _find_tags(self, function: Function, expression: str, depth: int) -> set[str]:
        found: set[str] = set()
        outside = expression
        for _ in range(8):
            # A value read from an array is data, whatever its index.
            outside, count = re.subn(r"\b[A-Za-z_]\w*\s*\[[^\[\]]*\]", " DATA ", outside)
            if not count:
                break
        if function.numbered_by_macro or any(
            not _PLAIN_CALL.fullmatch(match[1]) for match in _CALL.finditer(outside)
        ):
            found.add("unknown")
        for name in names_in(outside):
            if name == "DATA":
                found.add("data")
            elif name == "threadIdx":
                found.add("thread")
            elif name == "blockIdx":
                found.add("block")
            elif any(parameter.name == name for parameter in function.parameters):
                found |= set() if function.kernel else {"unknown"}
            else:
                values = [assignment.value for assignment in function.assignments if assignment.name == name]
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
            f"Line {access.line} reads {element}{told}, changes it and stores it: whatever another thread stores in "
            f"between is lost. No barrier helps, as several threads do this to the same element: {_atomic_for(access)}."
        )

    def left_behind(self) -> str:
        """A tree moves the larger value, but not its index."""
        for function in self.arguments.source.kernels:
            shared = {name for name, of_block in self._arrays_of(function).items() if of_block}
            for begin, end, head in function.loops():
                if not _HALVES.search(head) or not re.search(r"[<>]", function.body[begin:end]):
                    continue
                within = [each for each in function.accesses if begin < each.place < end and each.operator]
                moved = [
                    each for each in within if each.array in shared and each.array in names_in(each.value)
                ]
                if not moved:
                    continue
                for access in function.accesses:
                    name = access.array
                    if access.place < end or access.operator or access.index != "0" or name not in shared:
                        continue
                    own = [each for each in function.accesses if each.array == name and each.operator]
                    if not own or any(each.place >= begin or each.index != moved[0].index for each in own):
                        continue
                    return (
                        f"Line {access.line} takes {name}[0], which is still thread 0's own: line {moved[0].line} "
                        f"moves the value of {moved[0].array} in the tree, but not the index or value in {name} that "
                        "goes with it."
                    )
        return ""

    def stored_by_other_lane(self) -> str:
        """The sum is in lane 0, but another lane stores it."""
        for function in self.arguments.source.kernels:
            calls = list(function.arguments_of("__shfl_down_sync"))
            if not calls or function.numbered_by_macro:
                continue
            pointers = {parameter.name for parameter in function.parameters if parameter.pointer}
            for match in _FOR_ONE.finditer(function.body, calls[-1][0]):
                number = int(match[2])
                if number % 32 == 0 or "threadIdx.x" not in function.resolved(match[1]):
                    continue
                end = function.body.find(";", match.end())
                for access in function.accesses:
                    if (
                        match.end() <= access.place < end
                        and access.operator == "="
                        and access.array in pointers
                    ):
                        return (
                            f"Line {access.line} stores what lane {number % 32} has, but after __shfl_down_sync only "
                            "lane 0 has the sum of all lanes: store it in lane 0, or use __shfl_xor_sync, which gives "
                            "it to all."
                        )
        return ""

    def added_by_all(self) -> str:
        for function in self.arguments.source.kernels:
            shared = {name for name, of_block in self._arrays_of(function).items() if of_block}
            for place, name, parts in function.arguments_of("atomicAdd", "atomicSub"):
                if len(parts) != 2 or _is_for_some(function, place):
                    continue
                whole = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:\[\s*0\s*\])?", parts[1])
                target = re.sub(r"^&\s*", "", parts[0])
                if whole is None or whole[1] not in shared or names_in(target) & shared:
                    continue
                if self._tags(function, target.partition("[")[2].rstrip("]")) - {"block"}:
                    continue
                return (
                    f"In line {function.line_at(place)} every thread of a block does {name} with {parts[1]}, which is "
                    "one value for the whole block: only one thread may, if (threadIdx.x == 0)."
                )
        return ""

    def ordered_by_atomic(self) -> str:
        for function in self.arguments.source.kernels:
            for assignment in function.assignments:
                if not re.search(r"\batomicAdd\s*\(", assignment.value):
                    continue
                if any(
                    assignment.name in names_in(access.index) and access.operator == "="
                    for access in function.accesses
                ):
                    return (
                        f"Line {assignment.line} takes {assignment.name} from atomicAdd, which threads reach in any "
                        "order, so results come in any order: a prefix sum (scan) gives each its place."
                    )
            for access in function.accesses:
                if access.operator == "=" and re.search(r"\batomicAdd\s*\(", access.index):
                    return (
                        f"Line {access.line} takes the place in {access.array} from atomicAdd, which threads reach in "
                        "any order, so results come in any order: a prefix sum (scan) gives each its place."
                    )
        return ""

    def of_race(self, line: int, message: str) -> str:
        lines = {line, *(int(number) for number in re.findall(r" in line (\d+)", message.split("\n")[0]))}
        array = re.search(r" of (?:the shared array )?(\w+)(?:,| *$)", message.split(", and ")[0])
        for update in self.updates():
            given = self.arguments.of(update.function).get(update.access.array)
            names = {update.access.array, given.name if given is not None else update.access.array}
            if update.access.line in lines and (array is None or array[1] in names | {"memory"}):
                return self.update(update.function, update.access)
        return ""


def _is_for_some(function: Function, place: int) -> bool:
    """True if the statement is conditional."""
    source = function.source
    if re.search(r"\breturn\b", function.body[:place]):
        return True
    for match in re.finditer(r"\bif\s*\(", function.body[:place]):
        close = source.partner(function.begin + match.end() - 1) - function.begin
        if close < 0 or close > place:
            continue
        opened = re.compile(r"\s*\{").match(function.body, close + 1)
        if opened:
            end = source.partner(function.begin + opened.end() - 1) - function.begin
        else:
            end = function.body.find(";", close)
        if close < place < end:
            return True
    return False


def _changes_itself(access: Access) -> bool:
    """True if the new value depends on no other element."""
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
