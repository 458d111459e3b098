"""Compiling and judging processes together, over a real Redis."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.cli.config import environment
from grader.queue.worker import run_worker
from grader.records import gpus
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, SubmissionRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.operation.health import health
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings
from grader.wakeups import COMPILE
from tests.components import need
from tests.queue.compiling.builders import SOURCE
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes
from tests.queue.gpus import H200
from tests.service.world import body, make_settings, until

ROOT = Path(__file__).parent.parent.parent
BOARD = "h200"
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}", lock_dir=tmp_path / "locks")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes; those still running at the end are killed."""
    started: list[subprocess.Popen[bytes]] = []

    def one(*arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", *arguments]
        started.append(subprocess.Popen(command, cwd=ROOT, env=env, stderr=subprocess.PIPE))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


@pytest.fixture
def slow(start: Start, tmp_path: Path, redis_url: str) -> Callable[[str, str], subprocess.Popen[bytes]]:
    return lambda name, kind: start("tests.queue.slow_worker", str(tmp_path), redis_url, name, kind)


def _send(platform: Platform, student: User, source: str = SOURCE) -> str:
    return submit(platform, student, body(source=source, filename="a.cu", device=BOARD)).id


def _see(platform: Platform, student: User, sent: str) -> SubmissionView:
    return get_submission(platform, student, sent)


def _until_state(platform: Platform, student: User, sent: str, state: State) -> None:
    until(lambda: _see(platform, student, sent).state is state, f"{sent} is {state}")


def _know_the_gpu(platform: Platform) -> None:
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord(H200.uuid, BOARD, H200.name, "sm_90a"), utcnow())


def test_the_next_submission_is_compiled_while_one_is_judged(
    platform: Platform,
    student: User,
    slow: Callable[[str, str], subprocess.Popen[bytes]],
    tmp_path: Path,
) -> None:
    (tmp_path / "compiler-gate").touch()
    slow("judge", "gpu")
    slow("compiler", "compile")
    first = _send(platform, student)
    _until_state(platform, student, first, State.TESTING)
    later = [_send(platform, student, f"{SOURCE}// {number}\n") for number in range(2)]
    for sent in later:
        _until_state(platform, student, sent, State.WAITING)
    assert _see(platform, student, first).state is State.TESTING
    assert [_see(platform, student, sent).position for sent in later] == [1, 2]
    assert health(platform).parts["workers"].detail.endswith("compile: 1 alive")
    (tmp_path / "gate").touch()
    for sent in (first, *later):
        _until_state(platform, student, sent, State.DONE)
        seen = _see(platform, student, sent)
        assert (seen.verdict, seen.attempt) == (Verdict.ACCEPTED, 2), "claimed once to compile, once to run"


def test_another_worker_takes_over_from_a_killed_compiler(
    platform: Platform,
    student: User,
    slow: Callable[[str, str], subprocess.Popen[bytes]],
    tmp_path: Path,
) -> None:
    """Protects against a submission lost when its compile worker is killed."""
    _know_the_gpu(platform)
    sent = _send(platform, student)
    first = slow("first", "compile")
    _until_state(platform, student, sent, State.COMPILING)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    (tmp_path / "compiler-gate").touch()
    slow("second", "compile")
    _until_state(platform, student, sent, State.WAITING)
    with platform.sessions() as session:
        row = session.query(SubmissionRow).one()
        assert (row.attempt, row.failures) == (2, 1)
        assert session.query(ArtefactRow).count() == 1


def test_a_cancelled_compilation_ends_at_once(
    platform: Platform, student: User, slow: Callable[[str, str], subprocess.Popen[bytes]]
) -> None:
    _know_the_gpu(platform)
    sent = _send(platform, student)
    slow("compiler", "compile")
    _until_state(platform, student, sent, State.COMPILING)
    cancel(platform, student, sent)
    _until_state(platform, student, sent, State.CANCELLED)


def test_sigterm_while_compiling_returns_the_submission_at_once(
    platform: Platform, student: User, slow: Callable[[str, str], subprocess.Popen[bytes]]
) -> None:
    _know_the_gpu(platform)
    sent = _send(platform, student)
    worker = slow("compiler", "compile")
    _until_state(platform, student, sent, State.COMPILING)
    # The worker's sweeper may have issued a second wake-up while the first was on its way.
    platform.wakeups.connection.flushall()
    worker.terminate()
    _, log = worker.communicate(timeout=60)
    assert worker.returncode == 0, log
    assert _see(platform, student, sent).state is State.QUEUED
    assert platform.wakeups.waiting(COMPILE) == 1
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0


def test_a_wiped_redis_loses_nothing(
    platform: Platform,
    student: User,
    slow: Callable[[str, str], subprocess.Popen[bytes]],
    tmp_path: Path,
) -> None:
    _know_the_gpu(platform)
    sent = [_send(platform, student, f"{SOURCE}// {number}\n") for number in range(3)]
    slow("compiler", "compile")
    until(
        lambda: any(_see(platform, student, public_id).state is State.COMPILING for public_id in sent),
        "compiling",
    )
    platform.wakeups.connection.flushall()
    (tmp_path / "compiler-gate").touch()
    for submission in sent:
        _until_state(platform, student, submission, State.WAITING)


def test_a_single_gpu_worker_compiles_and_judges(
    platform: Platform, student: User, settings: Settings
) -> None:
    sent = [_send(platform, student, f"{SOURCE}// {number}\n") for number in range(3)]
    judge, compiler = FakeJudge(), FakeCompiler()
    run_worker(settings, burst=True, judge=judge, boxes=NoBoxes(), gpu=H200, compiler=compiler)
    assert {_see(platform, student, public_id).verdict for public_id in sent} == {Verdict.ACCEPTED}
    assert [request.arch for request in compiler.requests] == ["sm_90a"] * 3
    assert [job.artefact is not None for job in judge.jobs] == [True] * 3
    assert compiler.closed


def test_a_single_gpu_worker_serves_both_languages_in_turn(
    platform: Platform, student: User, other: User, settings: Settings
) -> None:
    need("nvcc")
    for number in range(4):
        triton = body(source=f"x = {number}\n", filename="a.py", device=BOARD)
        submit(platform, student, triton)
    sent = submit(platform, other, body(source=SOURCE, filename="a.cu", device=BOARD)).id
    judge = FakeJudge()
    run_worker(settings, burst=True, judge=judge, boxes=NoBoxes(), gpu=H200, compiler=FakeCompiler())
    assert len(judge.jobs) == 5
    place = [job.submission for job in judge.jobs].index(sent)
    assert place == 1, "one who sends much does not hold up another because their source is to be compiled"


def test_the_worker_command_compiles_for_a_remote_gpu(
    platform: Platform, student: User, settings: Settings, start: Start
) -> None:
    """Protects against a compile worker that needs a GPU, or compiles for another than the judge has."""
    need("nvcc")
    _know_the_gpu(platform)
    right, wrong = _send(platform, student), _send(platform, student, SOURCE.replace("n) out", "m) out"))
    worker = start("grader.cli.main", "worker", "--compile", "1", env=environment(settings))
    _until_state(platform, student, right, State.WAITING)
    _until_state(platform, student, wrong, State.DONE)
    assert '"m" is undefined' in get_report(platform, student, wrong).detail
    worker.terminate()
    _, log = worker.communicate(timeout=60)
    assert worker.returncode == 0, log
