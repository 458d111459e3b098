"""Claims: the compile queue and a device's queue, with one order for both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from grader.languages import Language
from grader.records import artefacts, claims, forecast, leases, order, queues, workers
from grader.records.claims import Claim
from grader.records.durations import mean_seconds
from grader.records.engine import Sessions, writing
from grader.records.models import utcnow
from grader.schemas.submission import JudgingReason, ProgressView, State
from tests.records.rows import add_submission, add_user, read
from tests.records.test_artefacts import artefact

GPU = "h200"
Add = Callable[..., int]


@pytest.fixture
def add(sessions: Sessions) -> Add:
    users: dict[str, int] = {}

    def one(user: str = "ada", age_s: float = 0.0, **values: object) -> int:
        if user not in users:
            users[user] = add_user(sessions, user)
        given = {"language": Language.CUDA, "device": GPU, **values}
        return add_submission(sessions, users[user], age_s, **given)

    return one


def _compile(sessions: Sessions, *devices: str) -> Claim | None:
    with writing(sessions) as session:
        return claims.claim_to_compile(session, devices or (GPU,), "c", utcnow(), 30.0)


def _run(sessions: Sessions, toolkit: str | None = "13.0.88") -> Claim | None:
    with writing(sessions) as session:
        return claims.claim(
            session, claims.ClaimRequest(GPU, list(Language), "r", utcnow(), 30.0, toolkit)
        ).held


def _hand_on(sessions: Sessions, held: Claim, key: str = "k", there: bool = True) -> bool:
    with writing(sessions) as session:
        if there:
            artefacts.store(session, artefact(key), utcnow())
        return leases.hand_on(session, held, key, utcnow())


def _compiled(sessions: Sessions) -> Claim:
    held = _compile(sessions)
    assert held is not None
    assert _hand_on(sessions, held)
    return held


def test_a_cuda_submission_compiles_waits_and_runs(sessions: Sessions, add: Add) -> None:
    row = add()
    assert _run(sessions) is None
    held = _compiled(sessions)
    waiting = read(sessions, row)
    assert (waiting.state, waiting.worker, waiting.lease_until, waiting.artefact) == (
        State.WAITING,
        None,
        None,
        "k",
    )
    assert _compile(sessions) is None
    again = _run(sessions)
    assert again is not None
    assert (again.id, again.attempt, again.artefact) == (row, held.attempt + 1, "k")
    running = read(sessions, row)
    assert (running.state, running.started_at) == (State.TESTING, waiting.started_at)
    assert _run(sessions) is None


def test_a_triton_submission_goes_straight_to_its_device(sessions: Sessions, add: Add) -> None:
    row = add(language=Language.TRITON)
    assert _compile(sessions) is None
    held = _run(sessions)
    assert held is not None
    assert (held.id, held.artefact, read(sessions, row).state) == (row, None, State.COMPILING)


@pytest.mark.parametrize(("there", "toolkit"), [(False, "13.0.88"), (True, "12.4.0")])
def test_the_running_worker_compiles_a_lost_artefact(
    sessions: Sessions, add: Add, there: bool, toolkit: str
) -> None:
    row = add()
    held = _compile(sessions)
    assert held is not None
    assert _hand_on(sessions, held, there=there)
    again = _run(sessions, toolkit)
    assert again is not None
    assert (again.artefact, read(sessions, row).state) == (None, State.COMPILING)


def test_a_worker_without_a_compiler_uses_the_artefact(sessions: Sessions, add: Add) -> None:
    add()
    _compiled(sessions)
    held = _run(sessions, toolkit=None)
    assert held is not None
    assert held.artefact == "k"


def test_without_compile_workers_an_uncompiled_submission_keeps_its_turn(
    sessions: Sessions, add: Add
) -> None:
    rows = [add("ada", 9, language=Language.TRITON), add("bob", 8), add("ada", 7, language=Language.TRITON)]
    taken = []
    for _ in rows:
        with writing(sessions) as session:
            held = claims.claim(
                session,
                claims.ClaimRequest(GPU, list(Language), "r", utcnow(), 30.0, "13.0.88", uncompiled=True),
            ).held
        assert held is not None
        assert held.artefact is None
        taken.append(held.id)
    assert taken == rows


def test_a_worker_without_a_compiler_returns_a_submission_without_artefact(
    sessions: Sessions, add: Add
) -> None:
    gone, there = add("ada", 9), add("bob", 8)
    for row, key in ((gone, "gone"), (there, "k")):
        held = _compile(sessions)
        assert held is not None
        assert held.id == row
        assert _hand_on(sessions, held, key, there=key == "k")
    with writing(sessions) as session:
        claimed = claims.claim(session, claims.ClaimRequest(GPU, list(Language), "r", utcnow(), 30.0))
    taken = claimed.held
    assert taken is not None
    assert (taken.id, taken.artefact) == (there, "k")
    assert claimed.returned == (gone,)
    sent_back = read(sessions, gone)
    assert (sent_back.state, sent_back.failures) == (State.QUEUED, 0)
    again = _compile(sessions)
    assert again is not None
    assert again.id == gone


def test_only_boards_with_known_gpus_are_compiled_for(sessions: Sessions, add: Add) -> None:
    add(device="t4")
    assert _compile(sessions) is None
    assert _compile(sessions, GPU, "t4") is not None


def test_a_flood_of_one_author_does_not_delay_others_compilations(sessions: Sessions, add: Add) -> None:
    flood = [add("greedy", 20 - number) for number in range(3)]
    first = _compiled(sessions)
    one = add("modest", 1)
    served = [first.id]
    while held := _compile(sessions):
        served.append(held.id)
    assert served == [flood[0], one, flood[1], flood[2]]


def test_a_submission_keeps_its_place_after_compiling(sessions: Sessions, add: Add) -> None:
    rows = [add("ada", 9), add("bob", 8), add("ada", 7, language=Language.TRITON)]

    def places() -> dict[int, int]:
        with sessions() as session:
            return order.positions(session, GPU, utcnow())

    expected = {row: place for place, row in enumerate(rows, 1)}
    assert places() == expected
    held = _compile(sessions)
    assert held is not None
    assert places() == expected, "while it is compiled"
    assert _hand_on(sessions, held)
    assert places() == expected, "while it waits"
    assert _run(sessions) is not None
    assert places() == {rows[1]: 1, rows[2]: 2}
    with sessions() as session:
        assert len(forecast.running(session, GPU, utcnow())) == 1


def test_the_expected_time_excludes_the_wait_after_compiling(sessions: Sessions, add: Add) -> None:
    from grader.records import workers
    from grader.schemas.report import Verdict

    now = utcnow()
    add(
        state=State.DONE,
        verdict=Verdict.WRONG_ANSWER,
        started_at=now - timedelta(seconds=90),
        claimed_at=now - timedelta(seconds=3),
        finished_at=now,
    )
    with writing(sessions) as session:
        workers.register(session, "w", GPU, list(Language), now)
        workers.register(session, "c", "", [Language.CUDA], now, compiles=True)
    with sessions() as session:
        assert mean_seconds(session, GPU) == 3.0
        assert [worker.name for worker in workers.alive(session, now, 30.0)] == ["w"]
        assert [worker.name for worker in workers.compiling(session, now, 30.0)] == ["c"]


def test_a_late_compiler_changes_nothing(sessions: Sessions, add: Add) -> None:
    row = add()
    held = _compile(sessions)
    assert held is not None
    later = utcnow() + timedelta(seconds=31)
    with writing(sessions) as session:
        assert leases.reclaim(session, held.id, held.attempt, later, 3) is State.QUEUED
    assert not _hand_on(sessions, held)
    assert read(sessions, row).state is State.QUEUED
    _compiled(sessions)
    assert not _hand_on(sessions, held)


def test_a_waiting_submission_has_no_lease(sessions: Sessions, add: Add) -> None:
    row = add()
    held = _compiled(sessions)
    with writing(sessions) as session:
        assert not leases.renew(session, held, utcnow() + timedelta(seconds=30))
        assert leases.expired(session, utcnow() + timedelta(hours=1)) == []
        assert not leases.lease_state(session, held).held
    assert read(sessions, row).lease_until is None


@pytest.mark.parametrize("cap", [None, 1, 3])
def test_a_handed_on_submission_cannot_be_given_back(sessions: Sessions, add: Add, cap: int | None) -> None:
    """The compiler's attempt stays the present one until somebody runs it, but nothing has failed."""
    row = add()
    held = _compiled(sessions)
    with writing(sessions) as session:
        assert leases.give_back(session, held.id, held.attempt, utcnow(), error="oh", cap=cap) is None
    with writing(sessions) as session:
        assert not leases.progress(session, held, State.COMPILING, ProgressView(label="late"))
    seen = read(sessions, row)
    assert (seen.state, seen.failures, seen.error) == (State.WAITING, 0, "")
    assert _run(sessions) is not None


