"""The queue of what is to be compiled: claimed by whoever compiles, handed on to who runs it, or at its end."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grader.errors import BoxUnavailable
from grader.queue.compile_desk import BoxCompiler, CompileDesk, Compiler
from grader.queue.desk import Desk
from grader.queue.hands import Hands
from grader.queue.heart import Heart
from grader.queue.sweeper import Swept, sweep
from grader.queue.tickets import COMPILE, run_queue
from grader.records import artefacts, claims, gpus, workers
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, SubmissionRow, utcnow
from grader.sandbox.box import BoxSpec
from grader.sandbox.compiler import nvcc
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult
from grader.sandbox.local_box import LocalBox, LocalBoxes
from grader.sandbox.toolkit import nvcc_version
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State, SubmissionView
from grader.service import versions
from grader.service.accounts import User
from grader.service.cancel import cancel
from grader.service.health import health
from grader.service.platform import Platform
from grader.service.submissions import get_report, get_submission
from grader.service.submit import submit
from grader.settings import Settings
from tests.components import need
from tests.queue.fakes import LIBRARY, FakeCompiler, FakeJudge, compiled
from tests.service.world import body, make_settings, until

BOARD, RUN = "h200", run_queue("h200")
# What the footer of ``scale`` accepts.
SOURCE = """\
__global__ void scale(const float* a, const int* i, float* out, float alpha, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = alpha * a[at] + i[at];
}
extern "C" void solve(const float* a, const int* i, float* out, float alpha, int64_t n) {
    scale<<<(n + 255) / 256, 256>>>(a, i, out, alpha, n);
}
"""
MakeDesk = Callable[[Compiler], CompileDesk]


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    return make_settings(tmp_path, redis_url, devices=f"cpu,{BOARD}")


@pytest.fixture
def platform(platform: Platform) -> Platform:
    """One that knows what the board's GPU is compiled for."""
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", BOARD, "NVIDIA H200", "sm_90a"), utcnow())
    return platform


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


@pytest.fixture
def heart(platform: Platform) -> Iterator[Heart]:
    heart = Heart(platform, "c")
    heart.start()
    yield heart
    heart.close()


