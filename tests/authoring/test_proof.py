"""Work without a box: a busy machine is not a weak challenge, and loses no findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.authoring import proof
from grader.authoring.proof import JOBS_PER_GPU, Options, prove
from grader.authoring.worker_pool import Done, Work
from grader.challenge.catalogue import find_catalogue
from grader.errors import BoxUnavailable
from grader.languages import Language
from grader.schemas.proof import Check, Status
from tests.authoring.conftest import Write

NO_BOX = BoxUnavailable("a box started, but its runner did not answer")


class FakePool:
    """Replaces the processes: labels that begin with one of ``refused`` get no box that many times."""

    def __init__(self, refused: dict[str, int]) -> None:
        self.refused, self.workers = refused, list[int]()

    def tries(
        self, catalogue: Path, options: Options, work: Sequence[Work], workers: int, tell: Any
    ) -> Iterator[tuple[Work, Done | BoxUnavailable]]:
        self.workers.append(workers)
        for one in work:
            if self._refuses(one):
                yield one, NO_BOX
            else:
                yield one, Done([Check(name=one.label, status=Status.OK, summary="done")])

    def _refuses(self, one: Work) -> bool:
        for label, left in self.refused.items():
            if one.label.startswith(label) and left:
                self.refused[label] -= 1
                return True
        return False


def _proven(pool: FakePool, write: Write, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(proof, "_tries", pool.tries)
    found = prove(
        write().catalogue.root, ["fresh"], Options(languages=(Language.TRITON,), jobs=4), lambda *_: None
    )
    return [check.name for check in found.challenges[0].checks]


def test_work_that_got_no_box_is_retried_alone(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = FakePool({"solution": 1})
    names = _proven(pool, write, monkeypatch)
    assert sum(name.startswith("solution") for name in names) == 1
    assert pool.workers[:2] == [4, 1]


def test_work_that_gets_no_box_twice_is_reported(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BoxUnavailable, match="did not answer"):
        _proven(FakePool({"solution": 2}), write, monkeypatch)


def test_a_machine_without_boxes_is_reported_at_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = FakePool({"": 1000})
    with pytest.raises(BoxUnavailable):
        _proven(pool, write, monkeypatch)
    assert pool.workers == [4]


def test_worker_processes_share_the_gpus_within_their_capacity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert Options().workers == 64
    assert Options(device="h200").workers == JOBS_PER_GPU
    assert Options(device="h200", gpus=(0, 2)).workers == 2 * JOBS_PER_GPU
    assert Options(device="h200", jobs=3).workers == 3


def test_a_board_with_too_few_gpus_is_named() -> None:
    root = find_catalogue().root
    (found,) = prove(root, ["all_reduce"], Options(device="h200"), lambda *_: None).challenges
    (check,) = found.checks
    assert check.status is Status.ERROR
    assert check.summary == (
        "it runs on 2 GPUs, and the board 'h200' has fewer: check it on emulated or h200-x2"
    )
