"""The judge's own process: what it tells first, and what it ends when."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from grader.errors import BoxUnavailable
from grader.judge.child import JudgeServer
from grader.judge.process import JsonStream
from grader.judge.session import Session
from grader.sandbox import processor
from tests.judge.kernels import RIGHT
from tests.judge.test_process import job


@pytest.fixture
def ends_of_a_line(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[JudgeServer, JsonStream]]:
    """A judge in this process, and the worker's end of its connection."""
    monkeypatch.setattr(processor, "take", lambda _: None)  # this process could not get back what it gives up
    ours, theirs = socket.socketpair()
    child = JudgeServer(ours, "local", spare_boxes=0, device="cpu", gpu=0)
    yield child, JsonStream(theirs)
    ours.close()
    theirs.close()


def told(worker: JsonStream) -> list[str]:
    kinds = []
    while (message := worker.receive(0.0)) is not None:
        kinds += list(message)
    return kinds


def told_before_boxes_end(worker: JsonStream, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Filled when boxes end, with the messages sent by then."""
    heard: list[str] = []
    close = Session.close

    def closing(session: Session) -> None:
        heard.extend(told(worker))
        close(session)

    monkeypatch.setattr(Session, "close", closing)
    return heard


def test_a_verdict_is_reported_before_the_last_box_has_ended(
    ends_of_a_line: tuple[JudgeServer, JsonStream], monkeypatch: pytest.MonkeyPatch
) -> None:
    child, worker = ends_of_a_line
    heard = told_before_boxes_end(worker, monkeypatch)
    child._handle({"job": job(RIGHT).model_dump(mode="json")})
    assert heard[-1] == "outcome"
    assert child.session is None


def test_boxes_have_ended_when_a_failure_is_reported(
    ends_of_a_line: tuple[JudgeServer, JsonStream], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Session) -> None:
        raise BoxUnavailable("no box today")

    child, worker = ends_of_a_line
    heard = told_before_boxes_end(worker, monkeypatch)
    monkeypatch.setattr(Session, "judge", broken)
    child._handle({"job": job(RIGHT).model_dump(mode="json")})
    assert "failure" not in heard
    assert told(worker) == ["failure"]


def test_a_box_that_cannot_be_killed_does_not_lose_the_verdict(
    ends_of_a_line: tuple[JudgeServer, JsonStream], monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Session.close

    def failing(session: Session) -> None:
        close(session)
        raise BoxUnavailable("the engine does not answer")

    child, worker = ends_of_a_line
    monkeypatch.setattr(Session, "close", failing)
    child._handle({"job": job(RIGHT).model_dump(mode="json")})
    assert told(worker)[-1] == "outcome"
