from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from grader.languages import Language
from grader.records import claims, forecast, leases, order, queues, workers
from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from tests.records.rows import DEVICE, add_submission, add_user, take


def _served(sessions: Sessions) -> list[int]:
    """Served by one worker: each is judged before the next is taken."""
    served = []
    while held := take(sessions):
        served.append(held.id)
        with writing(sessions) as session:
            row = session.get_one(SubmissionRow, held.id)
            row.state, row.verdict, row.finished_at = State.DONE, Verdict.ACCEPTED, row.claimed_at
    return served


def _positions(sessions: Sessions) -> dict[int, int]:
    with sessions() as session:
        return order.positions(session, DEVICE, utcnow())


def test_one_authors_submissions_are_served_by_age(sessions: Sessions) -> None:
    user = add_user(sessions)
    young, old = add_submission(sessions, user, 1), add_submission(sessions, user, 2)
    assert _served(sessions) == [old, young]


def test_priority_comes_first(sessions: Sessions) -> None:
    user = add_user(sessions)
    old, urgent = add_submission(sessions, user, 9), add_submission(sessions, user, 1, priority=1)
    assert _served(sessions) == [urgent, old]


def test_an_authors_next_submission_is_behind_the_recent_ones(sessions: Sessions) -> None:
    """Whether it waits or was taken. An author's first submission predicts other authors' first ones."""
    ada, bob, cleo = add_user(sessions), add_user(sessions, "bob"), add_user(sessions, "cleo")
    add_submission(sessions, bob, 300)
    assert take(sessions) is not None
    for age_s in (200, 30, 20):
        add_submission(sessions, ada, age_s)
    add_submission(sessions, ada, 10, kind=JudgingReason.RUN)
    add_submission(sessions, bob, 15, challenge="saxpy")
    add_submission(sessions, bob, 5, device="another")
    add_submission(sessions, cleo, 4, challenge="relu")
    with sessions() as session:
        found = forecast.arrivals(session, DEVICE, utcnow())
    assert sorted((arrival.work.challenge, arrival.work.run, arrival.back) for arrival in found) == [
        ("relu", False, 0.0),
        ("saxpy", False, 60.0),
        ("vector_add", False, 65.0),
        ("vector_add", False, 65.0),
        ("vector_add", True, 25.0),
    ]


def test_a_flood_of_one_author_does_not_delay_later_authors(sessions: Sessions) -> None:
    greedy, modest = add_user(sessions, "greedy"), add_user(sessions, "modest")
    flood = [add_submission(sessions, greedy, 20 - number) for number in range(4)]
    one = add_submission(sessions, modest, 1)
    assert _served(sessions) == [flood[0], one, *flood[1:]]


def test_recent_judgements_count_against_the_author_for_a_while(sessions: Sessions) -> None:
    busy, fresh = add_user(sessions, "busy"), add_user(sessions, "fresh")
    done = {"state": State.DONE, "verdict": Verdict.ACCEPTED}
    for user, ago in ((busy, timedelta(minutes=5)), (fresh, timedelta(hours=2))):
        began = utcnow() - ago
        add_submission(sessions, user, claimed_at=began, finished_at=began + timedelta(seconds=2), **done)
    older, younger = add_submission(sessions, busy, 20), add_submission(sessions, fresh, 5)
    assert _served(sessions) == [younger, older]


def test_a_first_submission_is_before_anothers_fifth(sessions: Sessions) -> None:
    """However long the fifth waits, up to an hour, when patience takes precedence."""
    greedy, modest = add_user(sessions, "greedy"), add_user(sessions, "modest")
    flood = [add_submission(sessions, greedy, 600 - number) for number in range(6)]
    first = add_submission(sessions, modest, 1)
    assert _served(sessions) == [*flood[:4], first, *flood[4:]]