def test_a_cancellation_is_not_handed_on(sessions: Sessions, add: Add) -> None:
    row = add()
    held = _compile(sessions)
    assert held is not None
    with writing(sessions) as session:
        session.get_one(type(read(sessions, row)), row).cancel_requested = True
    assert not _hand_on(sessions, held)
    with writing(sessions) as session:
        assert leases.give_back(session, held.id, held.attempt, utcnow()) is State.CANCELLED


def _add_worker(sessions: Sessions, name: str) -> None:
    with writing(sessions) as session:
        workers.register(session, name, GPU, list(Language), utcnow())


@pytest.mark.parametrize("name", ["r", "c"])
def test_a_drained_worker_takes_nothing(sessions: Sessions, add: Add, name: str) -> None:
    add(language=Language.TRITON if name == "r" else Language.CUDA)
    _add_worker(sessions, name)
    take = _run if name == "r" else _compile
    with writing(sessions) as session:
        assert workers.drain(session, name, utcnow())
    assert take(sessions) is None
    with writing(sessions) as session:
        assert workers.resume(session, name)
    assert take(sessions) is not None


@pytest.mark.parametrize("queue", [GPU, queues.COMPILE])
def test_nothing_is_taken_from_a_paused_queue(sessions: Sessions, add: Add, queue: str) -> None:
    add(language=Language.TRITON if queue == GPU else Language.CUDA)
    take = _run if queue == GPU else _compile
    with writing(sessions) as session:
        queues.pause(session, queue, "exam", "staff", utcnow())
    assert take(sessions) is None
    with writing(sessions) as session:
        assert queues.resume(session, queue)
    assert take(sessions) is not None


