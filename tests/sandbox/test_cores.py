"""Cores without background work, and boxes that keep to their cores."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from grader.sandbox.box import Box, BoxMaker
from grader.sandbox.compiler.nvcc import compile_spec
from grader.sandbox.processor import Share, background_cores, without_reserved
from tests.sandbox.talk import ask

Start = Callable[..., Box]


def _alone(core: int) -> frozenset[int]:
    return frozenset({core})


@pytest.mark.parametrize(
    ("cores", "expected"),
    [([0], ()), ([0, 1], (1,)), ([3, 7, 9], (7, 9)), (list(range(16)), tuple(range(4, 16)))],
)
def test_one_core_in_four_is_reserved(cores: list[int], expected: tuple[int, ...]) -> None:
    assert without_reserved(cores, _alone) == expected


def test_threads_of_a_core_are_reserved_together() -> None:
    kept = set(range(16)) - set(
        without_reserved(list(range(16)), lambda core: frozenset({core % 8, core % 8 + 8}))
    )
    assert kept == {0, 8, 1, 9}


def test_one_thread_of_a_single_core_is_reserved() -> None:
    assert without_reserved([0, 1], lambda _: frozenset({0, 1})) == (1,)


def test_compilers_leave_a_core_free(boxes: BoxMaker, start: Start) -> None:
    spec = compile_spec()
    box = start(boxes, share=spec.share, cores=spec.cores)
    seen = ask(box, "see")
    mine = sorted(os.sched_getaffinity(0))
    assert seen["cores"] == list(background_cores() or mine)
    assert len(mine) == 1 or len(seen["cores"]) < len(mine)


def test_a_background_box_has_low_priority(local_boxes: BoxMaker, start: Start) -> None:
    nice = [ask(start(local_boxes, share=share), "see")["nice"] for share in Share]
    assert nice == [max(os.nice(0), share.nice) for share in Share]
    assert nice == sorted(nice, reverse=True)