@pytest.fixture
def make_desk(
    platform: Platform, heart: Heart, stopping: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> MakeDesk:
    monkeypatch.setattr(Hands, "pause_after_failure_s", 0.0)
    return lambda compiler: CompileDesk(platform, compiler, heart, "c", stopping)


Send = Callable[..., str]


@pytest.fixture
def send(platform: Platform, student: User) -> Send:
    def one(source: str = SOURCE, **values: object) -> str:
        given = {"filename": "a.cu", "device": BOARD, **values}
        return submit(platform, student, body(source=source, **given)).id

    return one


def _see(platform: Platform, student: User, sent: str) -> SubmissionView:
    return get_submission(platform, student, sent)


def _state(platform: Platform, student: User, sent: str) -> State:
    return _see(platform, student, sent).state


def _tickets(platform: Platform) -> tuple[int, int]:
    return platform.tickets.waiting(COMPILE), platform.tickets.waiting(RUN)


def test_tickets_stand_where_the_submission_waits(
    platform: Platform, send: Send, make_desk: MakeDesk
) -> None:
    send()
    assert _tickets(platform) == (1, 0)
    send("x = 1\n", filename="a.py")
    assert _tickets(platform) == (1, 1)
    assert make_desk(FakeCompiler()).serve_one()
    assert _tickets(platform) == (1, 2)  # a desk of a test takes no tickets, and hands on with one


def test_compiled_for_its_board_it_waits_and_is_run_with_what_was_made(
    platform: Platform,
    student: User,
    send: Send,
    make_desk: MakeDesk,
    heart: Heart,
    stopping: threading.Event,
) -> None:
    sent = send()
    compiler = FakeCompiler(lambda _: compiled("solution.cu(1): warning\n"))
    desk = make_desk(compiler)
    assert desk.serve_one()
    assert not desk.serve_one()
    (request,) = compiler.requests
    assert (request.arch, request.source) == ("sm_90a", SOURCE)
    assert "grader_entry" in request.footer
    assert _state(platform, student, sent) is State.WAITING

    judge = FakeJudge()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    runner = Desk(board, judge, heart, "r", stopping)
    assert runner.serve_one()
    assert not runner.serve_one()
    (job,) = judge.jobs
    assert job.artefact is not None
    assert (job.artefact.library, job.artefact.log) == (LIBRARY, "solution.cu(1): warning\n")
    assert (job.artefact.key, job.artefact.arch) == (request.key(), "sm_90a")
    assert [kernel.name for kernel in job.artefact.kernels] == ["add"]
    assert _see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_the_same_source_is_compiled_once(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    sent = [send(), send(), send(SOURCE + "// another\n")]
    compiler = FakeCompiler()
    desk = make_desk(compiler)
    while desk.serve_one():
        pass
    assert len(compiler.requests) == 2
    assert {_state(platform, student, it) for it in sent} == {State.WAITING}
    with platform.sessions() as session:
        assert session.query(ArtefactRow).count() == 2


def test_an_unknown_board_waits_until_a_worker_tells_of_its_gpu(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "t4", list(Language), utcnow(), "GPU-2")
    sent = send(device="t4")
    desk = make_desk(compiler := FakeCompiler())
    assert not desk.serve_one()
    with writing(platform.sessions) as session:
        gpus.register(session, GpuRecord("GPU-2", "t4", "Tesla T4", "sm_75"), utcnow())
    assert desk.serve_one()
    assert compiler.requests[0].arch == "sm_75"
    assert _state(platform, student, sent) is State.WAITING


def test_what_does_not_compile_gets_its_verdict_without_a_gpu(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    sent = send()
    words = 'solution.cu(3): error: identifier "b" is undefined'
    make_desk(FakeCompiler(lambda _: CompileResult(False, None, f"a warning\n{words}", 1.5))).serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict, seen.attempt) == (State.DONE, Verdict.COMPILE_ERROR, 1)
    assert seen.score is not None
    assert (seen.score.passed, seen.score.total) == (0, 2)
    report = get_report(platform, student, sent)
    assert (report.detail, report.compiler_log, report.device) == (words, f"a warning\n{words}", BOARD)
    assert report.breakdown_s == {"compile": 1.5, "total": 1.5}
    assert _tickets(platform)[1] == 0


def test_no_verdict_by_a_folder_that_changed_while_it_was_compiled(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    def meanwhile(_: object) -> CompileResult:
        path = platform.course.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("value = 2.0", "value = 4.0"))
        versions.serve(platform, platform.course.load("scale"))
        return CompileResult(False, None, "error", 0.1)

    sent = send()
    desk = make_desk(FakeCompiler(meanwhile, lambda _: CompileResult(False, None, "error", 0.1)))
    assert desk.serve_one()
    assert _state(platform, student, sent) is State.QUEUED
    assert desk.serve_one()
    assert _see(platform, student, sent).verdict is Verdict.COMPILE_ERROR


def test_our_failures_are_tried_again_and_cost_nothing(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    def full(_: Callable[[], None]) -> CompileResult:
        raise OSError(28, "/var/secret")

    def broken(_: Callable[[], None]) -> CompileResult:
        raise BoxUnavailable("the box that compiles failed: the process was ended by signal 9")

    sent = send()
    desk = make_desk(FakeCompiler(broken, full))
    assert desk.serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.QUEUED, None)
    assert "signal 9" in seen.error
    assert _tickets(platform) == (2, 0)
    assert desk.serve_one()
    assert "/var/secret" not in _see(platform, student, sent).error
    assert desk.serve_one()
    seen = _see(platform, student, sent)
    assert (seen.state, seen.attempt, seen.error) == (State.WAITING, 3, "")


def test_after_three_failures_it_has_failed_and_says_that_it_was_us(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    def broken(_: Callable[[], None]) -> CompileResult:
        raise BoxUnavailable("the engine does not answer")

    sent = send()
    desk = make_desk(FakeCompiler(*[broken] * 4))
    assert [desk.serve_one() for _ in range(4)] == [True, True, True, False]
    seen = _see(platform, student, sent)
    assert (seen.state, seen.verdict) == (State.FAILED, Verdict.INTERNAL_ERROR)
    assert seen.error == "the engine does not answer"


def _patient(interrupt: Callable[[], None]) -> CompileResult:
    """Compiles until nobody wants it."""
    while True:
        interrupt()
        time.sleep(0.02)


def test_cancelled_while_it_is_compiled(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    sent = send()
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(make_desk(FakeCompiler(_patient)).serve_one)
        until(lambda: _state(platform, student, sent) is State.COMPILING, "compiling")
        assert _see(platform, student, sent).position == 1
        cancel(platform, student, sent)
        until(lambda: _state(platform, student, sent) is State.CANCELLED, "cancelled", 5.0)
        assert served.result(5.0)


def test_cancelled_while_it_waits_for_the_device(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    sent = send()
    make_desk(FakeCompiler()).serve_one()
    assert _see(platform, student, sent).position == 1
    assert cancel(platform, student, sent).state is State.CANCELLED
    with writing(platform.sessions) as session:
        assert claims.claim(session, BOARD, list(Language), "r", utcnow(), 30.0) is None


def test_cancelled_at_the_last_moment_it_is_not_handed_on(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk
) -> None:
    sent = send()

    def late(_: Callable[[], None]) -> CompileResult:
        cancel(platform, student, sent)
        return compiled()

    make_desk(FakeCompiler(late)).serve_one()
    assert _state(platform, student, sent) is State.CANCELLED
    assert _tickets(platform)[1] == 0


def test_a_worker_that_stops_puts_it_back_uncounted(
    platform: Platform, student: User, send: Send, make_desk: MakeDesk, stopping: threading.Event
) -> None:
    sent = send()
    desk = make_desk(FakeCompiler(_patient))
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(desk.serve_one)
        until(lambda: _state(platform, student, sent) is State.COMPILING, "compiling")
        stopping.set()
        assert served.result(5.0)
    assert _state(platform, student, sent) is State.QUEUED
    assert not desk.serve_one()
    with platform.sessions() as session:
        assert session.query(SubmissionRow.failures).scalar() == 0


def test_a_dead_compiler_is_noticed_and_its_ticket_issued_again(
    platform: Platform, student: User, send: Send
) -> None:
    sent = send()
    platform.tickets.connection.flushall()
    assert sweep(platform) == Swept(tickets=1)
    platform.tickets.connection.flushall()
    with writing(platform.sessions) as session:
        ago = utcnow() - timedelta(seconds=60)
        assert claims.claim_to_compile(session, [BOARD], "dead", ago, platform.settings.lease_s)
    assert sweep(platform) == Swept(reclaimed=1, tickets=1)
    assert _state(platform, student, sent) is State.QUEUED
    assert _tickets(platform) == (1, 0)


def test_a_wiped_redis_gets_the_tickets_of_what_waits_back(
    platform: Platform, send: Send, make_desk: MakeDesk
) -> None:
    send()
    make_desk(FakeCompiler()).serve_one()
    platform.tickets.connection.flushall()
    assert sweep(platform) == Swept(tickets=1)
    assert _tickets(platform) == (0, 1)


def test_without_anyone_who_compiles_there_is_an_alert(platform: Platform, send: Send) -> None:
    send()
    with writing(platform.sessions) as session:
        workers.register(session, "w", BOARD, list(Language), utcnow(), "GPU-1")
    (alert,) = health(platform).alerts
    assert "no worker has a CUDA compiler" in alert.text
    with writing(platform.sessions) as session:
        workers.register(session, "c", "", [Language.CUDA], utcnow(), compiles=True)
    seen = health(platform)
    assert seen.alerts == []
    assert "compile: 1 alive" in seen.parts["workers"].detail
    assert "" not in seen.devices


def test_an_artefact_that_is_gone_leaves_compiling_to_who_runs_it(
    platform: Platform,
    student: User,
    send: Send,
    make_desk: MakeDesk,
    heart: Heart,
    stopping: threading.Event,
) -> None:
    need("nvcc")
    sent = send()
    make_desk(FakeCompiler()).serve_one()
    with writing(platform.sessions) as session:
        session.query(ArtefactRow).delete()
    judge = FakeJudge()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert Desk(board, judge, heart, "r", stopping).serve_one()
    assert [job.artefact for job in judge.jobs] == [None]
    assert _see(platform, student, sent).verdict is Verdict.ACCEPTED


def test_who_cannot_compile_what_is_gone_issues_a_ticket_for_who_can(
    platform: Platform,
    student: User,
    send: Send,
    make_desk: MakeDesk,
    heart: Heart,
    stopping: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.queue.desk.nvcc_version", lambda: None)
    sent = send()
    make_desk(FakeCompiler()).serve_one()
    platform.tickets.connection.flushall()
    with writing(platform.sessions) as session:
        session.query(ArtefactRow).delete()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert not Desk(board, FakeJudge(), heart, "r", stopping).serve_one()
    assert _state(platform, student, sent) is State.QUEUED
    assert _tickets(platform) == (1, 0)


def test_what_is_taken_uncompiled_leaves_a_ticket_for_whose_it_took(
    platform: Platform,
    student: User,
    other: User,
    send: Send,
    heart: Heart,
    stopping: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ticket to compile may go to a worker of another board, which finds nothing there."""
    monkeypatch.setattr("grader.queue.desk.nvcc_version", lambda: "13.0.88")
    first = send()
    second = submit(platform, other, body(source="x = 1\n", filename="a.py", device=BOARD)).id
    platform.tickets.connection.flushall()
    board = replace(platform, settings=platform.settings.model_copy(update={"device": BOARD}))
    assert Desk(board, FakeJudge(), heart, "r", stopping).serve_one()
    assert _state(platform, student, first) is State.DONE
    assert _state(platform, other, second) is State.QUEUED
    assert _tickets(platform) == (0, 1)


class TestByNvcc:
    """The same with the real compiler in boxes."""

    @pytest.fixture
    def compiler(self) -> Iterator[BoxCompiler]:
        need("nvcc")
        nvcc.cache.clear()
        compiler = BoxCompiler(LocalBoxes(), spares=1)
        yield compiler
        compiler.close()
        nvcc.cache.clear()

    def test_a_source_becomes_a_library_for_its_board(
        self, platform: Platform, student: User, send: Send, make_desk: MakeDesk, compiler: BoxCompiler
    ) -> None:
        sent = send()
        make_desk(compiler).serve_one()
        assert _state(platform, student, sent) is State.WAITING
        with platform.sessions() as session:
            (key,) = session.query(SubmissionRow.artefact).one()
            made = artefacts.read(session, key)
        assert made is not None
        assert made.library.startswith(b"\x7fELF")
        assert b"sm_90a" in made.library
        assert (made.toolkit, made.kernels[0].name) == (nvcc_version(), "scale")
        assert made.kernels[0].registers > 0

    def test_a_wrong_signature_is_the_students(
        self, platform: Platform, student: User, send: Send, make_desk: MakeDesk, compiler: BoxCompiler
    ) -> None:
        sent = send('extern "C" void solve(float* a) {}\n')
        make_desk(compiler).serve_one()
        report = get_report(platform, student, sent)
        assert report.verdict is Verdict.COMPILE_ERROR
        assert "solve" in report.detail
        assert report.environment["nvcc"] == nvcc_version()

    def test_a_box_that_dies_is_not(
        self,
        platform: Platform,
        student: User,
        send: Send,
        make_desk: MakeDesk,
    ) -> None:
        need("nvcc")

        class Shot(LocalBoxes):
            """The first one is; the next is only to see whether boxes start at all."""

            shot = False

            def start(self, spec: BoxSpec) -> LocalBox:
                box = super().start(spec)
                if not self.shot:
                    threading.Timer(0.3, os.kill, (box._process.pid, signal.SIGKILL)).start()
                self.shot = True
                return box

        sent = send(SOURCE + "// shot\n")
        compiler = BoxCompiler(Shot(), spares=0)
        make_desk(compiler).serve_one()
        compiler.close()
        seen = _see(platform, student, sent)
        assert (seen.state, seen.verdict) == (State.QUEUED, None)
        assert "the box that compiles failed: the process was ended by signal 9" in seen.error


def test_nothing_is_kept_of_what_nobody_made(platform: Platform) -> None:
    with platform.sessions() as session:
        assert artefacts.read(session, CompileRequest("", "").key()) is None
