"""The judge in a separate process: warm between submissions, cancelled, and replaced when it dies."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.fingerprint import content, digest
from grader.errors import JudgeFailure
from grader.judge.job import Job, JudgingProgress
from grader.judge.process import Cancelled, JsonStream, JudgeProcess
from grader.languages import Language
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.judge.conftest import CATALOGUE
from tests.judge.kernels import RIGHT, with_solve

ENDLESS = with_solve("    while True:\n        pass")

BASELINES = {"small": {"eager": 7.0}}


def job(source: str, challenge: str = "twice", **more: Any) -> Job:
    """With earlier baselines: measuring them takes seconds."""
    return Job(
        submission="test",
        catalogue=str(CATALOGUE),
        challenge=challenge,
        fingerprint=digest(content(Catalogue(CATALOGUE).load(challenge))),
        language=Language.TRITON,
        source=source,
        device="cpu",
        seed_key="00" * 32,
        **{"baselines": BASELINES, **more},
    )


@pytest.fixture(scope="module")
def process() -> Iterator[JudgeProcess]:
    with JudgeProcess("local", spare_boxes=1) as started:
        yield started


def test_the_judge_process_returns_report_and_progress(process: JudgeProcess) -> None:
    """Protects the protocol between a worker and its judge, with baselines that are measured."""
    heard: list[JudgingProgress] = []
    outcome = process.run(job(RIGHT, baselines={}), heard.append, lambda: False)
    assert outcome.report.verdict is Verdict.ACCEPTED
    assert {progress.state for progress in heard} == {State.TESTING, State.TIMING}


def test_frozen_baselines_are_not_measured_again(process: JudgeProcess) -> None:
    # Here all are given; which of them exceed the cost of a round depends on the machine.
    outcome = process.run(job(RIGHT), lambda _: None, lambda: False)
    assert outcome.baselines == {}
    assert outcome.report.workloads[0].baselines_us == BASELINES["small"]


def test_each_submission_gets_another_box(process: JudgeProcess) -> None:
    """Protects a submission against an earlier one's remains in the process."""
    mark = with_solve(
        "    import builtins\n    builtins.seen = getattr(builtins, 'seen', 0) + 1\n    out.copy_(2 * x)"
    )
    source = mark + "\nimport builtins\nassert not hasattr(builtins, 'seen')\n"
    for _ in range(2):
        assert process.run(job(source), lambda _: None, lambda: False).report.verdict is Verdict.ACCEPTED


def test_cancelling_ends_an_endless_submission_soon(process: JudgeProcess) -> None:
    start = time.monotonic()
    with pytest.raises(Cancelled):
        process.run(job(ENDLESS), lambda _: None, lambda: time.monotonic() > start + 0.5)
    assert time.monotonic() - start < 20


def test_a_broken_challenge_is_our_failure(process: JudgeProcess) -> None:
    broken = job(RIGHT).model_copy(update={"challenge": "no_such"})
    with pytest.raises(JudgeFailure, match="no challenge"):
        process.run(broken, lambda _: None, lambda: False)


def test_a_challenge_that_has_just_changed_is_refused(process: JudgeProcess) -> None:
    stale = job(RIGHT).model_copy(update={"fingerprint": "0" * 64})
    with pytest.raises(JudgeFailure, match="changed just now"):
        process.run(stale, lambda _: None, lambda: False)


def test_a_killed_judge_is_our_failure_and_is_replaced(process: JudgeProcess) -> None:
    """Protects students against a verdict, and the queue against a halt, when the judge dies."""

    def kill(progress: JudgingProgress) -> None:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)

    with pytest.raises(JudgeFailure, match="ended during"):
        process.run(job(RIGHT), kill, lambda: False)
    assert process.run(job(RIGHT), lambda _: None, lambda: False).report.verdict is Verdict.ACCEPTED


def test_a_large_library_fits_the_protocol() -> None:
    ours, theirs = socket.socketpair()
    message = {"job": "x" * (32 << 20)}
    with ours, theirs:
        sender = threading.Thread(target=JsonStream(ours).send, args=(message,))
        sender.start()
        began = time.monotonic()
        lines = JsonStream(theirs)
        assert lines.receive(20.0) == message
        assert time.monotonic() - began < 10
        sender.join()
        ours.sendall(b'{"a": 1}\n{"b": 2}\n')
        assert [lines.receive(1.0), lines.receive(1.0), lines.receive(0.0)] == [{"a": 1}, {"b": 2}, None]
