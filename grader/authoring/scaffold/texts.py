from __future__ import annotations

import ast
import itertools
import json
import math
from collections.abc import Collection, Mapping, Sequence

from grader.authoring.contract import CASES, EVERY
from grader.authoring.scaffold.formula import Formula, formulas
from grader.authoring.scaffold.suite import Planned, is_possible, public_cases, writes_nothing
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind, Manifest

_RECIPES = ("INF", "NAN", "Choice", "Constant", "PowersOfTwo", "Sprinkle", "Uniform")


# Triton's interpreter has no denormal bfloat16.
_FLUSHED = 2.4e-38
_TOLERANCE = {
    True: "The example is exact in every precision.",
    False: "The example is exact in every precision, but for denormal numbers in Triton's interpreter.",
}
_LINE = 110
_OF_NOTHING = "the result is PyTorch's for empty inputs (a sum of nothing is 0), and is written"


def manifest_text(
    manifest: Manifest,
    tolerance: Mapping[str, float] | None = None,
    origin: str = "From its source.",
    waived: Mapping[str, str] | None = None,
) -> str:
    """``tolerance``: another problem's, with its ``origin``; default: the example's. ``waived``: requirements
    and reasons.
    """
    exact = all(arg.dtype is not DType.BFLOAT16 for arg in manifest.results)
    lines = [
        f"title = {_quoted(manifest.title)}",
        f"track = {_quoted(manifest.track)}",
        f"order = {manifest.order}",
        f"difficulty = {_quoted(manifest.difficulty)}",
        "tags = []",
        "version = 1",
        f"languages = [{', '.join(_quoted(language.value) for language in manifest.languages)}]",
    ]
    if manifest.gpus > 1:
        lines.append(f"gpus = {manifest.gpus}")
    if manifest.constraints:
        lines.append(f"constraints = [{', '.join(map(_quoted, manifest.constraints))}]")
    lines += [line for arg in manifest.args for line in _argument(arg)]
    made = formulas(manifest) if tolerance is None else []
    if signs := [formula.result.name for formula in made if formula.asks]:
        lines.append("\n[waives]")
        lines += [f'"low_precision:{name}" = "The example depends only on the sign."' for name in signs]
    if waived:
        lines.append("\n[waives]")
        lines += [f"{name} = {_quoted(' '.join(reason.split()))}" for name, reason in waived.items()]
    known = tolerance or {"atol": 0.0 if exact else _FLUSHED, "rtol": 0.0}
    why = origin if tolerance is not None else _TOLERANCE[exact]
    lines += [
        f"\n# {why} `grader challenge check` proposes values for yours.",
        f"[tolerance]\natol = {known['atol']}\nrtol = {known['rtol']}",
        "\n# Least bytes and operations: every input read once, every result written once.",
        f"[cost]\nbytes = {_quoted(manifest.cost.bytes)}\nflops = {_quoted(manifest.cost.flops)}",
    ]
    for workload in manifest.workloads:
        on = f'\non = "{workload.on}"' if workload.on != "gpu" else ""
        sizes = ", ".join(f"{name} = {value}" for name, value in workload.sizes.items())
        scalars = ", ".join(f"{name} = {value}" for name, value in workload.scalars.items())
        more = f"\nscalars = {{ {scalars} }}" if scalars else ""
        more += f"\nwithout = [{', '.join(map(_quoted, workload.without))}]" if workload.without else ""
        lines.append(f"\n[[workloads]]\nname = {_quoted(workload.name)}{on}\nsizes = {{ {sizes} }}{more}")
    if manifest.pieces is not None:
        lines.append(
            f"\n# For cases too large for a GPU in float64.\n[pieces]\nalong = {_quoted(manifest.pieces.along)}"
        )
    lines += [
        "\n[limits]\ncase_seconds = 10",
        "\n[grading]\ncorrectness_points = 70\ntiers = [{ speedup = 0.8, points = 30 }]",
    ]
    return "\n".join(lines) + "\n"


