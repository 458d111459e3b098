"""What was compiled and is gone, or was never made."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from grader.queue.desk import Desk
from grader.queue.heart import Heart
from grader.records import artefacts
from grader.records.engine import writing
from grader.records.models import ArtefactRow
from grader.sandbox.compiler.nvcc import CompileRequest
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts import User
from grader.service.platform import Platform
from grader.service.submit import submit
from tests.components import need
from tests.queue.compiling.stage import BOARD, MakeDesk, Send, see, state, tickets
from tests.queue.fakes import FakeCompiler, FakeJudge
from tests.service.world import body


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
    assert see(platform, student, sent).verdict is Verdict.ACCEPTED


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
    assert state(platform, student, sent) is State.QUEUED
    assert tickets(platform) == (1, 0)


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
    assert state(platform, student, first) is State.DONE
    assert state(platform, other, second) is State.QUEUED
    assert tickets(platform) == (0, 1)


def test_nothing_is_kept_of_what_nobody_made(platform: Platform) -> None:
    with platform.sessions() as session:
        assert artefacts.read(session, CompileRequest("", "").key()) is None
