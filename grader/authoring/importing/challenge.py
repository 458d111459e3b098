"""Makes a challenge's folders from a problem of another platform."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from grader.authoring.calibrate import HEADROOM, MARGIN, round_up
from grader.authoring.candidates import NATIVE
from grader.authoring.importing.constrained import needed_constraints
from grader.authoring.importing.drawn import Drawn
from grader.authoring.importing.published import check_solution, check_text, renamed, with_solve
from grader.authoring.importing.shapes import Seen, expression_of
from grader.authoring.importing.source import Problem
from grader.authoring.mutants import stand_in
from grader.authoring.scaffold import suite, texts
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.draft import Draft, complete, ladder
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.scaffold.suite import Planned
from grader.challenge.catalogue import Catalogue
from grader.challenge.checker import CHECKER
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Cost, Kind, Manifest, Waivable, Workload
from grader.errors import BadRequest, GraderError
from grader.languages import Language

_EXPRESSION_CHARS = 200
# How far values may deviate from a uniform distribution, and the outermost from a bound, in widths.
_EVEN, _MOVED = 0.1, 0.05
# Without a stated tolerance. A case that needs more is left out.
_MOST_RTOL = 1e-2
# torch.allclose's own.
_TORCH = {"rtol": 1e-5, "atol": 1e-8}
# Elements that a relative tolerance must do for; and how many are looked at.
_MOST_ELEMENTS, _MOST_ERRORS = 0.99, 1 << 20
# These show whether the reference answers at all.
_SHAPES = ("basic", "odd", "prime", "large", "aligned")
_ORDER = (Kind.INPUT, Kind.INOUT, Kind.OUTPUT, Kind.SCALAR, Kind.SIZE)
_SPEC = """# {title}

{about}

Source: {origin} ({licence}).

```
{signature}
```

## Example

```example
{example}
```

## Contract

| when | then | cases |
| --- | --- | --- |
{contract}

## Speed

At least `{bytes}` bytes must move: no kernel is faster than that over the memory's bandwidth.

## Hints

<details><summary>Where do I start?</summary>

Say in one sentence what one thread (CUDA) or one program (Triton) computes.

</details>

## Background

- Say where students can read about it.
"""


@dataclass(frozen=True)
class ImportedDraft(Draft):
    problem: Mapping[str, Any] = field(default_factory=dict)

    def manifest_with(self, constraints: list[str]) -> Manifest:
        """Raises as ``manifest``."""
        return replace(self, constraints=constraints).manifest()

    def manifest(self) -> Manifest:
        """Raises BadRequest if something in it cannot be said."""
        args = sorted(complete(_arguments(self.problem)), key=lambda arg: _ORDER.index(arg.kind))
        given = [arg for arg in args if arg.kind.buffer]
        moved = _sum([(arg.dtype.itemsize, arg) for arg in given])
        done = _sum([(1, arg) for arg in given if arg.kind is not Kind.INPUT])
        cost = Cost(bytes=moved, flops=done)
        sizes = [arg.name for arg in args if arg.kind is Kind.SIZE]
        bare = self._with(args, cost, [Workload(name="none", sizes=dict.fromkeys(sizes, 64))])
        bare = bare.model_copy(update={"constraints": list(self.constraints)})
        timed = [sample["sizes"] for sample in self.problem["samples"] if sample["timed"]]
        named = [
            Workload(
                name=" x ".join(map(str, values.values()))[:40], sizes={name: values[name] for name in sizes}
            )
            for values in timed
        ]
        return self._with(args, cost, ladder(bare, list({each.name: each for each in named}.values())))


def _sum(terms: Sequence[tuple[int, Argument]]) -> str:
    """Of products of shapes, only the largest if it is too long."""
    factors: dict[str, int] = {}
    for factor, arg in terms:
        product = " * ".join(text for text in map(_bracketed, arg.shape) if text != "1") or "1"
        factors[product] = factors.get(product, 0) + factor
    texts = [f"{factor} * {product}" for product, factor in factors.items()]
    texts.sort(key=lambda text: text.count("*"), reverse=True)
    while len(" + ".join(texts)) > _EXPRESSION_CHARS:
        texts.pop()
    return " + ".join(texts) or "0"


def _bracketed(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def our_names(arguments: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Theirs -> ours: lower case, without another meaning in a kernel or in Python."""
    found: dict[str, str] = {}
    for said in arguments:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", said["name"])
        name = re.sub(r"\W", "_", name).lower().lstrip("_0123456789")[:28] or "x"
        while name in found.values() or not _is_usable(name):
            name += "_"
        found[said["name"]] = name
    return found


