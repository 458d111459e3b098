"""Workers that a scheduler starts: they end by themselves, and lose nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grader.cli import options, workers
from grader.cli.workers import WorkerSet
from grader.errors import EXIT_START_AGAIN, BadRequest
from grader.queue.pilot import PilotLimits
from grader.queue.worker import run_compile_worker, run_worker
from grader.records.models import SubmissionRow
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, judged, waits_for
from tests.service.world import body


def given_back(platform: Platform, student: User, sent: str) -> bool:
    """And not charged to anybody."""
    with platform.sessions() as session:
        failures = session.query(SubmissionRow.failures).scalar()
    return get_submission(platform, student, sent).state is State.QUEUED and failures == 0


def test_an_idle_pilot_serves_what_waits_and_ends(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = [submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2)]
    assert not run_worker(settings, judge=FakeJudge(), boxes=NoBoxes(), pilot=PilotLimits(idle=0.5))
    assert [get_submission(platform, student, each).state for each in sent] == [State.DONE, State.DONE]
    assert not run_compile_worker(
        settings, compiler=FakeCompiler(), boxes=NoBoxes(), pilot=PilotLimits(idle=0.2)
    )


def test_a_pilot_takes_nothing_shortly_before_its_end(
    platform: Platform, student: User, settings: Settings
) -> None:
    """The first submission takes it into the last fifth of its lifetime, in which it is finished."""

    def lasts(*given: Any) -> Any:
        time.sleep(8.2)
        return judged()(*given)

    sent = [submit(platform, student, body(source=f"x = {n}\n")).id for n in range(2)]
    judge = FakeJudge(lasts, judged())
    run_worker(settings, judge=judge, boxes=NoBoxes(), pilot=PilotLimits(lifetime=10.0))
    states = [get_submission(platform, student, each).state for each in sent]
    assert sorted(states) == sorted([State.DONE, State.QUEUED])
    assert len(judge.jobs) == 1


def test_a_submission_at_the_end_of_the_lifetime_is_given_back(
    platform: Platform, student: User, settings: Settings, tmp_path: Path
) -> None:
    sent = submit(platform, student, body()).id
    judge = FakeJudge(waits_for(tmp_path / "never"))
    assert not run_worker(settings, judge=judge, boxes=NoBoxes(), pilot=PilotLimits(lifetime=3.0))
    assert given_back(platform, student, sent)


def test_a_signalled_pilot_gives_back_within_5_s_and_asks_to_be_started_again(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, student: User, settings: Settings, tmp_path: Path
) -> None:
    sent = submit(platform, student, body()).id
    judge = FakeJudge(waits_for(tmp_path / "never"))

    def run(*given: Any, **named: Any) -> bool:
        del named["gpu"]
        return run_worker(*given, **named, judge=judge, boxes=NoBoxes())

    monkeypatch.setattr("grader.queue.worker.run_worker", run)
    signalled: list[float] = []

    def send() -> None:
        while get_submission(platform, student, sent).state is not State.TESTING:
            time.sleep(0.05)
        signalled.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=send).start()
    code = workers.run_workers(settings, WorkerSet("cpu", ""), None, False, PilotLimits(lifetime=3600))
    assert code == EXIT_START_AGAIN
    assert time.monotonic() - signalled[0] < 5.0
    assert given_back(platform, student, sent)


@pytest.mark.parametrize(("text", "value"), [("90", 90), ("1.5s", 1.5), ("55m", 3300), ("2h", 7200)])
def test_times(text: str, value: float) -> None:
    assert options.seconds("--idle", text) == value


@pytest.mark.parametrize("text", ["", "0", "-5", "5d", "nan", "1e3"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="is not a time"):
        options.seconds("--idle", text)
