"""Writes a challenge in the forms of other platforms: its public cases and what students may read, nothing hidden.

KernelBench has no edge cases and no tolerance, GPU MODE has both, Kattis judges programs by text on a processor. What a
form cannot say is listed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from grader.authoring.scaffold.texts import python_of
from grader.challenge.cases import (
    At,
    Case,
    Choice,
    Constant,
    Filling,
    Integers,
    Normal,
    Rows,
    Sprinkle,
    Uniform,
)
from grader.challenge.draw import default_recipe, draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Workload
from grader.errors import BadRequest
from grader.judge.oracle import ask, scalar_values

if TYPE_CHECKING:
    import torch

_SEED = 11
# In all arrays of a case that is written out as numbers.
_MOST_NUMBERS = 20_000
_SAMPLES = 2
_SAMPLE_NUMBERS = 60


@dataclass
class Exported:
    """``files``: text by path. ``lost``: what the form cannot say."""

    files: dict[str, str]
    lost: list[str] = field(default_factory=list)


def export(challenge: Challenge, form: str) -> Exported:
    """Raises BadRequest if the form is not known, or cannot hold the challenge."""
    if form not in FORMS:
        raise BadRequest(f"There is no form '{form}'.", f"There are: {', '.join(FORMS)}.")
    _refuse_unsaid(challenge)
    return FORMS[form](challenge)


def _refuse_unsaid(challenge: Challenge) -> None:
    """Raises BadRequest for what no form holds."""
    manifest = challenge.manifest
    unsaid = {
        "[tolerance] of single outputs": bool(manifest.tolerance.results),
        "[autograd]": manifest.autograd is not None,
        "arguments with a layout": any(arg.layout is not None for arg in manifest.args),
        "types of 8 bits, packed or complex types": any(
            arg.kind.buffer and not arg.dtype.strided for arg in manifest.args
        ),
        "several GPUs": manifest.gpus > 1,
        "workspaces": any(arg.kind is Kind.WORKSPACE for arg in manifest.args),
        "optional inputs": bool(manifest.optional),
        "results that count in part (`valid`)": any(arg.valid for arg in manifest.args),
    }
    if found := [words for words, there in unsaid.items() if there]:
        raise BadRequest(f"{challenge.slug} cannot be exported: no form has {' or '.join(found)}.")


def write(exported: Exported, folder: Path) -> None:
    """Into a new folder. Raises BadRequest if it exists or cannot be written."""
    if folder.exists():
        raise BadRequest(f"'{folder}' already exists; nothing was written.", "Choose another path.")
    try:
        for name, text in exported.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"'{error.filename}' cannot be written: {error.strerror}.") from error


def _public(challenge: Challenge) -> list[Case]:
    return [case for case in challenge.cases if case.on is None]


def _timed(challenge: Challenge) -> list[Workload]:
    found = [workload for workload in challenge.manifest.workloads if workload.on == "gpu"]
    return sorted(found, key=lambda workload: math.prod(workload.sizes.values()))


def _given(challenge: Challenge) -> list[Argument]:
    return [arg for arg in challenge.manifest.buffers if arg.kind.given]


# -------------------------------------------------------------------------------------------------------- Recipes

# What fills an input, without this platform. Each draws in float64 on the processor.
_DRAWING = """
def _normal(shape, g, mean=0.0, std=1.0):
    return torch.randn(shape, generator=g, dtype=torch.float64) * std + mean


def _uniform(shape, g, low=0.0, high=1.0):
    share = torch.rand(shape, generator=g, dtype=torch.float64)
    return (share * (high / 2 - low / 2) + low / 2) * 2


def _integers(shape, g, low, high):
    return torch.randint(low, max(high, low + 1), shape, generator=g)


def _constant(shape, g, value):
    return torch.full(shape, value, dtype=torch.float64)


def _choice(shape, g, values):
    return torch.tensor(values, dtype=torch.float64)[torch.randint(len(values), shape, generator=g)]


