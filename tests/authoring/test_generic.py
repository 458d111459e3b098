"""Each generic wrong kernel is wrong in its own way, in one result, and left out only by rule."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.authoring.candidates import Candidate
from grader.authoring.generic import WORDS, generics, native_source
from grader.authoring.probe import makes_a_difference
from grader.challenge.loader import Challenge
from grader.languages import Language
from grader.schemas.proof import CandidateOutcome, CandidateRole
from tests.authoring.conftest import Write

TWO = ("x:input:float32:n", "out:output:float32:n", "first:output:float32:1")


def _solve(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["solve"]


def _candidate(challenge: Challenge, name: str) -> Candidate:
    (found,) = [kernel for kernel in generics(challenge) if kernel.name == name]
    return Candidate(CandidateRole.GENERIC, found.name, Language.TRITON, found.source, found.reason)


def _called(source: str, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    out, first = torch.full((x.numel(),), -7.0), torch.full((1,), -7.0)
    _solve(source)(x, out, first, x.numel())
    return out, first


def _wrong(challenge: Challenge, source: str, x: torch.Tensor) -> set[str]:
    """Results that differ from the reference's; NaN equals NaN."""
    pairs = zip(("out", "first"), _called(source, x), _called(native_source(challenge), x), strict=True)
    return {name for name, got, want in pairs if not torch.equal(got.nan_to_num(99.0), want.nan_to_num(99.0))}


def test_the_native_source_agrees_with_the_reference(write: Write) -> None:
    out, first = _called(native_source(write(*TWO).challenge), torch.tensor([1.0, -2.0, 3.0]))
    assert out.tolist() == [2.0, -4.0, 6.0]
    assert first.tolist() == [6.0]


def test_each_generic_mistake_spoils_only_its_result(write: Write) -> None:
    """At revealing sizes and values, exactly the named result is wrong."""
    challenge = write(*TWO).challenge
    plain = torch.randn(5003)
    spoilt = plain.clone()
    spoilt[[5, -1]] = float("nan")
    for made in generics(challenge):
        if made.mistake == "stale":
            continue
        wrong = {name for x in (plain, spoilt) for name in _wrong(challenge, made.source, x)}
        assert wrong == {made.result}, made.name
    assert {kernel.mistake for kernel in generics(challenge)} == set(WORDS)


def test_a_stale_answer_is_right_until_sizes_repeat(write: Write) -> None:
    made = _candidate(write(*TWO).challenge, "stale:out")
    solve = _solve(made.source)
    out, first = torch.zeros(3), torch.zeros(1)
    for number, expected in ((1.0, 2.0), (5.0, 2.0), (9.0, 10.0)):
        solve(torch.full((3,), number), out, first, 3)
        assert out.tolist() == [expected] * 3


@pytest.mark.parametrize(
    ("dtype", "digits"), [("float64", 24), ("float32", 11), ("float16", 8), ("bfloat16", 4)]
)
def test_low_precision_keeps_half_of_the_digits(dtype: str, digits: int, write: Write) -> None:
    challenge = write(f"x:input:{dtype}:n", f"out:output:{dtype}:n").challenge
    kind = getattr(torch, dtype)
    x = torch.tensor(
        [1.0, 1 + 2.0 ** -(digits - 1), 1 + 2.0 ** -(digits + 1), float("inf"), float("nan")], dtype=kind
    )
    out = torch.empty(5, dtype=kind)
    _solve(_candidate(challenge, "low_precision:out").source)(x, out, 5)
    kept = torch.tensor([2.0, 2 + 2.0 ** -(digits - 2), 2.0, float("inf"), float("nan")], dtype=kind)
    assert torch.equal(out.nan_to_num(9), kept.nan_to_num(9))


def test_only_integers_are_narrowed(write: Write) -> None:
    challenge = write("x:input:int32:n", "out:output:int32:n").challenge
    out = torch.empty(2, dtype=torch.int32)
    _solve(_candidate(challenge, "low_precision:out").source)(
        torch.tensor([3, 65536 + 3], dtype=torch.int32), out, 2
    )
    assert out.tolist() == [~3, ~3]


@pytest.mark.parametrize(
    ("args", "name", "reason"),
    [
        (("x:input:int32:n", "out:output:int32:n"), "nan_swallowed:out", "no input can hold NaN"),
        (("x:input:float32:n", "out:output:int64:n"), "identity:out", "no other input is int64"),
        (("y:inout:float32:n",), "identity:y", "no other input is float32"),
    ],
)
def test_mistakes_impossible_by_signature_are_left_out(
    args: tuple[str, ...], name: str, reason: str, write: Write
) -> None:
    assert reason in _candidate(write(*args).challenge, name).reason


def test_mistakes_without_an_effect_are_left_out(write: Write) -> None:
    """Copying positive elements meets no NaN, and results made from sizes need no digits."""
    made = write("x:input:float32:n", "out:output:float32:n", "count:output:int64:1")
    made.edit("challenge.toml", "[cost]", '[compare.out]\nfirst = "count"\n\n[cost]')
    (made.staff.parent / "reference.py").write_text(
        "import torch\n\n\ndef reference(x, n):\n    kept = x[x > 0]\n"
        "    return torch.cat((kept, x.new_zeros(n - kept.numel()))), torch.tensor([n])\n"
    )
    reasons = {
        kernel.name: makes_a_difference(made.challenge, _as_subject(kernel))
        for kernel in generics(made.challenge)
    }
    assert {name for name, reason in reasons.items() if reason} == {
        "nan_swallowed:out",
        "nan_swallowed:count",
        "low_precision:count",
    }


def test_a_reference_that_refuses_nan_leaves_the_mistake_out(write: Write) -> None:
    made = write("x:input:float32:n", "out:output:float32:n")
    (made.staff.parent / "reference.py").write_text(
        "def reference(x, n):\n    assert not x.isnan().any()\n    return x + x\n"
    )
    kernel = next(kernel for kernel in generics(made.challenge) if kernel.name == "nan_swallowed:out")
    assert makes_a_difference(made.challenge, _as_subject(kernel)).startswith("no NaN reaches")


def _as_subject(made: Any) -> Candidate:
    return Candidate(CandidateRole.GENERIC, made.name, Language.TRITON, made.source)


def test_a_shortened_result_is_spoilt_among_its_counted_elements(write: Write) -> None:
    """Only the first elements are compared, so the dropped tail is theirs."""
    made = write("x:input:float32:n", "out:output:float32:n", "count:output:int64:1")
    made.edit("challenge.toml", "[cost]", '[compare.out]\nfirst = "count"\n\n[cost]')
    (made.staff.parent / "reference.py").write_text(
        "import torch\n\n\ndef reference(x, n):\n    return x + x, torch.tensor([n // 2])\n"
    )
    out, count = torch.zeros(10), torch.zeros(1, dtype=torch.int64)
    _solve(_candidate(made.challenge, "tail_dropped:out").source)(torch.ones(10), out, count, 10)
    assert out.tolist() == [2.0] * 4 + [0.0] * 6
    assert count.item() == 5


def test_an_unchanged_in_out_argument_is_caught(write: Write) -> None:
    made = write("y:inout:float32:n")
    endings = {
        result.name: result.ending
        for result in made.tried(lambda candidate: candidate.role is CandidateRole.GENERIC)
    }
    assert endings.pop("identity:y") is CandidateOutcome.NOT_APPLICABLE
    assert set(endings.values()) == {CandidateOutcome.FAILED}
