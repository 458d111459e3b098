"""Reads and completes the options of `grader challenge new`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from grader import limits
from grader.authoring.costs import H200, PLANNED_SHARE, SMALLEST_GPU_BYTES, UNCLEAR
from grader.authoring.scaffold.suite import alone, is_possible
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Cost, Kind, Manifest, Workload
from grader.errors import BadRequest
from grader.judge.cuda.memory_needs import held_bytes
from grader.judge.roofline import roofline_seconds
from grader.languages import Language, usual

ARG_HINT = "NAME:KIND[:DTYPE[:SHAPE]], such as x:input:float32:rows,cols, alpha:scalar:float32:2.0 or n:size."
WORKLOAD_HINT = "SIZE=NUMBER,..., such as rows=4096,cols=1024."
FLOPS_HINT = "memory, or how many operations it takes, in the sizes, such as 2 * m * n * k."
DEFAULT_ARGS = ("x:input:float32:n", "out:output:float32:n")
# Not one inside max(n-k+1, 0).
_OUTER_COMMA = re.compile(r",(?![^(]*\))")
# The interpreter takes about a second.
_INTERPRETER_ELEMENTS = 50_000
# The emulated GPU takes a second or two.
_EMULATED_ELEMENTS, _EMULATED_FLOPS = 1 << 25, 1 << 34
_NO_NAME = "none"
_EXPRESSION_CHARS = 200
_MANY_TERMS = 8
# No GPU holds 2^40 elements.
_MOST_DOUBLINGS = 40
_CHOSEN = 64
# For GPUs faster than the H200.
_SPARE_TIME = 1.1


@dataclass(frozen=True)
class Draft:
    """``args`` and ``workloads`` are as in ARG_HINT and WORKLOAD_HINT."""

    slug: str
    title: str
    track: str
    difficulty: str = "easy"
    order: int = 100
    args: Sequence[str | Argument] = DEFAULT_ARGS
    workloads: Sequence[str] = ()
    languages: Sequence[Language] = field(default_factory=usual)
    # : Conditions on the sizes, such as ``k <= cols``.
    constraints: Sequence[str] = ()
    gpus: int = 1
    # : An expression in the sizes; empty: one per element of a result.
    flops: str = ""

    def manifest(self) -> Manifest:
        """Complete and valid, with cost and ladder. Raises BadRequest."""
        args = complete([arg if isinstance(arg, Argument) else read_arg(arg) for arg in self.args])
        bare = self._with(args, self._cost(args), [_placeholder(args)])
        _check_usable(bare)
        bare = bare.model_copy(update={"constraints": list(self.constraints)})
        given = [read_workload(text, bare) for text in self.workloads]
        return self._with(args, bare.cost, ladder(bare, given))

    def _cost(self, args: list[Argument]) -> Cost:
        """Raises BadRequest."""
        try:
            return Cost(bytes=_bytes(args), flops=self.flops or _elements(args))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise BadRequest(f"'{self.flops}' is no number of operations: {problem}.", FLOPS_HINT) from error

    def _with(self, args: list[Argument], cost: Cost, workloads: list[Workload]) -> Manifest:
        values = {
            "title": self.title,
            "track": self.track,
            "order": self.order,
            "difficulty": self.difficulty,
            "version": 1,
            "languages": list(self.languages),
            "gpus": self.gpus,
            "args": args,
            "cost": cost,
            "workloads": workloads,
            "constraints": [] if workloads[0].name == _NO_NAME else list(self.constraints),
        }
        try:
            return Manifest.model_validate(values)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            text = f"{where}: {problem['msg'].removeprefix('Value error, ')}".removeprefix(": ")
            raise BadRequest(f"These options do not make a challenge: {text}.", ARG_HINT) from error


def read_arg(text: str) -> Argument:
    """Raises BadRequest."""
    name, kind, dtype, rest = [*text.split(":"), "", "", ""][:4]
    if text.count(":") > 3:
        raise BadRequest(f"'{text}' has too many parts.", ARG_HINT)
    values: dict[str, object] = {"name": name.strip(), "kind": kind.strip()}
    if dtype:
        values["dtype"] = dtype.strip()
    if kind == Kind.SCALAR:
        values |= {"dtype": dtype or DType.FLOAT32, "value": rest or 1.0}
    elif rest:
        values["shape"] = [part.strip() for part in _OUTER_COMMA.split(rest)]
    if kind in (Kind.INPUT, Kind.INOUT) and dtype in list(DType) and not DType(dtype).floating:
        integer = DType(dtype).as_integer
        values["values"] = {"dist": "integers", "low": integer.low, "high": integer.high + 1}
    elif kind in (Kind.INPUT, Kind.INOUT) and dtype == DType.FLOAT8_E8M0:
        values["values"] = {"dist": "powers", "low": -3, "high": 4}
    try:
        return Argument.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise BadRequest(f"'{text}' is not an argument: {problem}", ARG_HINT) from error


def complete(args: list[Argument]) -> list[Argument]:
    known = {arg.name for arg in args}
    for arg in [*args]:
        for text in arg.shape:
            for name in sorted(parse(text).names - known, key=text.index):
                args = [*args, Argument(name=name, kind=Kind.SIZE)]
                known.add(name)
    return args


def _check_usable(manifest: Manifest) -> None:
    """Raises BadRequest if the example has nothing to read."""
    if not manifest.given:
        raise BadRequest("There is nothing to read: a challenge needs an input or an inout.", ARG_HINT)


def read_workload(text: str, manifest: Manifest) -> Workload:
    """Raises BadRequest."""
    try:
        sizes = {name.strip(): int(value) for name, value in (part.split("=") for part in text.split(","))}
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a workload.", WORKLOAD_HINT) from error
    if set(sizes) != set(manifest.sizes):
        raise BadRequest(
            f"'{text}' names {sorted(sizes)}; the sizes are {sorted(manifest.sizes)}.", WORKLOAD_HINT
        )
    return Workload(name=_name(sizes), sizes=sizes)


def ladder(manifest: Manifest, given: list[Workload]) -> list[Workload]:
    """Adds workloads for the interpreter, the emulated GPU, ranking and 16 GB if needed. ``manifest`` has the
    cost. Raises BadRequest if no size fits.
    """
    rungs = list(given)
    if not any(_fits(manifest, workload) for workload in rungs):
        rungs.insert(0, _largest(manifest, lambda step: _fits(manifest, step) and _is_short(manifest, step)))
    if not any(_ranks(manifest, workload) for workload in rungs):
        rungs.append(_smallest(manifest))
    interpreter = _largest(manifest, lambda step: _elements_of(manifest, step) <= _INTERPRETER_ELEMENTS)
    emulated = _largest(manifest, lambda step: _is_quick(manifest, step))
    first = [
        Workload(name="interpreter", sizes=interpreter.sizes, on="cpu"),
        Workload(name="emulated GPU", sizes=emulated.sizes, on="emulated"),
    ]
    return [*first, *{workload.name: workload for workload in rungs}.values()]


def _fits(manifest: Manifest, workload: Workload) -> bool:
    return held_bytes(manifest, workload.sizes) <= SMALLEST_GPU_BYTES * PLANNED_SHARE


def _ranks(manifest: Manifest, workload: Workload) -> bool:
    seconds = roofline_seconds(manifest, workload, H200) or 0.0
    return seconds * 1e6 >= limits.RANKED_ROOFLINE_US


def _is_short(manifest: Manifest, workload: Workload) -> bool:
    """No GPU ranks it."""
    seconds = roofline_seconds(manifest, workload, H200) or 0.0
    return seconds * 1e6 < limits.RANKED_ROOFLINE_US * (1 - UNCLEAR)


def _elements_of(manifest: Manifest, workload: Workload) -> int:
    return sum(math.prod(manifest.shape(arg, workload.sizes)) for arg in manifest.buffers)


def _is_quick(manifest: Manifest, workload: Workload) -> bool:
    flops = parse(manifest.cost.flops)(workload.sizes)
    return _elements_of(manifest, workload) <= _EMULATED_ELEMENTS and flops <= _EMULATED_FLOPS


def _steps(manifest: Manifest) -> list[Workload]:
    """Sizes that double in turn, except one that no input has, such as the k of a top-k."""
    read = {name for arg in manifest.given for text in arg.shape for name in parse(text).names}
    growing = [name for name in manifest.sizes if name in read] or manifest.sizes
    sizes = {name: alone(manifest, name, 1 if name in growing else _CHOSEN) for name in manifest.sizes}
    steps = []
    for number in range(_MOST_DOUBLINGS * len(growing)):
        steps.append(Workload(name=_name(sizes), sizes=dict(sizes)))
        sizes[growing[number % len(growing)]] *= 2
    return steps


def _bounded_steps(manifest: Manifest) -> list[Workload]:
    """If a size is at its bound, the others go on."""
    found = [_within_bounds(manifest, step) for step in _steps(manifest)]
    return [step for step in found if is_possible(manifest, step.sizes)]


def _within_bounds(manifest: Manifest, step: Workload) -> Workload:
    """Halves one size; unchanged if that does not suffice."""
    for name in step.sizes:
        sizes = dict(step.sizes)
        while sizes[name] > 1 and not is_possible(manifest, sizes):
            sizes[name] //= 2
        if is_possible(manifest, sizes):
            return Workload(name=_name(sizes), sizes=sizes)
    return step


def _largest(manifest: Manifest, wanted: Callable[[Workload], bool]) -> Workload:
    found = [step for step in _bounded_steps(manifest) if wanted(step)]
    if not found:
        raise BadRequest("No size of this signature is small enough for the interpreter.", WORKLOAD_HINT)
    return found[-1]


def _smallest(manifest: Manifest) -> Workload:
    for step in _bounded_steps(manifest):
        if (roofline_seconds(manifest, step, H200) or 0.0) * 1e6 >= _SPARE_TIME * limits.RANKED_ROOFLINE_US:
            return step
    raise BadRequest("No size of this signature is long enough to time.", WORKLOAD_HINT)


def _name(sizes: Mapping[str, int]) -> str:
    return " x ".join(f"{value}" for value in sizes.values())[:40]


def _placeholder(args: list[Argument]) -> Workload:
    return Workload(name=_NO_NAME, sizes={arg.name: 64 for arg in args if arg.kind is Kind.SIZE})


def _product(arg: Argument) -> str:
    return " * ".join(text if text.isidentifier() or text.isdigit() else f"({text})" for text in arg.shape)


def _bytes(args: list[Argument]) -> str:
    each = [
        (arg.dtype.itemsize * (2 if arg.kind is Kind.INOUT else 1) / arg.dtype.facts.packed, _product(arg))
        for arg in args
        if arg.kind.buffer and arg.kind is not Kind.WORKSPACE
    ]
    return _sum(each) or "0"


def _sum(terms: Sequence[tuple[float, str]]) -> str:
    if len(terms) > _MANY_TERMS:
        products = dict.fromkeys(product for _, product in terms)
        terms = [(sum(factor for factor, its in terms if its == product), product) for product in products]
    # Without the smallest if it is too long: it stays a lower bound.
    terms = sorted(terms, key=lambda term: term[1].count("*"), reverse=True) if _long(terms) else terms
    while _long(terms):
        terms = terms[:-1]
    return _sum_of(terms)


def _sum_of(terms: Sequence[tuple[float, str]]) -> str:
    return " + ".join(f"{factor:g} * {product}" for factor, product in terms)


def _long(terms: Sequence[tuple[float, str]]) -> bool:
    return len(_sum_of(terms)) > _EXPRESSION_CHARS


def _elements(args: list[Argument]) -> str:
    written = [_product(arg) for arg in args if arg.kind.result]
    return (
        _sum([(1, product) for product in written]) if len(written) > _MANY_TERMS else " + ".join(written)
    ) or "0"
