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


def _describe(arg: Argument) -> str:
    shape = " x ".join(arg.shape)
    return f"{arg.name}: {arg.kind.value}, {arg.dtype.value}" + (f", {shape}" if shape else "")


def _cuda_starter(manifest: Manifest) -> str:
    includes = "".join(f"#include <{header}>\n" for header in headers(manifest))
    notes = "".join(f"//   {_describe(arg)}\n" for arg in manifest.args)
    return (
        f"// {manifest.title}\n{notes}"
        "// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.\n"
        f"#include <cstdint>\n#include <cuda_runtime.h>\n{includes}\n"
        "__global__ void kernel() {\n    // your kernel\n}\n\n"
        f"{declaration(manifest, Language.CUDA)} {{\n"
        "    // launch it; a grid of 0 blocks is an error, so return early when there is nothing to do\n}\n"
    )


def _triton_starter(manifest: Manifest) -> str:
    notes = "".join(f"    {_describe(arg)}\n" for arg in manifest.args)
    return (
        f'"""{manifest.title}."""\n\nimport triton\nimport triton.language as tl\n\n\n'
        "@triton.jit\ndef kernel():\n    pass  # your kernel\n\n\n"
        f"{declaration(manifest, Language.TRITON)}:\n"
        f'    """Write the result into the output tensor; return nothing.\n\n{notes}    """\n'
        "    # launch it; a grid of 0 programs is an error, so return early when there is nothing to do\n"
    )


def cuda_footer(manifest: Manifest) -> str:
    """What the compiler appends to a CUDA source.

    ``#line`` keeps the student's numbers; the ``static_assert`` lets the compiler check arity and types; the
    wrapper ``grader_entry`` takes an array of pointers to arguments, so that the loader needs no signature.
    Sizes are converted by the call, so ``int n`` stays legal.
    """
    types = ", ".join(c_type(arg) for arg in manifest.args)
    values = ", ".join(
        f"*reinterpret_cast<{_C_TYPES[arg.dtype]}* const*>(arguments[{index}])"
        if arg.kind.buffer
        else f"*reinterpret_cast<const {c_type(arg)}*>(arguments[{index}])"
        for index, arg in enumerate(manifest.args)
    )
    wanted = declaration(manifest, Language.CUDA).replace('"', '\\"')
    includes = "".join(f"#include <{header}>\n" for header in ["cstdint", "type_traits", *headers(manifest)])
    return (
        f'\n#line 1 "grader-footer"\n{includes}'
        "template <typename F, typename... A> struct grader_callable {\n"
        "    template <typename G> static auto probe(int)\n"
        "        -> decltype(std::declval<G>()(std::declval<A>()...), std::true_type{});\n"
        "    template <typename> static std::false_type probe(...);\n"
        "    static constexpr bool value = decltype(probe<F>(0))::value;\n};\n"
        f"static_assert(grader_callable<decltype(&solve), {types}>::value,\n"
        f'              "solve cannot be called as the challenge calls it: {wanted}");\n'
        'extern "C" __attribute__((visibility("default"))) void grader_entry(void* const* arguments) {\n'
        f"    solve({values});\n}}\n"
    )
