"""Reads signatures such as ``topk(x: f32[rows, cols], k: size) -> values: f32[rows, k]``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import ValidationError

from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Kind
from grader.errors import BadRequest

SIGNATURE_HINT = (
    "Such as topk(x: f32[rows, cols], k: size) -> values: f32[rows, k], indices: i64[rows, k]. An array that is "
    "changed is `y: inout f32[n]`, a number `alpha: f32 = 2.0`, integers below a size `labels: i64[rows] < cols`, "
    "numbers of a range `v: f32[n] in 0..1`, a size with a bound `k: size <= cols`."
)
_SHORT = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"))
_WHOLE = re.compile(r"\s*(?P<name>\w*)\s*\((?P<given>.*)\)\s*(?:->\s*(?P<made>.+?))?\s*", re.DOTALL)
_SIZE = re.compile(r"(?P<name>\w+)\s*:\s*size\s*(?P<sign><=|<|>=|>)(?P<bound>[^<>=]+)")
_ARGUMENT = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<inout>inout\s+)?(?P<type>\w+)\s*(?:\[(?P<shape>.*?)\])?"
    r"\s*(?:<\s*(?P<high>[^=]+?))?\s*(?:in\s+(?P<from>[-+\d.eE]*\d)\s*\.\.\s*(?P<to>[-+\d.eE]+))?"
    r"\s*(?:=\s*(?P<value>.+?))?"
)


def type_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for dtype in DType:
        names[dtype.value] = dtype.value
        for pair in _SHORT:
            if dtype.value.startswith(pair[0]):
                # f8e4m3, as compilers write float8_e4m3fn
                names.setdefault(re.sub(r"_|fnu?$", "", dtype.value.replace(*pair, 1)), dtype.value)
                break
    return names


def read_signature(text: str) -> list[Argument]:
    """Inputs and scalars, results, then sizes by first mention. Raises BadRequest."""
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise BadRequest(f"'{text}' is not a signature: it needs (arguments) -> results.", SIGNATURE_HINT)
    given = [_argument(part, Kind.INPUT) for part in _parts(match["given"])]
    made = [_argument(part, Kind.OUTPUT) for part in _parts(match["made"] or "")]
    if not made and all(arg.kind is not Kind.INOUT for arg in given):
        raise BadRequest("The signature has no result: name one after ->, or an inout.", SIGNATURE_HINT)
    args = [*given, *made]
    others = {arg.name for arg in args if arg.kind is not Kind.SIZE}
    named = [
        name
        for arg in args
        for name in ([arg.name] if arg.kind is Kind.SIZE else _named(arg))
        if name not in others
    ]
    sizes = [Argument(name=name, kind=Kind.SIZE) for name in dict.fromkeys(named)]
    return [*(arg for arg in args if arg.kind is not Kind.SIZE), *sizes]


def read_constraints(text: str) -> list[str]:
    match = _WHOLE.fullmatch(text)
    bounded = [_SIZE.fullmatch(part) for part in _parts(match["given"] if match else "")]
    return [f"{found['name']} {found['sign']} {found['bound'].strip()}" for found in bounded if found]


def _named(arg: Argument) -> list[str]:
    return [name for text in arg.shape for name in sorted(parse(text).names, key=text.index)]


def _parts(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _argument(text: str, kind: Kind) -> Argument:
    if bounded := _SIZE.fullmatch(text):
        text = f"{bounded['name']}: {Kind.SIZE}"
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise BadRequest(f"'{text}' is not an argument.", SIGNATURE_HINT)
    said: Mapping[str, str | None] = match.groupdict()
    values: dict[str, object] = {"name": said["name"], "kind": Kind.INOUT if said["inout"] else kind}
    if said["type"] == Kind.SIZE:
        values["kind"] = Kind.SIZE
    else:
        known = type_names()
        if said["type"] not in known:
            short = ", ".join(name for name, whole in known.items() if name != whole or whole == DType.BOOL)
            raise BadRequest(f"'{text}': '{said['type']}' is no type.", f"The types are: {short}, and size.")
        dtype = DType(known[str(said["type"])])
        values["dtype"] = dtype
        if said["shape"] is None:
            values |= {"kind": Kind.SCALAR, "value": _number(said["value"] or "1", text)}
        else:
            values["shape"] = _parts(said["shape"]) or ["1"]
            if said["from"] and said["to"]:
                if kind is Kind.OUTPUT or _number(said["from"], text) >= _number(said["to"], text):
                    raise BadRequest(
                        f"'{text}': in LOW..HIGH is for an input, and LOW is below HIGH.", SIGNATURE_HINT
                    )
                values["values"] = {
                    "dist": "uniform" if dtype.floating else "integers",
                    "low": _number(said["from"], text),
                    "high": _number(said["to"], text),
                }
            elif kind is Kind.INPUT and not dtype.floating:
                integer = dtype.as_integer
                values["values"] = (
                    {"dist": "integers", "low": 0, "high": _bound(said["high"])}
                    if said["high"]
                    else {"dist": "integers", "low": integer.low, "high": integer.high + 1}
                )
            elif kind is Kind.INPUT and dtype is DType.FLOAT8_E8M0:
                values["values"] = {"dist": "powers", "low": -3, "high": 4}
    try:
        return Argument.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise BadRequest(f"'{text}' is not an argument: {problem}", SIGNATURE_HINT) from error


def _bound(text: str) -> object:
    return int(text) if text.strip().isdigit() else text.strip()


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadRequest(f"'{where}': '{text}' is not a number.", SIGNATURE_HINT) from error
