from __future__ import annotations

from datetime import timedelta

from grader.records import order, workers
from grader.records.engine import Sessions, writing
from grader.records.models import utcnow
from grader.schemas.report import Language, Verdict
from grader.schemas.submission import State
from tests.records.rows import DEVICE, add_submission, add_user, take


def _served(sessions: Sessions) -> list[int]:
    served = []
    while held := take(sessions):
        served.append(held.id)
    return served


def _positions(sessions: Sessions) -> dict[int, int]:
    with sessions() as session:
        return order.positions(session, DEVICE, utcnow())


def test_one_user_is_served_by_age(sessions: Sessions) -> None:
    user = add_user(sessions)
    young, old = add_submission(sessions, user, 1), add_submission(sessions, user, 2)
    assert _served(sessions) == [old, young]


def test_priority_comes_before_all(sessions: Sessions) -> None:
    user = add_user(sessions)
    old, urgent = add_submission(sessions, user, 9), add_submission(sessions, user, 1, priority=1)
    assert _served(sessions) == [urgent, old]


def test_who_floods_the_queue_does_not_hold_up_who_comes_later(sessions: Sessions) -> None:
    greedy, modest = add_user(sessions, "greedy"), add_user(sessions, "modest")
    flood = [add_submission(sessions, greedy, 100 - number) for number in range(4)]
    one = add_submission(sessions, modest, 1)
    assert _served(sessions) == [flood[0], one, *flood[1:]]


def test_what_was_served_lately_counts_and_is_forgotten(sessions: Sessions) -> None:
    busy, fresh = add_user(sessions, "busy"), add_user(sessions, "fresh")
    done = {"state": State.DONE, "verdict": Verdict.ACCEPTED}
    add_submission(sessions, busy, claimed_at=utcnow() - timedelta(minutes=5), **done)
    add_submission(sessions, fresh, claimed_at=utcnow() - timedelta(hours=2), **done)
    older, younger = add_submission(sessions, busy, 50), add_submission(sessions, fresh, 5)
    assert _served(sessions) == [younger, older]


def test_positions_are_the_order_of_the_claims(sessions: Sessions) -> None:
    users = [add_user(sessions, name) for name in "abc"]
    for number in range(12):
        add_submission(sessions, users[number * number % 3], 100 - number, priority=number % 5 == 0)
    places = _positions(sessions)
    assert sorted(places.values()) == list(range(1, 13))
    assert _served(sessions) == sorted(places, key=places.__getitem__)


def test_the_pace_needs_history_and_a_living_worker(sessions: Sessions) -> None:
    now = utcnow()

    def pace() -> float | None:
        with sessions() as session:
            return order.seconds_a_place(session, DEVICE, now, 30.0)

    user = add_user(sessions)
    assert pace() is None
    spans = [(4.0, {"state": State.DONE, "verdict": Verdict.ACCEPTED}), (2.0, {"state": State.CANCELLED})]
    for seconds, values in spans:
        add_submission(sessions, user, claimed_at=now - timedelta(seconds=seconds), finished_at=now, **values)
    assert pace() is None
    for name in ("one", "two"):
        with writing(sessions) as session:
            workers.register(session, name, DEVICE, [Language.TRITON], now)
    assert pace() == 2.0
    with writing(sessions) as session:
        workers.leave(session, "two", now)
    assert pace() == 4.0


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
