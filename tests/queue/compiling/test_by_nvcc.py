"""The executor with the real compiler in boxes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from grader.device_kinds import CPU, EMULATED
from grader.queue.compile_executor import BoxCompiler
from grader.queue.worker import _compiler_beside
from grader.records import artefacts
from grader.records.models import SubmissionRow
from grader.sandbox.box import BoxSpec
from grader.sandbox.compiler import nvcc
from grader.sandbox.compiler.nvcc import CompileRequest
from grader.sandbox.local_box import LocalBox, LocalBoxes
from grader.sandbox.processor import Share
from grader.sandbox.toolkit import nvcc_version
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_report
from grader.settings import Settings
from tests.components import need
from tests.queue.compiling.builders import SOURCE, MakeExecutor, Send, see, state


class TestByNvcc:
    @pytest.fixture
    def compiler(self) -> Iterator[BoxCompiler]:
        need("nvcc")
        nvcc.cache.clear()
        compiler = BoxCompiler(LocalBoxes(), spares=1)
        yield compiler
        compiler.close()
        nvcc.cache.clear()

    def test_a_source_becomes_a_library_for_its_board(
        self,
        platform: Platform,
        student: User,
        send: Send,
        make_executor: MakeExecutor,
        compiler: BoxCompiler,
    ) -> None:
        sent = send()
        make_executor(compiler).serve_one()
        assert state(platform, student, sent) is State.WAITING
        with platform.sessions() as session:
            (key,) = session.query(SubmissionRow.artefact).one()
            assert key is not None
            made = artefacts.read(session, key)
        assert made is not None
        assert made.library.startswith(b"\x7fELF")
        assert b"sm_90a" in made.library
        assert (made.toolkit, made.kernels[0].name) == (nvcc_version(), "scale")
        assert made.kernels[0].registers > 0

    def test_a_wrong_signature_is_a_compile_error(
        self,
        platform: Platform,
        student: User,
        send: Send,
        make_executor: MakeExecutor,
        compiler: BoxCompiler,
    ) -> None:
        sent = send('extern "C" void solve(float* a) {}\n')
        make_executor(compiler).serve_one()
        report = get_report(platform, student, sent)
        assert report.verdict is Verdict.COMPILE_ERROR
        assert "solve" in report.detail
        assert report.environment["nvcc"] == nvcc_version()

    def test_a_dead_compiler_box_is_our_failure(
        self,
        platform: Platform,
        student: User,
        send: Send,
        make_executor: MakeExecutor,
    ) -> None:
        need("nvcc")

        class Shot(LocalBoxes):
            """The first one is; the next only tests whether boxes start at all."""

            shot = False

            def start(self, spec: BoxSpec) -> LocalBox:
                box = super().start(spec)
                if not self.shot:
                    threading.Timer(0.3, os.kill, (box._process.pid, signal.SIGKILL)).start()
                self.shot = True
                return box

        sent = send(SOURCE + "// shot\n")
        compiler = BoxCompiler(Shot(), spares=0)
        make_executor(compiler).serve_one()
        compiler.close()
        seen = see(platform, student, sent)
        assert (seen.state, seen.verdict) == (State.QUEUED, None)
        assert "the compiler's box failed: the process was ended by signal 9" in seen.error

    def test_compilers_do_not_yield_on_a_device_without_timing(self) -> None:
        need("nvcc")
        specs: list[BoxSpec] = []

        class Seen(LocalBoxes):
            def start(self, spec: BoxSpec) -> LocalBox:
                specs.append(spec)
                return super().start(spec)

        made = _compiler_beside(Seen(), Settings(device=EMULATED))
        assert isinstance(made, BoxCompiler)
        made._boxes.wait()
        assert made.compile(CompileRequest("nonsense", "", arch="compute_90a"), lambda: None).log
        made._boxes.wait()
        made.close()
        assert {(spec.share, spec.cores) for spec in specs} == {(Share.YIELDING, ())}
        assert len(specs) == 2, "the one that compiled had been started ahead, and another is now"
        beside = _compiler_beside(Seen(), Settings(device=CPU))
        assert isinstance(beside, BoxCompiler)
        beside.try_box()
        assert specs[-1].share is Share.BACKGROUND
