"""Answers computed in their staging memory."""

from __future__ import annotations

import torch

from grader.challenge.catalogue import Catalogue
from grader.judge.oracle import ask


def test_answers_are_the_same_in_the_callers_memory(catalogue: Catalogue) -> None:
    challenge = catalogue.load("twice")
    rooms: dict[str, torch.Tensor] = {}

    def room(role: str, like: torch.Tensor) -> torch.Tensor:
        rooms[role] = torch.empty(like.shape, dtype=like.dtype)
        return rooms[role]

    case = challenge.cases[0]
    plain, placed = ask(challenge, case, 7), ask(challenge, case, 7, room=room)
    assert torch.equal(placed.outputs["out"], plain.outputs["out"])
    assert placed.outputs["out"] is rooms["output out"]