def test_an_endless_loop_counts_against_its_author_by_its_time(sessions: Sessions) -> None:
    looping, busy = add_user(sessions, "looping"), add_user(sessions, "busy")
    began = utcnow() - timedelta(seconds=200)
    for user, took in ((looping, 84), (busy, 2), (busy, 2)):
        ended = {"claimed_at": began, "finished_at": began + timedelta(seconds=took)}
        add_submission(sessions, user, state=State.DONE, verdict=Verdict.TIME_LIMIT, **ended)
    older, younger = add_submission(sessions, looping, 90), add_submission(sessions, busy, 5)
    assert _served(sessions) == [younger, older]


@pytest.mark.both_databases
def test_no_author_holds_a_second_worker_while_others_wait(sessions: Sessions) -> None:
    """Even before the first judgement has taken any time."""
    looper, modest, other = (add_user(sessions, name) for name in ("looper", "modest", "other"))
    loops = [add_submission(sessions, looper, 600 - number) for number in range(2)]
    first = add_submission(sessions, modest, 10)
    # Judgements on other devices, and rejudges, do not count against an author.
    add_submission(sessions, other, 900, state=State.TESTING, claimed_at=utcnow(), device="another")
    again = {"kind": JudgingReason.REJUDGE, "rejudge_of": first}
    add_submission(sessions, other, 900, state=State.TESTING, claimed_at=utcnow(), **again)
    second = add_submission(sessions, other, 5)

    def next_one() -> int | None:
        held = take(sessions)
        return held.id if held is not None else None

    assert [next_one() for _ in range(4)] == [loops[0], first, second, loops[1]]


def test_positions_are_the_order_of_the_claims(sessions: Sessions) -> None:
    users = [add_user(sessions, name) for name in "abc"]
    for number in range(12):
        add_submission(sessions, users[number * number % 3], 100 - number, priority=number % 5 == 0)
    places = _positions(sessions)
    assert sorted(places.values()) == list(range(1, 13))
    assert _served(sessions) == sorted(places, key=places.__getitem__)


def test_a_silent_worker_is_marked_and_comes_back(sessions: Sessions) -> None:
    now = utcnow()
    with writing(sessions) as session:
        workers.register(session, "w", DEVICE, [Language.TRITON], now)
        session.flush()
        assert [row.name for row in workers.alive(session, now, 30)] == ["w"]
        later = now + timedelta(seconds=31)
        assert workers.alive(session, later, 30) == []
        assert workers.mark_dead(session, later, 30) == 1
        assert workers.mark_dead(session, later, 30) == 0
        workers.beat(session, "w", later)
        session.expire_all()
        assert [row.name for row in workers.alive(session, later, 30)] == ["w"]


def _priority(kind: JudgingReason) -> dict[str, Any]:
    return {"kind": kind, "priority": order.PRIORITIES[kind]}


def test_kinds_are_served_in_order(sessions: Sessions) -> None:
    users = {kind: add_user(sessions, kind.value) for kind in order.PRIORITIES}
    first = add_submission(
        sessions, users[JudgingReason.REJUDGE], 9, state=State.DONE, verdict=Verdict.ACCEPTED
    )
    again = {"rejudge_of": first}
    rows = {
        kind: add_submission(
            sessions, users[kind], 100, **_priority(kind), **(again if kind is JudgingReason.REJUDGE else {})
        )
        for kind in reversed(order.PRIORITIES)
    }
    assert _served(sessions) == [
        rows[JudgingReason.FINAL],
        rows[JudgingReason.COMPETITION],
        rows[JudgingReason.COURSE],
        rows[JudgingReason.PRACTICE],
        rows[JudgingReason.REJUDGE],
    ]


HOUR = order.PATIENCE.total_seconds()


