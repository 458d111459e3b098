"""What the untimed call ahead of a case is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.challenge.catalogue import Catalogue
from grader.judge.arena import Arena
from grader.judge.correctness import Suite
from grader.judge.device import HostDevice
from grader.judge.runner_client import Answer

FINE = Answer(0.001, None, [])


class Doubling:
    """In place of a runner's client: notes what the untimed call finds, and gives right answers."""

    memory_bytes = 0

    def __init__(self) -> None:
        self.found: list[torch.Tensor] = []

    def bind(self, _arena: Arena) -> None:
        pass

    def unbind(self) -> None:
        pass

    def warm_up(self, arena: Arena, inputs: Mapping[str, torch.Tensor], _seconds: float) -> Answer:
        arena.reveal(inputs)
        self.found.append(arena.buffers["x"].values.clone())
        return FINE

    def call(self, arena: Arena, inputs: Mapping[str, torch.Tensor], _seconds: float) -> Answer:
        arena.reveal(inputs)
        arena.buffers["out"].values.copy_(2 * arena.buffers["x"].values)
        return FINE

    def printed(self) -> bytes:
        return b""


@pytest.mark.parametrize("on", [None, "gpu"], ids=["small", "large"])
def test_only_large_cases_are_warmed_up_on_zeros(catalogue: Catalogue, on: Any) -> None:
    challenge = catalogue.load("twice")
    case = replace(next(it for it in challenge.cases if it.sizes["n"] > 1), on=on)
    client: Any = Doubling()
    suite = Suite(challenge, [case], lambda _: 5, lambda: client, lambda *_: None, HostDevice(), warm_up=True)
    suite.run(client)
    assert suite.passed
    (found,) = client.found
    assert bool(found.any()) == (on is None)
