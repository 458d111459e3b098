"""Patterns of wrong numbers, of results that not every challenge has."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.judge.explaining.numbers.patterns import pattern_of
from grader.judge.explaining.numbers.places import line_pattern, spread
from grader.judge.explaining.numbers.relations import related
from grader.judge.explaining.questions.inputs import answers_another
from grader.judge.explaining.wrong import Wrong
from grader.judge.oracle import right_answers

CHALLENGE = Catalogue(Path(__file__).parents[3]).load("transpose")
RESULT = CHALLENGE.manifest.results[0]


def wrong(shape: tuple[int, ...], got: torch.Tensor, poisoned: torch.Tensor | None = None) -> Wrong:
    want = torch.arange(got.numel(), dtype=torch.float32) + 1
    return Wrong(
        RESULT, shape, got, want, got != want, poisoned, None, CHALLENGE.manifest.allowance(RESULT, {}, {})
    )


def test_a_challenge_without_inputs_has_no_alternative_answer() -> None:
    found = wrong((32,), torch.arange(32, dtype=torch.float32) * 3)
    case = Case("case", Category.BASIC, {"rows": 4, "cols": 8})
    assert answers_another(found, CHALLENGE, case, {}, rounding=False) is None


def test_row_patterns_are_not_reported_if_only_first_elements_count() -> None:
    poisoned = torch.arange(20) % 2 == 0
    found = pattern_of(wrong((8, 4), torch.zeros(20), poisoned))
    assert found is not None
    assert found.kind == "unwritten"


@pytest.mark.parametrize(
    ("shape", "places", "sentence"),
    [
        (
            (64, 96),
            (slice(None), slice(3, None, 16)),
            "Exactly every 16th column of out is wrong, from column 3 on.",
        ),
        ((64, 96), (slice(5, 61, 55), slice(None)), "All wrong elements of out are in rows 5 and 60."),
        (
            (128, 96),
            (slice(31, None, 32), slice(None)),
            "Exactly every 32nd row of out is wrong, from row 31 on.",
        ),
        ((4096,), (slice(5, None, 32),), "Exactly every 32nd element of out is wrong, from element 5 on."),
        ((64, 96), (slice(7, 8), slice(None)), "All wrong elements of out are in row 7."),
    ],
)
def test_wrong_elements_on_lines_are_reported_by_line(
    shape: tuple[int, ...], places: tuple[slice, ...], sentence: str
) -> None:
    got = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape) + 1
    got[places] = got[places] * 3 + torch.rand(got[places].shape, generator=torch.Generator().manual_seed(3))
    found = line_pattern(wrong(shape, got.reshape(-1)))
    assert found is not None
    assert found.text == sentence


def test_scattered_wrong_elements_have_no_pattern() -> None:
    got = torch.arange(64 * 96, dtype=torch.float32) + 1
    got[torch.randperm(6144, generator=torch.Generator().manual_seed(1))[:300]] *= 2.5
    assert line_pattern(wrong((64, 96), got)) is None


def said(result: Wrong) -> tuple[str, str]:
    assert pattern_of(result) is None, "a pattern that says more"
    found = line_pattern(result)
    assert found
    return found.kind, found.text


def noise(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(5)) * 100 + 1


def made(got: torch.Tensor, want: torch.Tensor, **more: torch.Tensor) -> Wrong:
    flat = (got.reshape(-1), want.reshape(-1))
    bad = (flat[0] != flat[1]) | flat[0].isnan()
    return Wrong(
        RESULT,
        tuple(want.shape),
        *flat,
        bad,
        None,
        None,
        CHALLENGE.manifest.allowance(RESULT, {}, {}),
        **more,
    )


def test_values_from_before_the_call_or_of_the_case_before() -> None:
    want, old = noise(40, 50), noise(40, 50).flip(0) * 3
    got = want.clone()
    got[8:20, 5:40] = old[8:20, 5:40]
    kind, text = said(made(got, want, given=old.reshape(-1)))
    assert (kind, text) == (
        "untouched",
        "Where out is wrong, it still holds its values from before the call.",
    )
    assert said(made(got, want, before=old.reshape(-1)))[0] == "stale"
    found = line_pattern(made(got, want, before=old.reshape(-1)[:500]))
    assert found is None or found.kind != "stale"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((slice(7, 8), slice(None)), "In out everything is NaN in row 7, and nothing else is wrong"),
        ((slice(None), slice(5, 9, 3)), "in 2 columns, the first of which is 5"),
        ((slice(None), slice(None)), "All of out is NaN."),
    ],
)
def test_nan_that_spreads_along_a_line(place: tuple[slice, slice], text: str) -> None:
    want = noise(40, 50)
    got = want.clone()
    got[place] = math.nan
    found = spread(made(got, want))
    assert found
    assert text in found.text


def test_blocks_at_each_others_places() -> None:
    want = noise(2100)
    got = want.clone()
    got[:2048] = want[:2048].reshape(8, 256).flip(0).reshape(-1)
    assert said(made(got, want)) == (
        "block_order",
        "The values of out are right, but groups of 256 elements are in reverse order: group 0 holds the values of "
        "group 7.",
    )
    matrix = noise(64, 96)
    tiles = matrix.reshape(4, 16, 6, 16).clone()
    tiles[0, :, 1], tiles[1, :, 0] = tiles[1, :, 0].clone(), tiles[0, :, 1].clone()
    kind, text = said(made(tiles.reshape(64, 96), matrix))
    assert kind == "block_order"
    assert text.endswith(
        "tiles of 16 x 16 are at each other's places: tile [0, 1] holds the values of tile [1, 0]."
    )


def test_the_last_tile_alone_is_wrong() -> None:
    want = noise(50, 101)
    got = want.clone()
    got[:, 96:] = noise(50, 5) * 7
    assert said(made(got, want)) == (
        "last_tile",
        "All wrong elements of out are from column 96 on: in the last tile of 32 columns, which has only 5 of them.",
    )


def test_scans_indices_and_values_that_lack_a_part() -> None:
    values = noise(1500)
    steps = values.round()  # their sums are exact
    want = steps.cumsum(0)
    alone = torch.cat([part.cumsum(0) for part in steps.split(512)])
    found = pattern_of(made(alone, want))
    assert found
    assert (found.kind, found.number) == ("begins_again", 512)
    found = pattern_of(made(want - steps[0], want))
    assert found
    assert found.kind == "offset"
    found = pattern_of(made(torch.arange(1.0, 101) - 1, torch.arange(1.0, 101)))
    assert found
    assert found.kind == "offset", "a shift and an offset fit: the offset says less, and is true"
    found = pattern_of(made(values.trunc(), values))
    assert found
    assert found.kind == "whole"
    masked = torch.where(torch.arange(1500) % 2 == 0, values, torch.zeros(1500))
    assert pattern_of(made(values - masked, masked)) is None
    indices = torch.randint(0, 1000, (64,), generator=torch.Generator().manual_seed(2))
    found = pattern_of(made(indices % 128, indices))
    assert found
    assert found.text.startswith("Every element of out is the right one modulo 128")
    order = torch.randperm(1500, generator=torch.Generator().manual_seed(3))
    assert said(made(values[order], values))[0] == "reordered"


@pytest.mark.parametrize(
    ("x", "w", "sentence"),
    [
        ("x", "w.flip(0)", "The result is right if w is read in reverse order, from its end."),
        ("x", "torch.cat([w[:-1], 0 * w[-1:]])", "the last element of w along k is left out"),
        ("x.trunc()", "w", "the fractions of x are cut off"),
        ("x", "w * torch.linspace(0.5, 2, 7)", ""),
    ],
)
def test_a_result_that_answers_another_question(x: str, w: str, sentence: str) -> None:
    challenge = Catalogue(Path(__file__).parents[3]).load("conv1d")
    case = Case("case", Category.BASIC, {"n": 200, "k": 7})
    generator = torch.Generator().manual_seed(4)
    inputs = {"x": torch.randn(200, generator=generator) * 5, "w": torch.randn(7, generator=generator)}
    right = right_answers(challenge, case, inputs)["out"]
    changed = {"x": eval(x, {**inputs, "torch": torch}), "w": eval(w, {**inputs, "torch": torch})}
    got = right_answers(challenge, case, changed)["out"]
    result = Wrong(
        challenge.manifest.results[0],
        (194,),
        got,
        right,
        got != right,
        None,
        None,
        challenge.manifest.allowance(challenge.manifest.results[0], {}, {}),
    )
    found = answers_another(result, challenge, case, inputs, rounding=False)
    assert (sentence in found.text) if found and sentence else not (found or sentence)


def result_of(slug: str, shape: tuple[int, ...], got: torch.Tensor, want: torch.Tensor) -> Wrong:
    challenge = Catalogue(Path(__file__).parents[3]).load(slug)
    result = challenge.manifest.results[0]
    flat = got.reshape(-1), want.reshape(-1)
    return Wrong(
        result, shape, *flat, flat[0] != flat[1], None, None, challenge.manifest.allowance(result, {}, {})
    )


def test_a_sum_that_is_not_cleared_between_neighbours_is_named() -> None:
    want = torch.randn((8, 10), generator=torch.Generator().manual_seed(3))
    got = want.reshape(8, 5, 2).cumsum(2).reshape(8, 10)
    found = pattern_of(result_of("matmul", (8, 10), got, want))
    assert found is not None
    assert found.text.startswith(
        "In each group of 2 neighbouring elements of out along its rows, an element is the sum"
    )


def test_only_rows_that_repeat_the_first_right_one_have_a_stated_cause() -> None:
    want = torch.randn((8, 10), generator=torch.Generator().manual_seed(3))
    for got, text in (
        (want[:1].expand(8, 10), "Every row of out is the right row 0: the row index has no effect."),
        (want[2:3].expand(8, 10), "Every row of out is the same."),
        (torch.full((8, 10), 9.0), "All elements of out are 9."),
    ):
        found = pattern_of(result_of("matmul", (8, 10), got.contiguous(), want))
        assert found is not None
        assert found.text == text


def test_one_right_element_of_a_vector_says_nothing_about_threads() -> None:
    want = torch.randn(200, generator=torch.Generator().manual_seed(3))
    got = torch.randn(200, generator=torch.Generator().manual_seed(4))
    got[0] = want[0]
    found = line_pattern(result_of("vector_add", (200,), got, want))
    assert found is None or found.kind != "right_alone"


def test_indices_from_the_beginning_of_the_array_are_named() -> None:
    x = torch.randn((8, 40), generator=torch.Generator().manual_seed(3))
    want = x.argmax(1)
    found = related(result_of("argmax_rows", (8,), want + torch.arange(8) * 40, want), {"x": x})
    assert found is not None
    assert found.text == (
        "Every out[i] is the right index plus i * 40: it counts from the beginning of x, not of row i."
    )


def test_the_largest_of_partial_sums_is_named() -> None:
    x = torch.rand(1000, generator=torch.Generator().manual_seed(3))
    got = torch.stack([part.sum() for part in x.split(256)]).max().reshape(1)
    found = related(result_of("reduce_sum", (1,), got, x.sum().reshape(1)), {"x": x})
    assert found is not None
    assert found.text.startswith("out is the largest of the sums of 256 elements each")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_lost_sign_is_named_only_if_wrong_elements_had_one(sign: float) -> None:
    """A small error of positive values is no lost sign."""
    want = sign * (torch.arange(64, dtype=torch.float32) + 1)
    got = want.abs() * (1 + 2e-4 * (torch.arange(64) % 3))
    found = pattern_of(
        Wrong(RESULT, (64,), got, want, got != want, None, None, CHALLENGE.manifest.allowance(RESULT, {}, {}))
    )
    assert (found is not None and "without its sign" in found.text) is (sign < 0)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda x: x.conj(), "is the complex conjugate"),
        (lambda x: torch.complex(x.imag, x.real), "Real and imaginary parts of out are exchanged"),
        (lambda x: x[:, -torch.arange(8)], "in the order 0, 7, 6, ..., 1"),
        (lambda x: x[:, [0, 4, 2, 6, 1, 5, 3, 7]], "in bit-reversed order: 1 is where 4 belongs"),
        (lambda x: x.flip(1), ""),
    ],
)
def test_the_order_and_the_parts_of_complex_results_are_named(
    changed: Callable[[torch.Tensor], torch.Tensor], said: str
) -> None:
    challenge = Catalogue(Path(__file__).parents[3]).load("fft_rows")
    argument = challenge.manifest.results[0]
    want = torch.randn(4, 8, dtype=torch.complex64, generator=torch.Generator().manual_seed(3))
    parts = [torch.view_as_real(values.resolve_conj()).reshape(-1) for values in (changed(want), want)]
    allowance = challenge.manifest.allowance(argument, {}, {})
    found = pattern_of(Wrong(argument, (4, 8, 2), *parts, parts[0] != parts[1], None, None, allowance))
    assert said in (found.text if found is not None else "")
    assert bool(said) is (found is not None and found.kind == "of_complex")
