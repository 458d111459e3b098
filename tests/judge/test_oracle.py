"""The judge's right answers: results and magnitudes in their types, of small challenges made here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.challenge.cases import Case, Category, Constant, Filling
from grader.challenge.loader import Challenge, ChallengeReference
from grader.challenge.model import Manifest
from grader.errors import ChallengeInvalid
from grader.judge import pieces
from grader.judge.oracle import ask
from tests.judge.large import put_together

INF, NAN = float("inf"), float("nan")
Function = Callable[..., Any]


def made(
    reference: Function, magnitude: Function | None = None, dtype: str = "float32", **more: Any
) -> Challenge:
    """``solve(x[rows, n], out[rows, n], count[1])``."""
    buffers = [
        ("x", "input", "float32", ["rows", "n"]),
        ("out", "output", dtype, ["rows", "n"]),
        ("count", "output", "int64", ["1"]),
    ]
    manifest = Manifest.model_validate(
        {
            "title": "Made here",
            "track": "tests",
            "difficulty": "easy",
            "version": 1,
            "languages": ["triton"],
            "args": [
                *(dict(zip(("name", "kind", "dtype", "shape"), buffer, strict=True)) for buffer in buffers),
                {"name": "rows", "kind": "size"},
                {"name": "n", "kind": "size"},
            ],
            "tolerance": {"rtol": 1e-3},
            "workloads": [{"name": "small", "sizes": {"rows": 2, "n": 4}}],
            "cost": {"bytes": "n", "flops": "n"},
            **more,
        }
    )
    challenge = Challenge("made", manifest, Path(), Path())
    challenge.__dict__["reference"] = ChallengeReference(reference, magnitude)
    return challenge


def large(rows: int, n: int, **inputs: Filling) -> Case:
    """As on a GPU alone: in pieces, and magnitudes in single precision."""
    return Case("large", Category.LARGE, {"rows": rows, "n": n}, inputs, on="gpu")


def counted(x: torch.Tensor) -> torch.Tensor:
    return torch.full((1,), x.numel())


@pytest.mark.parametrize("along", [{}, {"pieces": {"along": "rows"}}])
def test_a_magnitude_beyond_float32_stays_finite(along: dict[str, Any]) -> None:
    """Sums that cancel may be finite though their terms are not: an infinite scale would refuse right ones."""
    scale = torch.tensor([[1e39, INF, NAN, 1.0]], dtype=torch.float64)
    challenge = made(lambda x, **_: (x, counted(x)), lambda x, **_: (scale, counted(x)), **along)
    largest = torch.finfo(torch.float32).max
    if along:
        kept = put_together(challenge, large(1, 4), 1).magnitudes["out"]
    else:
        kept = ask(challenge, large(1, 4), 1).magnitudes["out"]
    torch.testing.assert_close(kept, torch.tensor([[largest, INF, NAN, 1.0]]), equal_nan=True)
    in_double = ask(challenge, Case("basic", Category.BASIC, {"rows": 1, "n": 4}), 1).magnitudes["out"]
    assert in_double[0, 0] == 1e39


@pytest.mark.parametrize(("along", "dimension"), [("rows", 0), ("n", 1)])
def test_a_running_sum_continues_along_its_dimension(
    along: str, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 12)
    challenge = made(
        lambda x, **_: (x.cumsum(dimension), counted(x)), pieces={"along": along, "running": True}
    )
    question = put_together(challenge, large(6, 6), 1)
    torch.testing.assert_close(question.outputs["out"], question.inputs["x"].cumsum(dimension))


def test_magnitudes_are_joined_like_the_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 4)

    def kept(x: torch.Tensor, **_: int) -> tuple[torch.Tensor, torch.Tensor]:
        found = torch.zeros_like(x)
        found[0, : int((x > 0).sum())] = x[x > 0]
        return found, (x > 0).sum().reshape(1)

    challenge = made(
        kept,
        lambda x, **_: (kept(x)[0], torch.zeros(1)),
        pieces={"along": "n"},
        compare={"out": {"first": "count"}},
    )
    question = put_together(challenge, large(1, 40), 1)
    assert 0 < int(question.outputs["count"]) < 40
    assert torch.equal(question.magnitudes["out"], question.outputs["out"])


@pytest.mark.parametrize("value", [2.5, NAN, INF, 300.0, -129.0])
def test_a_reference_must_round_to_integers(value: float) -> None:
    """If cut off or wrapped silently, wrong values would be right."""
    challenge = made(lambda x, **_: (x, counted(x)), dtype="int8")
    case = Case("basic", Category.BASIC, {"rows": 2, "n": 3}, {"x": Constant(value)})
    with pytest.raises(ChallengeInvalid, match=r"case 'basic'.*'out' is int8, but some"):
        ask(challenge, case, 1)


@pytest.mark.parametrize("value", [-128.0, 127.0])
def test_whole_numbers_may_be_returned_as_floats(value: float) -> None:
    challenge = made(lambda x, **_: (x, counted(x).double()), dtype="int8")
    case = Case("basic", Category.BASIC, {"rows": 2, "n": 3}, {"x": Constant(value)})
    question = ask(challenge, case, 1)
    assert question.outputs["out"].tolist() == [[value] * 3] * 2
    assert question.outputs["count"].tolist() == [6]


def test_a_float64_does_not_count_beyond_2_53() -> None:
    challenge = made(lambda x, **_: (x, counted(x).double() + 2.0**54))
    with pytest.raises(ChallengeInvalid, match="'count' is int64, but some"):
        ask(challenge, Case("basic", Category.BASIC, {"rows": 2, "n": 3}), 1)


def test_a_reference_that_runs_out_of_memory_is_named() -> None:
    """The machine's error, so a caller with another way (smaller sizes) can take it, with the author's remedy."""

    def hungry(x: torch.Tensor, rows: int, n: int) -> torch.Tensor:
        raise torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 280.74 GiB. GPU 0 has a total capacity ..."
        )

    case = Case("wide", Category.BASIC, {"rows": 2, "n": 4})
    with pytest.raises(
        torch.OutOfMemoryError, match=r"hungry\(\) on case 'wide' ran out of memory: .*torch\.split"
    ):
        ask(made(hungry), case, 1, "cpu")
