"""The one line that `challenge new` makes arguments of."""

from __future__ import annotations

import pytest

from grader.authoring.scaffold.signature_line import read_constraints, read_signature
from grader.challenge.model import Kind
from grader.errors import BadRequest


def test_ranges_and_bounds_can_be_said() -> None:
    text = "f(v: inout f32[n] in 0.001..1e-2, a: i8[n, cols] in -127..128, k: size <= cols - 1, b: f32 = 1)"
    args = {arg.name: arg for arg in read_signature(text)}
    ranges = [(args[name].values.dist, args[name].values.low, args[name].values.high) for name in "va"]
    assert ranges == [("uniform", 0.001, 0.01), ("integers", -127, 128)]
    assert list(args) == ["v", "a", "b", "n", "cols", "k"]
    assert read_constraints(text) == ["k <= cols - 1"]


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
        ("f(x: f32[n] in 1..0) -> y: f32[n]", "LOW is below HIGH"),
        ("f(x: f32[n]) -> y: f32[n] in 0..1", "for an input"),
        ("f(if: f32[n]) -> y: f32[n]", "another meaning"),
    ],
)
def test_what_is_no_signature_is_refused_by_its_place(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_signature(text)
