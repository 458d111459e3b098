"""A challenge's own checker decides where several answers are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring.checked import checker_checks
from grader.authoring.trial import Trial
from grader.challenge import examined
from grader.challenge.catalogue import Catalogue
from grader.challenge.examined import Examined
from grader.challenge.loader import EXAMINED, Challenge
from grader.errors import ChallengeInvalid
from grader.judge import pieces
from grader.judge.at_home import judge_at_home
from grader.judge.boxed_reference import ReferenceBox, boxed
from grader.judge.host_device import HostDevice
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from grader.schemas.proof import Status
from grader.schemas.report import Report, Verdict

MANIFEST = """
title = "Place of the largest"
track = "tests"
difficulty = "easy"
version = 1
languages = ["triton"]
args = [
    { name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"] },
    { name = "place", kind = "output", dtype = "int64", shape = ["rows"] },
    { name = "rows", kind = "size" },
    { name = "cols", kind = "size" },
]
workloads = [{ name = "small", sizes = { rows = 200, cols = 300 }, on = "cpu" }]
cost = { bytes = "4 * rows * cols", flops = "rows * cols" }
"""
CASES = """
from grader.challenge.cases import Choice, case


def inputs():
    return {"x": Choice((0.0, 1.0, 2.0))}


def cases():
    return [case("basic", "basic", rows=5, cols=40)]
"""
REFERENCE = "def reference(x, rows, cols):\n    return x.argmax(dim=1)\n"
CHECK = """
def check(given, got, want):
    print("noise", flush=True)
    place = got["place"]
    inside = (place >= 0) & (place < given["cols"])
    values = given["x"].gather(1, place.clamp(0, given["cols"] - 1)[:, None])[:, 0]
    wrong = (~inside | (values != given["x"].max(dim=1).values)).nonzero()
    if len(wrong):
        return "that element is not the largest of its row.", "place", (int(wrong[0]),)
"""
IN_PIECES = MANIFEST + 'pieces = { along = "rows" }\n'
LARGE = CASES.replace("cols=40)", 'cols=40), case("large", "large", rows=3001, cols=40, on="gpu")')
LAST = "def solve(x, place, rows, cols):\n    place.copy_(cols - 1 - x.flip(1).argmax(dim=1))\n"
SMALLEST = "def solve(x, place, rows, cols):\n    place.copy_(x.argmin(dim=1))\n"
NOTHING = "def solve(x, place, rows, cols):\n    pass\n"

Write = Callable[..., Challenge]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(check: str = CHECK, manifest: str = MANIFEST, cases: str = CASES) -> Challenge:
        public, reference = tmp_path / "challenges" / "largest", tmp_path / "reference" / "largest"
        for folder in (public, reference / "staff"):
            folder.mkdir(parents=True)
        (public / "challenge.toml").write_text(manifest)
        (public / "spec.md").write_text("# Largest\n")
        (public / "cases.py").write_text(cases)
        (reference / "reference.py").write_text(REFERENCE)
        (reference / "check.py").write_text(check)
        return Catalogue(tmp_path).load("largest")

    return write


def judged(challenge: Challenge, source: str, boxes: BoxMaker, timing: bool = False) -> Report:
    return judge_at_home(challenge, source, Language.TRITON, boxes, device=CPU, timing=timing)


def test_other_right_answers_pass_and_wrong_ones_say_why(write: Write, boxes: BoxMaker) -> None:
    challenge = write()
    right = judged(challenge, LAST, boxes, timing=True)
    assert right.verdict is Verdict.ACCEPTED, right
    assert [workload.name for workload in right.workloads] == ["small"], "timed rounds ask the checker, too"
    (case,) = judged(challenge, SMALLEST, boxes).cases
    assert case.detail == (
        "place[0]: that element is not the largest of its row. Several answers are right here; this is none of them."
    )
    assert case.mismatch is not None
    assert (case.mismatch.kind, case.mismatch.index) == ("refused", [0])


def test_a_checker_is_not_asked_about_what_was_never_written(write: Write, boxes: BoxMaker) -> None:
    report = judged(write("def check(given, got, want):\n    return None\n"), NOTHING, boxes)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert "never written" in report.cases[0].detail


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("def check(given, got, want):\n    raise ValueError('not today')\n", "ValueError: not today"),
        ("def check(given, got, want):\n    return 7\n", "check() returned 7"),
        ("import os\ndef check(given, got, want):\n    os._exit(3)\n", "exit code 3"),
        ("import time\ndef check(given, got, want):\n    time.sleep(60)\n", "took longer than 1 s"),
    ],
)
def test_a_broken_checker_is_the_challenges_fault(
    write: Write, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch, check: str, says: str
) -> None:
    monkeypatch.setattr("grader.limits.CHECKER_SECONDS", 1.0 if "sleep" in check else 30.0)
    with pytest.raises(ChallengeInvalid) as caught:
        judged(write(check), LAST, boxes)
    assert says in caught.value.message
    assert caught.value.message.startswith("largest: check")


def test_the_proof_asks_for_accepted_references_and_variants(write: Write, boxes: BoxMaker) -> None:
    strict = "def check(given, got, want):\n    return 'no'\n"
    trial = Trial(write(strict), HostDevice(), boxes)
    found = {check.name: check for check in checker_checks(trial.challenge)}
    trial.close()
    assert found["checker"].status is Status.ERROR
    assert "refuses the reference's own answer in case 'basic': no" in found["checker"].summary
    assert found["variant_files"].status is Status.WEAK


def test_a_case_for_a_gpu_alone_is_checked_piece_by_piece(
    write: Write, boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "PIECE_ELEMENTS", 1024 * 40)
    challenge = write(manifest=IN_PIECES, cases=LARGE)

    def on_card(source: str) -> Report:
        request = Request(
            challenge, Language.TRITON, source, "h200", bytes(32), challenge.cases, timing=False
        )
        return Session(request, HostDevice(), boxes, lambda _: None, lambda: None).run().report

    assert on_card(LAST).verdict is Verdict.ACCEPTED
    late = LAST + "    if rows > 2000:\n        place[1100] = x[1100].argmin()\n"
    (large,) = [case for case in on_card(late).cases if case.name == "large"]
    assert large.mismatch is not None
    assert (large.mismatch.kind, large.mismatch.index) == ("refused", [1100])
    missing = LAST.replace("place.copy_(cols", "place[: 2000].copy_((cols").replace(
        "(dim=1))", "(dim=1))[: 2000])"
    )
    (large,) = [case for case in on_card(missing).cases if case.name == "large"]
    assert large.mismatch is not None
    assert (large.mismatch.kind, large.mismatch.index) == ("unwritten", [2000])


def test_a_case_for_a_gpu_alone_needs_pieces_that_a_checker_can_be_asked_about(write: Write) -> None:
    with pytest.raises(ChallengeInvalid, match="asked about pieces"):
        write(cases=LARGE).cases  # noqa: B018 - it is read here


def test_an_uploaded_challenges_reference_and_checker_have_a_box_each(write: Write, boxes: BoxMaker) -> None:
    """Its Python never runs in the judge."""
    challenge = write()
    said = examined.dump(Examined(tuple(challenge.cases), (), challenge.inputs, ("reference",)))
    (challenge.reference_folder / EXAMINED).write_text(said)
    uploaded = Catalogue(challenge.folder.parents[1]).load("largest")
    spec = BoxSpec(BoxPurpose.BASELINE, env={"GRADER_PRELOAD": "torch"})
    box = ReferenceBox(boxes, spec, uploaded.slug, uploaded.reference_source, lambda: None)
    try:
        assert judged(boxed(uploaded, box), LAST, boxes).verdict is Verdict.ACCEPTED
        assert judged(boxed(uploaded, box), SMALLEST, boxes).cases[0].mismatch.kind == "refused"  # type: ignore[union-attr]
    finally:
        box.close()