@pytest.mark.parametrize(
    ("waited", "before"),
    [
        (HOUR - 60, []),
        (HOUR + 60, [JudgingReason.COURSE]),
        (2 * HOUR + 60, [JudgingReason.COURSE, JudgingReason.COMPETITION]),
    ],
)
def test_practice_waits_two_hours_at_most(
    sessions: Sessions, waited: float, before: list[JudgingReason]
) -> None:
    """Course and competition submissions keep coming, a new one each time that one is served."""
    patient = add_user(sessions, "patient")
    practice = add_submission(sessions, patient, waited, **_priority(JudgingReason.PRACTICE))
    overtaken = []
    for kind in (JudgingReason.COURSE, JudgingReason.COMPETITION):
        other = add_user(sessions, kind.value)
        row = add_submission(sessions, other, 30, **_priority(kind))
        held = take(sessions)
        assert held is not None
        if held.id == practice:
            overtaken.append(kind)
            with writing(sessions) as session:
                leases.give_back(session, held.id, held.attempt, utcnow())
        with writing(sessions) as session:
            session.get_one(SubmissionRow, row).state = State.CANCELLED
    assert overtaken == before


def test_rejudges_wait_while_students_submit(sessions: Sessions) -> None:
    author, student = add_user(sessions, "author"), add_user(sessions, "student")
    first = add_submission(sessions, author, 9 * HOUR, state=State.DONE, verdict=Verdict.ACCEPTED)
    rejudge = add_submission(sessions, author, 9 * HOUR, rejudge_of=first, **_priority(JudgingReason.REJUDGE))
    rows = [
        add_submission(sessions, student, 5 - number, **_priority(JudgingReason.PRACTICE))
        for number in range(4)
    ]
    assert _served(sessions) == [*rows, rejudge]


def test_turns_are_taken_within_a_kind(sessions: Sessions) -> None:
    greedy, modest = add_user(sessions, "greedy"), add_user(sessions, "modest")
    flood = [
        add_submission(sessions, greedy, 10 - number, **_priority(JudgingReason.PRACTICE))
        for number in range(3)
    ]
    one = add_submission(sessions, modest, 1, **_priority(JudgingReason.PRACTICE))
    course = add_submission(sessions, greedy, 1, **_priority(JudgingReason.COURSE))
    # The turn of its author's own submission to the course counts, too.
    assert _served(sessions) == [course, one, *flood]


def _pause(sessions: Sessions, *names: str) -> None:
    with writing(sessions) as session:
        for name in names:
            queues.pause(session, name, "a reason", "teacher", utcnow())


def _resume(sessions: Sessions, name: str) -> bool:
    with writing(sessions) as session:
        return queues.resume(session, name)


@pytest.mark.parametrize("name", [DEVICE, queues.ALL])
def test_nothing_is_taken_from_a_paused_queue(sessions: Sessions, name: str) -> None:
    row = add_submission(sessions, add_user(sessions))
    _pause(sessions, name, "h200")
    assert take(sessions) is None
    assert _positions(sessions) == {row: 1}, "it keeps its place"
    assert _resume(sessions, name)
    assert not _resume(sessions, name)
    assert _served(sessions) == [row]


def test_a_repeated_pause_keeps_its_start(sessions: Sessions) -> None:
    _pause(sessions, DEVICE)
    with writing(sessions) as session:
        began = queues.pauses(session).rows[DEVICE].since
        queues.pause(session, DEVICE, "another reason", "teacher", utcnow() + timedelta(hours=1))
    with sessions() as session:
        row = queues.pauses(session).of(DEVICE)
        assert row is not None
        assert (row.reason, row.since) == ("another reason", began)


def _cuda(sessions: Sessions, user: int, age_s: float, **values: Any) -> int:
    return add_submission(sessions, user, age_s, language=Language.CUDA, device="h200", **values)


def _claim_cuda(sessions: Sessions) -> claims.Claimed:
    with writing(sessions) as session:
        wanted = claims.ClaimRequest("h200", list(Language), "w", utcnow(), 30.0, "13.0.88", uncompiled=True)
        return claims.claim(session, wanted)


def _take_cuda(sessions: Sessions) -> int | None:
    held = _claim_cuda(sessions).held
    return held.id if held else None