def _argument(arg: Argument) -> list[str]:
    lines = ["\n[[args]]", f"name = {_quoted(arg.name)}", f"kind = {_quoted(arg.kind.value)}"]
    if arg.kind is not Kind.SIZE:
        lines.append(f"dtype = {_quoted(arg.dtype.value)}")
    if arg.shape:
        lines.append(f"shape = [{', '.join(map(_quoted, arg.shape))}]")
    if arg.value is not None:
        lines.append(f"value = {arg.value}")
    if arg.optional:
        lines.append("optional = true")
    if arg.layout is not None:
        said = f"pitch = {_quoted(arg.layout.pitch)}" if arg.layout.pitch is not None else ""
        strides = ", ".join(map(_quoted, arg.layout.strides or ()))
        lines.append(f"layout = {{ {said or f'strides = [{strides}]'} }}")
    if arg.valid:
        lines.append(f"valid = [{', '.join(map(_quoted, arg.valid))}]")
    if arg.values.dist != "normal":
        low, high = (json.dumps(bound) for bound in (arg.values.low, arg.values.high))
        strict = ", strict = true" if arg.values.strict else ""
        lines.append(f'values = {{ dist = "{arg.values.dist}", low = {low}, high = {high}{strict} }}')
    return lines


def _quoted(text: str) -> str:
    """JSON's escapes are valid TOML."""
    return json.dumps(text, ensure_ascii=False)


def cases_text(title: str, cases: Sequence[Planned]) -> str:
    body = "\n".join(case.line() for case in cases)
    used = [name for name in _RECIPES if name in body]
    imports = ", ".join(
        sorted([*used, "Case", "case"], key=lambda name: (name != name.upper(), name[0].islower(), name))
    )
    return (
        f'"""{title}"""\n\nfrom grader.challenge.cases import {imports}\n\n\n'
        f"def cases() -> list[Case]:\n    return [\n{body}\n    ]\n"
    )


def reference_text(manifest: Manifest) -> str:
    given = [arg for arg in manifest.args if arg.kind.passed]
    parameters = ", ".join(f"{arg.name}: {annotation(arg)}" for arg in given)
    made = formulas(manifest)
    values = [_value(formula) for formula in made]
    one = "torch.Tensor"
    returns = one if len(made) == 1 else f"tuple[{', '.join([one] * len(made))}]"
    head = f"def reference({parameters}) -> {returns}:"
    if len(head) > _LINE:
        head = f"def reference(\n    {parameters}\n) -> {returns}:"
    words = ";\n    ".join(f"{formula.result.name}[i] = {formula.words}" for formula in made)
    spread = "" if all(formula.in_place for formula in made) else _SPREAD
    return (
        f'"""The contract of {manifest.title}: what PyTorch does. Replace the example with your operation."""\n\n'
        f"import torch\n\n\n{spread}{head}\n"
        f'    """{words}."""\n    return {", ".join(values)}\n'
    )


def annotation(arg: Argument) -> str:
    if arg.kind.buffer:
        return "torch.Tensor | None" if arg.optional else "torch.Tensor"
    return "float" if arg.dtype.floating else "int"


_SPREAD = '''def spread(values: torch.Tensor, *shape: int) -> torch.Tensor:
    """The elements of ``values`` from its end, repeated, in ``shape``; zeros where there are none."""
    count = values.numel()
    if count == 0:
        return values.new_zeros(shape)
    places = torch.arange(torch.Size(shape).numel(), device=values.device)
    return values.reshape(-1)[count - 1 - places % count].reshape(shape)


'''


