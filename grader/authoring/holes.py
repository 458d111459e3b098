"""Finds a case that tells a wrong kernel from the right ones.

It tries special values at the suite's sizes, then sizes (at the edges of blocks, and next to numbers in the
source), then both. The kernel must fail the case in every draw, and every right submission pass.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.calibrate import compare
from grader.authoring.candidates import Candidate, subjects
from grader.authoring.categories import holds
from grader.authoring.scaffold import suite
from grader.authoring.scaffold.suite import Planned
from grader.authoring.trial import Trial
from grader.challenge.cases import Case, Category, Integers
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest
from grader.errors import BadRequest, ChallengeInvalid
from grader.schemas.proof import CandidateOutcome, CandidateRole

SECONDS = 20.0
# The interpreter takes about a second.
_MOST_ELEMENTS = 300_000
_AT_ONCE = 8
# A kernel must fail for other inputs, too.
_DRAWS = 3
_EDGES = (
    2,
    3,
    5,
    15,
    16,
    17,
    31,
    33,
    63,
    65,
    127,
    129,
    255,
    257,
    511,
    513,
    1000,
    1025,
    2049,
    4097,
    10_007,
    65_537,
)
_MOST_NUMBERS, _MOST_SHIFT = 24, 18
_FLOATS = {
    "nan": "Sprinkle(NAN, 0.1)",
    "pos_inf": "Sprinkle(INF, 0.1)",
    "neg_inf": "Sprinkle(-INF, 0.1)",
    "zeros": "Constant(0)",
    "ones": "Constant(1)",
    "negative": "Uniform(-2, -1)",
    "positive": "Uniform(1, 2)",
    "ties": "Choice((0, 1))",
    "nan_and_inf": "Choice((NAN, INF, -INF, 0, 1))",
    "offset": "Normal(1000, 1)",
    "nan_last": "At(NAN, (-1,))",
    "nan_first": "At(NAN, (0,))",
    "low": "Uniform(-1000, -900)",
    "high": "Uniform(900, 1000)",
    "outlier_last": "At(1e4, (-1,))",
    "wide": "Uniform(-1e4, 1e4)",
    "all_nan": "Constant(NAN)",
    "all_neg_inf": "Constant(-INF)",
    "neg_zero": "Choice((0.0, -0.0, 1.0))",
}


@dataclass(frozen=True)
class Closing:
    """The kernel fails it in ``draws`` of ``_DRAWS`` draws."""

    planned: Planned
    draws: int

    @property
    def text(self) -> str:
        return self.planned.line()


def close(trial: Trial, candidate: Candidate, seconds: float = SECONDS) -> Closing | None:
    """None if none was found in time. Raises BoxUnavailable."""
    found: list[Closing] = []
    with trial.until(time.monotonic() + seconds):
        # A case that catches it in some draws only would depend on luck.
        found += next(([one] for one in _closings(trial, candidate) if one.draws == _DRAWS), [])
    return found[0] if found else None


def _closings(trial: Trial, candidate: Candidate) -> Iterator[Closing]:
    tried = tries(trial.challenge, candidate.source)
    best = 0
    while batch := list(itertools.islice(tried, _AT_ONCE)):
        cases = {planned.name: planned for planned in batch}
        left = [made for planned in batch if (made := _made(trial, planned)) is not None]
        while left:
            result = trial.try_cases(candidate, left, every_case=False)
            if result.ending is not CandidateOutcome.FAILED:
                break
            found = cases[result.failed[0]]
            left = [case for case in left if case.name != found.name]
            if result.no_answer:
                continue
            closing = _proven(trial, candidate, found)
            if closing is not None and closing.draws > best:
                best = closing.draws
                yield closing
        trial.forget(cases)


def _case(trial: Trial, planned: Planned) -> Case:
    case = planned.case()
    return replace(case, inputs={**trial.challenge.inputs, **case.inputs})


def _made(trial: Trial, planned: Planned) -> Case | None:
    """None if the reference does not answer."""
    case = _case(trial, planned)
    try:
        trial.question(case)
    except (ChallengeInvalid, RuntimeError, ValueError):
        return None
    return case


def _proven(trial: Trial, candidate: Candidate, found: Planned) -> Closing | None:
    """None if a right submission fails it."""
    named = _named(trial, found)
    case = _case(trial, named)
    _, disagreements = compare(trial.challenge, case, trial.question(case), trial.challenge.reference.compute)
    if disagreements:
        return None
    for other in subjects(trial.challenge, trial.device.languages()):
        if other.role in (CandidateRole.SOLUTION, CandidateRole.NATIVE, CandidateRole.VARIANT):
            result = trial.try_cases(other, [case], every_case=True)
            if result.ending is CandidateOutcome.FAILED:
                return None
    draws = 0
    for number in range(_DRAWS):
        again = replace(case, name=f"{case.name}_{number}" if number else case.name)
        result = trial.try_cases(candidate, [again], every_case=True)
        draws += result.ending is CandidateOutcome.FAILED and not result.no_answer
        trial.forget([again.name])
    return Closing(named, draws) if draws else None


def _named(trial: Trial, found: Planned) -> Planned:
    category = next(
        (
            category
            for category in (found.category, "prime", "odd", "block_edge", "large", "basic")
            if category in list(Category)
            and holds(trial.challenge, replace(_case(trial, found), category=Category(category)))
        ),
        "basic",
    )
    taken = {case.name for case in [*trial.challenge.cases, *trial.challenge.hidden_cases]}
    name = found.name.partition("__")[0]
    free = (name if number == 1 else f"{name}_{number}" for number in itertools.count(1))
    return replace(found, name=next(each for each in free if each not in taken), category=category)


def tries(challenge: Challenge, source: str) -> Iterator[Planned]:
    """Cases to try, most telling first."""
    manifest = challenge.manifest
    known = [case for case in challenge.cases if case.on is None and all(case.sizes.values())]
    if not known:
        return
    known.sort(key=lambda case: _elements(manifest, case.sizes))
    bases = list({tuple(case.sizes.items()): case.sizes for case in known}.values())
    fitting = [sizes for sizes in bases if _elements(manifest, sizes) <= _MOST_ELEMENTS] or bases[:1]
    smallest, middle, largest = fitting[0], fitting[len(fitting) // 2], fitting[-1]
    values = list(_values(manifest))
    said = _numbers(source)
    numbers = sorted({number + step for number in said for step in (-1, 0, 1)})
    number = itertools.count()
    seen: set[tuple[object, ...]] = set()

    def planned(
        name: str, category: str, sizes: Mapping[str, int], inputs: Mapping[str, str]
    ) -> Iterator[Planned]:
        key = (*sizes.items(), *inputs.items())
        possible = suite.is_possible(manifest, sizes) and _elements(manifest, sizes) <= _MOST_ELEMENTS
        if possible and key not in seen and _keeps_bounds(manifest, sizes, inputs):
            seen.add(key)
            yield Planned(f"{name}__{next(number)}", category, sizes, inputs)

    for name, category, inputs in values:
        yield from planned(name, category, middle, inputs)
    for edge in reversed(said):
        for size in reversed(manifest.sizes):
            yield from planned(f"{size}_{edge + 1}", "block_edge", {**smallest, size: edge + 1}, {})
    # A kernel may be wrong for large sizes and some values alone.
    for edge in [number + 1 for number in said[-1:]]:
        for size in reversed(manifest.sizes):
            for name, category, inputs in values:
                yield from planned(f"{name}_{size}_{edge}", category, {**smallest, size: edge}, inputs)
    for base in (smallest, middle):
        for edge in sorted({*numbers, *_EDGES}):
            for size in manifest.sizes:
                yield from planned(f"{size}_{edge}", "block_edge", {**base, size: edge}, {})
    for edge in _EDGES:
        yield from planned(f"all_{edge}", "block_edge", dict.fromkeys(manifest.sizes, edge), {})
    for sizes in (smallest, largest):
        for name, category, inputs in values:
            yield from planned(name, category, sizes, inputs)


def _elements(manifest: Manifest, sizes: Mapping[str, int]) -> int:
    return sum(math.prod(manifest.shape(arg, sizes)) for arg in manifest.buffers)


def _keeps_bounds(manifest: Manifest, sizes: Mapping[str, int], inputs: Mapping[str, str]) -> bool:
    """An index out of range would end the process of a GPU's reference."""
    for arg in manifest.buffers:
        if arg.name in inputs and _is_bounded(arg):
            usual = default_recipe(manifest, arg, sizes)
            values = [int(text) for text in re.findall(r"-?\d+", inputs[arg.name])]
            if isinstance(usual, Integers) and not all(usual.low <= value < usual.high for value in values):
                return False
    return True