def _sprinkle(shape, g, value, share, base):
    flat = base.reshape(-1)
    count = max(1, round(flat.numel() * share))
    flat[torch.randperm(flat.numel(), generator=g)[:count]] = value
    return flat.reshape(shape)


def _rows(shape, g, value, step, base):
    base[::step] = value
    return base


def _at(shape, g, value, places, base):
    for place in places:
        if -shape[-1] <= place < shape[-1]:
            base[..., place] = value
    return base
"""
_NAMES: dict[type, str] = {
    Normal: "_normal",
    Uniform: "_uniform",
    Integers: "_integers",
    Constant: "_constant",
    Choice: "_choice",
    Sprinkle: "_sprinkle",
    Rows: "_rows",
    At: "_at",
}


def _drawn(recipe: Filling) -> str | None:
    """Python that draws it for ``shape`` and ``g``; None for a recipe of the challenge's own."""
    if type(recipe) not in _NAMES:
        return None
    values = []
    for one in fields(recipe):  # type: ignore[arg-type]
        value = getattr(recipe, one.name)
        text = _drawn(value) if one.name == "base" else _number(value)
        if text is None:
            return None
        values.append(f"{one.name}={text}")
    return f"{_NAMES[type(recipe)]}(shape, g, {', '.join(values)})"


def _number(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_number, value))},)"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _fillings(challenge: Challenge, case: Case) -> dict[str, str] | None:
    """Python for each input of a case; None if one cannot be said."""
    found = {}
    for arg in _given(challenge):
        recipe = case.inputs.get(arg.name) or default_recipe(challenge.manifest, arg, case.sizes)
        text = _drawn(recipe)
        if text is None:
            return None
        found[arg.name] = text
    return found


def _shape(arg: Argument) -> str:
    return f"({', '.join(map(python_of, arg.shape))},)"


def _sizes_of(challenge: Challenge) -> dict[str, str]:
    """Python for each size, from the shape of an array that has it as a dimension. Raises BadRequest."""
    found = {}
    for size in challenge.manifest.sizes:
        places = [
            f"{arg.name}.shape[{place}]"
            for arg in challenge.manifest.buffers
            for place, text in enumerate(arg.shape)
            if text == size
        ]
        if not places:
            raise BadRequest(
                f"'{size}' is no dimension of an array.",
                "This form passes arrays and numbers alone, no sizes.",
            )
        found[size] = places[0]
    return found


# -------------------------------------------------------------------------------------------------------- GPU MODE


def gpumode(challenge: Challenge) -> Exported:
    """``task.yml``, ``task.py``, ``reference.py``, ``submission.py``, for a folder below theirs of problems."""
    manifest = challenge.manifest
    lost = ["Put the folder into one of their problem sets: ../utils.py and ../eval.py are theirs."]
    tests: list[dict[str, int]] = []
    branches: list[_Branch] = []
    for case in _public(challenge):
        fillings = _fillings(challenge, case)
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
    usual = {arg.name: _default(challenge, arg) for arg in _given(challenge)}
    timed = [{**workload.sizes, "case": 0, "seed": _seed(workload.name)} for workload in _timed(challenge)]
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


def _default(challenge: Challenge, arg: Argument) -> str:
    """As the manifest says, with bounds that may be sizes."""
    if arg.name in challenge.inputs:
        text = _drawn(challenge.inputs[arg.name])
        if text is None:
            raise BadRequest(
                f"'{arg.name}' has a recipe of its own.", "This form draws inputs without the platform."
            )
        return text
    values = arg.values
    low, high = (
        python_of(bound) if isinstance(bound, str) else _number(bound) for bound in (values.low, values.high)
    )
    if values.dist == "normal":
        return "_normal(shape, g)"
    if values.dist == "uniform":
        return f"_uniform(shape, g, {low}, {high})"
    return f"_integers(shape, g, int({low}), int({high}))"


def _seed(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:3], "big")


