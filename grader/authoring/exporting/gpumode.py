"""GPU MODE's form: it has edge cases and a tolerance."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.exporting.drawing import (
    DRAWING,
    arrays_given,
    fillings_of,
    public_cases,
    python_of_number,
    python_of_shape,
    sizes_of,
    timed_workloads,
    usual_filling,
)
from grader.authoring.exporting.exported import Exported
from grader.challenge.drawings import in_words
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.judge.oracle import scalar_values


def gpumode(challenge: Challenge) -> Exported:
    """A folder for GPU MODE's problems."""
    manifest = challenge.manifest
    lost = ["Put the folder into one of their problem sets: ../utils.py and ../eval.py are theirs."]
    tests: list[dict[str, int]] = []
    branches: list[_Branch] = []
    for case in public_cases(challenge):
        fillings = fillings_of(challenge, case)
        if fillings is None:
            lost.append(f"Case '{case.name}' has a recipe of its own, and was left out.")
            continue
        if any(math.prod(manifest.shape(arg, case.sizes)) == 0 for arg in manifest.buffers):
            lost.append(
                f"Case '{case.name}' has an empty array, and was left out: their evaluation launches it, too."
            )
            continue
        tests.append({**case.sizes, "case": len(tests) + 1, "seed": _seed(case.name)})
        branches.append(_Branch(fillings, scalar_values(manifest, case), case.name))
    usual = {arg.name: usual_filling(challenge, arg) for arg in arrays_given(challenge)}
    timed = [
        {**workload.sizes, "case": 0, "seed": _seed(workload.name)} for workload in timed_workloads(challenge)
    ]
    scalars = {arg.name: arg.value for arg in manifest.scalars}
    table = [_Branch(usual, scalars, "as the workloads are"), *branches]
    files = {
        "task.yml": _task(challenge, tests, timed),
        "task.py": (
            "from typing import TypeVar\n\n"
            'input_t = TypeVar("input_t", bound=tuple)\noutput_t = TypeVar("output_t", bound=tuple)\n'
        ),
        "reference.py": _gpumode_reference(challenge, table),
        "submission.py": _gpumode_submission(challenge),
    }
    if manifest.compare:
        lost.append("Every element is compared, also those that a counter leaves out here.")
    lost.append("Hidden cases, points, speed by workload and languages other than Python stay here.")
    return Exported(files, lost)


def _seed(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:3], "big")


def _task(
    challenge: Challenge, tests: Sequence[Mapping[str, int]], timed: Sequence[Mapping[str, int]]
) -> str:
    about = in_words(challenge.spec, challenge.drawings).partition("\n## ")[0].strip()
    sources = {"submission.py": "@SUBMISSION@", "task.py": "task.py", "utils.py": "../utils.py"}
    sources |= {"reference.py": "reference.py", "eval.py": "../eval.py"}
    lines = [f"# name: {challenge.slug}", "files:"]
    lines += [f"  - {json.dumps({'name': name, 'source': source})}" for name, source in sources.items()]
    lines += ['lang: "py"', "description: |", *(f"  {line}".rstrip() for line in about.splitlines())]
    lines += ["config:", '  main: "eval.py"', "templates:", '  Python: "submission.py"']
    lines += ["test_timeout: 180", "benchmark_timeout: 180", "ranked_timeout: 420", 'ranking_by: "geom"']
    lines += ["tests:", *(f"  - {json.dumps(test)}" for test in tests)]
    lines += ["benchmarks:", *(f"  - {json.dumps(test)}" for test in timed)]
    return "\n".join(lines) + "\n"


def _layout(challenge: Challenge) -> list[str]:
    """Arrays and numbers in signature order."""
    return [arg.name for arg in challenge.manifest.args if arg.kind is not Kind.SIZE]


@dataclass(frozen=True)
class _Branch:
    """Python by input, numbers by scalar."""

    fillings: Mapping[str, str]
    scalars: Mapping[str, object]
    name: str


