"""A compiled submission waits for its device, or has its verdict."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from grader.languages import Language
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.heartbeat import Heartbeat
from grader.records import gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.challenges import versions
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_report
from tests.queue.compiling.builders import BOARD, SOURCE, MakeExecutor, Send, see, state, wakeups
from tests.queue.fakes import LIBRARY, FakeCompiler, FakeJudge, compiled

pytestmark = pytest.mark.both_databases


def test_each_wakeup_is_in_the_queue_of_its_submission(
    platform: Platform, send: Send, make_executor: MakeExecutor
) -> None:
    send()
    assert wakeups(platform) == (1, 0)
    send("x = 1\n", filename="a.py")
    assert wakeups(platform) == (1, 1)
    assert make_executor(FakeCompiler()).serve_one()
    assert wakeups(platform) == (1, 2)  # the executor of a test takes no wake-ups, and hands on with one


def test_a_compiled_submission_waits_and_runs_with_its_artefact(
    platform: Platform,
    student: User,
    send: Send,
    make_executor: MakeExecutor,
    heartbeat: Heartbeat,
    stopping: threading.Event,
) -> None:
    sent = send()
    compiler = FakeCompiler(lambda _: compiled("solution.cu(1): warning\n"))
    executor = make_executor(compiler)
    assert executor.serve_one()
    assert not executor.serve_one()
    (request,) = compiler.requests
    assert (request.arch, request.source) == ("sm_90a", SOURCE)
    assert "grader_entry" in request.footer
    assert state(platform, student, sent) is State.WAITING

    judge = FakeJudge()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    runner = Executor(DirectCoordinator(board, "r"), board.settings.device, judge, heartbeat, stopping)
    assert runner.serve_one()
    assert not runner.serve_one()
    (job,) = judge.jobs
    assert job.artefact is not None
    assert (job.artefact.library, job.artefact.log) == (LIBRARY, "solution.cu(1): warning\n")
    assert (job.artefact.key, job.artefact.arch) == (request.key(), "sm_90a")
    assert [kernel.name for kernel in job.artefact.kernels] == ["add"]
    assert see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_the_same_source_is_compiled_once(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    sent = [send(), send(), send(SOURCE + "// another\n")]
    compiler = FakeCompiler()
    executor = make_executor(compiler)
    while executor.serve_one():
        pass
    assert len(compiler.requests) == 2
    assert {state(platform, student, public_id) for public_id in sent} == {State.WAITING}
    with platform.sessions() as session:
        assert session.query(ArtefactRow).count() == 2


def test_a_submission_waits_until_the_architecture_is_known(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "t4", list(Language), utcnow(), "GPU-2")
    sent = send(device="t4")
    executor = make_executor(compiler := FakeCompiler())
    assert not executor.serve_one()
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-2", "t4", "Tesla T4", "sm_75"), utcnow())
    assert executor.serve_one()
    assert compiler.requests[0].arch == "sm_75"
    assert state(platform, student, sent) is State.WAITING


def test_a_compile_error_needs_no_gpu(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    sent = send()
    words = 'solution.cu(3): error: identifier "b" is undefined'
    make_executor(FakeCompiler(lambda _: CompileResult(False, None, f"a warning\n{words}", 1.5))).serve_one()
    seen = see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt) == (State.DONE, Verdict.COMPILE_ERROR, 1)
    assert seen.score is not None
    assert (seen.score.passed, seen.score.total) == (0, 2)
    report = get_report(platform, student, sent)
    assert (report.detail, report.compiler_log, report.device) == (words, f"a warning\n{words}", BOARD)
    assert report.breakdown_s == {"compile": 1.5, "total": 1.5}
    assert wakeups(platform)[1] == 0


def test_a_folder_that_changes_while_compiling_gives_no_verdict(
    platform: Platform, student: User, send: Send, make_executor: MakeExecutor
) -> None:
    def meanwhile(_: object) -> CompileResult:
        path = platform.catalogue.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("value = 2.0", "value = 4.0"))
        versions.serve(platform, platform.catalogue.load("scale"))
        return CompileResult(False, None, "error", 0.1)

    sent = send()
    executor = make_executor(FakeCompiler(meanwhile, lambda _: CompileResult(False, None, "error", 0.1)))
    assert executor.serve_one()
    assert state(platform, student, sent) is State.QUEUED
    assert executor.serve_one()
    assert see(platform, student, sent).verdict is Verdict.COMPILE_ERROR
