"""Mistakes in CUDA sources about extremes, exponentials, sums, variances and quotients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.dtypes import DType
from grader.challenge.model import Kind
from grader.judge.explaining.cuda.source import (
    Access,
    Arguments,
    Assignment,
    Function,
    names_in,
    plain_value,
    split,
)
from grader.judge.explaining.short_constants import approximation_of_gelu, short_constant
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

_HALF = r"(?:__half2?|half2?|(?:__)?nv_bfloat162?)"
_HALF_DECLARED = re.compile(rf"\b{_HALF}\s+([A-Za-z_][^;(){{}}]*)")
_HALF_FRAGMENT = re.compile(
    rf"\bfragment\s*<\s*(?:\w+\s*::\s*)*accumulator\s*,[^<>;]{{0,120}},\s*{_HALF}\s*>"
)
_MEMBER = re.compile(r"\.\s*\w+")
_ADDS = re.compile(r"\+|__h(?:add|fma)2?(?:_rn|_sat)?\b|\bfmaf?\b")
_ZERO = re.compile(r"[+]?0(?:\.0*)?[fFlL]?|FLT_MIN|DBL_MIN|std::numeric_limits<\w+>::min\(\)|\.0f?")
_FAST = {
    "__expf": "expf", "__exp10f": "exp10f", "__logf": "logf", "__log2f": "log2f", "__log10f": "log10f",
    "__powf": "powf",
    "__sinf": "sinf", "__cosf": "cosf", "__tanf": "tanf", "__fdividef": "a / b",
}  # fmt: skip
_EXPONENTIALS = ("expf", "exp", "__expf", "exp2f", "exp2", "hexp")
_BY_ONE_LESS = re.compile(
    r"/\s*\(\s*(?:\(\s*\w+\s*\)\s*)?([A-Za-z_]\w*)\s*-\s*1(?:\.0*)?f?\s*\)|/=\s*([A-Za-z_]\w*)\s*-\s*1(?:\.0*)?f?\s*;"
)
_TO_HALF = re.compile(r"\b__(?:float|double)22?(?:half|bfloat16)2?(?:_r[nzdu])?\b|\b__float2half\w*")
# In float32, exp overflows above, and is 0 below its negative.
_EXPONENT = 80.0
_UNIT = 2.0**-24
# Above this squared mean over variance, their difference loses 4 of float32's 7 digits.
_CANCELLING = 1e3
# A factor in front would be divided too.
_QUOTIENT = re.compile(
    r"(?<=[-=+(,?:{;<>&|!])\s?\b([1-9]\d{0,8})[uUlL]*\s*/\s*"
    r"(?:([A-Za-z_]\w*)\b(?!\s*(?:[(\[.]|->|::))|\(\s*([A-Za-z_]\w*(?:\s*\*\s*[A-Za-z_]\w*)+)\s*\))"
)
_SQUARE_SUBTRACTED = re.compile(
    r"(?:/\s*\(?\s*[\w.>()\- ]{1,40}|\b\w+)\s*-\s*"
    r"(?:([A-Za-z_]\w*)\s*\*\s*\1\b(?!\s*(?:/|\*\s*[\d.]))|(?:powf?)\s*\(\s*([A-Za-z_]\w*)\s*,\s*2)"
)


@dataclass
class ValueRules:
    arguments: Arguments

    def starts_of_extremes(self) -> Iterator[tuple[bool, Function, str]]:
        """Maxima (True) and minima that start at 0."""
        for function in self.arguments.source.functions.values():
            loops = list(function.loops())
            for assignment in function.assignments:
                if assignment.operator != "=" or not any(
                    begin <= assignment.place < end for begin, end, _ in loops
                ):
                    continue
                taken = _extreme_of(function, assignment)
                # Unsigned values are never below 0.
                unsigned = re.search(
                    rf"\b(?:unsigned|uint\w*|size_t)\b[\w =,]{{0,80}}?\b{assignment.name}\b", function.body
                )
                if (
                    taken is None
                    or unsigned
                    or re.search(r"\bf?abs|\b__habs", function.resolved(assignment.value))
                ):
                    continue
                if said := _given_to_idle(function, assignment.name, assignment.place, taken):
                    yield taken, function, said
                started = [
                    one
                    for one in function.assignments
                    if one.name == assignment.name and one.place < assignment.place and one.operator == "="
                ]
                if started and _ZERO.fullmatch(started[-1].value):
                    value = started[-1].value
                    smallest = (
                        f" ({value} is the smallest positive number, not the lowest)"
                        if "MIN" in value or "min" in value
                        else ""
                    )
                    word, end = ("maximum", "-INFINITY") if taken else ("minimum", "INFINITY")
                    yield (
                        taken,
                        function,
                        f"Line {started[-1].line} starts the {word} {assignment.name} at {value}{smallest}: start at "
                        f"{end}, or at the first value.",
                    )

    def of_shared_extremes(self) -> Iterator[tuple[bool, Function, str]]:
        """Threads without data fill elements with 0."""
        for function in self.arguments.source.functions.values():
            for access in function.accesses:
                found = re.match(r"(?:std::)?_*h?f?(max|min)[fl]?\s*\(", access.value)
                if access.operator == "=" and found and access.array in names_in(access.value):
                    taken = found[1] == "max"
                    if said := _given_to_idle(function, access.array, access.place, taken):
                        yield taken, function, said

    def extreme_of_zero(self, mismatch: Mismatch, inputs: Mapping[str, torch.Tensor]) -> str:
        for maximum, function, said in (*self.starts_of_extremes(), *self.of_shared_extremes()):
            if _all_on_one_side(mismatch, inputs, negative=maximum):
                side = (
                    "negative, and 0 is above all of them"
                    if maximum
                    else "positive, and 0 is below all of them"
                )
                return f"Here all values are {side}. {said}"
            divides = any(re.search(rf"\b{name}\s*\(", function.body) for name in _EXPONENTIALS)
            if maximum and mismatch.kind == "nan" and divides:
                return (
                    "If all values are far below 0, their exponentials relative to 0 are 0, and 0 / 0 is "
                    f"NaN. {said}"
                )
        return ""

    def may_overflow(self, inputs: Mapping[str, torch.Tensor]) -> bool:
        read = [tensor for tensor in inputs.values() if tensor.is_floating_point() and tensor.numel()]
        return len(read) > 1 or any(_largest(values) > _EXPONENT for values in read)

    def unshifted_exponential(self) -> str:
        for function in self.arguments.source.functions.values():
            for place, name, arguments in function.arguments_of(*_EXPONENTIALS):
                if len(arguments) != 1 or not self._is_added(function, place, name):
                    continue
                exponent = function.resolved(plain_value(arguments[0]))
                line = function.line_at(place)
                subtracted = re.search(r"-\s*([A-Za-z_]\w*)\s*$", plain_value(arguments[0]))
                if subtracted is not None:
                    before = [
                        assignment
                        for assignment in function.assignments
                        if assignment.name == subtracted[1] and assignment.place < place
                    ]
                    if (
                        before
                        and before[-1].operator == "="
                        and _ZERO.fullmatch(before[-1].value)
                        and not _conditional(function, before[-1])
                    ):
                        return (
                            f"The exponential in line {line} subtracts {subtracted[1]}, which line {before[-1].line} "
                            f"sets to {before[-1].value}, so it overflows for large inputs, or makes a whole row 0: "
                            "subtract the row's maximum, which changes no quotient."
                        )
                elif "-" not in exponent and not self._calls_within(exponent):
                    return (
                        f"The exponential in line {line} overflows for large inputs, and inf / inf is NaN: subtract "
                        "the row's maximum first, which changes no quotient."
                    )
        return ""

    def _is_added(self, function: Function, place: int, name: str) -> bool:
        for assignment in function.assignments:
            if assignment.operator == "+=" and re.search(rf"\b{name}\s*\(", assignment.value):
                return True
        for access in function.accesses:
            if access.operator == "=" and re.search(rf"\b{name}\s*\(", access.value):
                return any(
                    assignment.operator == "+=" and access.array in names_in(assignment.value)
                    for assignment in function.assignments
                )
        into = next(
            (
                assignment
                for assignment in function.assignments
                if re.search(rf"\b{name}\s*\(", assignment.value)
            ),
            None,
        )
        return into is not None and any(
            assignment.operator == "+=" and into.name in names_in(assignment.value)
            for assignment in function.assignments
        )

    def _calls_within(self, expression: str) -> bool:
        return any(re.search(rf"\b{name}\s*\(", expression) for name in self.arguments.source.functions)

    def sum_in_half(self) -> str:
        for function in self.arguments.source.functions.values():
            if found := _HALF_FRAGMENT.search(function.body):
                return (
                    f"The accumulator in line {function.line_at(found.start())} is half: its sums round at each step. "
                    "Make it float, and round once, when it is stored."
                )
            halves = {
                name
                for match in _HALF_DECLARED.finditer(function.body)
                for each in split(match[1])
                for name in re.findall(r"^\w+", each)
            }
            sums: list[tuple[int, str, str, str]] = [
                (assignment.line, assignment.name, assignment.operator, assignment.value)
                for assignment in function.assignments
            ]
            sums += [
                (access.line, access.array, access.operator, access.value) for access in function.accesses
            ]
            for line, name, operator, value in sums:
                if name not in halves:
                    continue
                if operator == "+=" or (
                    operator == "=" and name in names_in(_MEMBER.sub("", value)) and _ADDS.search(value)
                ):
                    return (
                        f"Line {line} adds up in {name}, which has 16 bits: each addition rounds, and a large sum "
                        "loses small terms. Sum in float, and round once, when it is stored."
                    )
        return ""

    def computes_in_half(self) -> str:
        if any(argument.dtype.half for argument in self.arguments.manifest.buffers):
            return ""
        for function in self.arguments.source.functions.values():
            if found := _TO_HALF.search(function.body):
                return (
                    f"Line {function.line_at(found.start())} rounds to 16 bits ({found[0]}), which hold 3 decimal "
                    "digits: compute in float."
                )
        return ""

    def rounds_in_half(self, mismatch: Mismatch, case: Case) -> bool:
        unit = 2.0**-8 if "bfloat" in self.arguments.source.text else 2.0**-11
        share = self._share(mismatch)
        return share is None or share <= unit * max(case.sizes.values(), default=1)

    def _share(self, mismatch: Mismatch) -> float | None:
        """The worst error relative to the sum of absolute values."""
        worst = next(
            (element for element in mismatch.worst if element.error is not None and element.allowed), None
        )
        tolerance = self.arguments.manifest.tolerance
        result = next((arg for arg in self.arguments.manifest.results if arg.name == mismatch.argument), None)
        if worst is None or worst.error is None or not worst.allowed or result is None:
            return None
        own, relative = tolerance.of(result), tolerance.relative(result)
        return worst.error * relative / max(worst.allowed - own.atol, 1e-300) if relative else None

    def _relative(self) -> float:
        manifest = self.arguments.manifest
        return manifest.tolerance.loosest(manifest.results)

    def long_sum(self, kind: str, mismatch: Mismatch, case: Case) -> str:
        """A serial float32 sum."""
        share, allowed = self._share(mismatch), self._relative()
        if share is None or self._dtype_of(mismatch.argument) is not DType.FLOAT32:
            return ""
        if mismatch.got in ("0", "-0"):
            return ""  # rounding leaves something of the first terms
        for function in self.arguments.source.kernels:
            given = self.arguments.of(function)
            for assignment in function.assignments:
                declared = re.search(
                    rf"\bfloat\s+(?:[^;()]{{0,200}},\s*)?{assignment.name}\b",
                    function.body[: assignment.place],
                )
                if (
                    not _adds_to_itself(assignment)
                    or declared is None
                    or "[" not in function.resolved(assignment.value)
                ):
                    continue
                for begin, end, header in function.loops():
                    size = given.get(_bound_of(header))
                    if not begin <= assignment.place < end or size is None or size.kind is not Kind.SIZE:
                        continue
                    terms = case.sizes.get(size.name, 0)
                    if share > terms * _UNIT:
                        continue
                    off = (
                        f"The result is off by {share / allowed:.3g} times the allowed error. "
                        if not kind
                        else ""
                    )
                    return (
                        f"{off}Line {assignment.line} adds up to {size.name} = {terms:,} terms one after the other in "
                        "one float: each addition rounds, and the error grows with the number of terms (here it may be "
                        f"{terms * _UNIT:.1g} of the sum of their absolute values; {allowed:.1g} is allowed). "
                        "Add in a tree: let each thread add some of them, then add the threads' sums in pairs."
                    )
        return ""

    def _dtype_of(self, name: str) -> DType | None:
        return next(
            (argument.dtype for argument in self.arguments.manifest.args if argument.name == name), None
        )

    def variance(self) -> str:
        for function in self.arguments.source.functions.values():
            for match in _SQUARE_SUBTRACTED.finditer(function.body):
                mean = match[1] or match[2]
                value = function.values.get(mean, "")
                if "/" in value or "*" in value or "mean" in mean.lower() or mean.lower() == "mu":
                    return (
                        f"Line {function.line_at(match.start())} computes the variance as a mean of squares minus the "
                        f"square of {mean}: if the mean is large, the two are nearly equal, and their difference keeps "
                        "few digits, or is below 0. Subtract the mean from each value first, then square."
                    )
        return ""

    def zero_quotient(self) -> str:
        for function in self.arguments.source.functions.values():
            for match in _QUOTIENT.finditer(function.body):
                below = match[2] or match[3]
                if all(function.is_integer(name.strip()) for name in below.split("*")):
                    shown = below if match[2] else f"({below})"
                    return (
                        f"Line {function.line_at(match.start())} divides the integer {match[1]} by the integer "
                        f"{below}, which gives 0 for every {below} above {match[1]}: write {match[1]}.0f / {shown}."
                    )
        return ""

    def divides_by_one_less(self) -> str:
        for function in self.arguments.source.functions.values():
            given = self.arguments.of(function)
            for match in _BY_ONE_LESS.finditer(function.body):
                name = match[1] or match[2]
                size = given.get(name)
                if size is not None and size.kind is Kind.SIZE:
                    return (
                        f"Line {function.line_at(match.start())} divides by {name} - 1: a mean of {name} terms "
                        f"divides by {name}."
                    )
        return ""

    def epsilon_outside_root(self) -> str:
        # An optimiser, which updates its state in place, adds it outside by definition; a norm does not.
        if any(arg.kind is Kind.INOUT for arg in self.arguments.manifest.args):
            return ""
        for function in self.arguments.source.functions.values():
            given = self.arguments.of(function)
            for place, name, parts in function.arguments_of("sqrtf", "sqrt", "__fsqrt_rn"):
                after = re.match(
                    r"\s*\+\s*([A-Za-z_]\w*)", function.body[self._end_of_call(function, place) :]
                )
                scalar = given.get(after[1]) if after else None
                if (
                    scalar is not None
                    and scalar.kind is Kind.SCALAR
                    and scalar.name not in names_in(" ".join(parts))
                ):
                    return (
                        f"Line {function.line_at(place)} adds {scalar.name} to {name}(...), not to the number under "
                        f"the root: {name}(... + {scalar.name})."
                    )
        return ""

    def _end_of_call(self, function: Function, place: int) -> int:
        opened = function.body.index("(", place)
        return self.arguments.source.partner(function.begin + opened) - function.begin + 1

    def drops_nan(self) -> str:
        for function in self.arguments.source.functions.values():
            for place, name, _ in function.arguments_of("fmaxf", "fminf", "fmax", "fmin", "max", "min"):
                return (
                    f"Line {function.line_at(place)}: {name} returns the other operand if one of its two is NaN, so "
                    "NaN is dropped. Test for it (v != v, or isnan(v)), or choose by a comparison that lets it through."
                )
            for match in re.finditer(r"[<>]=?[^?;{}]{0,80}\?|\bif\s*\([^;{}]{0,80}[<>]", function.body):
                line = function.line_at(match.start())
                if "threadIdx" in function.resolved(match[0]) or "blockIdx" in function.resolved(match[0]):
                    continue
                if any(
                    argument.kind is Kind.SIZE and re.search(rf"\b{name}\b", match[0])
                    for name, argument in self.arguments.of(function).items()
                ):
                    continue
                return (
                    f"The comparison in line {line} is false if a value is NaN, so NaN takes the other way there. Turn "
                    "it round, or test for NaN (v != v)."
                )
        return ""

    def cuts_fractions(self) -> str:
        for function in self.arguments.source.kernels:
            floats = [
                parameter.name
                for parameter in function.parameters
                if re.search(r"\b(?:float|double|__half|half)\b", parameter.type) and parameter.pointer
            ]
            for name in floats:
                read = re.compile(rf"\b{name}\s*\[")
                for assignment in function.assignments:
                    if assignment.operator not in ("=", "+=") or not function.is_integer(assignment.name):
                        continue
                    if read.search(assignment.value):
                        return (
                            f"Line {assignment.line} stores a value of {name} in the integer {assignment.name}, which "
                            "cuts its fraction off: make it a float."
                        )
                cast = re.search(
                    rf"\(\s*(?:int|long|int\d+_t|unsigned)\s*\)\s*\(?\s*{name}\s*\[", function.body
                )
                if cast:
                    return (
                        f"Line {function.line_at(cast.start())} casts a value of {name} to an integer, which cuts its "
                        "fraction off."
                    )
        return ""

    def fast_function(self) -> str:
        for function in self.arguments.source.functions.values():
            for place, name, _ in function.arguments_of(*_FAST):
                return (
                    f"Line {function.line_at(place)} calls {name}, which is fast and keeps fewer digits: call "
                    f"{_FAST[name]}."
                )
        return ""

    def approximation_of_gelu(self) -> str:
        return approximation_of_gelu(self.arguments.source.text.split("\n"))

    def short_constant(self, mismatch: Mismatch) -> str:
        share = self._share(mismatch)
        allowed = self._relative()
        found = short_constant(self.arguments.source.text.split("\n"), allowed / 4)
        return found if found and (share is None or share < 1e-2) else ""

    def cancels(self, mismatch: Mismatch, inputs: Mapping[str, torch.Tensor]) -> bool:
        """A mean that is large compared with deviations."""
        for values in inputs.values():
            row = _row_of(values, mismatch)
            if row is None or row.numel() < 2 or not row.is_floating_point():
                continue
            row = row.double()
            mean, variance = float(row.mean()), float(row.var(correction=0))
            if mean * mean > _CANCELLING * variance and mean:
                return True
        return False


def _given_to_idle(function: Function, name: str, before: int, maximum: bool) -> str:
    """``m = t < cols ? x[t] : 0`` before a running extreme."""
    every: list[Assignment | Access] = [*function.assignments, *function.accesses]
    for one in every:
        called = one.array if isinstance(one, Access) else one.name
        if called != name or one.place >= before or one.operator != "=":
            continue
        condition, mark, rest = one.value.partition("?")
        if mark and "<" in condition and _ZERO.fullmatch(plain_value(rest.rpartition(":")[2])):
            word, end = ("maximum", "-INFINITY") if maximum else ("minimum", "INFINITY")
            return (
                f"In line {one.line}, threads beyond the data put 0 into {name}, and the {word} takes it for a value: "
                f"its neutral element is {end}."
            )
    return ""


def _conditional(function: Function, assignment: Assignment) -> bool:
    before = function.body[: assignment.place].rstrip()
    return before.endswith(")") or re.search(r"(?:\)|\belse)\s*\{?$", before) is not None


def _bound_of(header: str) -> str:
    """The bound of a loop that counts up by one."""
    parts = header.split(";")
    if len(parts) != 3 or not re.search(r"\+\+|\+=\s*1\s*$", parts[2]):
        return ""
    found = re.fullmatch(r"\s*\w+\s*<\s*(.*?)\s*", parts[1])
    return plain_value(found[1]) if found else ""


def _adds_to_itself(assignment: Assignment) -> bool:
    return assignment.operator == "+=" or (
        assignment.operator == "=" and re.match(rf"{assignment.name}\s*\+", assignment.value) is not None
    )


def _extreme_of(function: Function, assignment: Assignment) -> bool | None:
    """True for a running maximum, False for a minimum."""
    if found := re.match(r"(?:std::)?_*h?f?(max|min)[fl]?\s*\(", assignment.value):
        return found[1] == "max" if assignment.name in names_in(assignment.value) else None
    if found := re.match(r"[^?]*([<>])=?[^?]*\?", assignment.value):
        left = assignment.name in names_in(assignment.value.partition(found[1])[0])
        right = assignment.name in names_in(assignment.value.partition(found[1])[2].partition("?")[0])
        chosen = assignment.value.partition("?")[2].partition(":")
        if left == right or assignment.name not in names_in(chosen[0] + chosen[2]):
            return None
        kept = assignment.name in names_in(chosen[0])
        return (found[1] == ">") == (left == kept)
    before = function.body[: assignment.place]
    found = re.search(r"\bif\s*\(([^;{}<>]*)([<>])=?([^;{}<>]*)\)\s*\{?\s*$", before[-300:])
    if found is None:
        return None
    name = rf"\s*{assignment.name}\s*"
    if re.fullmatch(name, found[3]):
        return found[2] == ">"
    return found[2] == "<" if re.fullmatch(name, found[1]) else None


def _row_of(values: torch.Tensor, mismatch: Mismatch) -> torch.Tensor | None:
    """The row of the first wrong element, or a whole vector."""
    if not values.numel():
        return None
    if values.dim() < 2:
        return values
    index = mismatch.index or []
    return values[index[0]].reshape(-1) if index and index[0] < values.shape[0] else None


def _all_on_one_side(mismatch: Mismatch, inputs: Mapping[str, torch.Tensor], *, negative: bool) -> bool:
    for values in inputs.values():
        row = _row_of(values, mismatch)
        if row is not None and bool((row < 0).all() if negative else (row > 0).all()):
            return True
    return False


def _largest(values: torch.Tensor) -> float:
    import torch

    finite = values[torch.isfinite(values)]
    return float(finite.abs().max()) if finite.numel() else 0.0
