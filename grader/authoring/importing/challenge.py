"""Makes a challenge's folders of a problem from another platform."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.authoring.candidates import NATIVE
from grader.authoring.importing.published import check_solution, with_solve
from grader.authoring.importing.shapes import Seen, expression_of
from grader.authoring.importing.source import Problem
from grader.authoring.mutants import stand_in
from grader.authoring.scaffold import suite, texts
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.draft import Draft, complete, ladder
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.scaffold.suite import Planned
from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Cost, Kind, Manifest, Workload
from grader.errors import BadRequest, GraderError
from grader.languages import Language

_EXPRESSION_CHARS = 200
# Of the arguments of an imported challenge.
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
    """``problem``'s signature, sizes and tolerance."""

    problem: Mapping[str, Any] = field(default_factory=dict)

    def manifest(self) -> Manifest:
        """Raises BadRequest if something in it cannot be said."""
        args = sorted(complete(_arguments(self.problem)), key=lambda arg: _ORDER.index(arg.kind))
        given = [arg for arg in args if arg.kind.buffer]
        moved = _sum([(arg.dtype.itemsize, arg) for arg in given])
        done = _sum([(1, arg) for arg in given if arg.kind is not Kind.INPUT])
        cost = Cost(bytes=moved, flops=done)
        sizes = [arg.name for arg in args if arg.kind is Kind.SIZE]
        bare = self._with(args, cost, [Workload(name="none", sizes=dict.fromkeys(sizes, 64))])
        timed = [sample["sizes"] for sample in self.problem["samples"] if sample["timed"]]
        named = [
            Workload(
                name=" x ".join(map(str, values.values()))[:40], sizes={name: values[name] for name in sizes}
            )
            for values in timed
        ]
        return self._with(args, cost, ladder(bare, list({each.name: each for each in named}.values())))


def _sum(terms: Sequence[tuple[int, Argument]]) -> str:
    """Of products of shapes. Beyond the length of an expression, only its largest terms."""
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


