from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from grader.errors import JudgeFailure
from grader.queue import finaliser
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.records import leases
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from tests.queue.fakes import FakeJudge, judged, raises, waits_for
from tests.service.world import body, until

pytestmark = pytest.mark.both_databases

MakeExecutor = Callable[[FakeJudge], Executor]


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


@pytest.fixture
def make_executor(
    platform: Platform, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeExecutor]:
    monkeypatch.setattr(finaliser.Finaliser, "pause_after_failure_s", 0.0)
    heartbeat = Heartbeat(DirectCoordinator(platform, "w"))
    heartbeat.start()
    yield lambda judge: Executor(DirectCoordinator(platform, "w"), "cpu", judge, heartbeat, stopping)
    heartbeat.close()


@pytest.fixture
def sent(platform: Platform, student: User) -> str:
    return submit(platform, student, body()).id


def _see(platform: Platform, student: User, sent: str) -> SubmissionView:
    return get_submission(platform, student, sent)


def test_verdict_and_report_are_stored(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor
) -> None:
    judge = FakeJudge(judged(Verdict.WRONG_ANSWER))
    executor = make_executor(judge)
    assert executor.serve_one()
    assert not executor.serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt) == (State.DONE, Verdict.WRONG_ANSWER, 1)
    assert seen.score is not None
    assert (seen.score.passed, seen.score.total) == (0, 1)
    assert get_report(platform, student, sent).cases[0].detail == "0 is not 1"


def test_the_job_carries_source_catalogue_and_a_secret_key(
    platform: Platform, sent: str, make_executor: MakeExecutor
) -> None:
    judge = FakeJudge()
    make_executor(judge).serve_one()
    (job,) = judge.jobs
    assert (job.submission, job.source, job.catalogue) == (sent, "x = 1\n", str(platform.catalogue.root))
    assert len(bytes.fromhex(job.seed_key)) == 32


def test_each_judgement_has_a_fresh_unstored_seed_key(
    platform: Platform, sent: str, make_executor: MakeExecutor
) -> None:
    judge = FakeJudge(raises(RuntimeError("the host died")), judged())
    executor = make_executor(judge)
    assert executor.serve_one()
    assert executor.serve_one()
    first, second = (job.seed_key for job in judge.jobs)
    assert first != second
    assert not (platform.settings.data_dir / "secrets").exists()


def test_baselines_are_frozen_and_passed_to_later_jobs(
    platform: Platform, student: User, make_executor: MakeExecutor
) -> None:
    judge = FakeJudge(
        judged(baselines={"small": {"eager": 5.0}}),
        judged(baselines={"small": {"eager": 50.0}}),
        judged(),
    )
    executor = make_executor(judge)
    for _ in range(3):
        submit(platform, student, body())
        executor.serve_one()
    assert [job.baselines for job in judge.jobs] == [
        {},
        {"small": {"eager": 5.0}},
        {"small": {"eager": 5.0}},
    ]


def test_our_failures_are_retried_and_cost_nothing(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor
) -> None:
    judge = FakeJudge(
        raises(JudgeFailure("The GPU fell off the bus.")), judged(Verdict.INTERNAL_ERROR), judged()
    )
    executor = make_executor(judge)
    executor.serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.error) == (State.QUEUED, None, "The GPU fell off the bus.")
    assert platform.wakeups.waiting("run:cpu") == 2
    executor.serve_one()
    assert _see(platform, student, sent).error == "the disk is full"
    executor.serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt, seen.error) == (State.DONE, Verdict.ACCEPTED, 3, "")


def test_three_failures_of_ours_end_the_submission_as_failed(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor
) -> None:
    executor = make_executor(FakeJudge(raises(RuntimeError("/etc/secret")), judged(Verdict.INTERNAL_ERROR)))
    while executor.serve_one():
        pass
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt) == (State.FAILED, Verdict.INTERNAL_ERROR, 3)
    assert seen.error == "the disk is full"
    assert get_report(platform, student, sent).verdict is Verdict.INTERNAL_ERROR


def test_an_unexpected_error_shows_its_class_only(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor
) -> None:
    make_executor(FakeJudge(raises(RuntimeError("/etc/secret")))).serve_one()
    error = _see(platform, student, sent).error
    assert "RuntimeError" in error
    assert "/etc/secret" not in error


