"""PyTorch's C++ extensions: a CUDA source with torch's headers, whose ``solve`` takes tensors (``allow =
["torch"]``).

The footer makes tensors of the judge's pointers, so the loader only has to load torch first.
"""

from __future__ import annotations

import re

from grader.challenge.model import Argument, Kind, Manifest

_INCLUDES = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](?:torch|ATen|c10)/', re.MULTILINE)
# torch's C++ names of types.
_SCALAR_TYPES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int8": "Char", "uint8": "Byte",
    "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool", "complex64": "ComplexFloat",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2", "uint16": "UInt16", "uint32": "UInt32",
    "uint64": "UInt64",
}  # fmt: skip


def is_extension(manifest: Manifest, source: str) -> bool:
    return "torch" in manifest.allow and _INCLUDES.search(source) is not None


def tensor_footer(manifest: Manifest) -> str:
    """``solve`` may take every argument; or all but outputs, and return these: a tensor, or a tuple or
    vector.
    """
    arguments = ", ".join(f"{_type(arg)} {arg.name}" for arg in manifest.args)
    names = ", ".join(arg.name for arg in manifest.args)
    outputs = [arg.name for arg in manifest.args if arg.kind is Kind.OUTPUT]
    given = ", ".join(arg.name for arg in manifest.args if arg.kind is not Kind.OUTPUT)
    return (
        '\n\n#line 1 "grader-footer"\n'
        "static thread_local std::string grader_message;\n"
        # Tests without a GPU set the processor's.
        'extern "C" { __attribute__((visibility("default"))) int grader_tensors_on = static_cast<int>(at::kCUDA); }\n'
        "template <typename> constexpr bool grader_never = false;\n"
        "static void grader_put(const at::Tensor& made, const at::Tensor& output, const char* name) {\n"
        "    if (made.sizes() != output.sizes() || made.scalar_type() != output.scalar_type())\n"
        '        throw std::runtime_error(c10::str("solve returns ", name, " as ", made.scalar_type(), " ",\n'
        '            made.sizes(), ", expected ", output.scalar_type(), " ", output.sizes()));\n'
        "    output.copy_(made);\n"
        "}\n"
        f"template <typename Tensor> void grader_solve({arguments}) {{\n"
        f"    if constexpr (requires {{ solve({names}); }}) {{\n"
        f"        solve({names});\n"
        f"    }} else if constexpr (requires {{ solve({given}); }}) {{\n"
        f"        auto made = solve({given});\n"
        f"{_returned(outputs)}"
        "    } else {\n"
        "        static_assert(grader_never<Tensor>,\n"
        f'            "solve cannot be called with the challenge\'s tensors: {_wanted(manifest)}");\n'
        "    }\n"
        "}\n"
        'extern "C" __attribute__((visibility("default"))) int grader_entry(void* const* arguments) {\n'
        "    try {\n"
        "        c10::Device device(static_cast<c10::DeviceType>(grader_tensors_on), grader_tensors_on ? 0 : -1);\n"
        f"        grader_solve<at::Tensor>({_unpacked(manifest)});\n"
        "    } catch (const std::exception& error) {\n"
        "        grader_message = error.what();\n"
        "        return -1;\n"
        "    }\n"
        "    return grader_tensors_on ? static_cast<int>(cudaGetLastError()) : 0;\n"
        "}\n"
        'extern "C" __attribute__((visibility("default"))) const char* grader_error(int code) {\n'
        "    return code == -1 ? grader_message.c_str() : cudaGetErrorString(static_cast<cudaError_t>(code));\n"
        "}\n"
    )


def _type(arg: Argument) -> str:
    return "Tensor" if arg.kind.buffer else arg.dtype.c_built_in


def _wanted(manifest: Manifest) -> str:
    parts = (
        f"torch::Tensor {arg.name}" if arg.kind.buffer else f"{arg.dtype.c_type} {arg.name}"
        for arg in manifest.args
    )
    return f"void solve({', '.join(parts)}), or without its outputs, which it returns"


def _returned(outputs: list[str]) -> str:
    if len(outputs) == 1:
        return f'        grader_put(made, {outputs[0]}, "{outputs[0]}");\n'
    by_place = "".join(
        f'            grader_put(std::get<{number}>(made), {name}, "{name}");\n'
        for number, name in enumerate(outputs)
    )
    by_index = "".join(
        f'            grader_put(made.at({number}), {name}, "{name}");\n'
        for number, name in enumerate(outputs)
    )
    return (
        "        if constexpr (requires { std::get<0>(made); }) {\n"
        f"{by_place}        }} else {{\n{by_index}        }}\n"
    )


def _unpacked(manifest: Manifest) -> str:
    sizes = {arg.name: f"{_value(index, arg)}" for index, arg in enumerate(manifest.args)}
    found = []
    for index, arg in enumerate(manifest.args):
        if not arg.kind.buffer:
            found.append(sizes[arg.name])
            continue
        shape = ", ".join(_dimension(text, manifest, sizes) for text in arg.shape)
        kind = f"at::ScalarType::{_SCALAR_TYPES[arg.dtype.value]}"
        found.append(
            # torch does not find the device of memory which another process shares.
            f"at::for_blob(*static_cast<void* const*>(arguments[{index}]), {{{shape}}})"
            f".options(at::TensorOptions().dtype({kind}).device(device)).target_device(device).make_tensor()"
        )
    return ",\n            ".join(found)


def _value(index: int, arg: Argument) -> str:
    return f"*static_cast<const {arg.dtype.c_built_in}*>(arguments[{index}])"


def _dimension(text: str, manifest: Manifest, sizes: dict[str, str]) -> str:
    """C++ division rounds as // does, as sizes are not negative."""
    plain = re.sub(r"//|/", "/", text)
    calls = {"min": "std::min<int64_t>", "max": "std::max<int64_t>"}
    plain = re.sub(r"\bcdiv\(([^(),]+),([^(),]+)\)", r"((\1) / (\2) + ((\1) % (\2) != 0))", plain)
    return re.sub(
        r"[A-Za-z_]\w*",
        lambda found: f"({sizes[found[0]]})" if found[0] in sizes else calls.get(found[0], found[0]),
        plain,
    )