def test_nothing_uncompiled_is_taken_while_compiling_is_paused(sessions: Sessions, add: Add) -> None:
    add()
    with writing(sessions) as session:
        queues.pause(session, queues.COMPILE, "upgrade", "staff", utcnow())
        wanted = claims.ClaimRequest(GPU, list(Language), "r", utcnow(), 30.0, "13.0.88", uncompiled=True)
        assert claims.claim(session, wanted) == claims.Claimed(None)


def test_a_claim_holds_the_submission_and_its_lease(sessions: Sessions, add: Add) -> None:
    original = add(age_s=9, language=Language.TRITON)
    first = _run(sessions)
    assert first is not None
    assert (first.id, first.rejudge, first.run) == (original, False, False)
    assert first.context == {"submission": first.public_id, "attempt": 1, "challenge": "vector_add"}
    add(user="bob", language=Language.TRITON, rejudge_of=original, kind=JudgingReason.RUN, request_id="r-1")
    before = utcnow()
    held = _run(sessions)
    assert held is not None
    assert (held.rejudge, held.run, held.context["request"]) == (True, True, "r-1")
    row = read(sessions, held.id)
    assert row.claimed_at is not None
    assert row.lease_until is not None
    assert before <= row.claimed_at
    assert row.lease_until - row.claimed_at == timedelta(seconds=30)


def test_a_submission_that_cannot_be_returned_is_untouched(
    sessions: Sessions, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add()
    held = _compile(sessions)
    assert held is not None
    assert _hand_on(sessions, held, there=False)
    monkeypatch.setattr(claims, "move", lambda *_, **__: False)
    with writing(sessions) as session:
        wanted = claims.ClaimRequest(GPU, list(Language), "r", utcnow(), 30.0)
        assert claims.claim(session, wanted) == claims.Claimed(None)


def test_each_claim_uses_the_current_time(sessions: Sessions, add: Add) -> None:
    """The query is built once for all claims."""
    hour, practice = order.PATIENCE.total_seconds(), JudgingReason.PRACTICE
    words = {"language": Language.TRITON}
    patient = add("ada", hour - 60, kind=practice, priority=order.PRIORITIES[practice], **words)
    course = add("bob", **words)
    taken = []
    for later in (0, 120):
        with writing(sessions) as session:
            now = utcnow() + timedelta(seconds=later)
            held = claims.claim(session, claims.ClaimRequest(GPU, list(Language), "r", now, 30.0)).held
            assert held is not None
            taken.append(held.id)
            leases.give_back(session, held.id, held.attempt, now)
    assert taken == [course, patient]
