"""The cases and inputs that a challenge's Python returned in a box, as data.

Only recipes of ``grader.challenge.cases`` and ``grader.challenge.derived`` are read back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from grader.challenge import cases, derived
from grader.challenge.cases import Case, Category, Derived, Filling, Recipe
from grader.errors import ChallengeInvalid

_DEPTH = 8
_CASES = 1_000
_NOTE_CHARS = 2_000
_FUNCTIONS = ("reference", "magnitude", "baseline")
_NAMED = re.compile(r"baseline_[a-z0-9_]{1,32}")

_RECIPES: Mapping[str, type[Any]] = {
    value.__name__: value
    for module in (cases, derived)
    for value in vars(module).values()
    if isinstance(value, type)
    and is_dataclass(value)
    and value.__module__ == module.__name__
    and (hasattr(value, "draw") or hasattr(value, "derive"))
}


@dataclass(frozen=True)
class Examined:
    cases: tuple[Case, ...]
    hidden_cases: tuple[Case, ...]
    inputs: Mapping[str, Filling]
    # Those that ``reference.py`` defines.
    functions: tuple[str, ...]


def dump(found: Examined) -> str:
    """Raises ChallengeInvalid for a recipe that is not ours."""
    return json.dumps(
        {
            "cases": [_case(case) for case in found.cases],
            "hidden_cases": [_case(case) for case in found.hidden_cases],
            "inputs": {name: _recipe(recipe, f"inputs(): {name}") for name, recipe in found.inputs.items()},
            "functions": list(found.functions),
        }
    )


def _case(case: Case) -> dict[str, Any]:
    where = f"case '{case.name}'"
    return {
        "name": case.name,
        "category": case.category.value,
        "sizes": dict(case.sizes),
        "inputs": {name: _recipe(each, f"{where}: {name}") for name, each in case.inputs.items()},
        "scalars": dict(case.scalars),
        "note": case.note,
        "timed": case.timed,
        "on": case.on,
        **({"without": list(case.without)} if case.without else {}),
    }


def _recipe(value: object, where: str) -> dict[str, Any]:
    kind = type(value)
    if _RECIPES.get(kind.__name__) is not kind:
        raise ChallengeInvalid(
            f"cases.py: {where}: {kind.__name__} is not a recipe of grader.challenge",
            "An uploaded challenge is made of the recipes that the platform has: "
            + ", ".join(sorted(_RECIPES)),
        )
    held = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    return {"recipe": kind.__name__} | {
        name: _recipe(each, where) if is_dataclass(each) else list(each) if isinstance(each, tuple) else each
        for name, each in held.items()
    }


def load(text: str) -> Examined:
    """For untrusted text. Raises ChallengeInvalid."""
    try:
        data = json.loads(text)
        found = Examined(
            cases=_read_cases(data["cases"]),
            hidden_cases=_read_cases(data["hidden_cases"]),
            inputs={str(name): _read_recipe(recipe) for name, recipe in data["inputs"].items()},
            functions=(
                *(name for name in _FUNCTIONS if name in data["functions"]),
                *(name for name in data["functions"] if _NAMED.fullmatch(name)),
            ),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise ChallengeInvalid(f"the result of examining the challenge is invalid: {error}") from error
    if "reference" not in found.functions:
        raise ChallengeInvalid("reference.py: it defines no function 'reference'")
    return found


def _read_cases(given: list[dict[str, Any]]) -> tuple[Case, ...]:
    if len(given) > _CASES:
        raise ValueError(f"{len(given)} cases; at most {_CASES} are taken")
    return tuple(_read_case(case) for case in given)


def _read_case(fields: dict[str, Any]) -> Case:
    if fields["timed"] not in (None, True, False) or fields["on"] not in (None, "gpu"):
        raise ValueError("a case has invalid values")
    return Case(
        name=str(fields["name"])[:100],
        category=Category(fields["category"]),
        sizes={str(name): _whole(value) for name, value in fields["sizes"].items()},
        inputs={str(name): _read_recipe(each) for name, each in fields["inputs"].items()},
        scalars={str(name): _number(value) for name, value in fields["scalars"].items()},
        note=str(fields["note"])[:_NOTE_CHARS],
        timed=fields["timed"],
        on=fields["on"],
        without=tuple(str(name)[:100] for name in fields.get("without", ())),
    )


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 63:
        raise ValueError(f"{value!r} is not a size")
    return value


def _read_recipe(given: dict[str, Any], depth: int = 0) -> Filling:
    if depth > _DEPTH:
        raise ValueError("recipes are nested too deeply")
    kind = _RECIPES[given["recipe"]]
    names = {field.name for field in fields(kind)}
    values = {}
    for name, value in given.items():
        if name == "recipe":
            continue
        if name not in names:
            raise ValueError(f"{kind.__name__} has no '{name}'")
        values[name] = _read_value(value, depth)
    made = kind(**values)
    assert isinstance(made, Recipe | Derived)
    made.words()  # raises if a value has the wrong type
    return made


def _read_value(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return _read_recipe(value, depth + 1)
    if isinstance(value, list):
        return tuple(_number(item) for item in value)
    return value if isinstance(value, str) and len(value) < 100 else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, int) and not math.isfinite(float(value)):
        raise ValueError("a number is too large")
    return value
