"""Runs the examples of a ``spec.md``: TOML blocks with the info string ``example``.

They name every input (except optional ones), scalar, size and output; an in-out has NAME and NAME_after. The
tolerance is half a unit of the last printed digit plus the challenge's. A number without a point is exact.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from grader.authoring.findings import check
from grader.challenge import scalars
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.numbers import exact, of_reference, python_values, rounded
from grader.challenge.tolerance import Allowance
from grader.errors import ChallengeInvalid
from grader.judge.compare import counted
from grader.judge.oracle import OUTPUT, Question
from grader.schemas.proof import Check, Status

if TYPE_CHECKING:
    import torch

_BLOCK = re.compile(r"^```example[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_AFTER = "_after"


def examples_of(spec: str) -> list[str]:
    return _BLOCK.findall(spec)


def example_check(challenge: Challenge) -> Check:
    """Raises ChallengeInvalid if ``spec.md`` or the reference is missing."""
    blocks = examples_of(challenge.spec)
    if not blocks:
        return Check(name="examples", status=Status.ERROR, summary="spec.md has no ```example block")
    problems = []
    for number, text in enumerate(blocks, 1):
        problems += [f"example {number}: {problem}" for problem in _problems(challenge, text)]
    return check("examples", problems, f"{len(blocks)} of {len(blocks)} hold", bad=Status.ERROR)


def _problems(challenge: Challenge, text: str) -> list[str]:
    try:
        values = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        return [f"not TOML: {error}"]
    manifest = challenge.manifest
    wanted = {arg.name for arg in manifest.args if arg.kind is not Kind.WORKSPACE}
    wanted -= {name for name in manifest.optional if name not in values}
    wanted |= {arg.name + _AFTER for arg in manifest.args if arg.kind is Kind.INOUT}
    if wanted != set(values):
        missing, unknown = sorted(wanted - set(values)), sorted(set(values) - wanted)
        return [f"missing: {missing}; not in the signature: {unknown}"]
    try:
        return _compared(challenge, values)
    except (ValueError, TypeError, RuntimeError, ChallengeInvalid) as error:
        return [f"{type(error).__name__}: {error}"]


def _compared(challenge: Challenge, values: Mapping[str, Any]) -> list[str]:
    manifest = challenge.manifest
    sizes = {name: int(values[name]) for name in manifest.sizes}
    given: dict[str, Any] = dict(sizes)
    given |= {arg.name: scalars.rounded(arg.dtype, _plain(values[arg.name])) for arg in manifest.scalars}
    for arg in manifest.given:
        given[arg.name] = None
        if arg.name in values:
            tensor = _tensor(manifest, arg, values[arg.name], sizes)
            given[arg.name] = exact(tensor, arg.dtype)
    answer = challenge.reference.compute(**given)
    answers = answer if isinstance(answer, tuple) else (answer,)
    named = {
        arg.name: OUTPUT.rounded(arg, of_reference(answer.detach(), arg.dtype)).reshape(-1)
        for arg, answer in zip(manifest.results, answers, strict=True)
    }
    problems = []
    for arg in manifest.results:
        count = counted(manifest, arg, Question({}, named, {}, sizes=sizes), named[arg.name].numel())
        said = values[arg.name + _AFTER if arg.kind is Kind.INOUT else arg.name]
        allowance = manifest.allowance(arg, sizes, {each.name: given[each.name] for each in manifest.scalars})
        found = python_values(named[arg.name], arg.dtype)
        problems += _unlike(allowance, arg, _flat(said), found, count)
    return problems


def _plain(value: Any) -> int | float:
    return value if isinstance(value, int) else float(value)


def _unlike(
    allowance: Allowance, arg: Argument, said: list[int | Decimal], found: list[float], count: int
) -> list[str]:
    """Only ``count`` leading elements are compared."""
    if len(said) not in (count, len(found)):
        return [f"'{arg.name}' has {len(said)} elements, the reference gives {count}"]
    wrong = [
        f"'{arg.name}' element {place} is printed as {text}, the reference gives {value:.9g}"
        for place, (text, value) in enumerate(zip(said[:count], found, strict=False))
        if not _near(allowance, text, value)
    ]
    return wrong[:1]


def _near(allowance: Allowance, text: int | Decimal, value: float) -> bool:
    number = float(text)
    if number != number or value != value:
        return number != number and value != value
    if number == value:
        return True
    exponent = _exponent(text)
    digits = 0.0 if exponent is None else 0.5 * 10.0**exponent
    allowed = digits * (1 + 1e-6) + allowance.atol + allowance.relative * abs(value) + allowance.steps
    return abs(number - value) <= allowed


def _exponent(text: int | Decimal) -> int | None:
    if isinstance(text, int):
        return None
    exponent = text.as_tuple().exponent
    return exponent if isinstance(exponent, int) else None


def _flat(value: Any) -> list[int | Decimal]:
    if isinstance(value, list):
        return [number for part in value for number in _flat(part)]
    return [value]


def _tensor(manifest: Manifest, arg: Argument, value: Any, sizes: Mapping[str, int]) -> torch.Tensor:
    import torch

    shape, flat = arg.dtype.held_shape(manifest.shape(arg, sizes)), _flat(value)
    numbers = [float(number) for number in flat] if arg.dtype.floating else [int(number) for number in flat]
    wide = torch.float64 if arg.dtype.floating else torch.int64
    tensor = rounded(torch.tensor(numbers, dtype=wide), arg.dtype)
    if tensor.numel() and _nesting(value) != shape:
        raise ValueError(f"'{arg.name}' has shape {list(_nesting(value))}, the sizes make it {list(shape)}")
    return tensor.reshape(shape)


def _nesting(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    return (len(value), *(_nesting(value[0]) if value else ()))
