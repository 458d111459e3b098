"""The one place that checks a public case with a user's sizes and inputs. Does not import torch."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader import limits
from grader.challenge.cases import (
    Case,
    Choice,
    Constant,
    Filling,
    Integers,
    Normal,
    PowersOfTwo,
    Sprinkle,
    Uniform,
)
from grader.challenge.expression import ExpressionError, parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.pattern import runs_on
from grader.challenge.scalars import Number, ends
from grader.device_kinds import DeviceKind
from grader.errors import BadRequest, Conflict
from grader.formats import size_text
from grader.formats import sizes as sizes_text
from grader.schemas.own_case import OwnCase

if TYPE_CHECKING:
    import torch

_POWER = re.compile(r"\b(\d{1,18})\s*(?:\*\*|\^)\s*(\d{1,2})\b")
_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*", re.DOTALL)
# Names in a hint.
_NAMED = 12
_SEED_BYTES = 6
LEFT_OUT = "none"
# No size comes near, and a product of several is still a float.
_MOST = 1 << 62
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True)
class Ramp:
    """``start``, ``start + step``, ...: row-major; integers wrap at their type's ends."""

    start: float = 0
    step: float = 1

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        kind = torch.float64 if dtype.is_floating_point else torch.int64
        places = torch.arange(math.prod(shape), dtype=kind, device=generator.device)
        start, step = (
            (self.start, self.step) if dtype.is_floating_point else (int(self.start), int(self.step))
        )
        return (places * step + start).to(dtype).view(shape)

    def words(self) -> str:
        return f"{self.start:g}, {self.start + self.step:g}, {self.start + 2 * self.step:g}, ..."


@dataclass(frozen=True)
class Given:
    """Row-major."""

    values: tuple[float, ...]

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        import torch

        wide = torch.float64 if dtype.is_floating_point else torch.int64
        return torch.tensor(self.values, dtype=wide, device=generator.device).to(dtype).view(shape)

    def words(self) -> str:
        shown = ", ".join(f"{value:g}" for value in self.values[:_NAMED])
        more = len(self.values) - _NAMED
        return f"given: {shown}{f' and {more:,} more' if more > 0 else ''}"


@dataclass(frozen=True)
class _NamedRecipe:
    make: Callable[..., Filling]
    #: Names of its numbers, as the list of recipes shows them.
    numbers: str = ""
    least: int = 0
    most: int = 0
    integers: bool = True


_RECIPES: Mapping[str, _NamedRecipe] = {
    "ramp": _NamedRecipe(Ramp, "start, step", most=2),
    "zeros": _NamedRecipe(lambda: Constant(0)),
    "ones": _NamedRecipe(lambda: Constant(1)),
    "constant": _NamedRecipe(Constant, "value", least=1, most=1),
    "normal": _NamedRecipe(Normal, "mean, deviation", most=2, integers=False),
    "uniform": _NamedRecipe(Uniform, "low, high", most=2, integers=False),
    "integers": _NamedRecipe(
        lambda low, high: Integers(_whole(low), _whole(high) + 1), "low, high", least=2, most=2
    ),
    "powers": _NamedRecipe(
        lambda low, high: PowersOfTwo(_whole(low), _whole(high) + 1),
        "low, high",
        least=2,
        most=2,
        integers=False,
    ),
    "choice": _NamedRecipe(lambda *values: Choice(values), "value, value, ...", least=1, most=64),
    "sprinkle": _NamedRecipe(Sprinkle, "value, share", least=1, most=2, integers=False),
}
#: The recipes, as a user writes them.
RECIPES: Sequence[str] = [f"{name}({row.numbers})" if row.numbers else name for name, row in _RECIPES.items()]


