"""The one line that `challenge new` makes arguments of."""

from __future__ import annotations

import pytest

from grader.authoring.scaffold.signature_line import read_signature
from grader.challenge.model import Kind
from grader.errors import BadRequest


def test_every_kind_of_argument_can_be_said() -> None:
    args = read_signature(
        "step(x: f32[rows, max(cols - k + 1, 0)], y: inout bf16[rows], labels: i64[rows] < cols, "
        "bits: u8[4], alpha: f64 = -2.5, k: size) -> out: float16[rows], n: i64[]"
    )
    assert [(arg.name, arg.kind, arg.dtype.value, arg.shape) for arg in args] == [
        ("x", Kind.INPUT, "float32", ["rows", "max(cols - k + 1, 0)"]),
        ("y", Kind.INOUT, "bfloat16", ["rows"]),
        ("labels", Kind.INPUT, "int64", ["rows"]),
        ("bits", Kind.INPUT, "uint8", ["4"]),
        ("alpha", Kind.SCALAR, "float64", []),
        ("out", Kind.OUTPUT, "float16", ["rows"]),
        ("n", Kind.OUTPUT, "int64", ["1"]),
        ("rows", Kind.SIZE, "int64", []),
        ("cols", Kind.SIZE, "int64", []),
        ("k", Kind.SIZE, "int64", []),
    ]
    assert [args[2].values.high, args[3].values.high, args[4].value] == ["cols", 256, -2.5]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x + y", "it needs"),
        ("f(x: f32[n])", "no result"),
        ("f(x: f31[n]) -> y: f32[n]", "'f31' is no type"),
        ("f(x f32[n]) -> y: f32[n]", "'x f32"),
        ("f(x: f32[n], a: f32 = two) -> y: f32[n]", "'two' is not a number"),
        ("f(if: f32[n]) -> y: f32[n]", "another meaning"),
    ],
)
def test_what_is_no_signature_is_refused_by_its_place(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_signature(text)
