"""What is right in a very large case is what the reference gives for the whole, in whatever pieces it is computed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.challenge.cases import Case
from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Pieces
from grader.judge import pieces
from grader.judge.oracle import Question, ask

CATALOGUE = find_catalogue()
LARGE = {slug: it for slug in CATALOGUE.slugs() if (it := CATALOGUE.load(slug)).manifest.pieces is not None}


def _small(challenge: Challenge, case: Case) -> Case:
    """A large case at a thousandth of its size; one along which nothing is cut as it is."""
    return replace(
        case, sizes={name: min(size, 97) if size < 1 << 20 else 3001 for name, size in case.sizes.items()}
    )


def _answers(question: Question) -> list[torch.Tensor]:
    return [*question.outputs.values(), *question.magnitudes.values()]


@pytest.mark.parametrize("slug", LARGE)
def test_pieces_make_up_the_whole(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = LARGE[slug]
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 512)
    asked = [_small(challenge, it) for it in challenge.cases if it.on]
    assert any(len(list(pieces.cuts(challenge.manifest, _pieces(challenge), it.sizes))) > 5 for it in asked)
    for case in asked:
        cut, whole = ask(challenge, case, 3), ask(challenge, replace(case, on=None), 3)
        for got, want in zip(_answers(cut), _answers(whole), strict=True):
            torch.testing.assert_close(got, want.to(got.dtype), rtol=2e-7, atol=1e-9, equal_nan=True)


def _pieces(challenge: Challenge) -> Pieces:
    assert challenge.manifest.pieces is not None
    return challenge.manifest.pieces
