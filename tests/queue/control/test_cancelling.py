"""Submissions whose owner no longer wants a verdict."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.queue.worker import run_compile_worker, run_worker
from grader.records import gpus
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import ReportRow, SubmissionRow, utcnow
from grader.sandbox.compiler.nvcc import CompileResult
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submit import submit
from grader.settings import Settings
from tests.queue.control.builders import BOARD, see, until_state, worker
from tests.queue.fakes import FakeCompiler, FakeJudge, NoBoxes, waits_for
from tests.queue.gpus import H200
from tests.service.world import body

pytestmark = pytest.mark.both_databases


class TestCancelling:
    """In each state it ends soon, its worker is free for the next, and its place and quota are free, too."""

    def _ends(self, platform: Platform, student: User, sent: str, attempts: int) -> None:
        assert cancel(platform, student, sent).id == sent
        seen = until_state(platform, student, sent, State.CANCELLED)
        assert (seen.verdict, seen.position, seen.finished_at is not None) == (None, None, True)
        assert cancel(platform, student, sent).state is State.CANCELLED, "twice is no error"
        found = get_quotas(platform, student, "scale")
        assert (found.waiting.used, found.submissions.used) == (0, attempts)
        with platform.sessions() as session:
            assert session.query(ReportRow).count() == 0
            row = session.query(SubmissionRow).one()
            assert (row.worker, row.lease_until) == (None, None)

    def test_a_queued_submission_is_cancelled(self, platform: Platform, student: User) -> None:
        self._ends(platform, student, submit(platform, student, body()).id, 0)

    @pytest.mark.parametrize(
        ("state", "attempts"), [(State.COMPILING, 0), (State.TESTING, 1), (State.TIMING, 1)]
    )
    def test_a_submission_is_cancelled_while_judged(
        self,
        platform: Platform,
        student: User,
        staff: User,
        settings: Settings,
        tmp_path: Path,
        state: State,
        attempts: int,
    ) -> None:
        judge = FakeJudge(waits_for(tmp_path / "never", state), waits_for(tmp_path, state))
        sent = submit(platform, student, body()).id
        run = lambda: run_worker(settings, "w", judge=judge, boxes=NoBoxes())  # noqa: E731
        with worker(run, platform, "w", staff):
            until_state(platform, student, sent, state)
            self._ends(platform, student, sent, attempts)
            after = submit(platform, student, body()).id
            assert until_state(platform, student, after, State.DONE).verdict is Verdict.ACCEPTED

    def _know_the_gpu(self, platform: Platform) -> None:
        with writing(platform.sessions) as session:
            gpus.register(session, GpuRecord(H200.uuid, BOARD, H200.name, "sm_90a"), utcnow())

    def test_a_submission_is_cancelled_while_compiled_ahead(
        self, platform: Platform, student: User, staff: User, settings: Settings
    ) -> None:
        self._know_the_gpu(platform)
        at_work = threading.Event()

        def act(interrupt: Callable[[], None]) -> CompileResult:
            at_work.set()
            while True:
                interrupt()
                threading.Event().wait(0.02)

        sent = submit(platform, student, body(source="// x\n", filename="a.cu", device=BOARD)).id
        run = lambda: run_compile_worker(settings, "c", compiler=FakeCompiler(act), boxes=NoBoxes())  # noqa: E731
        with worker(run, platform, "c", staff):
            assert at_work.wait(60)
            assert see(platform, student, sent).state is State.COMPILING
            self._ends(platform, student, sent, 0)

    def test_a_compiled_waiting_submission_is_cancelled(
        self, platform: Platform, student: User, staff: User, settings: Settings
    ) -> None:
        self._know_the_gpu(platform)
        sent = submit(platform, student, body(source="// x\n", filename="a.cu", device=BOARD)).id
        run = lambda: run_compile_worker(settings, "c", compiler=FakeCompiler(), boxes=NoBoxes())  # noqa: E731
        with worker(run, platform, "c", staff):
            until_state(platform, student, sent, State.WAITING)
            self._ends(platform, student, sent, 0)

    def test_a_submission_of_a_dead_worker_is_cancelled_at_once(
        self, platform: Platform, student: User
    ) -> None:
        """Its lease has run out, and no sweeper has come yet."""
        from datetime import timedelta

        from grader.languages import Language
        from grader.records import claims

        sent = submit(platform, student, body()).id
        with writing(platform.sessions) as session:
            assert claims.claim(
                session,
                claims.ClaimRequest("cpu", list(Language), "w", utcnow() - timedelta(minutes=1), 30.0),
            ).held
        assert cancel(platform, student, sent).state is State.CANCELLED