def _value(formula: Formula) -> str:
    source = formula.source.name
    if not formula.in_place:
        source = f"spread({', '.join([source, *map(python_of, formula.result.shape)])})"
    kind = f"torch.{formula.result.dtype.held}"
    if formula.result.dtype is DType.BOOL:
        kind = "torch.bool"
    if formula.doubles:
        return f"{source} + {source}"
    if formula.bytewise and formula.result.dtype.floating:
        return f"-{source}"
    if formula.converts:
        # torch cannot shift or invert uint16.
        return f"({source}.long() >> {formula.shift}).to({kind})" if formula.shift else f"{source}.to({kind})"
    if formula.asks:
        return f"({source} > 0).to({kind})"
    integer = formula.source.dtype.as_integer
    plain = integer.signed or formula.source.dtype in (DType.BOOL, DType.UINT64)
    return f"(~{source}).to({kind})" if plain else f"({source} ^ {integer.high}).to({kind})"


def python_of(text: str) -> str:
    """Python lacks only cdiv."""
    return ast.unparse(ast.parse(text)).replace("cdiv(", "(lambda a, b: -(-a // b))(")


def spec_text(manifest: Manifest) -> str:
    """With every required section, and a valid example."""
    made = formulas(manifest)
    equations = "\n".join(f"{formula.result.name}[i] = {formula.words}" for formula in made)
    names = ", ".join(f"`{arg.name}`" for arg in manifest.args if arg.kind is Kind.INPUT)
    rows = contract_rows({case.name for case in public_cases(manifest)}, manifest)
    rows += constraint_rows(manifest)
    if names:
        rows.append(("always", f"{names} must be unchanged afterwards", EVERY))
    contract = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return SPEC_TEMPLATE.format(
        title=manifest.title,
        equations=equations,
        example=_example(manifest, made),
        contract=contract,
        cases=CASES,
        bytes=manifest.cost.bytes,
    )


def stated_spec(manifest: Manifest, said: str, example: str, cases: Collection[str]) -> str:
    """``said``: the reference; ``example``: in numbers, or ""."""
    rows = contract_rows(cases, manifest)
    rows += constraint_rows(manifest)
    names = ", ".join(f"`{arg.name}`" for arg in manifest.args if arg.kind is Kind.INPUT)
    if names:
        rows.append(("always", f"{names} must be unchanged afterwards", EVERY))
    results = ", ".join(arg.name for arg in manifest.results)
    return SPEC_TEMPLATE.format(
        title=manifest.title,
        equations=_equations(results, said),
        example=example,
        contract="\n".join(f"| {' | '.join(row)} |" for row in rows),
        cases=CASES,
        bytes=manifest.cost.bytes,
    )


def constraint_rows(manifest: Manifest) -> list[tuple[str, str, str]]:
    return [
        (f"`{text}`", "always: no case, run or workload has other sizes", EVERY)
        for text in manifest.constraints
    ]


def _equations(results: str, said: str) -> str:
    if not said:
        return results
    *before, last = [ast.unparse(node) for node in ast.parse(said).body] or [said]
    return "\n".join([*before, last if last == results else f"{results} = {last}"])


def contract_rows(cases: Collection[str], manifest: Manifest) -> list[tuple[str, str, str]]:
    """Condition, result, cases. Omits rows that no case tests."""
    rows = [
        (
            f"`{name} = 0`",
            "empty arrays are neither read nor written" if writes_nothing(manifest, name) else _OF_NOTHING,
            [f"{name}_0"],
        )
        for name in manifest.sizes
    ]
    odd = "the answer is right; nothing outside the arrays is read or written"
    rows.append(("sizes are not multiples of your block", odd, ["odd", "prime", f"{manifest.sizes[0]}_33"]))
    rows.append(("an element is NaN or infinite", "what PyTorch does with it", ["nan", "pos_inf", "neg_inf"]))
    rows.append(("values are at the ends of their range", "what PyTorch does with them", ["extremes"]))
    held = [(when, then, [name for name in names if name in cases]) for when, then, names in rows]
    return [(when, then, ", ".join(f"`{name}`" for name in names)) for when, then, names in held if names]