def _gpumode_reference(challenge: Challenge, table: Sequence[_Branch]) -> str:
    manifest = challenge.manifest
    sizes = sizes_of(challenge)
    layout = ", ".join(_layout(challenge))
    made = []
    for number, branch in enumerate(table):
        made.append(f"    if case == {number}:  # {branch.name}")
        for arg in arrays_given(challenge):
            made.append(f"        shape = {python_of_shape(arg)}")
            made.append(f"        {arg.name} = {branch.fillings[arg.name]}.to(torch.{arg.dtype.value})")
        made += [f"        {scalar} = {python_of_number(value)}" for scalar, value in branch.scalars.items()]
    outputs = [
        f"    {arg.name} = torch.empty({python_of_shape(arg)}, dtype=torch.{arg.dtype.value})"
        for arg in manifest.buffers
        if arg.kind is Kind.OUTPUT
    ]
    moved = ", ".join(
        f"{arg.name}.cuda()" if arg.kind.buffer else arg.name
        for arg in manifest.args
        if arg.kind is not Kind.SIZE
    )
    passed = ", ".join(
        f"{arg.name}={'_wide(' + arg.name + ')' if arg.kind.buffer else sizes.get(arg.name, arg.name)}"
        for arg in manifest.args
        if arg.kind.passed
    )
    results = [arg.name for arg in manifest.results]
    copies = "".join(
        f"    {name}.copy_(answers[{number}].reshape({name}.shape))\n" for number, name in enumerate(results)
    )
    comma = "," if len(_layout(challenge)) == 1 else ""
    returned = ", ".join(results)
    checker = challenge.checker_source
    sized = ", ".join(f"{name}: int" for name in manifest.sizes)
    return (
        f'"""{manifest.title}: made by `grader challenge export`. The contract is `reference`."""\n\n'
        "import torch\nfrom task import input_t, output_t\n\n"
        f"TOLERANCE = {{'atol': {manifest.tolerance.atol}, 'rtol': {manifest.tolerance.rtol}}}\n\n\n"
        f"{challenge.reference_source.strip()}\n\n\n_contract = reference\n\n{DRAWING}\n\n"
        f"def generate_input({sized}, case: int, seed: int) -> input_t:\n"
        "    g = torch.Generator()\n    g.manual_seed(seed)\n" + "\n".join([*made, *outputs]) + "\n"
        f"    return ({moved}{comma})\n\n\n"
        "def _wide(values):\n    return values.double() if values.is_floating_point() else values\n\n\n"
        "def _answers(data):\n"
        f"    {layout}{comma} = data\n"
        f"    found = _contract({passed})\n"
        "    return found if isinstance(found, tuple) else (found,)\n\n\n"
        f"def ref_kernel(data: input_t) -> output_t:\n    {layout}{comma} = data\n    answers = _answers(data)\n"
        f"{copies}"
        f"    return {returned}\n\n\n"
        + (f"{checker.strip()}\n\n\n" if checker is not None else "")
        + _gpumode_check(challenge, passed, comma)
    )


def _gpumode_check(challenge: Challenge, passed: str, comma: str) -> str:
    """False and a sentence for a wrong output."""
    manifest = challenge.manifest
    names = [arg.name for arg in manifest.results]
    scale = "None"
    if challenge.reference.magnitude is not None:
        scale = f"magnitude({passed})"
    lines = [
        "def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:",
        f"    {', '.join(_layout(challenge))}{comma} = data",
        "    outputs = output if isinstance(output, tuple) else (output,)",
        f"    scales = {scale}",
        "    scales = scales if isinstance(scales, tuple) else (scales,)",
        "    for number, (got, want) in enumerate(zip(outputs, _answers(data))):",
        f"        name = {names!r}[number]",
        "        want = want.to(got.dtype).reshape(got.shape).to(got.device)",
        "        if not got.is_floating_point():",
        "            wrong = got != want",
        "        else:",
        "            exact = want.double()",
        "            scale = scales[number % len(scales)]",
        "            scale = exact.abs() if scale is None else scale.double().reshape(got.shape)",
        '            allowed = TOLERANCE["atol"] + TOLERANCE["rtol"] * scale',
        "            near = (got.double() - exact).abs() <= allowed",
        "            same = (got == want) | (got.isnan() & want.isnan())",
        "            wrong = ~(same | (near & exact.isfinite()))",
        "        if wrong.any():",
    ]
    message = "f'{name}: {int(wrong.sum())} elements are wrong, the first at {wrong.nonzero()[0].tolist()}'"
    if challenge.checker_source is None:
        lines.append(f"            return False, {message}")
    else:
        given = ", ".join(
            f"{arg.name!r}: {arg.name if arg.kind is not Kind.SIZE else sizes_of(challenge)[arg.name]}"
            for arg in manifest.args
            if arg.kind.passed
        )
        lines += [
            f"            right = dict(zip({names!r}, _answers(data)))",
            "            right = {key: value.to(outputs[place].dtype).reshape(outputs[place].shape)"
            " for place, (key, value) in enumerate(right.items())}",
            f"            found = check({{{given}}}, dict(zip({names!r}, outputs)), right)",
            "            if found is not None:",
            "                return False, found if isinstance(found, str) else found[0]",
            "            return True, ''",
        ]
    return "\n".join([*lines, "    return True, ''", ""])


def _gpumode_submission(challenge: Challenge) -> str:
    results = [arg.name for arg in challenge.manifest.results]
    layout = ", ".join(_layout(challenge)) + ("," if len(_layout(challenge)) == 1 else "")
    return (
        "from task import input_t, output_t\n\n\ndef custom_kernel(data: input_t) -> output_t:\n"
        f"    {layout} = data\n    # Write {', '.join(results)}.\n    return {', '.join(results)}\n"
    )
