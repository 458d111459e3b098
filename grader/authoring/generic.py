"""Wrong kernels that any signature allows, and the right one to compare with.

Each is the reference and code that spoils its result. The signature or a probe decides whether one applies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.challenge.dtypes import BITS, DType
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest

# Elements per tile of a result as large as its inputs, and per block of a smaller one.
TILE, ROW_TILE = 1024, 128
# Kernels forget elements after the last whole vector.
VECTOR = 4

WORDS = {
    "zeros": "writes zeros",
    "unwritten": "writes nothing",
    "identity": "copies an input into the result",
    "first_tile": "is right in its first tile and leaves out the rest",
    "tail_dropped": "leaves out what comes after the last whole group of 4 elements",
    "nan_swallowed": "has 0 where NaN is right",
    "low_precision": "computes on inputs rounded to half of their digits",
    "stale": "returns its previous result for the same sizes",
}


@dataclass(frozen=True)
class Generic:
    mistake: str
    result: str
    source: str
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.mistake}:{self.result}"


def native_source(challenge: Challenge, reference: str | None = None) -> str:
    """A kernel as exact as PyTorch."""
    return spoilt_source(challenge, spoilt="", before="", body="target.copy_(value)", reference=reference)


def generics(challenge: Challenge) -> list[Generic]:
    """Raises ChallengeInvalid if the reference is missing."""
    return [_generic(challenge, mistake, arg) for arg in challenge.manifest.results for mistake in WORDS]


def _generic(challenge: Challenge, mistake: str, arg: Argument) -> Generic:
    before, body, reason = _PARTS[mistake](challenge.manifest, arg)
    source = "" if reason else spoilt_source(challenge, arg.name, before, body)
    return Generic(mistake, arg.name, source, reason)


# Code that changes inputs before the reference, statements that spoil the result, and why the mistake is
# impossible here, or "".
Parts = tuple[str, str, str]


def _zeros(manifest: Manifest, arg: Argument) -> Parts:
    return "", "target.zero_()", ""


def _unwritten(manifest: Manifest, arg: Argument) -> Parts:
    return "", "pass", ""


def _identity(manifest: Manifest, arg: Argument) -> Parts:
    same = [
        other.name for other in _readable(manifest) if other.dtype is arg.dtype and other.name != arg.name
    ]
    if not same:
        return "", "", f"no other input is {arg.dtype.value}, as '{arg.name}' is"
    body = (
        f"source = given[{same[0]!r}].reshape(-1)\n"
        "if source.numel() and target.numel():\n"
        "    target.copy_(source.repeat(-(-target.numel() // source.numel()))[: target.numel()])"
    )
    return "", body, ""


def _first_tile(manifest: Manifest, arg: Argument) -> Parts:
    if _fixed(arg):
        return f"given = cut(given, lambda count: min(count, {TILE}))", "target.copy_(value)", ""
    tile = TILE if _as_large_as_inputs(manifest, arg) else ROW_TILE
    return "", f"stop = min({tile}, counted)\ntarget[:stop] = value[:stop]", ""


def _tail_dropped(manifest: Manifest, arg: Argument) -> Parts:
    if _fixed(arg):
        return f"given = cut(given, lambda count: count // {VECTOR} * {VECTOR})", "target.copy_(value)", ""
    return "", f"stop = counted // {VECTOR} * {VECTOR}\ntarget[:stop] = value[:stop]", ""


def _nan_swallowed(manifest: Manifest, arg: Argument) -> Parts:
    floats = [arg.name for arg in _readable(manifest) if arg.dtype.floating]
    if not floats:
        return "", "", "no input can hold NaN"
    if arg.dtype.floating:
        return "", "target.copy_(torch.where(value.isnan(), 0, value))", ""
    swallow = "given[name] = torch.where(given[name].isnan(), 0, given[name])"
    return f"for name in {floats}:\n    {swallow}", "target.copy_(value)", ""


def _low_precision(manifest: Manifest, arg: Argument) -> Parts:
    floats = [arg for arg in _readable(manifest) if arg.dtype.floating]
    if floats:
        lines = [f"given[{arg.name!r}] = rounded(given[{arg.name!r}], {_bits(arg.dtype)})" for arg in floats]
    else:
        digits = [arg for arg in _readable(manifest) if arg.dtype is not DType.BOOL]
        lines = [f"given[{arg.name!r}] = {_narrowed(arg)}" for arg in digits]
        if not digits and _readable(manifest):
            return "", "", "a bool has no digits"
    return "\n".join(lines), "target.copy_(value)", "" if lines else "there is no input"


def _bits(dtype: DType) -> str:
    if dtype.held == dtype.value:
        return f"torch.{BITS[dtype.itemsize]}, {dtype.as_float.dropped_bits}"
    single = DType.FLOAT32.as_float.digits
    return f"torch.int32, {single - dtype.as_float.digits + dtype.as_float.dropped_bits}"


def _stale(manifest: Manifest, arg: Argument) -> Parts:
    body = (
        "key = tuple(given[name] for name in SIZES)\n"
        "before, kept[key] = kept.get(key), value.clone()\n"
        "target.copy_(value if before is None else before)"
    )
    return "", body, ""


_PARTS = {
    "zeros": _zeros,
    "unwritten": _unwritten,
    "identity": _identity,
    "first_tile": _first_tile,
    "tail_dropped": _tail_dropped,
    "nan_swallowed": _nan_swallowed,
    "low_precision": _low_precision,
    "stale": _stale,
}


def _readable(manifest: Manifest) -> list[Argument]:
    return [arg for arg in manifest.given if not arg.optional]


def _fixed(arg: Argument) -> bool:
    """Its shape has no sizes, so there is no tile to leave out."""
    return all(text.isdigit() for text in arg.shape)


def _as_large_as_inputs(manifest: Manifest, arg: Argument) -> bool:
    sizes = manifest.workloads[0].sizes
    counts = [math.prod(manifest.shape(arg, sizes)) for arg in _readable(manifest)]
    return math.prod(manifest.shape(arg, sizes)) >= max(counts, default=0)


def _narrowed(arg: Argument) -> str:
    if narrower := arg.dtype.as_integer.narrower:
        return f"given[{arg.name!r}].to(torch.{narrower}).to(torch.{arg.dtype.held})"
    return f"given[{arg.name!r}] & {3 if arg.dtype.packed else 15}"


_TEMPLATE = '''

import torch

kept = {{}}
SIZES = {sizes}
RESULTS = {results}
COUNTS = {counts}


FOURS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def decoded(tensor, kind):
    """The numbers of an argument: of a type in which torch does not compute, in a wider one."""
    if kind == "complex64":
        return torch.view_as_complex(tensor.contiguous())
    if kind in ("float4_e2m1fn", "int4"):
        codes = torch.stack((tensor & 15, tensor >> 4), dim=-1).flatten(-2)
        if kind == "int4":
            return (codes.to(torch.int8) ^ 8) - 8
        size = FOURS.to(tensor.device)[(codes & 7).long()]
        return torch.where(codes > 7, -size, size)
    if kind == "float8_e8m0fnu":
        return tensor.view(torch.float8_e8m0fnu).float()
    if kind in ("float8_e4m3fn", "float8_e5m2"):
        return tensor.float()
    wide = {{"uint16": torch.int32, "uint32": torch.int64, "uint64": torch.int64}}.get(kind)
    return tensor if wide is None else tensor.to(wide)


def encoded(tensor, values, kind):
    """Put ``values`` (flat) into an argument."""
    values = values.reshape(-1)
    if kind == "complex64":
        values = torch.view_as_real(values.to(torch.complex64))
    elif kind in ("float4_e2m1fn", "int4"):
        if kind == "int4":
            codes = values.to(torch.uint8) & 15
        else:
            fours = FOURS.to(values.device)
            size = values.abs().double().nan_to_num(6.0).clamp(max=6.0)
            middles = ((fours[1:] + fours[:-1]) / 2).double()
            place = torch.searchsorted(middles, size)
            halfway = (place < 7) & (middles[place.clamp(max=6)] == size) & (place % 2 == 1)
            codes = (place + halfway).to(torch.uint8) | (torch.signbit(values).to(torch.uint8) << 3)
        values = codes[0::2] | (codes[1::2] << 4)
    elif kind == "float8_e8m0fnu":
        values = values.float().to(torch.float8_e8m0fnu).view(torch.uint8)
    tensor.copy_(values.reshape(tensor.shape).to(tensor.dtype))


def rounded(values, bits, drop):
    """``values`` without their lowest ``drop`` bits, rounded to nearest; NaN and infinities stay."""
    if values.is_complex():
        return torch.view_as_complex(rounded(torch.view_as_real(values), bits, drop))
    whole = (values.contiguous().view(bits) + (1 << (drop - 1))) & -(1 << drop)
    return torch.where(values.isfinite(), whole.view(values.dtype), values)


def cut(given, stop):
    """The inputs with zeros from element ``stop(number of elements)`` on."""
    for value in given.values():
        if isinstance(value, torch.Tensor) and value.is_contiguous():
            value.view(-1)[stop(value.numel()):] = 0
    return given


def right(given):
    answer = reference(**given)
    answers = answer if isinstance(answer, tuple) else (answer,)
    return {{name: it.reshape(-1) for name, it in zip(RESULTS, answers)}}


def counted_of(result, values, given, whole):
    """How many elements of a result count; ``values``: the right ones."""
    known = {{**{{name: given[name] for name in SIZES}}, **{{name: int(values[name][0]) for name in COUNTS}}}}
    return int({counted})


def copied(given):
    return {{name: copy_of(it) if isinstance(it, torch.Tensor) else it for name, it in given.items()}}


def copy_of(values):
    """With the same strides."""
    made = torch.empty_strided(values.shape, values.stride(), dtype=values.dtype, device=values.device)
    return made.copy_(values)


def answers({passed}):
    return right({{{given}}})


def prepared(given):
    {before}
    return given


def spoil(target, value, given, counted):
    {body}


def gathered(parts):
    return torch.stack([part.to(parts[0].device) for part in parts]) if isinstance(parts, list) else parts


def solve({parameters}):
    {gather}
    given = {{{given}}}
    {packing}
    targets = {{{targets}}}
    values = right(copied(given))
    {spoiling}
    for name, target in targets.items():
        if name != {spoilt!r}:
            target.copy_(values[name].to(target.dtype))
    for target, packed in {packed}:
        target.copy_(packed.view(target.shape))
    {scatter}
    {written}
'''

_CODED = frozenset(
    dtype
    for dtype in DType
    if dtype is not DType.BOOL and (dtype.given != dtype.held or dtype.encoded or dtype.complex)
)


def _given(arg: Argument) -> str:
    if arg.dtype not in _CODED or not arg.kind.buffer:
        return arg.name
    decoded = f"decoded({arg.name}, {arg.dtype.value!r})"
    return f"None if {arg.name} is None else {decoded}" if arg.optional else decoded


def _target(arg: Argument) -> str:
    """A copy that is put back, if elements are not dense."""
    if arg.layout is not None:
        return f"{arg.name}_packed"
    if arg.dtype not in _CODED:
        return f"{arg.name}.view(-1)"
    return f"decoded({arg.name}, {arg.dtype.value!r}).reshape(-1).clone()"


def spoilt_source(
    challenge: Challenge, spoilt: str, before: str, body: str, reference: str | None = None
) -> str:
    """``body`` changes the reference's result ``spoilt``. ``before`` changes the inputs, for this result
    alone.
    """
    manifest = challenge.manifest
    passed = [arg for arg in manifest.args if arg.kind.passed]
    written = [
        f"encoded({arg.name}, targets[{arg.name!r}], {arg.dtype.value!r})"
        for arg in manifest.results
        if arg.dtype in _CODED
    ]
    results = [arg.name for arg in manifest.results]
    packed = [arg.name for arg in manifest.results if arg.layout is not None]
    value = "right(prepared(copied(given)))" if before else "values"
    spoiling = (
        f"counted = counted_of({spoilt!r}, values, given, targets[{spoilt!r}].numel())\n"
        f"    spoil(targets[{spoilt!r}], {value}[{spoilt!r}], given, counted)"
    )
    code = _TEMPLATE.format(
        sizes=manifest.sizes,
        results=results,
        counts=_counts(manifest),
        counted=_counted(manifest),
        before=_indented(before) or "pass",
        body=_indented(body),
        parameters=", ".join(
            f"{arg.name}=1" if arg.name == "gpus" else arg.name for arg in manifest.parameters
        ),
        gather=_indented(_gather(manifest)) or "pass",
        scatter=_indented(_scatter(manifest)) or "pass",
        passed=", ".join(arg.name for arg in passed),
        given=_pairs({arg.name: _given(arg) for arg in passed}),
        targets=_pairs({arg.name: _target(arg) for arg in manifest.results}),
        packing="; ".join(f"{name}_packed = {name}.reshape(-1).clone()" for name in packed) or "pass",
        packed=f"[{', '.join(f'({name}, {name}_packed)' for name in packed)}]",
        written="\n    ".join(written) or "pass",
        spoiling=spoiling if spoilt else "pass",
        spoilt=spoilt,
    )
    return f"{challenge.reference_source if reference is None else reference}{code}"


def _counts(manifest: Manifest) -> list[str]:
    named = {rule.first for rule in manifest.compare.values() if rule.first is not None}
    for arg in manifest.results:
        named |= {name for text in arg.valid for name in parse(text).names}
    return [arg.name for arg in manifest.results if arg.name in named]


def _counted(manifest: Manifest) -> str:
    rules = {
        name: f"known[{rule.first!r}]" for name, rule in manifest.compare.items() if rule.first is not None
    }
    for arg in manifest.results:
        if arg.valid:
            texts = [*arg.valid, *arg.shape[len(arg.valid) :]]
            rules[arg.name] = " * ".join(f"({_python(text)})" for text in texts)
    if not rules:
        return "whole"
    table = ", ".join(f"{name!r}: lambda: {code}" for name, code in rules.items())
    return f"min(whole, {{{table}}}.get(result, lambda: whole)())"


def _python(text: str) -> str:
    names = {name: f"known[{name!r}]" for name in parse(text).names}
    found = re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), text)
    return found.replace("cdiv(", "(lambda a, b: -(-a // b))(")


def _gather(manifest: Manifest) -> str:
    each = [arg.name for arg in manifest.buffers if manifest.on_each(arg)]
    results = [arg.name for arg in manifest.results if arg.name in each]
    kept = [f"parts = {{{_pairs({name: name for name in results})}}}"] if results else []
    return "\n".join(kept + [f"{name} = gathered({name})" for name in each])


def _scatter(manifest: Manifest) -> str:
    results = [arg.name for arg in manifest.results if manifest.on_each(arg)]
    if not results:
        return ""
    return (
        f"for name, whole in {{{_pairs({name: name for name in results})}}}.items():\n"
        "    for part, new in zip(parts[name] if isinstance(parts[name], list) else (), whole):\n"
        "        part.copy_(new)"
    )


def _pairs(items: Mapping[str, str]) -> str:
    return ", ".join(f"{name!r}: {value}" for name, value in items.items())


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
