"""An uploaded challenge's reference runs in a box, and gives what it gives in the judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.challenge import bundle, examined
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.examined import Examined
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.judge.boxed_reference import BoxedChallenge, ReferenceBox, boxed
from grader.judge.eager_cost import eager_seconds
from grader.judge.oracle import ask
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.local_box import LocalBoxes

SLUG = "layernorm"


@pytest.fixture
def direct() -> Challenge:
    return find_catalogue().load(SLUG)


def upload(challenge: Challenge, root: Path) -> Challenge:
    found = Examined(tuple(challenge.cases), (), challenge.inputs, challenge.functions)
    bundle.unfold(bundle.of_challenge(challenge), examined.dump(found), root)
    return Catalogue(root).load(challenge.slug)


def in_box(challenge: Challenge, source: str = "") -> BoxedChallenge:
    spec = BoxSpec(BoxPurpose.BASELINE)
    text = source or challenge.reference_source
    return boxed(challenge, ReferenceBox(LocalBoxes(), spec, challenge.slug, text, lambda: None))


@pytest.fixture
def remote(direct: Challenge, tmp_path: Path) -> Iterator[BoxedChallenge]:
    made = in_box(upload(direct, tmp_path / "uploaded"))
    yield made
    assert made.box is not None
    made.box.close()


def test_a_boxed_reference_gives_the_same_results(direct: Challenge, remote: BoxedChallenge) -> None:
    for case in [case for case in direct.cases if case.on is None][:6]:
        here, there = ask(direct, case, 7), ask(remote, case, 7)
        for name, values in here.outputs.items():
            assert torch.equal(values.nan_to_num(), there.outputs[name].nan_to_num()), (case.name, name)
        assert here.magnitudes.keys() == there.magnitudes.keys()
    workload = direct.manifest.workloads[0]
    assert eager_seconds(remote, workload) == pytest.approx(eager_seconds(direct, workload))


def test_a_box_answers_for_longer_than_a_box_may_live(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = BoxSpec(BoxPurpose.BASELINE, wall_seconds=900.0)
    started: list[Any] = []

    def start(_: BoxSpec) -> Any:
        started.append(SimpleNamespace(connection=None, clock=[], kill=lambda: None))
        started[-1].live_for = started[-1].clock.append
        return started[-1]

    boxes: Any = SimpleNamespace(start=start)
    box = ReferenceBox(boxes, spec, "twice", "", lambda: None)
    monkeypatch.setattr(box, "_send", lambda *_: None)
    monkeypatch.setattr(box, "_receive", lambda _: {"op": "ready"})
    assert box._started() is box._started() is started[0]
    assert started[0].clock == [900.0], "each question restarts its clock"
    monkeypatch.setattr("time.monotonic", lambda: box._end + 1)
    assert box._started() is started[1], "one that idled for so long has ended"


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        ("def reference(**_):\n    raise ValueError('not today')\n", ChallengeInvalid, "not today"),
        ("import os\ndef reference(**_):\n    os._exit(3)\n", JudgeFailure, "exit code 3"),
        ("raise SystemExit(4)\n", JudgeFailure, "exit code 4"),
    ],
)
def test_a_misbehaving_reference_fails_only_its_box(
    direct: Challenge, tmp_path: Path, source: str, error: type[Exception], says: str
) -> None:
    made = in_box(upload(direct, tmp_path / "uploaded"), source)
    assert made.box is not None
    try:
        with pytest.raises(error, match=says):
            ask(made, direct.cases[0], 7)
    finally:
        made.box.close()
