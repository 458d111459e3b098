"""The suite's judgement: defended, vulnerable, refused, and changes of the host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.languages import Language
from grader.schemas.report import CaseReport, CaseVerdict, Flag, Report, Score, Verdict, WorkloadReport
from tests.hostile.host_state import MARK, take
from tests.hostile.range import ACCEPTED, DEFENDED, REFUSED, UNEXPECTED, VULNERABLE, decide
from tests.hostile.suite import CONTROL, Entry, HeaderInvalid, load, read


def entry(surface: str = "clock", **fields: str) -> Entry:
    return Entry("name", surface, Language.TRITON, "", "A title", fields)


def report(
    verdict: Verdict = Verdict.ACCEPTED, *flags: Flag, time_us: float | None = None, known: bool = True
) -> Report:
    case = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)
    timed = WorkloadReport(
        name="small",
        sizes={},
        ranked=True,
        time_us=(time_us or 1) if known else None,
        ci_us=(time_us or 1, time_us or 1),
        rounds=3,
    )
    return Report(
        verdict=verdict,
        flags=list(flags),
        challenge="twice",
        version=1,
        language=Language.TRITON,
        device="cpu",
        cases=[case],
        workloads=[timed] if time_us else [],
        score=Score(time_us=time_us if known else None),
    )


WRONG = Verdict.WRONG_ANSWER


@pytest.mark.parametrize(
    ("defence", "found", "outcome"),
    [
        ("wrong_answer", report(WRONG), DEFENDED),
        ("runtime_error, wrong_answer", report(WRONG), DEFENDED),
        ("runtime_error", report(WRONG), UNEXPECTED),
        ("wrong_answer", report(), VULNERABLE),
        ("library_kernel", report(Verdict.ACCEPTED, Flag.LIBRARY_KERNEL), DEFENDED),
        ("wrong_answer", report(Verdict.ACCEPTED, Flag.LIBRARY_KERNEL), UNEXPECTED),
        ("charged", report(time_us=51e3), DEFENDED),
        ("charged", report(time_us=49e3), VULNERABLE),
        ("charged", report(time_us=49e3, known=False), DEFENDED),
        ("wrong_answer", report(time_us=49e3, known=False), UNEXPECTED),
        ("wrong_answer", report(time_us=51e3), UNEXPECTED),
    ],
)
def test_only_the_defence_named_in_the_header_counts(defence: str, found: Report, outcome: str) -> None:
    assert decide(entry(Defence=defence, Takes="50 ms"), found)[0] == outcome


def test_an_attack_on_a_missing_attribute_is_unexpected() -> None:
    detail = "AttributeError while solve ran (line 23): 'Runner' object has no attribute 'gate'"
    found = report(Verdict.RUNTIME_ERROR).model_copy(update={"detail": detail})
    assert decide(entry(Defence="runtime_error"), found)[0] == UNEXPECTED


def test_each_kind_of_the_full_matrix_has_one_attack_in_every_run() -> None:
    entries = load()
    first = {entry.name for entry in entries if not entry.like}
    assert {entry.like for entry in entries if entry.like} <= first


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (report(), ACCEPTED),
        (report(WRONG), REFUSED),
        (report(Verdict.ACCEPTED, Flag.LIBRARY_KERNEL), REFUSED),
        (report(Verdict.ACCEPTED, Flag.WORK_OUTSIDE_GATE), ACCEPTED),
    ],
    ids=["accepted", "wrong", "flagged", "flagged by a busy host"],
)
def test_a_control_must_be_accepted_without_a_mark(found: Report, outcome: str) -> None:
    assert decide(entry(CONTROL), found)[0] == outcome


def test_a_header_without_a_defence_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "attack.cu"
    path.write_text(
        "// Title.\n//\n// Mechanism: one\n//   and two\n// Surface: s\n// Gain: g\n// Challenge: c\n"
    )
    with pytest.raises(HeaderInvalid, match="Defence"):
        read(path, "clock")
    path.write_text(path.read_text() + "// Defence: wrong_answer, charged\nint x;\n")
    found = read(path, "clock")
    assert (found.title, found.fields["Mechanism"]) == ("Title", "one and two")
    assert found.defence == {"wrong_answer", "charged"}


def test_leftovers_on_the_host_are_found(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("before")
    before = take([tmp_path])
    assert take([tmp_path]).changed_since(before) == {}
    (tmp_path / "kept").write_text("written over")
    note = Path("/tmp") / f"{MARK}-{os.getpid()}"
    note.touch()
    memory = os.memfd_create("leaked")
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = take([tmp_path]).changed_since(before)
    finally:
        sleeper.communicate(b"\n")
        os.close(memory)
        note.unlink()
    assert [name.split()[1] for name in found["processes"]] == [str(sleeper.pid)]
    assert len(found["descriptors"]) == 1
    assert {name[:2] for name in found["files"]} == {"+ ", "- "}
    assert any(str(note) in name for name in found["files"])
    assert sum(str(tmp_path / "kept") in name for name in found["files"]) == 2