def _is_bounded(arg: Argument) -> bool:
    return "low" in arg.values.model_fields_set and isinstance(arg.values.high, str)


def _numbers(source: str) -> list[int]:
    """Sizes at which a source may do something else."""
    said = {int(text) for text in re.findall(r"(?<![\w.])\d{1,6}(?![\w.])", source)}
    powers = {2 ** int(shift) for shift in re.findall(r"<< *(\d{1,2})\b", source) if int(shift) < _MOST_SHIFT}
    return sorted(number for number in said | powers if number > 1)[-_MOST_NUMBERS:]


def _values(manifest: Manifest) -> Iterator[tuple[str, str, dict[str, str]]]:
    given = [arg for arg in manifest.buffers if arg.kind.given]
    floats = [arg for arg in given if arg.dtype.floating]
    integers = [arg for arg in given if not arg.dtype.floating]
    for group in [floats, *([[arg] for arg in floats] if len(floats) > 1 else [])]:
        suffix = f"_in_{group[0].name}" if group is not floats else ""
        for name, recipe in _FLOATS.items() if group else ():
            category = name if name in list(Category) else "nan" if "nan" in name else "basic"
            category = "neg_inf" if name == "all_neg_inf" else category
            yield f"{name}{suffix}", category, {arg.name: recipe for arg in group}
        for name in ("huge", "tiny", "denormal") if group else ():
            bounds = {arg.name: getattr(arg.dtype.as_float, name) for arg in group}
            inputs = {arg: f"Uniform(-{bound}, {bound})" for arg, bound in bounds.items()}
            yield f"{name}{suffix}", name, inputs
    for arg in integers:
        facts, bounded = arg.dtype.as_integer, _is_bounded(arg)
        for name, recipe in (
            ("extremes", f"Choice(({facts.low}, {facts.high}, 0, 1))"),
            ("zeros", "Constant(0)"),
            ("ones", "Constant(1)"),
            ("few", "Choice((0, 1))"),
            ("negative", "Constant(-1)"),
        ):
            if (name in ("extremes", "negative") and bounded) or (name == "negative" and not facts.signed):
                continue
            yield f"{name}_in_{arg.name}", "range" if name == "extremes" else "basic", {arg.name: recipe}