def _our_names(arguments: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Their names -> ours: in lower case, and none that has another meaning in a kernel or in Python."""
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
    """``found`` with our names, but for the text of its reference."""

    def of(values: Mapping[str, Any]) -> dict[str, Any]:
        return {names[name]: value for name, value in values.items() if name in names}

    samples = [
        {**sample, **{part: of(sample[part]) for part in ("sizes", "shapes", "bounds")}}
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
            if kind.given and not DType(said["dtype"]).floating:
                values["values"] = _integers(name, samples)
            elif kind.given and said["dtype"] == DType.FLOAT8_E8M0:
                values["values"] = {"dist": "powers", "low": -3, "high": 4}
        found.append(Argument.model_validate(values))
    return found


def _shape(name: str, samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Raises BadRequest."""
    seen = [(sample["sizes"], sample["shapes"][name]) for sample in samples if name in sample["shapes"]]
    ranks = {len(shape) for _, shape in seen}
    if len(ranks) != 1:
        raise BadRequest(f"'{name}' has different numbers of dimensions in its own tests.")
    shape = []
    for place in range(ranks.pop()):
        text = expression_of([Seen(sizes, dims[place]) for sizes, dims in seen])
        if text is None:
            known = ", ".join(f"{dims[place]} at {sizes}" for sizes, dims in seen[:3])
            raise BadRequest(
                f"Dimension {place} of '{name}' is no expression in the sizes: {known}.",
                "Write the challenge with `grader challenge new`, or give its file a size for it.",
            )
        shape.append(text)
    return shape or ["1"]


def _integers(name: str, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Bounds of an integer input: below a size if every sample is, and comes near it."""
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
    """See ``Operation``. Its cases are those that the reference answers in a box. ``names``: theirs -> ours."""

    problem: Problem
    slug: str
    names: Mapping[str, str]
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Answers(self.slug)

    def manifest(self, manifest: Manifest) -> str:
        tolerance = self.problem.found["tolerance"] or {"atol": 1e-4, "rtol": 1e-4}
        return texts.manifest_text(manifest, tolerance)

    def spec(self, manifest: Manifest) -> str:
        licence = self.problem.licence
        about = str(self.problem.found["about"]).strip()
        if licence.asks or not about:
            about = "Say in a few sentences what the operation does, where it is used, and what it teaches."
        names = {case.name for case in self.public_cases(manifest)}
        rows = texts.contract_rows(names, manifest)
        return _SPEC.format(
            title=manifest.title,
            about=about,
            origin=self.problem.origin,
            licence=licence.name or "licence not stated",
            signature=", ".join(arg.name for arg in manifest.args),
            example=self._asked(manifest).example(),
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
        licence = self.problem.licence.name or "not stated"
        return f"# From {_line(self.problem.origin)}. Licence: {_line(licence)}.\n\n{text}"

    def public_cases(self, manifest: Manifest) -> Sequence[Planned]:
        """Raises BadRequest if the reference answers none of the usual ones."""
        return self._asked(manifest).of(suite.public_cases(manifest), some=True)

    def hidden_cases(self, manifest: Manifest) -> Sequence[Planned]:
        return self._asked(manifest).of(suite.hidden_cases(manifest))

    def _asked(self, manifest: Manifest) -> Answers:
        if self.answers.manifest is None:
            self.answers.manifest, self.answers.source = manifest, self.reference(manifest)
        return self.answers

    def solutions(self, manifest: Manifest) -> Mapping[Language, str]:
        return {}

    def mutants(self, manifest: Manifest) -> Mapping[str, str]:
        return {}

    def close(self) -> None:
        self.answers.close()


def _line(text: str) -> str:
    """``text`` for a comment: on one line."""
    return " ".join(text.split())


def _with_ours(text: str, manifest: Manifest, names: Mapping[str, str]) -> str:
    """``reference`` with all arguments and names of ours."""
    head, _, rest = text.rpartition("\ndef reference(")
    used, _, body = rest.partition("):\n")
    theirs = [name.strip() for name in used.split(",")]
    ours = manifest.passed
    renamed = "".join(f"    {name} = {names[name]}\n" for name in theirs if names.get(name, name) != name)
    return f"{head}\ndef reference({', '.join(ours)}):\n{renamed}{body}"


def _flattened(manifest: Manifest, samples: Sequence[Mapping[str, Any]], theirs: Mapping[str, str]) -> str:
    """Code that gives results without dimensions one; empty if there are none."""
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
    """A task of GPU MODE without the numbers that no shape depends on: its kernel does not get them."""
    buffers = [said for said in found["arguments"] if said["kind"] in ("input", "inout", "output")]
    shapes = [text for said in buffers for text in _shape(said["name"], found["samples"])]
    used = {name for text in shapes for name in parse(text).names}
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
    note = f"Its tests also vary {', '.join(unused)}, of which no shape depends: say that by recipes in cases.py."
    return {**found, "arguments": arguments, "samples": samples, "open": [*found["open"], note]}


def write_imported(
    catalogue: Catalogue,
    problem: Problem,
    slug: str,
    track: str,
    difficulty: str,
    published: str = "",
) -> tuple[list[Path], list[str]]:
    """Write the folders; returns them, and what a person must still do. ``published``: the text of a solution in the
    problem's own form, for staff's. Raises as ``write_challenge``."""
    if published:
        check_solution(published, problem.format)
    if problem.format == "gpumode":
        problem = replace(problem, found=_without_unused(problem.found))
    names = _our_names(problem.found["arguments"])
    draft = ImportedDraft(
        slug=slug,
        title=str(problem.found["title"])[:80],
        track=track,
        difficulty=difficulty,
        languages=[NATIVE],
        problem=_renamed(problem.found, names),
    )
    operation = ImportedOperation(problem, slug, names)
    try:
        folders = write_challenge(catalogue, draft, operation)
    finally:
        operation.close()
    try:
        challenge = catalogue.load(slug)
        solution = folders[1] / "staff" / f"solution{NATIVE.suffix}"
        text = with_solve(published, problem.found, problem.format, challenge, names) if published else ""
        solution.write_text(text or stand_in(challenge), encoding="utf-8")
    except GraderError:
        for folder in folders:  # ours: neither existed before
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return folders, _open(problem, operation, challenge, bool(published))


def _open(
    problem: Problem, operation: ImportedOperation, challenge: Challenge, has_solution: bool
) -> list[str]:
    found = list(problem.found["open"])
    if problem.licence.asks:
        found.append(
            f"Its licence {problem.licence.asks}: make sure that you may use it; its prose was left out."
        )
    if dropped := operation.answers.dropped:
        named = ", ".join(dropped[:8]) + (", ..." if len(dropped) > 8 else "")
        found.append(
            f"{len(dropped)} of the usual edge cases were left out, because the reference has no usable answer there: "
            f"{named}."
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
