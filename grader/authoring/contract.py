"""Checks that every row of a spec's contract names a case with its sizes and values."""

from __future__ import annotations

import fnmatch
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.categories import small
from grader.authoring.findings import check
from grader.challenge.cases import Case
from grader.challenge.draw import draw_inputs
from grader.challenge.expression import Expression, ExpressionError, parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest
from grader.judge.oracle import scalar_values
from grader.schemas.proof import Check

# The column of cases, and its entry for a row that every case tests.
CASES, EVERY = "cases", "every case"
HOW = (
    f"Name the public cases in the column '{CASES}', as in `nan`, `cols_*`; add a case to cases.py if there is none; "
    f"or say '{EVERY}' if the row depends on no size and no value."
)
_SEED = 11
_ROW = re.compile(r"^\|(.+)\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[ :|-]+")
_CODE = re.compile(r"`([^`]+)`")
_COMPARED = re.compile(r"^(.+?) (<=|>=|=|<|>) (.+)$")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_VALUES: Sequence[tuple[re.Pattern[str], str, Callable[[float], bool]]] = (
    (re.compile(r"\bNaN\b"), "NaN", math.isnan),
    (re.compile(r"\+inf\b"), "+inf", lambda value: value == math.inf),
    (re.compile(r"-inf\b"), "-inf", lambda value: value == -math.inf),
    (re.compile(r"\binfinit|(?<![-+\w])inf\b"), "an infinity", math.isinf),
)
_BEYOND = re.compile(r"beyond 2\^(\d+)")


@dataclass(frozen=True)
class Row:
    when: str
    cases: str


def contract_check(challenge: Challenge) -> Check:
    """Raises ChallengeInvalid if ``spec.md`` is missing or a case's inputs cannot be drawn."""
    rows = contract_rows(challenge.spec)
    problems = [
        f"contract row '{row.when}': {problem}" for row in rows for problem in _problems(challenge, row)
    ]
    shown = {code for row in rows for code in _CODE.findall(row.when)}
    problems += [
        f"no row shows the constraint `{text}`: add '| `{text}` | always | {EVERY} |'"
        for text in challenge.manifest.constraints
        if text not in shown
    ]
    return check("contract", problems, f"each of {len(rows)} rows names cases that test it")


def contract_rows(spec: str) -> list[Row]:
    """Rows of the first table of "## Contract"."""
    section = re.search(r"^## Contract\b.*?\n(.*?)(?=^## |\Z)", spec, re.MULTILINE | re.DOTALL)
    cells = [[cell.strip() for cell in row.split("|")] for row in _ROW.findall(section[1] if section else "")]
    if not cells:
        return []
    header, *rest = cells
    place = header.index(CASES) if CASES in header else None
    rows = [row for row in rest if not all(_RULE.fullmatch(cell) for cell in row if cell)]
    return [Row(row[0], row[place] if place is not None and place < len(row) else "") for row in rows]


def _problems(challenge: Challenge, row: Row) -> Iterator[str]:
    conditions = [
        pair
        for pair in _conditions(challenge.manifest, row.when)
        if pair[0] not in challenge.manifest.constraints
    ]
    if row.cases == EVERY:
        if conditions or any(pattern.search(row.when) for pattern, _, _ in _VALUES):
            yield f"not every case has this. {HOW}"
        return
    patterns = _CODE.findall(row.cases)
    if not patterns or re.sub(r"[,\s]|and", "", _CODE.sub("", row.cases)):
        yield f"no case tests it. {HOW}"
        return
    named: list[Case] = []
    for pattern in patterns:
        found = fnmatch.filter([case.name for case in challenge.cases], pattern)
        if not found:
            yield f"there is no public case '{pattern}'. {HOW}"
        named += [case for case in challenge.cases if case.name in found]
    if not named:
        return
    for text, holds in conditions:
        if not any(holds(_numbers(challenge.manifest, case)) for case in named):
            yield f"none of its cases has {text}. {HOW}"
    for pattern, words, is_it in _VALUES:
        if pattern.search(row.when) and not any(_holds(challenge.manifest, case, is_it) for case in named):
            yield f"none of its cases holds {words}. {HOW}"


def _numbers(manifest: Manifest, case: Case) -> dict[str, float]:
    return {**case.sizes, **scalar_values(manifest, case)}


def _conditions(manifest: Manifest, when: str) -> Iterator[tuple[str, Callable[[Mapping[str, float]], bool]]]:
    known = {*manifest.sizes, *(arg.name for arg in manifest.scalars)}
    for code in _CODE.findall(when):
        compared = _COMPARED.match(code)
        sides = [_expression(side, known) for side in compared.group(1, 3)] if compared else []
        if compared and sides[0] is not None and sides[1] is not None:
            yield code, _comparison(sides[0], _COMPARE[compared[2]], sides[1])
    beyond = _BEYOND.search(when)
    measured = _CODE.search(when)
    size = _expression(measured[1], known) if beyond and measured else None
    if beyond and size is not None:
        least = 2.0 ** int(beyond[1])
        yield f"{size.text} {beyond[0]}", _comparison(size, operator.gt, parse(str(least)))


def _expression(text: str, known: set[str]) -> Expression | None:
    try:
        found = parse(text)
    except ExpressionError:
        return None
    return found if found.names <= known else None


def _comparison(
    left: Expression, compare: Callable[[float, float], bool], right: Expression
) -> Callable[[Mapping[str, float]], bool]:
    return lambda numbers: compare(left(numbers), right(numbers))


def _holds(manifest: Manifest, case: Case, is_it: Callable[[float], bool]) -> bool:
    if any(is_it(value) for value in scalar_values(manifest, case).values()):
        return True
    drawn = draw_inputs(manifest, small(manifest, case), _SEED).values()
    return any(is_it(value) for values in drawn if values.is_floating_point() for value in _specials(values))


def _specials(values: object) -> list[float]:
    import torch

    assert isinstance(values, torch.Tensor)
    found: list[float] = torch.unique(values[~values.isfinite()]).tolist()
    return found
