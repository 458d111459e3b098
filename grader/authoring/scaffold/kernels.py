"""The example's solutions, and Triton mutants with one mistake each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.authoring.scaffold.formula import Formula, formulas
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Manifest
from grader.challenge.signature import c_type, declaration, headers
from grader.languages import Language

# Triton's names of types that differ from ours.
_TRITON = {
    DType.FLOAT8_E4M3: "float8e4nv",
    DType.FLOAT8_E5M2: "float8e5",
    DType.BOOL: "int1",
    DType.COMPLEX64: "float32",
}
_PLACES = "tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"


@dataclass(frozen=True)
class Style:
    """The defaults are right; a mutant differs in one field."""

    about: str = "One program for each block of the result, with a mask for the last one."
    inside: str = "places < total"
    mask: str = "mask=inside"
    shift: int = 0
    blocks: str = "triton.cdiv(total, BLOCK)"
    runs: str = "total > 0"


MUTANTS = {
    "blocks_rounded_down": Style(
        "Mistake: the number of blocks is rounded down, so elements after the last whole block are never written.",
        blocks="total // BLOCK",
        runs="total >= BLOCK",
    ),
    "no_mask": Style("Mistake: the store has no mask, so the last block writes beyond the result.", mask=""),
    "last_left_out": Style(
        "Mistake: the bound is off by one, so the last element is never written.", inside="places < total - 1"
    ),
    "neighbour_read": Style(
        "Mistake: the index into the input is off by one, so each element comes from its neighbour.", shift=1
    ),
    "small_left_out": Style(
        "Mistake: returns early if there is less than one block, not only if there is nothing.",
        runs="total >= BLOCK",
    ),
}


def triton_source(manifest: Manifest, style: Style) -> str:
    made = formulas(manifest)
    kernels = "\n\n".join(_triton_kernel(formula, style) for formula in made)
    calls = "".join(_triton_call(formula, style) for formula in made)
    return (
        f'"""{style.about}"""\n\nimport triton\nimport triton.language as tl\n\nBLOCK = 1024\n\n\n'
        f"{kernels}\n\n{declaration(manifest, Language.TRITON)}:\n"
        f"{calls.rstrip()}\n"
    )


def _triton_kernel(formula: Formula, style: Style) -> str:
    index = "places" if formula.in_place else "last - places % (last + 1)"
    if style.shift:
        index = f"({index} + {style.shift}) % (last + 1)"
    mask = f", {style.mask}" if style.mask else ""
    load = f"tl.load(source + {index}, mask=inside)"
    if formula.source.dtype.packed and not formula.bytewise:
        load = (
            f"tl.load(source + ({index}) // 2, mask=inside)\n"
            f"    values = (values >> (({index}) % 2 * 4).to(tl.uint8)) & 15"
        )
    return (
        f"@triton.jit\ndef compute_{formula.result.name}(source, result, last, total, BLOCK: tl.constexpr):\n"
        "    # 64 bits before the multiplication: a 32-bit index overflows from 2^31 elements on.\n"
        f"    places = {_PLACES}\n"
        f"    inside = {style.inside}\n"
        f"    values = {load}\n"
        f"    tl.store(result + places, {_triton_value(formula)}{mask})\n"
    )


def _triton_value(formula: Formula) -> str:
    """The interpreter cannot compute in narrower floats."""
    dtype = formula.result.dtype
    kind = _TRITON.get(dtype, dtype.value)
    values = "values"
    if formula.bytewise:
        return f"values ^ {formula.flip}"
    if dtype is DType.FLOAT8_E8M0:
        return "tl.where(values < 254, values + 1, values)"
    if formula.source.dtype.half or (formula.source.dtype.encoded and formula.source.dtype.floating):
        values = "values.to(tl.float32)"
    if formula.doubles:
        same = formula.result.dtype is formula.source.dtype and values == "values"
        return "values + values" if same else f"({values} * 2).to(tl.{kind})"
    if formula.asks and formula.source.dtype.packed:
        return _to("((values > 0) & (values < 8))", kind)
    if formula.asks:
        return _to(f"({values} > 0)", kind)
    if formula.converts:
        return _to(f"({values} >> {formula.shift})" if formula.shift else values, kind)
    return _to("(~values)", kind)


def _to(values: str, kind: str) -> str:
    """The interpreter converts only float32 to these."""
    by_single = kind == "bfloat16" or kind.startswith("float8")
    return f"{values}.to(tl.float32).to(tl.{kind})" if by_single else f"{values}.to(tl.{kind})"


def _triton_call(formula: Formula, style: Style) -> str:
    result, source = formula.result.name, formula.source.name
    elements = 2 if formula.source.dtype.packed and not formula.bytewise else 1
    count = f"2 * {source}.numel()" if elements == 2 else f"{source}.numel()"
    lines = [
        f"total = {result}.numel()",
        f"if {source}.numel() == 0:",
        f"    {result}.fill_({formula.value(0)})  # nothing to read, but something to write",
        f"elif {style.runs}:",
        f"    grid = ({style.blocks},)",
        f"    compute_{result}[grid]({source}, {result}, {count} - 1, total, BLOCK=BLOCK)",
    ]
    return "".join(f"    {line}\n" for line in lines)


def cuda_source(manifest: Manifest) -> str:
    made = formulas(manifest)
    includes = "".join(f"#include <{name}>\n" for name in ["cstdint", "cuda_runtime.h", *headers(manifest)])
    kernels = "\n".join(_cuda_kernel(formula) for formula in made)
    calls = "".join(_cuda_call(formula) for formula in made)
    return (
        f"// {manifest.title}: one thread for each element of a result.\n{includes}\n"
        "constexpr int kThreads = 256;\n\n"
        f"{_cuda_helpers(made)}{kernels}\n"
        f"{declaration(manifest, Language.CUDA)} {{\n{calls}}}\n"
    )


# Other languages get only a starter.
SOLUTIONS: dict[Language, Callable[[Manifest], str]] = {
    Language.CUDA: cuda_source,
    Language.TRITON: lambda manifest: triton_source(manifest, Style()),
}


def _cuda_kernel(formula: Formula) -> str:
    index = "i" if formula.in_place else "last - i % (last + 1)"
    source, result = c_type(formula.source), _plain(formula.result)
    name = formula.result.name
    lines = [
        f"__global__ void compute_{name}({source} source, {result}* result, int64_t last, int64_t total) {{",
        "    // 64 bits before the multiplication: a 32-bit index overflows from 2^31 elements on.",
        "    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;",
        "    if (i >= total) return;  // the last block may have spare threads",
        "    // There may be something to write even if there is nothing to read.",
        *_cuda_read(formula, index),
        f"    result[i] = {_cuda_value(formula)};",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _cuda_read(formula: Formula, index: str) -> list[str]:
    kind = _plain(formula.source)
    if formula.source.dtype.packed and not formula.bytewise:
        byte = "source[place / 2]" + (".__x" if formula.source.dtype.facts.header else "")
        return [
            f"    const int64_t place = {index};",
            f"    const int value = last < 0 ? 0 : {byte} >> (place % 2 * 4) & 15;",
        ]
    alone = formula.bytewise or formula.source.dtype.complex or formula.source.dtype is DType.FLOAT8_E8M0
    nothing = f"{kind}{{}}" if alone else f"{kind}(0)"
    return [f"    const {kind} value = last < 0 ? {nothing} : source[{index}];"]


def _plain(arg: Argument) -> str:
    return c_type(arg).removeprefix("const ").removesuffix("*")


def _cuda_value(formula: Formula) -> str:
    kind = _plain(formula.result)
    wide = "double" if DType.FLOAT64 in (formula.result.dtype, formula.source.dtype) else "float"
    if formula.bytewise and formula.result.dtype.facts.header:
        return f"[&] {{ {kind} other = value; other.__x ^= {formula.flip}; return other; }}()"
    if formula.bytewise:
        return f"value ^ {formula.flip}"
    if formula.result.dtype.complex:
        return "make_float2(2 * value.x, 2 * value.y)"
    if formula.negates:
        return f"static_cast<{kind}>(!value)"
    if formula.asks and formula.source.dtype.packed:
        return f"static_cast<{kind}>(value > 0 && value < 8 ? 1.0f : 0.0f)"
    if formula.doubles:
        return f"static_cast<{kind}>(2 * static_cast<{wide}>(value))"
    if formula.converts:
        # Narrow floats can only be made from a float.
        return f"static_cast<{kind}>(static_cast<{wide}>(value >> {formula.shift}))"
    if formula.asks:
        return f"static_cast<{kind}>(static_cast<{wide}>(value) > 0 ? 1.0f : 0.0f)"
    # C++ widens narrow integers to int before inverting.
    inverted = f"static_cast<{_plain(formula.source)}>(~value)"
    return f"static_cast<{kind}>({inverted})"


def _cuda_call(formula: Formula) -> str:
    total, count = (_cuda_count(arg) for arg in (formula.result, formula.source))
    if formula.bytewise:
        total, count = f"{total} / 2", f"{count} / 2"
    name, source = formula.result.name, formula.source.name
    return (
        f"    if (const int64_t total = {total}; total > 0) {{  // a grid of 0 blocks is a launch error\n"
        "        const auto blocks = static_cast<unsigned>((total + kThreads - 1) / kThreads);\n"
        f"        compute_{name}<<<blocks, kThreads>>>({source}, {name}, {count} - 1, total);\n    }}\n"
    )


def _cuda_count(arg: Argument) -> str:
    return " * ".join(_c_expression(ast.parse(text, mode="eval").body) for text in arg.shape)


def _c_expression(node: ast.expr) -> str:
    """All numbers are int64_t, so products do not overflow."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return f"int64_t{{{value}}}"
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%"}.get(type(op), "/")
            return f"({_c_expression(left)} {sign} {_c_expression(right)})"
        case ast.UnaryOp(operand=operand):
            return f"(-{_c_expression(operand)})"
        case ast.Call(func=ast.Name(id=name), args=[first, second]):
            return f"{name}_of({_c_expression(first)}, {_c_expression(second)})"
    raise AssertionError(f"unchecked expression node {node!r}")


_HELPERS = {
    "min": "static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }\n",
    "max": "static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }\n",
    "cdiv": "static int64_t cdiv_of(int64_t a, int64_t b) { return (a + b - 1) / b; }\n",
}


def _cuda_helpers(made: Sequence[Formula]) -> str:
    texts = " ".join(
        text for formula in made for arg in (formula.result, formula.source) for text in arg.shape
    )
    found = "".join(code for name, code in _HELPERS.items() if f"{name}(" in texts)
    return f"{found}\n" if found else ""
