"""What may be compiled while its GPU is busy, and who does so, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.languages import Language
from grader.records import ahead, artefacts, claims, gpus, queues, workers
from grader.records.engine import Sessions, writing
from grader.records.gpus import GpuRecord
from grader.records.models import ArtefactRow, utcnow
from grader.schemas.submission import State
from tests.records.rows import add_submission, add_user, read
from tests.records.test_artefacts import artefact

BOARD = "h200"


@pytest.fixture
def user(sessions: Sessions) -> int:
    """The board has two workers."""
    with writing(sessions) as session:
        gpus.register(session, GpuRecord("GPU-1", BOARD, "NVIDIA H200", "sm_90a"), utcnow())
        for name in "vw":
            workers.register(session, name, BOARD, list(Language), utcnow(), f"GPU-{name}")
    return add_user(sessions)


def _send(sessions: Sessions, user: int, source: str, age_s: float, **values: object) -> int:
    return add_submission(sessions, user, age_s, source=source, **{"device": BOARD, **values})


def _take(sessions: Sessions, worker: str) -> None:
    with writing(sessions) as session:
        wanted = claims.ClaimRequest(BOARD, list(Language), worker, utcnow(), 30.0)
        assert claims.claim(session, wanted).held is not None


def _waiting(sessions: Sessions) -> list[str]:
    with sessions() as session:
        return [found.source for found in ahead.behind_busy_devices(session, utcnow(), 30.0)]


def test_only_submissions_behind_busy_workers_are_compiled_ahead(sessions: Sessions, user: int) -> None:
    sent = [_send(sessions, user, name, 90 - at) for at, name in enumerate("abcd")]
    _send(sessions, user, "cuda", 80, language=Language.CUDA)
    _send(sessions, user, "of a board without a GPU", 80, device="cpu")
    _send(sessions, user, "of a board whose GPU nobody knows", 80, device="t4")
    _take(sessions, "v")
    assert _waiting(sessions) == []
    _take(sessions, "w")
    assert _waiting(sessions) == ["c", "d"]
    first = _rows(sessions)[0]
    assert (first.user, first.architecture, first.language) == (user, "sm_90a", Language.TRITON)
    untouched = read(sessions, sent[2])
    assert (untouched.state, untouched.attempt, untouched.lease_until) == (State.QUEUED, 0, None)


def _rows(sessions: Sessions) -> list[ahead.WaitingSource]:
    with sessions() as session:
        return ahead.behind_busy_devices(session, utcnow(), 30.0)


@pytest.mark.parametrize("queue", [BOARD, queues.COMPILE, queues.ALL])
def test_nothing_of_a_paused_queue_is_compiled_ahead(sessions: Sessions, user: int, queue: str) -> None:
    for at, name in enumerate("abc"):
        _send(sessions, user, name, 90 - at)
    for worker in "vw":
        _take(sessions, worker)
    with writing(sessions) as session:
        queues.pause(session, queue, "", "ada", utcnow())
    assert _waiting(sessions) == []


def test_a_reserved_artefact_is_compiled_once(sessions: Sessions, user: int) -> None:
    now = utcnow()

    def reserve() -> bool:
        with writing(sessions) as session:
            return artefacts.reserve(session, "k", user, now)

    assert [reserve(), reserve()] == [True, False]
    with writing(sessions) as session:
        assert artefacts.known(session, "k")
        assert artefacts.read(session, "k") is None
        artefacts.release(session, "k")
    assert reserve()
    with writing(sessions) as session:
        assert artefacts.fill(session, artefact(), now + timedelta(seconds=1))
        assert not artefacts.fill(session, artefact(log="another's"), now)
        artefacts.release(session, "k")
    with sessions() as session:
        assert artefacts.read(session, "k") == artefact()
        assert session.get_one(ArtefactRow, "k").user_id == user