def _task(
    challenge: Challenge, tests: Sequence[Mapping[str, int]], timed: Sequence[Mapping[str, int]]
) -> str:
    about = challenge.spec.partition("\n## ")[0].strip()
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
    """Names of what a submission gets: arrays and numbers in the order of the signature."""
    return [arg.name for arg in challenge.manifest.args if arg.kind is not Kind.SIZE]


@dataclass(frozen=True)
class _Branch:
    """How one case draws its inputs: Python by input, numbers by scalar."""

    fillings: Mapping[str, str]
    scalars: Mapping[str, object]
    name: str


def _gpumode_reference(challenge: Challenge, table: Sequence[_Branch]) -> str:
    manifest = challenge.manifest
    sizes = _sizes_of(challenge)
    layout = ", ".join(_layout(challenge))
    made = []
    for number, branch in enumerate(table):
        made.append(f"    if case == {number}:  # {branch.name}")
        for arg in _given(challenge):
            made.append(f"        shape = {_shape(arg)}")
            made.append(f"        {arg.name} = {branch.fillings[arg.name]}.to(torch.{arg.dtype.value})")
        made += [f"        {scalar} = {_number(value)}" for scalar, value in branch.scalars.items()]
    outputs = [
        f"    {arg.name} = torch.empty({_shape(arg)}, dtype=torch.{arg.dtype.value})"
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
        f"{challenge.reference_source.strip()}\n\n\n_contract = reference\n\n{_DRAWING}\n\n"
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
    """``check_implementation``: False and a sentence for a wrong output."""
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
            f"{arg.name!r}: {arg.name if arg.kind is not Kind.SIZE else _sizes_of(challenge)[arg.name]}"
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


# ------------------------------------------------------------------------------------------------------ KernelBench


def kernelbench(challenge: Challenge) -> Exported:
    """One file: ``Model``, ``get_inputs``, ``get_init_inputs``, at the smallest timed workload."""
    manifest = challenge.manifest
    workload = (_timed(challenge) or manifest.workloads)[0]
    sizes = _sizes_of_given(challenge)
    given = _given(challenge)
    lines = [f"{name} = {size}" for name, size in workload.sizes.items()]
    drawn = []
    for arg in given:
        drawn.append(f"    shape = {_shape(arg)}")
        drawn.append(f"    {arg.name} = {_default(challenge, arg)}.to(torch.{arg.dtype.value})")
    passed = ", ".join(
        f"{arg.name}={f'{arg.name}.clone()' if arg.kind is Kind.INOUT else sizes.get(arg.name) or _value(arg)}"
        for arg in manifest.args
        if arg.kind.passed
    )
    names = ", ".join(arg.name for arg in given)
    text = (
        "import torch\nimport torch.nn as nn\n\n"
        f"{challenge.reference_source.strip()}\n\n\n"
        f'class Model(nn.Module):\n    """{manifest.title}."""\n\n'
        f"    def forward(self, {names}):\n        return reference({passed})\n\n\n"
        + "\n".join(lines)
        + f"\n\n{_DRAWING}\n\ndef get_inputs():\n    g = None\n"
        + "\n".join(drawn)
        + f"\n    return [{names}]\n\n\ndef get_init_inputs():\n    return []\n"
    )
    lost = [
        "KernelBench has one size, no edge cases and its own tolerance: "
        f"{len(challenge.cases)} public cases and the workloads but '{workload.name}' stay here."
    ]
    if any(arg.kind is Kind.INOUT for arg in manifest.args):
        lost.append("What is changed in place here is returned there.")
    if challenge.checker_source is not None:
        lost.append("Its check.py stays here: there the reference's answer is the only right one.")
    return Exported({f"{challenge.slug}.py": text}, lost)


def _value(arg: Argument) -> str:
    return arg.name if arg.kind.buffer else repr(arg.value)


def _sizes_of_given(challenge: Challenge) -> dict[str, str]:
    """As ``_sizes_of``, from inputs; a size of results alone is the problem's own number."""
    found = {}
    for size in challenge.manifest.sizes:
        places = [
            f"{arg.name}.shape[{place}]"
            for arg in _given(challenge)
            for place, text in enumerate(arg.shape)
            if text == size
        ]
        found[size] = places[0] if places else size
    return found


# ----------------------------------------------------------------------------------------------------------- Kattis


def kattis(challenge: Challenge) -> Exported:
    """A problem package: statement, data, an output validator, a solution in PyTorch."""
    manifest = challenge.manifest
    lost = [
        "Kattis runs programs that read and write text on a processor: no GPU, no kernels, no speed, no memory checks.",
        "Its judges need Python with PyTorch for submissions/accepted/reference.py.",
    ]
    files: dict[str, str] = {}
    samples = 0
    for case in _public(challenge):
        count = sum(math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.buffers)
        if count > _MOST_NUMBERS:
            lost.append(f"Case '{case.name}' has {count:,} numbers, and was left out.")
            continue
        inputs = draw_inputs(manifest, case, _SEED)
        question = ask(challenge, case, _SEED)
        lines = [" ".join(str(case.sizes[size]) for size in manifest.sizes)]
        lines += [_number_text(value) for value in scalar_values(manifest, case).values()]
        lines += [_line(inputs[arg.name]) for arg in _given(challenge)]
        answer = [_line(question.outputs[arg.name]) for arg in manifest.results]
        sample = samples < _SAMPLES and 0 < count <= _SAMPLE_NUMBERS
        samples += sample
        place = f"data/{'sample' if sample else 'secret'}/{case.name}"
        files[f"{place}.in"], files[f"{place}.ans"] = "\n".join(lines) + "\n", "\n".join(answer) + "\n"
    if challenge.checker_source is not None or challenge.reference.magnitude is not None:
        lost.append("Answers are held to the reference's own, without check.py and magnitude().")
    files["problem.yaml"] = (
        "problem_format_version: legacy\n"
        f"name: {json.dumps(manifest.title)}\nvalidation: custom\nlicense: unknown\n"
    )
    files["problem_statement/problem.en.md"] = _statement(challenge)
    files["input_validators/validate.py"] = _input_validator(challenge)
    files["output_validators/validate/validate.py"] = _output_validator(challenge)
    files["submissions/accepted/reference.py"] = _kattis_solution(challenge)
    lost.append("Public cases are its secret data, too: hidden ones never leave this platform.")
    return Exported(files, lost)


def _number_text(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


def _line(values: torch.Tensor) -> str:
    return " ".join(map(_number_text, values.reshape(-1).tolist()))


def _statement(challenge: Challenge) -> str:
    manifest = challenge.manifest
    spec = challenge.spec.partition("\n## Hints")[0].rstrip()
    sizes = " ".join(manifest.sizes)
    lines = [f"- `{sizes}`"]
    lines += [f"- `{arg.name}`" for arg in manifest.scalars]
    lines += [f"- `{arg.name}`: {' * '.join(arg.shape)} numbers, row by row" for arg in _given(challenge)]
    made = [f"- `{arg.name}`: {' * '.join(arg.shape)} numbers, row by row" for arg in manifest.results]
    numbers = "Numbers may be `nan`, `inf` and `-inf`; an empty array is an empty line."
    return (
        f"{spec}\n\n## Input\n\nA line each:\n\n"
        + "\n".join(lines)
        + f"\n\n{numbers}\n\n## Output\n\n"
        + "\n".join(made)
        + "\n"
    )


def _counts(challenge: Challenge, args: Sequence[Argument]) -> str:
    """Python for the number of elements of each."""
    shapes = ", ".join(" * ".join(f"({python_of(text)})" for text in arg.shape) for arg in args)
    return f"[{shapes}]"


def _input_validator(challenge: Challenge) -> str:
    manifest = challenge.manifest
    given = _given(challenge)
    kinds = ["float" if arg.dtype.floating else "int" for arg in given]
    sizes = "".join(f"{name}, " for name in manifest.sizes)
    return (
        "import sys\n\n"
        "lines = sys.stdin.read().split('\\n')\n"
        f"{sizes}= map(int, lines[0].split())\n"
        f"first = {1 + len(manifest.scalars)}\n"
        "for line in lines[1:first]:\n    float(line)\n"
        f"for kind, count, line in zip({kinds!r}, {_counts(challenge, given)}, lines[first:]):\n"
        "    values = [float(word) if kind == 'float' else int(word) for word in line.split()]\n"
        "    assert len(values) == count, (len(values), count)\n"
        f"assert lines[first + {len(given)} :] == ['']\n"
        "sys.exit(42)\n"
    ).replace("'float'", '"float"')


def _output_validator(challenge: Challenge) -> str:
    tolerance = challenge.manifest.tolerance
    kinds = ["float" if arg.dtype.floating else "int" for arg in challenge.manifest.results]
    return (
        '"""validate.py INPUT ANSWER FEEDBACK < OUTPUT: 42 for a right output, 43 for a wrong one."""\n\n'
        "import math\nimport sys\nfrom pathlib import Path\n\n"
        f"ATOL, RTOL = {tolerance.atol}, {tolerance.rtol}\n\n\n"
        "def wrong(why):\n"
        '    (Path(sys.argv[3]) / "judgemessage.txt").write_text(why)\n    sys.exit(43)\n\n\n'
        "def is_right(got, want):\n"
        "    if math.isnan(want) or math.isinf(want):\n"
        "        return got == want or (math.isnan(got) and math.isnan(want))\n"
        "    return abs(got - want) <= ATOL + RTOL * abs(want)\n\n\n"
        'wanted = Path(sys.argv[2]).read_text().split("\\n")\n'
        'written = sys.stdin.read().split("\\n")\n'
        f"for number, kind in enumerate({kinds!r}):\n"
        "    want = wanted[number].split()\n"
        "    got = written[number].split() if number < len(written) else []\n"
        "    if len(got) != len(want):\n"
        '        wrong(f"line {number + 1}: {len(got)} numbers, not {len(want)}")\n'
        "    for place, (left, right) in enumerate(zip(got, want)):\n"
        "        try:\n"
        '            same = is_right(float(left), float(right)) if kind == "float" else int(left) == int(right)\n'
        "        except ValueError:\n            same = False\n"
        "        if not same:\n"
        '            wrong(f"line {number + 1}, number {place + 1}: {left[:40]}, not {right}")\n'
        'if any(line.strip() for line in written[len(wanted) - 1 :]):\n    wrong("there is more than the answer")\n'
        "sys.exit(42)\n"
    )


def _kattis_solution(challenge: Challenge) -> str:
    manifest = challenge.manifest
    given = _given(challenge)
    lines = [f"{''.join(f'{name}, ' for name in manifest.sizes)}= map(int, lines[0].split())"]
    lines += [f"{arg.name} = float(lines[{1 + number}])" for number, arg in enumerate(manifest.scalars)]
    for number, arg in enumerate(given, 1 + len(manifest.scalars)):
        kind = "float" if arg.dtype.floating else "int"
        wide = "torch.float64" if arg.dtype.floating else f"torch.{arg.dtype.value}"
        lines.append(f"{arg.name} = [{kind}(word) for word in lines[{number}].split()]")
        lines.append(f"{arg.name} = torch.tensor({arg.name}, dtype={wide}).reshape({_shape(arg)})")
    passed = ", ".join(f"{arg.name}={arg.name}" for arg in manifest.args if arg.kind.passed)
    return (
        f"{challenge.reference_source.strip()}\n\n\n"
        'if __name__ == "__main__":\n    import sys\n\n    import torch\n\n    lines = sys.stdin.read().split("\\n")\n'
        + "".join(f"    {line}\n" for line in lines)
        + f"    found = reference({passed})\n"
        "    for result in found if isinstance(found, tuple) else (found,):\n"
        "        print(*result.reshape(-1).tolist())\n"
    )


FORMS: dict[str, Callable[[Challenge], Exported]] = {
    "kernelbench": kernelbench,
    "gpumode": gpumode,
    "kattis": kattis,
}