def _is_usable(name: str) -> bool:
    try:
        Argument(name=name, kind=Kind.SIZE)
    except ValueError:
        return False
    return True


def _renamed(found: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Except in the reference's text."""

    def of(values: Mapping[str, Any]) -> dict[str, Any]:
        return {names[name]: value for name, value in values.items() if name in names}

    samples = [
        {**sample, **{part: of(sample[part]) for part in ("sizes", "shapes", "strides", "bounds", "spread")}}
        for sample in found["samples"]
    ]
    arguments = [{**said, "name": names[said["name"]]} for said in found["arguments"]]
    return {**found, "arguments": arguments, "samples": samples}


def _arguments(problem: Mapping[str, Any]) -> list[Argument]:
    samples = problem["samples"]
    found = []
    for said in problem["arguments"]:
        name, kind = said["name"], Kind(said["kind"])
        values: dict[str, Any] = {"name": name, "kind": kind}
        if kind is Kind.SCALAR:
            values |= {"dtype": said["dtype"], "value": said["value"]}
        elif kind.buffer:
            if said["dtype"] not in list(DType):
                raise BadRequest(
                    f"'{name}' is {said['dtype']}, which is no type of elements here.",
                    f"There are: {', '.join(DType)}.",
                )
            values |= {"dtype": said["dtype"], "shape": _shape(name, samples)}
            if kind.given:
                values["values"] = _values(name, DType(said["dtype"]), samples)
            if (strides := _strides(name, samples)) and DType(said["dtype"]).strided:
                values["layout"] = {"strides": strides}
        found.append(Argument.model_validate(values))
    return found


def _values(name: str, dtype: DType, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Uniform or normal, as its samples look, or integers within their bounds."""
    if not dtype.floating:
        return _integers(name, samples)
    if dtype is DType.FLOAT8_E8M0:
        return {"dist": "powers", "low": -3, "high": 4}
    seen = [sample["spread"][name] for sample in samples if name in sample["spread"]]
    if seen:
        least, most, deviation, _ = max(seen, key=lambda one: one[3])
        even = (most - least) / math.sqrt(12)
        if even and abs(deviation / even - 1) < _EVEN:
            low, high = _outer(least, most - least, math.floor), _outer(most, most - least, math.ceil)
            return {"dist": "uniform", "low": low, "high": high}
    return {"dist": "normal"}


def _outer(bound: float, width: float, rounding: Callable[[float], int]) -> float:
    """Outwards to few digits, by a small part of ``width``."""
    step = 10.0 ** math.floor(math.log10(width))
    for part in (1.0, 0.5, 0.1):
        near = rounding(bound / (step * part)) * step * part
        if abs(near - bound) <= _MOVED * width:
            break
    return float(f"{near:.6g}")


def _strides(name: str, samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Empty if samples are stored row by row."""
    seen = [
        (sample["sizes"], sample["strides"][name])
        for sample in samples
        if name in sample["strides"] and min(sample["shapes"][name]) > 1
    ]
    if not seen:
        return []
    texts = [
        expression_of([Seen(sizes, strides[place]) for sizes, strides in seen])
        for place in range(len(seen[0][1]))
    ]
    return [] if None in texts else [text for text in texts if text is not None]


def _shape(name: str, samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Raises BadRequest."""
    seen = [(sample["sizes"], sample["shapes"][name]) for sample in samples if name in sample["shapes"]]
    whole, flat = _by_rank(seen)
    shape = []
    for place in range(len(whole[0][1])):
        text = expression_of([Seen(sizes, dims[place]) for sizes, dims in whole])
        if text is None:
            known = ", ".join(f"{dims[place]} at {sizes}" for sizes, dims in whole[:3])
            raise BadRequest(
                f"Dimension {place} of '{name}' is no expression in the sizes: {known}.",
                "Write the challenge with `grader challenge new`, or give its file a size for it.",
            )
        shape.append(text)
    if any(math.prod(parse(text)(sizes) for text in shape) != math.prod(dims) for sizes, dims in flat):
        raise BadRequest(f"'{name}' has different numbers of dimensions, and of elements, in its own tests.")
    return shape or ["1"]


def _by_rank(seen: Sequence[_Shaped]) -> tuple[list[_Shaped], list[_Shaped]]:
    """With the most dimensions; and others, in which some are flattened."""
    most = max(len(dims) for _, dims in seen)
    return [one for one in seen if len(one[1]) == most], [one for one in seen if len(one[1]) < most]


_Shaped = tuple[Mapping[str, int], Sequence[int]]


def _integers(name: str, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Below a size if every sample is, and comes near it."""
    seen = [(sample["sizes"], *sample["bounds"][name]) for sample in samples if name in sample["bounds"]]
    if not seen:
        return {"dist": "integers", "low": 0, "high": 2}
    low = min(least for _, least, _ in seen)
    for size in seen[0][0]:
        below = low >= 0 and all(most < sizes[size] for sizes, _, most in seen)
        if below and any(most >= sizes[size] // 2 for sizes, _, most in seen):
            return {"dist": "integers", "low": low, "high": size}
    return {"dist": "integers", "low": low, "high": max(most for _, _, most in seen) + 1}


@dataclass
class ImportedOperation:
    """Its cases are those that the reference answers in a box. ``names``: theirs -> ours."""

    problem: Problem
    slug: str
    names: Mapping[str, str]
    drawn: Drawn | None = None
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Answers(self.slug, other_sizes=True, checker=self.checker())
        if self.drawn is not None:
            self.answers.usual, self.answers.names = self.drawn.recipes()

    def checker(self) -> str:
        found = self.problem.found
        return check_text(found, self.names, self.source()) if "check" in found else ""

    def manifest(self, manifest: Manifest) -> str:
        tolerance, why = self.tolerance(manifest)
        return texts.manifest_text(manifest, tolerance, why, self.waived(manifest))

    def waived(self, manifest: Manifest) -> dict[str, str]:
        """Categories without an answered case, and why."""
        kept = {case.category for case in self.public_cases(manifest)}
        left = {category: why for category, why in self.answers.left_out.values() if category not in kept}
        return {
            category: f"The source's reference: {why}."
            for category, why in left.items()
            if why and category in get_args(Waivable)
        }

    def tolerance(self, manifest: Manifest) -> tuple[Mapping[str, float], str]:
        """The source's, never looser; else what PyTorch needs, and at least torch's default."""
        found = self.problem.found
        if self.answers.checker:
            return {"atol": 0.0, "rtol": 0.0}, "check.py decides about all other answers."
        if not any(arg.dtype.floating for arg in manifest.results):
            return {"atol": 0.0, "rtol": 0.0}, "Integers are exact."
        if self.answers.tolerance is None:
            known = {name: found["tolerance"][name] for name in found["stated"]}
            if len(known) < len(_TORCH):
                shapes = [case for case in suite.public_cases(manifest) if case.name in _SHAPES]
                self.answers.errors.clear()
                self.answers.ask_about(manifest, self.reference(manifest))
                self.answers.of(shapes)
                self.answers.ask_about(manifest, self.answers.source)
                digits = min(arg.dtype.as_float.digits for arg in manifest.results if arg.dtype.floating)
                known = _needed(self.answers.errors, known, 2.0 ** (1 - digits))
                self.answers.errors.clear()
            self.answers.tolerance = known
        parts = [name for name in _TORCH if name not in found["stated"]]
        why = (
            f"Its source states no {' and no '.join(parts)}: that is what PyTorch needs."
            if parts
            else "From its source."
        )
        return self.answers.tolerance, why

    def constraints(self, draft: ImportedDraft) -> list[str]:
        """That the reference needs, whatever its precision."""
        answers, checker = self.answers, self.answers.checker
        answers.checker = ""
        try:
            answers.ask_about(draft.manifest(), self.reference(draft.manifest()))
            samples = [sample["sizes"] for sample in draft.problem["samples"]]
            return needed_constraints(samples, draft.manifest_with, answers)
        finally:
            answers.checker, answers.manifest = checker, None
            answers.errors.clear()

    def spec(self, manifest: Manifest) -> str:
        licence = self.problem.licence
        about = str(self.problem.found["about"]).strip()
        if licence.asks or not about:
            about = "Say in a few sentences what the operation does, where it is used, and what it teaches."
        names = {case.name for case in self.public_cases(manifest)}
        rows = texts.contract_rows(names, manifest) + texts.constraint_rows(manifest)
        return _SPEC.format(
            title=manifest.title,
            about=about,
            origin=self.problem.origin,
            licence=licence.name or "licence not stated",
            signature=", ".join(arg.name for arg in manifest.args),
            example=self.asked(manifest).example(),
            contract="\n".join(f"| {' | '.join(row)} |" for row in rows),
            bytes=manifest.cost.bytes,
        )

    def reference(self, manifest: Manifest) -> str:
        text = str(self.problem.found["reference"])
        for arg in manifest.results:
            shape = ", ".join(map(texts.python_of, arg.shape)) + ","
            (theirs,) = [name for name, ours in self.names.items() if ours == arg.name]
            text = text.replace(f"{{shape:{theirs}}}", shape)
        text = re.sub(r"\n{4,}", "\n\n\n", _with_ours(text, manifest, self.names))
        text += _flattened(
            manifest, self.problem.found["samples"], {ours: theirs for theirs, ours in self.names.items()}
        )
        return f"{self.source()}{text}"

    def source(self) -> str:
        licence = self.problem.licence.name or "not stated"
        return f"# From {_line(self.problem.origin)}. Licence: {_line(licence)}.\n\n"

    def public_cases(self, manifest: Manifest) -> Sequence[Planned]:
        """Raises BadRequest if the reference answers none of the usual ones."""
        special = self.drawn.cases(manifest) if self.drawn is not None else []
        return self.asked(manifest).of([*suite.public_cases(manifest), *special], some=True)

    def hidden_cases(self, manifest: Manifest) -> Sequence[Planned]:
        return self.asked(manifest).of(suite.hidden_cases(manifest))

    def asked(self, manifest: Manifest) -> Answers:
        if self.answers.manifest is None:
            self.answers.ask_about(manifest, self.reference(manifest))
            self.tolerance(manifest)
        return self.answers

    def solutions(self, manifest: Manifest) -> Mapping[Language, str]:
        return {}

    def mutants(self, manifest: Manifest) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        self.answers.close()


def _needed(errors: Sequence[tuple[Any, Any]], stated: Mapping[str, float], ulp: float) -> dict[str, float]:
    """torch's default if that does; else an ``rtol`` for most elements and an ``atol`` for the others.
    ``ulp``: relative, of the type.
    """
    import torch

    error = torch.cat([part.reshape(-1) for part, _ in errors] or [torch.zeros(0)])
    right = torch.cat([part.reshape(-1) for _, part in errors] or [torch.zeros(0)])
    error, right = error[right > 0][:_MOST_ERRORS], right[right > 0][:_MOST_ERRORS]

    def left(atol: float, rtol: float) -> float:
        return float((HEADROOM * error - atol - rtol * right).max()) if error.numel() else 0.0

    found = {**_TORCH, **stated}
    if left(found["atol"], found["rtol"]) <= 0:
        return found
    if "rtol" not in stated:
        most = float((error / right).quantile(_MOST_ELEMENTS))
        found["rtol"] = max(found["rtol"], min(round_up(max(MARGIN * most, HEADROOM * ulp)), _MOST_RTOL))
    if "atol" not in stated and (more := left(0.0, found["rtol"])) > found["atol"]:
        found["atol"] = round_up(HEADROOM * more)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())


def _with_ours(text: str, manifest: Manifest, names: Mapping[str, str]) -> str:
    head, _, rest = text.rpartition("\ndef reference(")
    _, _, body = rest.partition("):\n")
    return (
        f"{head}\ndef reference({', '.join(manifest.passed)}):\n{renamed(body, names, manifest.passed)}{body}"
    )


def _flattened(manifest: Manifest, samples: Sequence[Mapping[str, Any]], theirs: Mapping[str, str]) -> str:
    single = [
        any(sample["shapes"].get(theirs[arg.name]) == [] for sample in samples) for arg in manifest.results
    ]
    if not any(single):
        return ""
    return (
        "\n\n_theirs = reference\n\n\ndef reference(**given):\n    found = _theirs(**given)\n"
        "    results = found if isinstance(found, tuple) else (found,)\n"
        "    shaped = tuple(result.reshape(1) if not result.dim() else result for result in results)\n"
        "    return shaped if len(shaped) > 1 else shaped[0]\n"
    )


def _without_unused(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without numbers that no shape depends on: GPU MODE's kernel does not get them."""
    buffers = [said for said in found["arguments"] if said["kind"] in ("input", "inout", "output")]
    shapes = [text for said in buffers for text in _shape(said["name"], found["samples"])]
    used = {name for text in shapes for name in parse(text).names}
    used |= set(re.findall(r"\w+", str(found["data"])))
    unused = [
        said["name"] for said in found["arguments"] if said["kind"] == "size" and said["name"] not in used
    ]
    if not unused:
        return dict(found)
    samples = [
        {**sample, "sizes": {name: size for name, size in sample["sizes"].items() if name not in unused}}
        for sample in found["samples"]
    ]
    arguments = [said for said in found["arguments"] if said["name"] not in unused]
    drawn = {**found["drawn"], "needed": True}
    return {**found, "arguments": arguments, "samples": samples, "drawn": drawn}


def write_imported(
    catalogue: Catalogue,
    problem: Problem,
    slug: str,
    track: str,
    difficulty: str,
    published: str = "",
) -> tuple[list[Path], list[str]]:
    """Returns the folders, and open points for a person. ``published``: the text of a solution in the
    problem's form. Raises as ``write_challenge``.
    """
    if published:
        check_solution(published, problem.format)
    if problem.format == "gpumode":
        problem = replace(problem, found=_without_unused(problem.found))
    names = our_names(problem.found["arguments"])
    draft = ImportedDraft(
        slug=slug,
        title=str(problem.found["title"])[:80],
        track=track,
        difficulty=difficulty,
        languages=[NATIVE],
        problem=_renamed(problem.found, names),
    )
    drawn = Drawn.of(problem.found, names)
    operation = ImportedOperation(problem, slug, names, drawn)
    try:
        constraints = operation.constraints(draft)
        folders = write_challenge(catalogue, replace(draft, constraints=constraints), operation)
    finally:
        operation.close()
    try:
        if drawn is not None:
            cases = folders[0] / "cases.py"
            cases.write_text(drawn.with_draws(cases.read_text("utf-8"), operation.source()), encoding="utf-8")
        if checker := operation.answers.checker:
            (folders[1] / CHECKER).write_text(checker, encoding="utf-8")
        challenge = catalogue.load(slug)
        solution = folders[1] / "staff" / f"solution{NATIVE.suffix}"
        text = with_solve(published, problem.found, problem.format, challenge, names) if published else ""
        solution.write_text(text or stand_in(challenge), encoding="utf-8")
    except GraderError:
        for folder in folders:  # ours: neither existed before
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return folders, _open(problem, operation, challenge, bool(published))


def _of_numbers(problem: Problem, operation: ImportedOperation, challenge: Challenge) -> list[str]:
    """Of tolerance, check, draws and layouts."""
    manifest, found = challenge.manifest, []
    exact = not any(arg.dtype.floating for arg in manifest.results)
    if operation.answers.checker:
        found.append(
            "check.py holds the source's own check: put a submission with other right answers in staff/variants."
        )
    elif not problem.found["stated"] and not exact:
        found.append(
            f"Its source states no tolerance: rtol = {manifest.tolerance.rtol:g} is what PyTorch needs."
        )
    if operation.drawn is not None:
        found.append(
            "cases.py draws inputs by the source's own code: such a challenge comes by the catalogue, not by upload."
        )
    if manifest.constraints:
        found.append(
            f"The reference seems to need {', '.join(manifest.constraints)}: check these constraints."
        )
    layouts = {arg.name for arg in manifest.buffers if arg.layout is not None}
    return found + [
        f"'{ours}' is not stored row by row there; here it is."
        for theirs, ours in operation.names.items()
        if ours not in layouts and any(theirs in sample["strides"] for sample in problem.found["samples"])
    ]


def _open(
    problem: Problem, operation: ImportedOperation, challenge: Challenge, has_solution: bool
) -> list[str]:
    found = list(problem.found["open"])
    if problem.licence.asks:
        found.append(
            f"Its licence {problem.licence.asks}: make sure that you may use it; its prose was left out."
        )
    found += _of_numbers(problem, operation, challenge)
    if dropped := operation.answers.dropped:
        named = ", ".join(dropped[:8]) + (", ..." if len(dropped) > 8 else "")
        found.append(
            f"{len(dropped)} of the usual edge cases were left out, because the reference has no usable answer there: "
            f"{named}. [waives] says why, if that leaves a category empty."
        )
    if "cuda" in str(problem.found["reference"]):
        found.append("reference.py names the device 'cuda': it must follow its inputs' device.")
    ours = [arg.name for arg in challenge.manifest.args]
    theirs = [str(said["name"]) for said in problem.found["arguments"]]
    if ours != theirs:
        found.append(f"The arguments have other names or another order here: {', '.join(ours)}.")
    found.append("Write the spec: what it does, its contract and hints.")
    if not has_solution:
        found += [
            "Replace staff/solution.py, a stand-in, by a Triton kernel; with a staff/solution.cu, add cuda to "
            "languages.",
            "Its mutants are stand-ins: with a kernel as the solution, `grader challenge check --fix` makes mutants "
            "of it.",
        ]
    found.append("Say in [cost] how many operations it takes: one for each result now.")
    return found
