"""Kattis's form: programs that read and write text on a processor."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.authoring.exporting.drawing import (
    arrays_given,
    public_cases,
    python_of_shape,
)
from grader.authoring.exporting.exported import Exported
from grader.authoring.scaffold.texts import python_of
from grader.challenge.draw import draw_inputs
from grader.challenge.drawings import in_words
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.judge.oracle import ask, scalar_values

if TYPE_CHECKING:
    import torch

_SEED = 11
_MOST_NUMBERS = 20_000
_SAMPLES = 2
_SAMPLE_NUMBERS = 60


def kattis(challenge: Challenge) -> Exported:
    """Statement, data, an output validator, a solution in PyTorch."""
    manifest = challenge.manifest
    lost = [
        "Kattis runs programs that read and write text on a processor: no GPU, no kernels, no speed, no memory checks.",
        "Its judges need Python with PyTorch for submissions/accepted/reference.py.",
    ]
    files: dict[str, str] = {}
    samples = 0
    for case in public_cases(challenge):
        count = sum(math.prod(manifest.shape(arg, case.sizes)) for arg in manifest.buffers)
        if count > _MOST_NUMBERS:
            lost.append(f"Case '{case.name}' has {count:,} numbers, and was left out.")
            continue
        inputs = draw_inputs(manifest, case, _SEED)
        question = ask(challenge, case, _SEED)
        lines = [" ".join(str(case.sizes[size]) for size in manifest.sizes)]
        lines += [_number_text(value) for value in scalar_values(manifest, case).values()]
        lines += [_line(inputs[arg.name]) for arg in arrays_given(challenge)]
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
    spec = in_words(challenge.spec, challenge.drawings).partition("\n## Hints")[0].rstrip()
    sizes = " ".join(manifest.sizes)
    lines = [f"- `{sizes}`"]
    lines += [f"- `{arg.name}`" for arg in manifest.scalars]
    lines += [
        f"- `{arg.name}`: {' * '.join(arg.shape)} numbers, row by row" for arg in arrays_given(challenge)
    ]
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
    shapes = ", ".join(" * ".join(f"({python_of(text)})" for text in arg.shape) for arg in args)
    return f"[{shapes}]"


def _input_validator(challenge: Challenge) -> str:
    manifest = challenge.manifest
    given = arrays_given(challenge)
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
    given = arrays_given(challenge)
    lines = [f"{''.join(f'{name}, ' for name in manifest.sizes)}= map(int, lines[0].split())"]
    lines += [f"{arg.name} = float(lines[{1 + number}])" for number, arg in enumerate(manifest.scalars)]
    for number, arg in enumerate(given, 1 + len(manifest.scalars)):
        kind = "float" if arg.dtype.floating else "int"
        wide = "torch.float64" if arg.dtype.floating else f"torch.{arg.dtype.value}"
        lines.append(f"{arg.name} = [{kind}(word) for word in lines[{number}].split()]")
        lines.append(f"{arg.name} = torch.tensor({arg.name}, dtype={wide}).reshape({python_of_shape(arg)})")
    passed = ", ".join(f"{arg.name}={arg.name}" for arg in manifest.args if arg.kind.passed)
    return (
        f"{challenge.reference_source.strip()}\n\n\n"
        'if __name__ == "__main__":\n    import sys\n\n    import torch\n\n    lines = sys.stdin.read().split("\\n")\n'
        + "".join(f"    {line}\n" for line in lines)
        + f"    found = reference({passed})\n"
        "    for result in found if isinstance(found, tuple) else (found,):\n"
        "        print(*result.reshape(-1).tolist())\n"
    )