def test_while_compiling_is_paused_compiled_submissions_go_first(sessions: Sessions) -> None:
    users = [add_user(sessions, name) for name in "abc"]
    first, second = _cuda(sessions, users[0], 90), _cuda(sessions, users[1], 80)
    triton = add_submission(sessions, users[2], 70, device="h200")
    _pause(sessions, queues.COMPILE)
    with sessions() as session:
        assert order.positions(session, "h200", utcnow()) == {triton: 1, first: 2, second: 3}
    with writing(sessions) as session:
        assert claims.claim_to_compile(session, ["h200"], "c", utcnow(), 30.0) is None
    assert [_take_cuda(sessions), _take_cuda(sessions)] == [triton, None]
    assert _resume(sessions, queues.COMPILE)
    assert [_take_cuda(sessions), _take_cuda(sessions)] == [first, second]


def test_while_compiling_is_paused_lost_artefacts_are_not_compiled(sessions: Sessions) -> None:
    row = _cuda(sessions, add_user(sessions), 9, state=State.WAITING, artefact="gone")
    _pause(sessions, queues.COMPILE)
    assert _claim_cuda(sessions) == claims.Claimed(None, (row,))
    assert _resume(sessions, queues.COMPILE)
    assert _take_cuda(sessions) == row


def test_submissions_of_a_paused_device_are_compiled(sessions: Sessions) -> None:
    row = _cuda(sessions, add_user(sessions), 9)
    _pause(sessions, "h200")
    assert _take_cuda(sessions) is None
    with writing(sessions) as session:
        held = claims.claim_to_compile(session, ["h200"], "c", utcnow(), 30.0)
    assert held is not None
    assert held.id == row


def test_a_drained_worker_claims_nothing_and_does_not_count(sessions: Sessions) -> None:
    now, user = utcnow(), add_user(sessions)
    done = {"state": State.DONE, "verdict": Verdict.ACCEPTED, "claimed_at": now - timedelta(seconds=4)}
    add_submission(sessions, user, finished_at=now, **done)
    row = add_submission(sessions, user)
    with writing(sessions) as session:
        for name in ("one", "two"):
            workers.register(session, name, DEVICE, [Language.TRITON], now, compiles=True)
        assert workers.drain(session, "one", now)
        assert not workers.drain(session, "nobody", now)
    with sessions() as session:
        assert [worker.name for worker in workers.serving(session, DEVICE, now, 30.0)] == ["two"]
        assert [worker.name for worker in workers.compiling(session, now, 30.0)] == ["two"]
        assert [worker.name for worker in workers.compiling(session, now, 30.0, drained=True)] == ["one"]
    assert take(sessions, "one") is None
    with writing(sessions) as session:
        workers.register(session, "one", DEVICE, [Language.TRITON], now)
    assert take(sessions, "one") is None, "started again it is drained still"
    with writing(sessions) as session:
        assert workers.resume(session, "one")
        assert claims.claim_to_compile(session, [DEVICE], "one", now, 30.0) is None
    held = take(sessions, "one")
    assert held is not None
    assert held.id == row


@pytest.mark.both_databases
def test_a_batch_delays_nobody_however_long_it_waits(sessions: Sessions) -> None:
    """Three hours of patience would put a student's submission above all others. A batch and a rejudge take turns."""
    agent, ada, bob = (add_user(sessions, name) for name in ("agent", "ada", "bob"))
    flood = [add_submission(sessions, agent, 3 * 3600 - number, priority=order.BATCH) for number in range(3)]
    practice = order.PRIORITIES[JudgingReason.PRACTICE]
    people = [add_submission(sessions, user, 5 - user, priority=practice) for user in (ada, bob)]
    # A submission by hand does not wait behind its sender's batch.
    own = add_submission(sessions, agent, 0, priority=practice)
    rejudge = order.PRIORITIES[JudgingReason.REJUDGE]
    again = add_submission(sessions, ada, 3 * 3600 - 10, priority=rejudge, rejudge_of=people[0])
    assert _served(sessions) == [*people, own, flood[0], again, *flood[1:]]
