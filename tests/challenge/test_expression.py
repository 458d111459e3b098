"""Expressions in sizes compute as Python does, and allow only arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.challenge.expression import ExpressionError, parse

SIZES = {"m": 6, "n": 7, "k": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 7),
        ("2*m*n*k", 0),
        ("max(n - m + 1, 0)", 2),
        ("max(k - m, 0)", 0),
        ("cdiv(n, 4) * 4", 8),
        ("n // 2 + n % 2", 4),
        ("-k", 0),
        ("m / 4", 1.5),
        ("min(m, (n))", 6),
    ],
)
def test_arithmetic_is_evaluated(text: str, value: float) -> None:
    assert parse(text)(SIZES) == value


REFUSED = [
    "",
    "n +",
    "n ** 2",
    "__import__('os')",
    "n.real",
    "n[0]",
    "[n]",
    "(n, m)",
    "n if m else k",
    "n < m",
    "n and m",
    "~n",
    "not n",
    "'n'",
    "True",
    "None",
    "1j",
    "lambda: 1",
    "max(*n)",
    "max(n)",
    "max(n, m, k)",
    "cdiv(n)",
    "max(n, m, key=k)",
    "abs(n)",
    "f(n)",
    "(x := n)",
    "f'{n}'",
    "n; m",
    "n\nm",
    "\0",
    "(" * 150,
    "-" * 250 + "n",
]


@pytest.mark.parametrize("text", REFUSED, ids=[repr(text[:20]) for text in REFUSED])
def test_anything_but_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m - n", "whole number"),
        ("m / 4", "whole number"),
        ("m / k", "divides by zero"),
        ("m % k", "divides by zero"),
        ("cdiv(m, k)", "divides by zero"),
        ("1e308 * 10 * m", "whole number"),
        ("depth", "not known"),
    ],
)
def test_a_value_that_is_no_dimension_is_refused(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        parse(text).integer(SIZES)


def test_an_expression_lists_the_sizes_it_needs() -> None:
    assert parse("2 * m + max(n, 1)").names == {"m", "n"}


_LEAVES = st.sampled_from(["m", "n", "k", "1", "2", "13"])
_EXPRESSIONS = st.recursive(
    _LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(
        lambda parts: f"({' '.join(parts)})"
    ),
).filter(lambda text: len(text) <= 200)


@given(_EXPRESSIONS, st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 2**40))
def test_expressions_compute_as_python_does(text: str, m: int, n: int, k: int) -> None:
    sizes = {"m": m, "n": n, "k": k}
    assert parse(text)(sizes) == eval(text, {"__builtins__": {}}, sizes)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        expression = parse(text)
    except ExpressionError:
        return
    assert expression.text == text