def own_case(challenge: Challenge, asked: OwnCase, kind: DeviceKind) -> Case:
    """Never hidden. Raises BadRequest, and Conflict if the request names another version."""
    manifest = challenge.manifest
    if asked.version not in (None, manifest.version):
        raise Conflict(
            f"{challenge.slug} has version {manifest.version} now, and you chose the case '{asked.name}' in version "
            f"{asked.version}.",
            "Load the challenge's page again and choose the case there; your code is kept.",
        )
    case = _public(challenge, asked.name)
    given = {name: _given(challenge, case, name, value) for name, value in asked.inputs.items()}
    sizes = _sizes(challenge, case, asked, given)
    if not asked.changes:
        if not runs_on(manifest, case, kind):
            raise BadRequest(
                f"The case '{case.name}' is too large for this board.",
                "Give it smaller sizes, such as n=1000.",
            )
        return case
    _check_extent(manifest, sizes)
    scalars = {name: value for name, value in given.items() if isinstance(value, int | float)}
    left_out = {name for name, value in given.items() if value is None}
    without = tuple(
        name for name in manifest.optional if name in left_out or name in set(case.without) - set(given)
    )
    inputs = {
        arg.name: _filling(arg, given[arg.name], arg.dtype.held_shape(manifest.shape(arg, sizes)), sizes)
        for arg in manifest.given
        if arg.name in given and arg.name not in left_out
    }
    return replace(
        case,
        sizes=sizes,
        inputs={**case.inputs, **inputs},
        scalars={**case.scalars, **scalars},
        on=None,
        timed=None,
        without=without,
    )


def seed_of(challenge: Challenge, asked: OwnCase) -> int:
    """The same for each run of a case."""
    if asked.seed is not None:
        return asked.seed
    text = f"run: {challenge.slug}: {asked.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:_SEED_BYTES], "big")


def _public(challenge: Challenge, name: str) -> Case:
    found = next((case for case in challenge.cases if case.name == name), None)
    if found is None:
        names = [case.name for case in challenge.cases]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise BadRequest(
            f"{challenge.slug} has no public case '{name[:60]}'.",
            f"It has {', '.join(names[:_NAMED])}{more}.",
        )
    return found


# Numbers with the shape of a nested list, a recipe, or a scalar.
@dataclass(frozen=True)
class _Listed:
    values: tuple[float, ...]
    #: None: a flat list.
    shape: tuple[int, ...] | None


#: None: an optional input that is left out.
_Parsed = _Listed | Filling | Number | None


def _given(challenge: Challenge, case: Case, name: str, value: Any) -> _Parsed:
    manifest = challenge.manifest
    arg = next((arg for arg in manifest.args if arg.name == name), None)
    inputs = [arg.name for arg in manifest.args if arg.kind.given or arg.kind is Kind.SCALAR]
    if arg is None or arg.name not in inputs:
        what = (
            f"'{name[:60]}' is an output of {challenge.slug}, which your kernel writes."
            if arg is not None and arg.kind is Kind.OUTPUT
            else f"'{name[:60]}' is a workspace of {challenge.slug}, which holds nothing before a call."
            if arg is not None and arg.kind is Kind.WORKSPACE
            else f"'{name}' is a size of {challenge.slug}, not an input."
            if arg is not None
            else f"{challenge.slug} has no input '{name[:60]}'."
        )
        raise BadRequest(what, f"Its inputs are {', '.join(inputs)}.")
    if isinstance(value, str) and value.strip().lower() == LEFT_OUT:
        if not arg.optional:
            raise BadRequest(
                f"Input {arg.name} cannot be left out.",
                f"The optional inputs are {', '.join(manifest.optional)}."
                if manifest.optional
                else f"{challenge.slug} has no optional inputs.",
            )
        return None
    if isinstance(value, str) and value.strip().startswith("["):
        value = _list_of(name, value)
    if arg.kind is Kind.SCALAR:
        if isinstance(value, list):
            raise BadRequest(f"Input {name} is one number, not a list.", f"Write it as {name}=2.5.")
        return _number(arg, value, "")
    if isinstance(value, list):
        return _listed(arg, value)
    if isinstance(value, str):
        return _recipe(arg, value)
    raise BadRequest(
        f"Input {name} is an array; {value!r} is one number.", f"Write [{value}], or constant({value})."
    )


def _list_of(name: str, text: str) -> list[Any]:
    """``[1, 2, [3]]`` as nested lists of words."""
    open_lists: list[list[Any]] = [[]]
    for word in re.findall(r"[\[\]]|[^\s,\[\]]+", text):
        if word == "[":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif word == "]":
            open_lists.pop()
            if not open_lists:
                break
        else:
            open_lists[-1].append(word)
    if len(open_lists) != 1 or len(open_lists[0]) != 1:
        raise BadRequest(f"Input {name}: the brackets of its list do not match.", "Write it as [1, 2, 3].")
    found: list[Any] = open_lists[0][0]
    return found