@pytest.mark.parametrize("state", [State.COMPILING, State.TESTING, State.TIMING])
def test_cancel_at_each_state_ends_it_within_a_moment(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, tmp_path: Path, state: State
) -> None:
    executor = make_executor(FakeJudge(waits_for(tmp_path / "never", state)))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        until(lambda: _see(platform, student, sent).state is state, f"reached {state}")
        cancel(platform, student, sent)
        until(lambda: _see(platform, student, sent).state is State.CANCELLED, "cancelled", 5.0)
        assert served.result(5.0)
    seen = _see(platform, student, sent)
    assert seen.verdict is None
    assert seen.finished_at is not None


def test_progress_is_stored(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, tmp_path: Path
) -> None:
    executor = make_executor(FakeJudge(waits_for(tmp_path / "gate")))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        seen = until(
            lambda: (view := _see(platform, student, sent)).state is State.TESTING and view, "testing"
        )
        assert isinstance(seen, SubmissionView)
        assert (seen.progress.done, seen.progress.total, seen.progress.label) == (1, 3, "seven")
        assert seen.started_at is not None
        (tmp_path / "gate").touch()
        assert served.result(5.0)
    assert _see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_the_lease_is_renewed_while_judging(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, tmp_path: Path
) -> None:
    def lease() -> object:
        with platform.sessions() as session:
            return session.query(SubmissionRow.lease_until).scalar()

    executor = make_executor(FakeJudge(waits_for(tmp_path / "gate")))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        first = until(lease, "a lease")
        until(lambda: lease() != first, "a longer lease")
        (tmp_path / "gate").touch()
        served.result(5.0)


def test_a_lost_lease_ends_judging_without_a_write(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, tmp_path: Path
) -> None:
    executor = make_executor(FakeJudge(waits_for(tmp_path / "never")))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        until(lambda: _see(platform, student, sent).state is State.TESTING, "testing")
        with writing(platform.sessions) as session:
            (row,) = session.query(SubmissionRow)
            later = utcnow() + timedelta(hours=1)
            assert leases.reclaim(session, row.id, row.attempt, later, 3) is State.QUEUED
        assert served.result(5.0)
    seen = _see(platform, student, sent)
    assert (seen.state, seen.attempt) == (State.QUEUED, 1)


def test_a_stopping_worker_returns_its_submission_uncounted(
    platform: Platform,
    student: User,
    sent: str,
    make_executor: MakeExecutor,
    stopping: threading.Event,
    tmp_path: Path,
) -> None:
    executor = make_executor(FakeJudge(waits_for(tmp_path / "never")))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(executor.serve_one)
        until(lambda: _see(platform, student, sent).state is State.TESTING, "testing")
        stopping.set()
        assert served.result(5.0)
    assert _see(platform, student, sent).state is State.QUEUED
    assert not executor.serve_one()
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0


def test_a_verdict_survives_a_short_database_outage(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finaliser, "_WRITE_PAUSES_S", (0.0, 0.0))
    finish, failures = leases.finish, [OperationalError("x", {}, Exception()) for _ in range(2)]

    def fails_twice(*args: object) -> bool:
        if failures:
            raise failures.pop()
        return finish(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(leases, "finish", fails_twice)
    make_executor(FakeJudge()).serve_one()
    assert _see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_the_log_names_the_submission_but_not_its_source(
    platform: Platform, student: User, make_executor: MakeExecutor
) -> None:
    submit(platform, student, body(source="hunter2 = 1"))
    with capture_logs() as lines:
        make_executor(FakeJudge(raises(RuntimeError("no")), judged())).serve_one()
    assert [line["event"] for line in lines] == ["judging", "judge_failed", "our_failure"]
    assert "hunter2" not in str(lines)


def test_a_report_that_cannot_be_stored_is_our_failure(
    platform: Platform, student: User, sent: str, make_executor: MakeExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> bool:
        raise ValueError("no")

    monkeypatch.setattr(leases, "finish", breaks)
    executor = make_executor(FakeJudge())
    while executor.serve_one():
        pass
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.FAILED, Verdict.INTERNAL_ERROR)
