from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from grader.queue.embedded import start_redis
from grader.queue.worker import run_worker
from grader.records import workers
from grader.records.models import ReportRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User, create_user
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submissions import get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.fakes import FakeJudge, NoBoxes, judged
from tests.service.world import body, make_settings, remove, short_folder, until

pytestmark = pytest.mark.both_databases

StartWorker = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(tmp_path: Path, redis_url: str) -> Iterator[StartWorker]:
    """Starts real worker processes; those still running at the end are killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, url: str = redis_url) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.queue.slow_worker", str(tmp_path), url, name]
        root = Path(__file__).parent.parent.parent
        process = subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def _see(platform: Platform, student: User, sent: str) -> SubmissionView:
    return get_submission(platform, student, sent)


def _end(process: subprocess.Popen[bytes], seconds: float = 10.0) -> str:
    _, log = process.communicate(timeout=seconds)
    return log.decode()


def test_a_burst_serves_everything_waiting(platform: Platform, student: User, settings: Settings) -> None:
    sent = [submit(platform, student, body()).id for _ in range(3)]
    judge = FakeJudge(judged(Verdict.WRONG_ANSWER), judged())
    run_worker(settings, "w", burst=True, judge=judge, boxes=NoBoxes())
    seen = [_see(platform, student, public_id) for public_id in sent]
    assert [view.verdict for view in seen] == [Verdict.WRONG_ANSWER, Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert judge.closed
    assert not health(platform).parts["workers"].ok


def test_surplus_wakeups_are_ignored(platform: Platform, student: User, settings: Settings) -> None:
    submit(platform, student, body())
    platform.wakeups.enqueue("run:cpu", 2)
    judge = FakeJudge()
    run_worker(settings, burst=True, judge=judge, boxes=NoBoxes())
    assert len(judge.jobs) == 1
    assert platform.wakeups.waiting("run:cpu") == 0


def test_a_submission_of_a_killed_worker_ends_once_with_its_true_verdict(
    platform: Platform, student: User, start_worker: StartWorker, tmp_path: Path
) -> None:
    """Protects against a submission lost, or judged twice, when its worker is killed."""
    sent = submit(platform, student, body()).id
    first = start_worker("first")
    until(lambda: _see(platform, student, sent).state is State.TESTING, "testing")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "gate").touch()
    start_worker("second")
    until(lambda: _see(platform, student, sent).state.final, "an end")
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt) == (State.DONE, Verdict.ACCEPTED, 2)
    with platform.sessions() as session:
        assert session.query(ReportRow).count() == 1
        until(
            lambda: [worker.name for worker in workers.alive(session, utcnow(), 60)] == ["second"],
            "the dead worker is marked",
        )


def test_sigterm_while_testing_returns_the_submission_at_once(
    platform: Platform, student: User, start_worker: StartWorker, tmp_path: Path
) -> None:
    """Protects against a restart of workers that holds submissions until their leases run out."""
    sent = submit(platform, student, body()).id
    worker = start_worker("w")
    until(lambda: _see(platform, student, sent).state is State.TESTING, "testing")
    worker.terminate()
    log = _end(worker)
    assert worker.returncode == 0, log
    assert '"event": "worker_ended"' in log
    assert _see(platform, student, sent).state is State.QUEUED
    with platform.sessions() as session:
        assert workers.alive(session, utcnow(), 60) == []
    (tmp_path / "gate").touch()
    start_worker("next")
    until(lambda: _see(platform, student, sent).state.final, "an end")
    assert _see(platform, student, sent).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_worker(
    platform: Platform, start_worker: StartWorker, number: signal.Signals
) -> None:
    worker = start_worker("w")
    until(lambda: health(platform).parts["workers"].ok, "a worker")
    worker.send_signal(number)
    log = _end(worker)
    assert worker.returncode == 0, log


def test_a_wiped_redis_loses_nothing(
    platform: Platform, student: User, start_worker: StartWorker, tmp_path: Path, redis_url: str
) -> None:
    sent = [submit(platform, student, body()).id for _ in range(3)]
    start_worker("w")
    until(
        lambda: any(_see(platform, student, public_id).state is State.TESTING for public_id in sent),
        "testing",
    )
    client = Redis.from_url(redis_url)
    client.flushall()
    client.close()
    (tmp_path / "gate").touch()
    until(
        lambda: all(_see(platform, student, public_id).state is State.DONE for public_id in sent), "all done"
    )


def test_a_worker_survives_a_redis_outage(tmp_path: Path) -> None:
    folder = short_folder()
    server = start_redis(Settings(data_dir=folder, redis_url=""))
    platform = open_platform(make_settings(tmp_path, server.url))
    student = create_user(platform, "ada", "correct horse")
    (tmp_path / "gate").touch()
    command = [sys.executable, "-m", "tests.queue.slow_worker", str(tmp_path), server.url, "w"]
    worker = subprocess.Popen(command, cwd=Path(__file__).parent.parent.parent, stderr=subprocess.DEVNULL)
    try:
        until(lambda: health(platform).parts["workers"].ok, "a worker")
        server.process.kill()
        server.process.wait()
        sent = submit(platform, student, body()).id
        server = start_redis(Settings(data_dir=folder, redis_url=""))
        until(lambda: _see(platform, student, sent).state is State.DONE, "done after Redis came back")
    finally:
        worker.kill()
        worker.wait()
        server.close()
        platform.close()
        remove(folder)