SPEC_TEMPLATE = """# {title}

Describe in a few sentences what the operation does, where it is used, and what it teaches. Replace this text and the
example below with your own; each index counts the elements of its array row by row.

```
{equations}
```

## Example

```example
{example}
```

## Contract

| when | then | {cases} |
| --- | --- | --- |
{contract}

## Speed

At least `{bytes}` bytes must move: no kernel is faster than that over the memory's bandwidth.

## Hints

<details><summary>Where do I start?</summary>

Give each thread (CUDA) or each lane of a program (Triton) one element of the result. The number of threads is
rounded up to whole blocks, so the last ones have nothing to do.

</details>
<details><summary>It fails on some sizes only</summary>

Look at which: one above a multiple of your block suggests a missing mask; below one block, a number of blocks that was
rounded down.

</details>
<details><summary>It is right, but slow</summary>

Neighbouring threads should access neighbouring addresses, and each should have several loads in flight.

</details>

## Background

- [The CUDA programming guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): threads, blocks, memory
- [Triton's tutorials](https://triton-lang.org/main/getting-started/tutorials/index.html): programs and masks
"""


def _example(manifest: Manifest, made: Sequence[Formula]) -> str:
    sizes = example_sizes(manifest)
    numbers = {
        arg.name: [
            _example_number(arg.dtype, number) for number in range(math.prod(manifest.shape(arg, sizes)))
        ]
        for arg in manifest.given
    }
    results = {
        formula.result.name: _computed(manifest, formula, numbers[formula.source.name], sizes)
        for formula in made
    }
    lines = []
    for arg in manifest.args:
        if arg.kind is Kind.SIZE:
            lines.append(f"{arg.name} = {sizes[arg.name]}")
        elif arg.kind is Kind.SCALAR:
            lines.append(f"{arg.name} = {arg.value}")
        elif arg.kind is Kind.WORKSPACE:
            continue
        elif arg.kind is Kind.OUTPUT:
            lines.append(_array(manifest, arg, arg.name, results[arg.name], sizes))
        else:
            lines.append(_array(manifest, arg, arg.name, numbers[arg.name], sizes))
            if arg.kind is Kind.INOUT:
                lines.append(_array(manifest, arg, f"{arg.name}_after", results[arg.name], sizes))
    return "\n".join(lines)


def _example_number(dtype: DType, number: int) -> int:
    """Exact in the type even if doubled."""
    if dtype is DType.BOOL:
        return number % 2
    if dtype is DType.FLOAT8_E8M0:
        return 1 << number % 3
    return number % 4 + 1 if dtype.facts.stored == "uint8" else number + 1


def example_sizes(manifest: Manifest) -> dict[str, int]:
    """The first of 2, 3 and 1 that the shapes allow."""
    for values in itertools.product((2, 3, 1), repeat=len(manifest.sizes)):
        sizes = dict(zip(manifest.sizes, values, strict=True))
        if is_possible(manifest, sizes):
            return sizes
    return dict.fromkeys(manifest.sizes, 4)


def _computed(
    manifest: Manifest, formula: Formula, numbers: Sequence[float], sizes: Mapping[str, int]
) -> list[float]:
    total = math.prod(manifest.shape(formula.result, sizes))
    if not numbers:
        return [0] * total
    if formula.in_place:
        return [formula.value(number) for number in numbers]
    return [formula.value(numbers[len(numbers) - 1 - place % len(numbers)]) for place in range(total)]


def _array(
    manifest: Manifest, arg: Argument, name: str, numbers: Sequence[float], sizes: Mapping[str, int]
) -> str:
    nested: list[object] = [float(number) if arg.dtype.floating else int(number) for number in numbers]
    if arg.dtype.complex:
        nested = [part for number in nested for part in (number, 0.0)]
    for dimension in reversed(arg.dtype.held_shape(manifest.shape(arg, sizes))[1:]):
        nested = (
            [nested[start : start + dimension] for start in range(0, len(nested), dimension)]
            if dimension
            else []
        )
    return f"{name} = {nested}"
