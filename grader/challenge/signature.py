"""The ABI of ``solve``, made from the arguments: declarations, starters, and the footer of a CUDA source."""

from __future__ import annotations

from grader.challenge.model import Argument, DType, Kind, Manifest
from grader.schemas.report import Language

_C_TYPES = {
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
    DType.FLOAT16: "__half",
    DType.BFLOAT16: "__nv_bfloat16",
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
}
# Arities that the footer tells apart in its message; the longest signature of a challenge has far fewer.
_MOST_ARGUMENTS = 24
_HEADERS = {DType.FLOAT16: "cuda_fp16.h", DType.BFLOAT16: "cuda_bf16.h"}


def c_type(arg: Argument) -> str:
    """The C type of a parameter: ``const float*``, ``float*``, ``float``, ``int64_t``."""
    base = _C_TYPES[arg.dtype]
    if not arg.kind.buffer:
        return base
    return f"const {base}*" if arg.kind is Kind.INPUT else f"{base}*"


def declaration(manifest: Manifest, language: Language) -> str:
    """The line a student implements."""
    if language is Language.CUDA:
        parameters = ", ".join(f"{c_type(arg)} {arg.name}" for arg in manifest.args)
        return f'extern "C" void solve({parameters})'
    return f"def solve({', '.join(arg.name for arg in manifest.args)})"


def headers(manifest: Manifest) -> list[str]:
    """CUDA headers that the types of the signature need, besides <cstdint>."""
    return sorted({_HEADERS[arg.dtype] for arg in manifest.args if arg.dtype in _HEADERS})


def starter(manifest: Manifest, language: Language) -> str:
    """A source that loads, compiles, and does nothing yet."""
    return _cuda_starter(manifest) if language is Language.CUDA else _triton_starter(manifest)


def _describe(manifest: Manifest) -> list[str]:
    """One aligned line per argument: ``a    input   float32 [m, k]``."""
    width = max(len(arg.name) for arg in manifest.args)
    lines = []
    for arg in manifest.args:
        shape = f" [{', '.join(arg.shape)}]" if arg.shape else ""
        lines.append(f"{arg.name:<{width}}  {arg.kind.value:<6}  {arg.dtype.value}{shape}")
    return lines


def _cuda_starter(manifest: Manifest) -> str:
    includes = "".join(f"#include <{header}>\n" for header in headers(manifest))
    notes = "".join(f"//   {line}\n" for line in _describe(manifest))
    parameters = ", ".join(f"{c_type(arg)} {arg.name}" for arg in manifest.args)
    return (
        f"// {manifest.title}\n//\n{notes}//\n"
        "// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.\n"
        f"#include <cstdint>\n#include <cuda_runtime.h>\n{includes}\n"
        f"__global__ void kernel({parameters}) {{\n"
        "    // One thread's work. Its number, in 64 bits:\n"
        "    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;\n}\n\n"
        f"{declaration(manifest, Language.CUDA)} {{\n"
        "    // kernel<<<blocks, threads>>>(...);\n"
        "    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.\n}\n"
    )


def _triton_starter(manifest: Manifest) -> str:
    notes = "".join(f"    {line}\n" for line in _describe(manifest))
    parameters = ", ".join(arg.name for arg in manifest.args)
    return (
        f'"""{manifest.title}."""\n\nimport triton\nimport triton.language as tl\n\n\n'
        f"@triton.jit\ndef kernel({parameters}, BLOCK: tl.constexpr):\n"
        "    # One program's work. The numbers of its elements, in 64 bits:\n"
        "    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n    pass\n\n\n"
        f"{declaration(manifest, Language.TRITON)}:\n"
        f'    """Write the result into the output; return nothing.\n\n{notes}    """\n'
        "    # kernel[(blocks,)](..., BLOCK=1024)\n"
        "    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.\n"
    )


