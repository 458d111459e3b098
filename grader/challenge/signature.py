"""The ABI of ``solve``: declarations, starters, and the footer of a CUDA source."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from grader.challenge.autograd import forward_arguments, forward_results
from grader.challenge.model import Argument, Kind, Manifest
from grader.languages import Language, filled

_MOST_ARGUMENTS = 24
# Of a line of a starter, as formatters wrap Python.
_MOST_COLUMNS = 110


def c_type(arg: Argument) -> str:
    """Such as ``const float*``, ``float*``, ``float``, ``int64_t``."""
    base = arg.dtype.c_type
    if not arg.kind.buffer:
        return base
    return f"const {base}*" if arg.kind is Kind.INPUT else f"{base}*"


def _each_type(arg: Argument) -> str:
    """One pointer per GPU: such as ``const float* const*``."""
    return f"{c_type(arg)} const*"


def _type_in(manifest: Manifest, arg: Argument) -> str:
    return _each_type(arg) if manifest.on_each(arg) else c_type(arg)


def declaration(manifest: Manifest, language: Language) -> str:
    return Template(language.declaration).substitute(parameters=_parameters(manifest, language))


def _parameters(manifest: Manifest, language: Language) -> str:
    if language.python:
        return ", ".join(arg.name for arg in manifest.parameters)
    return ", ".join(f"{_type_in(manifest, arg)} {arg.name}" for arg in manifest.parameters)


def _kernel_parameters(manifest: Manifest, language: Language) -> str:
    """A kernel runs on one GPU, and gets its pointers."""
    if language.python:
        return _parameters(manifest, language)
    return ", ".join(f"{c_type(arg)} {arg.name}" for arg in manifest.parameters)


def headers(manifest: Manifest) -> list[str]:
    return sorted({arg.dtype.facts.header for arg in manifest.args if arg.dtype.facts.header})


def starter(manifest: Manifest, language: Language) -> str:
    values = {
        "title": manifest.title,
        "parameters": _kernel_parameters(manifest, language),
        "declaration": declaration(manifest, language),
    }
    if manifest.autograd is not None and language.function_starter:
        values |= _function_values(manifest)
        return filled(language.function_starter, values, argument=_describe(manifest))
    made = filled(language.starter, values, argument=_describe(manifest), header=headers(manifest))
    return "".join(map(_wrapped, made.splitlines(keepends=True))) if language.python else made


def _wrapped(line: str) -> str:
    """A ``def`` that is too long, as Ruff and Black wrap it."""
    if len(line.rstrip()) <= _MOST_COLUMNS or not line.startswith("def "):
        return line
    name, _, rest = line.partition("(")
    parameters = rest.rpartition(")")[0]
    if len(f"    {parameters}") <= _MOST_COLUMNS:
        return f"{name}(\n    {parameters}\n):\n"
    return f"{name}(\n" + "".join(f"    {each},\n" for each in parameters.split(", ")) + "):\n"


def stride_texts(arg: Argument) -> list[str]:
    """Expressions; empty if it is dense and row-major."""
    if arg.layout is None:
        return []
    if arg.layout.strides is not None:
        return list(arg.layout.strides)
    assert arg.layout.pitch is not None
    rows = [_product([*arg.shape[place + 1 : -1], arg.layout.pitch]) for place in range(len(arg.shape) - 1)]
    return [*rows, "1"]


def _product(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    return " * ".join(text if text.isidentifier() or text.isdigit() else f"({text})" for text in texts)


def _function_values(manifest: Manifest) -> dict[str, str]:
    table, taken = manifest.autograd, forward_arguments(manifest)
    assert table is not None
    results, by_input = forward_results(manifest), {of: name for name, of in table.gradients.items()}
    upstream = {of: name for name, of in table.upstream.items()}
    return {
        "forward": ", ".join(taken),
        "results": ", ".join(results),
        "upstream": ", ".join(upstream.get(name, f"_{name}") for name in results),
        "gradients": ", ".join(by_input.get(name, "None") for name in taken),
    }


def _describe(manifest: Manifest) -> list[str]:
    """One aligned line per argument: ``a    input   float32 [m, k]``."""
    width = max(len(arg.name) for arg in manifest.args)
    kinds = max(6, *(len(arg.kind.value) for arg in manifest.args))
    lines = []
    for arg in manifest.args:
        shape = f" [{', '.join(arg.shape)}]" if arg.shape else ""
        strides = f", strides [{', '.join(stride_texts(arg))}]" if arg.layout is not None else ""
        counts = f", of which [{', '.join(arg.valid)}] counts" if arg.valid else ""
        optional = ", or nothing" if arg.optional else ""
        rest = f"{shape}{strides}{counts}{optional}{_where(manifest, arg)}"
        lines.append(f"{arg.name:<{width}}  {arg.kind.value:<{kinds}}  {arg.dtype.value}{rest}")
    return lines


def _where(manifest: Manifest, arg: Argument) -> str:
    if manifest.gpus == 1 or not arg.kind.buffer:
        return ""
    return f"  one on each of {manifest.gpus} GPUs" if manifest.on_each(arg) else f"  on GPU {arg.on}"


def cuda_footer(manifest: Manifest) -> str:
    """Appended to a CUDA source by the compiler.

    Its ``static_assert``s check ``solve``. A parameter may differ from the signature if no value is lost:
    ``int n`` for a size is fine, ``int scale`` for a float is not. ``grader_entry`` takes pointers to
    arguments, so the loader needs no signature, and returns ``cudaGetLastError()``, which reports a refused
    launch.

    It includes nothing, so macros of the source cannot reach a later header, and spells out every name, so
    ``sandbox/runner/compile.py`` can undefine each. ``grader.sandbox.compiler.explain`` explains its errors.
    """
    count = len(manifest.parameters)
    wanted = declaration(manifest, Language.CUDA).replace('"', '\\"')
    other_counts = [number for number in range(max(_MOST_ARGUMENTS, count) + 1) if number != count]
    arity = "".join(
        f"static_assert(grader_calls::exact || !grader_calls::takes_{number},\n"
        f'              "solve takes {number} argument{"" if number == 1 else "s"}, '
        f'the challenge passes {count}: {wanted}");\n'
        for number in other_counts
    )
    types = "".join(
        f"static_assert(!grader_calls::wrong_{index},\n"
        f'              "parameter {index + 1} of solve, {arg.name}, {_rule(manifest, arg)}: {wanted}");\n'
        for index, arg in enumerate(manifest.parameters)
    )
    return (
        # A source may end in a backslash.
        '\n\n#line 1 "grader-footer"\n'
        f"{_probes(manifest)}"
        "static_assert(grader_calls::any || grader_calls::exact,\n"
        f'              "there is no function solve; the challenge calls: {wanted}");\n'
        f"{arity}{types}"
        "static_assert(grader_calls::exact || grader_calls::explained,\n"
        f'              "solve cannot be called with the arguments of the challenge: {wanted}");\n'
        'extern "C" __attribute__((visibility("default"))) int grader_entry(void* const* arguments) {\n'
        f"    solve({_unpacked(manifest)});\n{_outcome(manifest)}}}\n"
        'extern "C" __attribute__((visibility("default"))) const char* grader_error(int code) {\n'
        "    return cudaGetErrorString(static_cast<cudaError_t>(code));\n}\n"
    )


def _outcome(manifest: Manifest) -> str:
    if manifest.gpus == 1:
        return "    return static_cast<int>(cudaGetLastError());\n"
    # A solve that turns peer access on again did nothing wrong.
    return (
        "    cudaError_t grader_code = cudaGetLastError();\n    cudaSetDevice(0);\n"
        "    return grader_code == cudaErrorPeerAccessAlreadyEnabled ? 0 : static_cast<int>(grader_code);\n"
    )


def _rule(manifest: Manifest, arg: Argument) -> str:
    if arg.kind is Kind.SIZE:
        return "is a size and must be an integer of 32 or 64 bits"
    if arg.kind is Kind.SCALAR:
        return f"is a number and must be {c_type(arg)}; another type would lose its value"
    return f"must be {_type_in(manifest, arg)}"


def _probes(manifest: Manifest) -> str:
    """``grader_calls``: which calls of ``solve`` would compile.

    A second ``solve(...)`` is the worst match of all: a call that picks it, recognised by its result type, is
    one that the student's ``solve`` does not accept. An ambiguous call counts as accepted: the compiler
    explains it. ``grader_fits<T...>`` converts only to these types, ``grader_other<T...>`` to any but these.
    """
    types = [_entry_type(manifest, arg) for arg in manifest.parameters]
    count = len(types)
    numbers = range(max(_MOST_ARGUMENTS, count) + 1)
    takes = "".join(
        f"constexpr bool takes_{number} = grader_takes<{', '.join(['grader_anything'] * number)}>;\n"
        for number in numbers
    )
    half_types = "".join(f"struct {name};\n" for name in _half_types(manifest))
    wrong = [f"wrong_{index}" for index in range(count)]
    return (
        f"{half_types}"
        "namespace grader_fallback { struct missing {}; missing solve(...); }\n"
        "using namespace grader_fallback;\n"
        "template <typename A, typename B> constexpr bool grader_same = false;\n"
        "template <typename A> constexpr bool grader_same<A, A> = true;\n"
        "template <typename A> constexpr bool grader_same<const A, A> = true;\n"
        "template <typename A, typename... B> constexpr bool grader_among = (grader_same<A, B> || ...);\n"
        "template <bool> struct grader_only {};\n"
        "template <> struct grader_only<true> { using type = int; };\n"
        "template <typename A> A&& grader_value();\n"
        "struct grader_anything { template <typename A> operator A() const; };\n"
        "template <typename... B> struct grader_fits { template <typename A,\n"
        "    typename grader_only<grader_among<A, B...>>::type = 0> operator A() const; };\n"
        "template <typename... B> struct grader_other { template <typename A,\n"
        "    typename grader_only<!grader_among<A, B...>>::type = 0> operator A() const; };\n"
        "template <typename... A> auto grader_try(int) -> decltype(solve(grader_value<A>()...));\n"
        "template <typename... A> int grader_try(...);\n"
        "template <typename... A> constexpr bool grader_takes =\n"
        "    !grader_same<decltype(grader_try<A...>(0)), grader_fallback::missing>;\n"
        f"namespace grader_calls {{\n{takes}"
        f"constexpr bool any = {' || '.join(f'takes_{number}' for number in numbers)};\n"
        f"constexpr bool exact = grader_takes<{', '.join(types)}>;\n"
        + "".join(_wrong(manifest, arg, index, types) for index, arg in enumerate(manifest.parameters))
        + f"constexpr bool explained = {' || '.join([*wrong, f'!takes_{count}'])};\n"
        "}\n"
    )


def _wrong(manifest: Manifest, arg: Argument, index: int, types: list[str]) -> str:
    """``wrong_N``: argument N loses its value, or does not compile."""
    allowed = ", ".join(_allowed(manifest, arg))

    def call(others: list[str], probe: str) -> str:
        return f"grader_takes<{', '.join([*others[:index], f'{probe}<{allowed}>', *others[index + 1 :]])}>"

    anything = ["grader_anything"] * len(types)
    return (
        f"constexpr bool wrong_{index} = exact\n"
        f"    ? {call(types, 'grader_other')} && !{call(types, 'grader_fits')}\n"
        f"    : takes_{len(types)} && !{call(anything, 'grader_fits')};\n"
    )


def _allowed(manifest: Manifest, arg: Argument) -> list[str]:
    """Besides ``const`` ones; template parameters are not checked."""
    base = arg.dtype.c_built_in
    if manifest.on_each(arg):
        return [f"{const}{base}* const*" for const in ("", "const ")]
    if arg.kind.buffer:
        return [f"{const}{name}*" for name in (base, "void") for const in ("", "const ")]
    if arg.kind is Kind.SIZE:
        return ["int", "unsigned", "long", "unsigned long", "long long", "unsigned long long"]
    if arg.dtype.floating:
        return {"float": ["float", "double"]}.get(base, [base])
    return [base, *_wider(arg)]


def _wider(arg: Argument) -> list[str]:
    """Other integer types that hold every value of the scalar's."""
    facts, bits = arg.dtype.as_integer, 8 * arg.dtype.itemsize
    signed = {16: ["short"], 32: ["int"], 64: ["long", "long long"]}
    found = [name for width, names in signed.items() for name in names if width > bits or facts.signed]
    kept = found if bits < 64 else ["long", "long long"] if facts.signed else []
    if not facts.signed:
        kept = [
            *kept,
            *(f"unsigned {name}" for width, names in signed.items() if width >= bits for name in names),
        ]
    narrow = {name for width, names in signed.items() if width < bits for name in names}
    return [name for name in kept if name not in narrow and name != arg.dtype.c_built_in]


def _entry_type(manifest: Manifest, arg: Argument) -> str:
    """Buffers without ``const``, which the parameter may add."""
    each = "* const*" if manifest.on_each(arg) else "*"
    return arg.dtype.c_built_in + (each if arg.kind.buffer else "")


def _half_types(manifest: Manifest) -> list[str]:
    """For sources that may not include CUDA headers."""
    return sorted({arg.dtype.c_type for arg in manifest.args if arg.dtype.facts.header})


def _unpacked(manifest: Manifest) -> str:
    """An argument that each GPU has takes as many places."""
    unpacked, place = [], 0
    for arg in manifest.parameters:
        entry = _entry_type(manifest, arg)
        if manifest.on_each(arg):
            unpacked.append(f"reinterpret_cast<{entry}>(arguments[{place}])")
            place += manifest.gpus
        else:
            unpacked.append(f"*reinterpret_cast<{entry} const*>(arguments[{place}])")
            place += 1
    return ", ".join(unpacked)
