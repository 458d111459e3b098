"""The unit of a card that each instruction occupies, and how long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .lower import CodeRow, Lowered
from .names import ASYNC, CLASS, ELEMENT, LOOKUP, MATRIX, MATRIX_MOVE, NOP, OP

KINDS = tuple(name.lower() for name in CLASS)
_WEIGHTS = (
    (re.compile(r"(div|rem)_[us]64"), 70),
    (re.compile(r"(div|rem)_[us](16|32)"), 18),
    (re.compile(r"(div|rcp|sqrt|rsqrt).*f64"), 20),
    (re.compile(r"div.*f32"), 9),
    (re.compile(r"(rcp|sqrt)_(dir|ftz)?_?f32"), 6),
    (re.compile(r"popc|brev|bfind"), 4),
    (re.compile(r"(add|sub|mul_lo|mad_lo|min|max|setp_\w+)_[us]64|(shl|shr)_[bus]64"), 2),
)
_DIVISION = re.compile(r"(?:div|rem)_[us](\d+)$")
_KINDS_OF_NAMES = (
    (re.compile(r"mov_|piece_|join_|ext(32|64)_u|cut32_|isspacep|.*_pred$|pred_of|b32_of_pred"), "free"),
    (re.compile(r".*f64(?!_of)"), "double"),
    (re.compile(r"(sin|cos|ex2|lg2|rsqrt|rcp|sqrt|tanh|div).*f"), "special"),
    (re.compile(r"(popc|brev|bfind)"), "convert"),
    (re.compile(r"cvt_(f16|bf16|f32|tf32|[us]\d+|rz|relu|f16x2|bf16x2|e\dm\dx2)_.*|r[npmz]i_"), "convert"),
    (re.compile(r".*(f32|f16|bf16)"), "float"),
)
_KINDS_OF_CONTROL = {
    **dict.fromkeys(("LOAD", "STORE", "ATOMIC", "COPY_LATE", "HEAP", "TEXTURE"), "memory"),
    **dict.fromkeys(("SHUFFLE", "VOTE", "MATCH", "REDUX", "ELECT"), "shuffle"),
    **dict.fromkeys(("BARRIER", "WARP_BARRIER", "FENCE", "CLOCK", "WAIT_GROUP"), "sync"),
    **dict.fromkeys(("NOP", "POP", "LOCAL_ADDRESS", "COMMIT", "ASSERT", "ACTIVE_MASK"), "free"),
    "MATRIX": "matrix",
}  # fmt: skip
_KINDS_OF_ASYNC = {
    "MAP_RANK": "integer", "RANK_OF": "integer", "CLUSTER_ARRIVE": "sync", "CLUSTER_WAIT": "sync",
    "PROXY_FENCE": "sync", "BULK_COMMIT": "sync", "BULK_WAIT": "sync", "BULK_WAIT_READ": "sync",
    "PRODUCT_FENCE": "sync", "PRODUCT_COMMIT": "sync", "PRODUCT_WAIT": "sync",
}  # fmt: skip
# Four texture units each fetch for one thread a cycle.
_TEXTURE_SLOTS = 8
_ACCESSES = {"LOAD": "load", "STORE": "store", "ATOMIC": "atomic", "COPY_LATE": "copy"}
_ROWS_OF_A_WARP = 16


@dataclass(frozen=True)
class Work:
    kind: str  # one of KINDS
    slots: int = 1
    type: str = ""  # a matrix product's
    flops: int = 0
    access: str = ""  # load, store, atomic, copy (cp.async) or empty
    division: int = 0  # bits of a division or remainder


def work_of_row(lowered: Lowered, row: CodeRow, names: Sequence[str]) -> Work:
    if row.op >= len(OP):
        return work_of_name(names[row.op - len(OP)])
    if row.op == OP.ASYNC:
        return _work_of_async(lowered, row)
    control = OP.name_of(row.op)
    kind = _KINDS_OF_CONTROL.get(control, "branch")
    if row.op == OP.TEXTURE:
        return Work(
            "memory",
            _TEXTURE_SLOTS,
            access="store" if lowered.pool[row.imm] == LOOKUP.STORE_SURFACE else "load",
        )
    if row.op == OP.NOP and row.size in (NOP.PREFETCHES, NOP.PREFETCHES_BULK):
        return Work("memory", access="load")
    if kind != "matrix":
        return Work(kind, access=_ACCESSES.get(control, ""))
    if row.elements:  # ldmatrix, stmatrix
        return Work("memory", access="store" if row.size & MATRIX_MOVE.STORED else "load")
    which, m, n, k, a_type = lowered.pool[row.a : row.a + 5]
    if which in (MATRIX.LOAD_FRAGMENT, MATRIX.STORE_FRAGMENT):
        return Work("memory", access="load" if which == MATRIX.LOAD_FRAGMENT else "store")
    # A sparse A has half of the elements.
    return Work(
        "matrix",
        1,
        ELEMENT.name_of(a_type).lower(),
        (1 if which == MATRIX.MULTIPLY_SPARSE else 2) * m * n * k,
    )


def _work_of_async(lowered: Lowered, row: CodeRow) -> Work:
    name = ASYNC.name_of(row.size)
    if name != "PRODUCT":
        access = "copy" if name == "BULK_COPY" else ""
        return Work(_KINDS_OF_ASYNC.get(name, "memory"), access=access)
    n, k, _, a_type = lowered.pool[row.imm : row.imm + 4]
    return Work("matrix", 1, f"wgmma {ELEMENT.name_of(a_type).lower()}", 2 * _ROWS_OF_A_WARP * n * k)


_known: dict[str, Work] = {}


def work_of_name(name: str) -> Work:
    if name not in _known:
        kind = next((kind for pattern, kind in _KINDS_OF_NAMES if pattern.match(name)), "integer")
        slots = next((slots for pattern, slots in _WEIGHTS if pattern.match(name)), 1)
        division = _DIVISION.match(name)
        _known[name] = Work(kind, slots, division=int(division[1]) if division else 0)
    return _known[name]
