"""A worker judges by the folder that was served under that version, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader.challenge.fingerprint import content, digest
from grader.errors import JudgeFailure
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.finaliser import Finaliser
from grader.queue.heartbeat import Heartbeat
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.challenges import versions
from grader.service.challenges.rejudge import compare, rejudge
from grader.service.challenges.versions import publish
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from tests.queue.fakes import FakeJudge, raises, report_for
from tests.service.world import body

Act = Callable[[Job, Callable[[JudgingProgress], None], Callable[[], bool]], Outcome]


def under(version: int) -> Act:
    def act(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        return Outcome(report=report_for(job).model_copy(update={"version": version}))

    return act


@pytest.fixture
def serve(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[FakeJudge], None]]:
    monkeypatch.setattr(Finaliser, "pause_after_failure_s", 0.0)
    heartbeat = Heartbeat(DirectCoordinator(platform, "w"))
    heartbeat.start()

    def one(judge: FakeJudge) -> None:
        assert Executor(
            DirectCoordinator(platform, "w"), "cpu", judge, heartbeat, threading.Event()
        ).serve_one()

    yield one
    heartbeat.close()


def edit(platform: Platform, old: str, new: str) -> None:
    path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def raise_version(platform: Platform) -> None:
    edit(platform, "version = 1", "version = 2")
    edit(platform, "value = 2.0", "value = 4.0")


Serve = Callable[[FakeJudge], None]


def test_a_job_holds_the_fingerprint_of_its_version(platform: Platform, student: User, serve: Serve) -> None:
    submit(platform, student, body())
    judge = FakeJudge(under(1))
    serve(judge)
    assert judge.jobs[0].fingerprint == digest(content(platform.catalogue.load("scale")))


def test_a_changed_folder_under_an_old_number_judges_nothing(
    platform: Platform, student: User, serve: Serve
) -> None:
    submit(platform, student, body())
    waiting = submit(platform, student, body())
    judge = FakeJudge(under(1))
    serve(judge)
    edit(platform, "value = 2.0", "value = 4.0")
    for _ in range(platform.settings.attempts):
        serve(judge)
    view = get_submission(platform, student, waiting.id)
    assert (view.state, view.verdict) == (State.FAILED, Verdict.INTERNAL_ERROR)
    assert "args changed" in view.error
    assert len(judge.jobs) == 1


def test_a_broken_folder_fails_waiting_submissions_with_a_clear_error(
    platform: Platform, student: User, serve: Serve
) -> None:
    waiting = submit(platform, student, body())
    edit(platform, "version = 1", "version = [")
    judge = FakeJudge(under(1))
    for _ in range(platform.settings.attempts):
        serve(judge)
    view = get_submission(platform, student, waiting.id)
    assert (view.state, view.verdict, judge.jobs) == (State.FAILED, Verdict.INTERNAL_ERROR, [])
    assert "the server is broken" in view.error
    assert str(platform.catalogue.root) not in view.error, "a student sees no path of this machine"


def test_a_failed_judgement_does_not_pin_the_folder(platform: Platform, student: User, serve: Serve) -> None:
    submit(platform, student, body())
    broken = FakeJudge(raises(JudgeFailure("its reference is broken")))
    for _ in range(platform.settings.attempts):
        serve(broken)
    edit(platform, "value = 2.0", "value = 4.0")
    view = submit(platform, student, body())
    serve(FakeJudge(under(1)))
    assert get_submission(platform, student, view.id).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("with_baselines", [False, True])
def test_a_folder_that_changes_during_the_first_judgement_repeats_it(
    platform: Platform, student: User, serve: Serve, with_baselines: bool
) -> None:
    view = submit(platform, student, body())
    measured: dict[str, dict[str, float | None]] = {"small": {"eager": 5.0}} if with_baselines else {}

    def meanwhile(
        job: Job, on_progress: Callable[[JudgingProgress], None], cancelled: Callable[[], bool]
    ) -> Outcome:
        edit(platform, "value = 2.0", "value = 4.0")
        versions.serve(platform, platform.catalogue.load("scale"))
        return Outcome(report=report_for(job), baselines=measured)

    judge = FakeJudge(meanwhile, under(1))
    serve(judge)
    assert get_submission(platform, student, view.id).state is State.QUEUED
    serve(judge)
    assert get_submission(platform, student, view.id).verdict is Verdict.ACCEPTED
    assert judge.jobs[0].fingerprint != judge.jobs[1].fingerprint
    assert judge.jobs[1].baselines == {}, "what was measured of the earlier folder is not kept"


def test_a_folder_that_changes_at_the_last_moment_repeats_the_judgement(
    platform: Platform, student: User, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, finish = submit(platform, student, body()), Finaliser.finish

    def after_a_change(self: Finaliser, *given: Any) -> None:
        monkeypatch.setattr(Finaliser, "finish", finish)
        edit(platform, "value = 2.0", "value = 4.0")
        versions.serve(platform, platform.catalogue.load("scale"))
        finish(self, *given)

    monkeypatch.setattr(Finaliser, "finish", after_a_change)
    judge = FakeJudge(under(1))
    serve(judge)
    assert get_submission(platform, student, view.id).state is State.QUEUED
    serve(judge)
    assert get_submission(platform, student, view.id).verdict is Verdict.ACCEPTED
    assert len(judge.jobs) == 2


def test_a_worker_judges_again_under_a_new_version(
    platform: Platform, student: User, staff: User, serve: Serve
) -> None:
    first = submit(platform, student, body())
    serve(FakeJudge(under(1)))
    raise_version(platform)
    assert rejudge(platform, staff, "scale").queued == 1
    serve(FakeJudge(under(2)))
    assert compare(platform, staff, "scale").judged == 1
    publish(platform, staff, "scale")
    board = leaderboard(platform, "scale")
    assert (board.version, len(board.entries)) == (2, 1)
    assert board.entries[0].submission != first.id


def test_a_worker_with_another_version_does_not_judge_again(
    platform: Platform, student: User, staff: User, serve: Serve
) -> None:
    """It would give the same submission a second result on that version's board."""
    submit(platform, student, body())
    serve(FakeJudge(under(1)))
    raise_version(platform)
    rejudge(platform, staff, "scale")
    edit(platform, "version = 2", "version = 1")
    edit(platform, "value = 4.0", "value = 2.0")
    judge = FakeJudge(under(1))
    serve(judge)
    assert judge.jobs == []
    with platform.sessions() as session:
        (again,) = session.query(SubmissionRow).where(SubmissionRow.rejudge_of.is_not(None))
    assert (again.state, again.version) == (State.QUEUED, 2)
    assert "Version 2 of scale was to be judged, but this host has version 1." in again.error


def test_a_new_submission_is_judged_by_the_served_version(
    platform: Platform, student: User, serve: Serve
) -> None:
    submit(platform, student, body())
    serve(FakeJudge(under(1)))
    view = submit(platform, student, body())
    raise_version(platform)
    serve(FakeJudge(under(2)))
    assert get_submission(platform, student, view.id).version == 2
    assert leaderboard(platform, "scale").version == 1, "until staff publish"
    with writing(platform.sessions) as session:
        assert session.query(SubmissionRow).count() == 2
