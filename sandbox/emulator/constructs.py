"""The constructs, of ``grader.challenge.constructs``, that a counted call executed.

An instruction counts once a thread with a true predicate executes it. Spills come from machine code, by
executed lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .explain import kernel_name
from .model import Launch
from .ptx import Function, Instruction

_MOST_PLACES, _MOST_KERNELS, _MOST_LINES = 4, 16, 8
_TEXT_CHARS, _NAME_CHARS = 60, 100
_MAY_BE_NAMED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$<>:, .()-")
_OPCODE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.:")
# These access shared memory without saying so.
_SHARED = ("ldmatrix", "stmatrix", "wgmma")
# Without cvt, which prepares arguments of printf, and copies.
_ARITHMETIC = frozenset(
    "add sub mul mad fma div rcp sqrt rsqrt neg abs min max set setp testp copysign mma dot atom red".split()
)
# Floating-point operations per thread. Tensor cores do no others (div, sqrt, ex2).
_OPERATIONS = {"fma": 2, "mad": 2, "add": 1, "sub": 1, "mul": 1}
_SCALARS = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2, "f32x2": 2}
# Other integers mostly compute addresses.
_OF_BYTES = {"dp4a": 8, "dp2a": 4}


def operations_of(name: str, modifiers: Sequence[str]) -> int:
    """Operations per thread, without tensor cores."""
    scalars = next((_SCALARS[each] for each in modifiers if each in _SCALARS), 0)
    return _OF_BYTES.get(name, 0) or _OPERATIONS.get(name, 0) * scalars


def names_of(name: str, modifiers: Sequence[str]) -> Iterable[str]:
    first = modifiers[0] if modifiers else ""
    if name in ("mma", "wmma", "wgmma", "tcgen05") and (name == "mma" or first in ("mma", "mma_async")):
        yield "tensor_cores"
    if name in _SHARED or any(each.partition("::")[0] == "shared" for each in modifiers):
        yield "shared_memory"
    if name in ("atom", "red", "multimem") or (name == "cp" and first == "reduce") or name == "sured":
        yield "atomics"
    if name in ("shfl", "redux"):
        yield "warp_shuffles"
    if (
        name == "cp"
        and ("async" in modifiers)
        and not {"commit_group", "wait_group", "wait_all"} & set(modifiers)
    ):
        yield "async_copies"
    if name in _ARITHMETIC and "f64" in modifiers:
        yield "double_precision"


def constructs_of(
    launches: Sequence[Launch], lines: Sequence[int], functions: Callable[[], Iterable[Function]]
) -> dict[str, Any]:
    """In the form of ``grader.judge.messages.Constructs``. ``lines``: the launches'; 0: unknown.
    ``functions``: all loaded code.
    """
    found: dict[tuple[str, str, int], str] = {}
    tensor = 0
    others: dict[tuple[str, str, int], int] = {}
    for launch in launches:
        for row in launch.rows:
            opcode = row.ptx.removeprefix("@").partition(" ")[2] if row.ptx.startswith("@") else row.ptx
            opcode = opcode.partition(" ")[0]
            if not (row.guarded and opcode):
                continue
            name, *modifiers = opcode.split(".")
            if row.work.kind == "matrix":
                tensor += row.work.flops * row.issued
            elif operations := operations_of(name, modifiers):
                place = (opcode, launch.kernel, row.line)
                others[place] = others.get(place, 0) + operations * row.guarded
            of_row = set(names_of(name, modifiers))
            if row.shared_requests:  # by a generic address, too
                of_row.add("shared_memory")
            for what in sorted(of_row):
                found.setdefault((what, launch.kernel, row.line), opcode)
        for spill in launch.spills:
            if spill.requests:
                found.setdefault(("spills", launch.kernel, spill.line), str(spill.bytes))
    seen = {what for what, _, _ in found}
    idle: dict[tuple[str, str, int], str] = {}
    for function in functions():
        for item in function.body:
            if isinstance(item, Instruction):
                for what in names_of(item.name, item.modifiers):
                    if what not in seen:
                        idle.setdefault((what, function.name, item.place.line), item.opcode)
    return {
        "launches": len(launches),
        "lines": [line for line in dict.fromkeys(lines) if line][:_MOST_LINES],
        "kernels": [_name(kernel) for kernel in dict.fromkeys(launch.kernel for launch in launches)][
            :_MOST_KERNELS
        ],
        "executed": _places(found),
        "idle": _places(idle),
        "spills_known": all(launch.registers is not None for launch in launches),
        "tensor_flops": tensor,
        "other_flops": sum(others.values()),
        "most_other": _most(others),
    }


def _most(others: dict[tuple[str, str, int], int]) -> dict[str, Any] | None:
    if not others:
        return None
    opcode, kernel, line = max(others, key=lambda place: others[place])
    return {"what": "arithmetic", "kernel": _name(kernel), "line": line, "text": _opcode(opcode)}


def _places(found: dict[tuple[str, str, int], str]) -> list[dict[str, Any]]:
    kept: dict[str, int] = {}
    places = []
    for (what, kernel, line), opcode in found.items():
        if kept.get(what, 0) < _MOST_PLACES:
            kept[what] = kept.get(what, 0) + 1
            places.append({"what": what, "kernel": _name(kernel), "line": line, "text": _opcode(opcode)})
    return places


def _opcode(opcode: str) -> str:
    return "".join(letter if letter in _OPCODE else "_" for letter in opcode)[:_TEXT_CHARS]


def _name(kernel: str) -> str:
    named = kernel_name(kernel)
    return "".join(letter if letter in _MAY_BE_NAMED else "_" for letter in named)[:_NAME_CHARS]
