"""A very large case is drawn, answered and compared piece by piece: the pieces equal the reference's result
for the whole, and each wrong element, changed input and byte written outside is named by its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Part, Rows, Sprinkle
from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Pieces
from grader.judge import pieces
from grader.judge.arena import Arena
from grader.judge.cuda.memory_needs import case_bytes, own_bytes
from grader.judge.large import LargeQuestion
from grader.judge.oracle import results_of
from grader.limits import GIB
from grader.schemas.report import Mismatch
from tests.judge.large import answered, arena_of, put_together

CATALOGUE = find_catalogue()
LARGE = {
    slug: challenge
    for slug in CATALOGUE.slugs()
    if (challenge := CATALOGUE.load(slug)).manifest.pieces is not None
}
DRAWN_WHOLE = ("batch_norm", "coo_to_csr", "paged_attention", "sparse_2_4", "spmm_csr", "transformer_block")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 32)


def _small(challenge: Challenge, case: Case) -> Case:
    """Even sizes stay even, as a challenge may require."""
    return replace(
        case,
        sizes={
            name: min(size, 24 + size % 2) if size < 1 << 20 else 1501 for name, size in case.sizes.items()
        },
    )


@pytest.mark.parametrize("slug", LARGE)
def test_pieces_make_up_the_whole(slug: str) -> None:
    challenge = LARGE[slug]
    asked = [_small(challenge, case) for case in challenge.cases if case.on]
    assert any(len(list(pieces.cuts(challenge.manifest, _pieces(challenge), cut.sizes))) > 5 for cut in asked)
    for case in asked:
        found = put_together(challenge, case, 3)
        reference = challenge.reference
        for function, got, within in (
            (reference.compute, found.outputs, 2e-7),
            # A scale alone, often in float32: the order of its sums depends on their shape.
            (reference.magnitude, found.magnitudes, 1e-5),
        ):
            if function is None:
                continue
            whole = results_of(challenge, case, function, found.inputs, case.sizes)
            for name, values in got.items():
                want = whole[name].to(values.dtype)
                torch.testing.assert_close(values, want, rtol=within, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("slug", LARGE)
def test_the_right_answer_is_accepted_and_every_wrong_place_is_named(slug: str) -> None:
    challenge = LARGE[slug]
    case = _small(challenge, [case for case in challenge.cases if case.on][-1])
    right = put_together(challenge, case, 3).outputs

    def judged(spoil: Callable[[Arena], None]) -> Mismatch | None:
        question = LargeQuestion(challenge, case, 3, "cpu")
        with arena_of(challenge, case) as arena:
            arena.reveal(question.inputs)
            answered(arena, right)
            spoil(arena)
            return question.examine(arena)

    assert judged(lambda _: None) is None
    for name, values in right.items():
        counts = challenge.manifest.compare.get(name)
        number = int(right[counts.first][0]) if counts is not None and counts.first else values.numel()
        for place in {0, number // 2 + 1, number - 1} & set(range(number)):

            def spoil(arena: Arena, name: str = name, place: int = place) -> None:
                arena.buffers[name].values[place] = 123_456

            found = judged(spoil)
            assert found is not None, (name, place)
            flat = _flat(found.index, values.shape)
            assert (found.argument, flat, found.wrong) == (name, place, 1)
            assert [_flat(element.index, values.shape) for element in found.worst] == [place]
    (given, *_) = [argument.name for argument in challenge.manifest.buffers if argument.kind == "input"]

    def change(arena: Arena) -> None:
        arena.buffers[given].words[-2:].fill_(77)

    changed = judged(change)
    assert changed is not None
    assert (changed.argument, changed.kind, changed.wrong) == (given, "input_changed", 2)
    with arena_of(challenge, case) as arena:
        assert changed.total == arena.buffers[given].count


def _flat(index: list[int] | None, shape: torch.Size) -> int:
    assert index is not None
    flat = 0
    for place, size in zip(index, shape, strict=True):
        flat = flat * size + place
    return flat


@pytest.mark.parametrize("slug", LARGE)
def test_a_case_in_pieces_needs_little_more_than_its_arrays(slug: str) -> None:
    """A piece, and the whole of filters and weights. Inputs that are sorted, or cut along an inner dimension, are
    drawn whole."""
    challenge = CATALOGUE.load(slug)
    large = [case for case in (*challenge.cases, *challenge.hidden_cases) if case.on]
    assert large
    for case in large:
        own = own_bytes(challenge.manifest, case.sizes)
        more = 16 if slug in DRAWN_WHOLE else 4.1
        assert own < case_bytes(challenge, case) <= own + more * GIB, case.name


@pytest.mark.parametrize(
    "recipe",
    [
        Normal(),
        Choice((1.0, 2.0)),
        At(9, (0, -1, 3, 250, -200), base=Constant(0)),
        At(INF, (-1,), base=Sprinkle(NAN, 0.1)),
        Sprinkle(5, 0.01, base=Constant(0)),
        Sprinkle(5, 1e-9, base=Constant(0)),
        Rows(7, 3, base=Constant(0)),
    ],
)
@pytest.mark.parametrize("shape", [(300,), (30, 10)])
def test_recipes_drawn_in_parts_equal_the_whole(
    recipe: At | Sprinkle | Rows | Normal | Choice, shape: tuple[int, ...]
) -> None:
    assert recipe.in_parts
    generator = torch.Generator().manual_seed(1)
    step = shape[0] // 3 - 1
    parts = [Part(shape, start, min(step, shape[0] - start)) for start in range(0, shape[0], step)]
    whole = recipe.draw(shape, torch.float32, generator)
    joined = torch.cat([recipe.draw_part(part, torch.float32, generator) for part in parts])
    assert joined.shape == whole.shape
    if isinstance(recipe, Sprinkle):
        assert int((joined == 5).sum()) == int((whole == 5).sum()) == max(1, round(300 * recipe.share))
    elif isinstance(recipe, At) and isinstance(recipe.base, Sprinkle):
        assert torch.equal(joined == INF, whole == INF)
    elif isinstance(recipe, (At, Rows)):
        assert torch.equal(joined, whole)


def test_two_draws_of_one_seed_agree_and_two_seeds_differ() -> None:
    """The final comparison uses the revealed inputs."""
    challenge = LARGE["vector_add"]
    case = _small(challenge, next(case for case in challenge.cases if case.name == "beyond_2_31"))
    one, again, other = (put_together(challenge, case, seed).inputs["b"] for seed in (3, 3, 4))
    assert torch.equal(one, again)
    assert int((one == other).sum()) < 10
    assert int((one[:512] == one[512:1024]).sum()) < 10, "parts are drawn apart"


def _pieces(challenge: Challenge) -> Pieces:
    assert challenge.manifest.pieces is not None
    return challenge.manifest.pieces