def _listed(arg: Argument, values: list[Any]) -> _Listed:
    shape: list[int] = []
    flat: list[Any] = values
    while flat and any(isinstance(item, list) for item in flat):
        lengths = {len(item) if isinstance(item, list) else -1 for item in flat}
        if len(lengths) > 1:
            raise BadRequest(
                f"Input {arg.name}: its rows have different lengths.",
                "Give every row the same number of values.",
            )
        shape.append(len(flat) if not shape else len(flat) // math.prod(shape))
        flat = [value for item in flat for value in item]
    if len(flat) > limits.OWN_VALUES:
        raise BadRequest(
            f"Input {arg.name} has {len(flat):,} values; a run may have {limits.OWN_VALUES:,}.",
            "Use a recipe such as ramp for larger arrays.",
        )
    whole = (*shape, len(flat) // max(1, math.prod(shape))) if shape else None
    return _Listed(
        tuple(_number(arg, value, f" at place {place:,}") for place, value in enumerate(flat)), whole
    )


def _number(arg: Argument, value: Any, where: str) -> float:
    """An int for an integer type. Raises BadRequest."""
    number: float | int | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str):
        for read in (int, float):
            try:
                number = read(value)
                break
            except ValueError:
                continue
    if number is None:
        raise BadRequest(
            f"Input {arg.name}: '{str(value)[:40]}'{where} is not a number.",
            "Write numbers such as 1, -2.5, nan or inf.",
        )
    if not arg.dtype.floating:
        return _fits(arg, number, where)
    try:
        found = float(number)
    except OverflowError:
        found = math.inf if number > 0 else -math.inf
    return _has(arg, found, where)


def _has(arg: Argument, number: float, where: str) -> float:
    facts = arg.dtype.as_float
    if (math.isinf(number) and not facts.infinite) or (math.isnan(number) and not facts.nan):
        raise BadRequest(
            f"Input {arg.name} has the type {arg.dtype}, which has no {number:g}{where}.",
            "Write a finite number.",
        )
    return number


def _fits(arg: Argument, number: float, where: str) -> int:
    facts = arg.dtype.as_integer
    low, high = ends(arg.dtype) if arg.kind is Kind.SCALAR else (facts.low, facts.high)
    if not math.isfinite(number) or number != int(number) or not low <= number <= high:
        raise BadRequest(
            f"Input {arg.name} has the type {arg.dtype}; {number:.17g}{where} is no such number.",
            f"Write whole numbers from {low:,} to {high:,}.",
        )
    return int(number)


def _whole(value: float) -> int:
    if not math.isfinite(value) or value != int(value):
        raise ValueError("its numbers are whole")
    return int(value)


def _recipe(arg: Argument, text: str) -> Filling:
    found = _CALL.fullmatch(text)
    row = _RECIPES.get(found[1].lower()) if found else None
    if found is None or row is None:
        raise BadRequest(
            f"Input {arg.name}: there is no recipe '{text.strip()[:40]}'.",
            f"Recipes: {'; '.join(RECIPES)}. Or write values: [1, 2, 3].",
        )
    name = found[1].lower()
    words = [word.strip() for word in (found[2] or "").split(",")] if (found[2] or "").strip() else []
    usage = f"Write it as {name}({row.numbers})." if row.numbers else f"Write it as {name}."
    if not row.least <= len(words) <= row.most:
        raise BadRequest(f"Input {arg.name}: {name} does not take {len(words)} numbers.", usage)
    if not row.integers and not arg.dtype.floating:
        raise BadRequest(
            f"Input {arg.name} has the type {arg.dtype}, and {name} draws other numbers.",
            "Use integers(low, high), ramp, choice or values.",
        )
    numbers = [_number(arg, word, f" in {name}") for word in words]
    if name in ("uniform", "normal", "ramp", "integers") and not all(map(math.isfinite, numbers)):
        raise BadRequest(f"Input {arg.name}: the numbers of {name} are finite.", usage)
    if (name in ("uniform", "integers") and len(numbers) == 2 and numbers[0] > numbers[1]) or (
        name == "sprinkle" and len(numbers) == 2 and not 0 <= numbers[1] <= 1
    ):
        raise BadRequest(
            f"Input {arg.name}: {text.strip()[:40]} cannot be drawn.",
            "The share is from 0 to 1." if name == "sprinkle" else "Write the lower number first.",
        )
    return row.make(*numbers)


def _sizes(challenge: Challenge, case: Case, asked: OwnCase, given: Mapping[str, _Parsed]) -> dict[str, int]:
    """A dimension of given values, unless the request sets it."""
    manifest = challenge.manifest
    set_sizes = {name: _size(challenge, case, name, value) for name, value in asked.sizes.items()}
    found = {**dict(case.sizes)}
    for arg in manifest.buffers:
        value = given.get(arg.name)
        if not isinstance(value, _Listed):
            continue
        lengths = value.shape or ((len(value.values),) if len(arg.shape) == 1 else ())
        for text, length in zip(arg.shape, lengths, strict=False):
            if text in found:
                found[text] = length
    return {**found, **set_sizes}


def _size(challenge: Challenge, case: Case, name: str, value: int | str) -> int:
    names = challenge.manifest.sizes
    if name not in names:
        raise BadRequest(f"{challenge.slug} has no size '{name[:60]}'.", f"Its sizes are {', '.join(names)}.")
    try:
        found = (
            value
            if isinstance(value, int)
            else parse(_POWER.sub(_power, _THOUSANDS.sub("", value.strip())))(dict(case.sizes))
        )
    except ExpressionError as error:
        raise BadRequest(
            f"Size {name}: {error}.", f"Write a number such as 1000, or an expression such as 2 * {name} + 1."
        ) from error
    if not math.isfinite(found) or found != int(found):
        raise BadRequest(
            f"Size {name} is {found:g}, which is not a whole number.", "Round it: 7 // 2, not 7 / 2."
        )
    if abs(found) >= _MOST:
        raise BadRequest(f"Size {name} is too large.", "Choose a smaller size.")
    if found < 0:
        raise BadRequest(f"Size {name} is negative: {int(found):,}.", "Choose 0 or more.")
    return int(found)


def _power(found: re.Match[str]) -> str:
    exponent = int(found[2])
    return str(int(found[1]) ** exponent) if exponent <= 63 else found[0]


def _check_extent(manifest: Manifest, sizes: Mapping[str, int]) -> None:
    """Raises BadRequest if it is too large for a run, or a dimension is impossible."""
    total = 0
    for arg in manifest.buffers:
        try:
            strides = manifest.strides(arg, sizes) or (0,)
            total += arg.dtype.bytes_of(max(math.prod(manifest.shape(arg, sizes)), *strides))
        except ExpressionError as error:
            raise BadRequest(
                f"The sizes {_named(sizes)} do not fit together: the shape of {arg.name}: {error}.",
                "Choose other sizes.",
            ) from error
    try:
        manifest.check_constraints(sizes)
    except ValueError as error:
        raise BadRequest(
            f"The sizes {_named(sizes)} do not fit together: {error}.", "Choose other sizes."
        ) from error
    if total > limits.OWN_CASE_BYTES:
        raise BadRequest(
            f"The sizes {_named(sizes)} make {_bytes(total)} of arrays; a run with your own sizes may have "
            f"{_bytes(limits.OWN_CASE_BYTES)}.",
            "Choose smaller sizes.",
        )
    try:
        work = parse(manifest.cost.flops)(sizes)
    except ExpressionError:
        return  # a division by a size of zero: there is nothing to do
    if work > limits.OWN_CASE_OPERATIONS:
        raise BadRequest(
            f"The sizes {_named(sizes)} need {work:,.0f} operations; a run with your own sizes may need "
            f"{limits.OWN_CASE_OPERATIONS:,}.",
            "Choose smaller sizes.",
        )


def _named(sizes: Mapping[str, int]) -> str:
    return sizes_text(sizes)


def _bytes(count: int) -> str:
    return size_text(count) if count < 1 << 50 else f"{count // 2**40:,} TiB"


def _filling(arg: Argument, value: _Parsed, shape: tuple[int, ...], sizes: Mapping[str, int]) -> Filling:
    if not isinstance(value, _Listed):
        assert value is not None
        assert not isinstance(value, int | float)
        return value
    dimensions = f"[{', '.join(arg.shape)}]"
    needed = math.prod(shape)
    if len(value.values) != needed:
        raise BadRequest(
            f"Input {arg.name} has {len(value.values):,} values, but its shape {dimensions} needs {needed:,} at "
            f"{_named(sizes)}.",
            f"Give {needed:,} values, or other sizes.",
        )
    if value.shape is not None and value.shape != shape:
        raise BadRequest(
            f"Input {arg.name} has the shape {list(value.shape)}, but {dimensions} is {list(shape)} at "
            f"{_named(sizes)}.",
            "Write its rows as its shape says, or a flat list.",
        )
    return Given(value.values)