def cuda_footer(manifest: Manifest) -> str:
    """What the compiler appends to a CUDA source.

    ``#line`` keeps the student's numbers; the ``static_assert``s let the compiler check that ``solve`` exists, its
    arity and its types, and say so in our words. ``grader_entry`` takes an array of pointers to arguments, so that
    the loader needs no signature, and returns ``cudaGetLastError()`` (0 is success), which tells of a refused
    launch; ``grader_error`` gives its text. Sizes are converted by the call, so ``int n`` stays legal.
    """
    count = len(manifest.args)
    wanted = declaration(manifest, Language.CUDA).replace('"', '\\"')
    includes = "".join(
        f"#include <{header}>\n" for header in ["cstdint", "type_traits", "utility", *headers(manifest)]
    )
    other_counts = [number for number in range(_MOST_ARGUMENTS + 1) if number != count]
    arity = "".join(
        f"static_assert(grader_calls::exact || !grader_calls::takes_{number},\n"
        f'              "solve takes {number} argument{"" if number == 1 else "s"}, '
        f'the challenge passes {count}: {wanted}");\n'
        for number in other_counts
    )
    return (
        # Two line ends: a source may end in a backslash. An empty namespace first: the compiler shows the line that
        # it stumbles over, and after an open brace it is this one.
        '\n\n#line 1 "grader-footer"\nnamespace grader_is_a_brace_of_the_source_left_open {}\n'
        f"{includes}{_probes(manifest)}"
        "static_assert(grader_calls::any || grader_calls::exact,\n"
        f'              "there is no function solve; the challenge calls: {wanted}");\n'
        f"{arity}"
        "static_assert(grader_calls::exact || !grader_calls::without_const,\n"
        f'              "inputs are const: {wanted}");\n'
        "static_assert(grader_calls::exact || grader_calls::without_const || !grader_calls::"
        f'takes_{count},\n              "a parameter of solve has another type: {wanted}");\n'
        'extern "C" __attribute__((visibility("default"))) int grader_entry(void* const* arguments) {\n'
        f"    solve({_unpacked(manifest)});\n    return static_cast<int>(cudaGetLastError());\n}}\n"
        'extern "C" __attribute__((visibility("default"))) const char* grader_error(int code) {\n'
        "    return cudaGetErrorString(static_cast<cudaError_t>(code));\n}\n"
    )


def _probes(manifest: Manifest) -> str:
    """``grader_calls``: which calls of ``solve`` would compile.

    A second ``solve(...)`` stands where lookup finds it too, and is the worst match of all: a call that picks it,
    told by its result type, is one that the student's ``solve`` does not take.
    """
    types = [c_type(arg) for arg in manifest.args]
    plain = [name.removeprefix("const ") for name in types]
    numbers = range(_MOST_ARGUMENTS + 1)
    takes = "".join(
        f"constexpr bool takes_{number} = grader_found<decltype(solve("
        f"{', '.join(['std::declval<grader_anything>()'] * number)}))>;\n"
        for number in numbers
    )
    return (
        "namespace grader_fallback { struct missing {}; missing solve(...); }\n"
        "using namespace grader_fallback;\n"
        "struct grader_anything { template <typename T> operator T() const; };\n"
        "template <typename R> constexpr bool grader_found = !std::is_same<R, grader_fallback::missing>::value;\n"
        f"namespace grader_calls {{\n{takes}"
        f"constexpr bool any = {' || '.join(f'takes_{number}' for number in numbers)};\n"
        f"constexpr bool exact = grader_found<decltype(solve({_declvals(types)}))>;\n"
        f"constexpr bool without_const = grader_found<decltype(solve({_declvals(plain)}))>;\n"
        "}\n"
    )


def _declvals(types: list[str]) -> str:
    return ", ".join(f"std::declval<{name}>()" for name in types)


def _unpacked(manifest: Manifest) -> str:
    return ", ".join(
        f"*reinterpret_cast<{_C_TYPES[arg.dtype]}* const*>(arguments[{index}])"
        if arg.kind.buffer
        else f"*reinterpret_cast<const {c_type(arg)}*>(arguments[{index}])"
        for index, arg in enumerate(manifest.args)
    )