def append_cases(path: Path, found: Sequence[str]) -> None:
    """Add lines to the list that ``cases()`` returns, and their recipes to its import. Raises BadRequest if
    it returns no literal list.
    """
    text = path.read_text(encoding="utf-8")
    module = ast.parse(text)
    lists = [
        node.value
        for function in module.body
        if isinstance(function, ast.FunctionDef) and function.name == "cases"
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List)
    ]
    if not lists:
        raise BadRequest(
            f"'{path}' returns no list that is written out.", "Paste the lines into it yourself."
        )
    lines = text.splitlines(keepends=True)
    last = lists[-1]
    row, column = (last.end_lineno or 1) - 1, (last.end_col_offset or 1) - 1
    before = "".join([*lines[:row], lines[row].encode()[:column].decode()]).rstrip()
    after = lines[row].encode()[column:].decode() + "".join(lines[row + 1 :])
    if not before.endswith((",", "[")):
        before += ","
    indent = re.match(r" *", lines[row]) if lines[row].strip() == "]" else None
    body = "\n".join(f"        {line.strip()}" for line in found)
    text = f"{before}\n{body}\n{indent[0] if indent else '    '}{after}"
    path.write_text(_importing(text, body), encoding="utf-8")


def _importing(text: str, used: str) -> str:
    names = [name for name in _RECIPES if re.search(rf"\b{name}\b", used)]
    pattern = re.compile(r"from grader\.challenge\.cases import (\([^)]*\)|[^\n(]*)")
    match = pattern.search(text)
    if match is None:
        return f"from grader.challenge.cases import {', '.join(names)}\n{text}" if names else text
    there = {name.strip() for name in match[1].strip("()").replace("\n", " ").split(",") if name.strip()}
    words = sorted(there | set(names), key=lambda name: (name != name.upper(), name[0].islower(), name))
    line = f"from grader.challenge.cases import {', '.join(words)}"
    if len(line) > suite.LINE:
        line = "from grader.challenge.cases import (\n" + "".join(f"    {word},\n" for word in words) + ")"
    return text[: match.start()] + line + text[match.end() :]


_RECIPES = ("INF", "NAN", "At", "Choice", "Constant", "Normal", "Sprinkle", "Uniform")
