"""Counters of what each user may use: limits, windows, and what frees them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from grader.records import leases, quotas
from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow, utcnow
from grader.records.states import FOLLOWS, UNFINISHED, move
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import accepted, add_submission, add_user, read, take

DAY = 86400.0
SCOPE = quotas.of_challenge("vector_add")


def _take(
    sessions: Sessions, user: int, limit: int, now: datetime | None = None, window_s: float | None = None
) -> bool:
    with writing(sessions) as session:
        return quotas.take(session, user, SCOPE, limit, now or utcnow(), window_s) is not None


def _used(sessions: Sessions, user: int, scope: str = SCOPE, window_s: float | None = None) -> int:
    with sessions() as session:
        return quotas.read(session, user, scope, utcnow(), window_s).used


def _count(sessions: Sessions, user: int, scope: str = SCOPE, times: int = 1, **values: Any) -> None:
    for _ in range(times):
        with writing(sessions) as session:
            assert quotas.take(session, user, scope, 1000, values.get("now") or utcnow())


def test_a_limit_is_enforced(sessions: Sessions) -> None:
    user = add_user(sessions)
    assert [_take(sessions, user, 2) for _ in range(3)] == [True, True, False]
    assert _used(sessions, user) == 2
    with writing(sessions) as session:
        quotas.give_back(session, user, SCOPE)
    assert _take(sessions, user, 2)


def test_users_and_scopes_are_counted_separately(sessions: Sessions) -> None:
    ada, bob = add_user(sessions), add_user(sessions, "bob")
    assert _take(sessions, ada, 1)
    assert _take(sessions, bob, 1)
    with writing(sessions) as session:
        assert quotas.take(session, ada, quotas.WAITING, 1, utcnow())
    assert not _take(sessions, ada, 1)


def test_nothing_is_given_back_twice(sessions: Sessions) -> None:
    user = add_user(sessions)
    assert _take(sessions, user, 1)
    for _ in range(3):
        with writing(sessions) as session:
            quotas.give_back(session, user, SCOPE)
    assert _used(sessions, user) == 0


def test_a_window_starts_with_the_first_use(sessions: Sessions) -> None:
    user, start = add_user(sessions), utcnow()
    assert _take(sessions, user, 2, start, DAY)
    assert _take(sessions, user, 2, start + timedelta(hours=23), DAY)
    assert not _take(sessions, user, 2, start + timedelta(hours=23, minutes=59), DAY)
    with sessions() as session:
        use = quotas.read(session, user, SCOPE, start + timedelta(hours=1), DAY)
        assert (use.used, use.frees_at) == (2, start + timedelta(days=1))
        assert quotas.read(session, user, SCOPE, start + timedelta(days=1), DAY) == quotas.Use(0)
    later = start + timedelta(days=1)
    assert [_take(sessions, user, 2, later, DAY) for _ in range(3)] == [True, True, False]


def test_a_use_of_a_past_window_is_not_given_back_to_the_present(sessions: Sessions) -> None:
    user, start = add_user(sessions), utcnow() - timedelta(days=2)
    assert _take(sessions, user, 5, start, DAY)
    assert _take(sessions, user, 5, start + timedelta(days=1), DAY)
    for counted_at, used in ((start, 1), (start + timedelta(days=1), 0)):
        with writing(sessions) as session:
            quotas.give_back(session, user, SCOPE, counted_at)
        assert _used(sessions, user) == used


def test_one_of_fifty_simultaneous_uses_passes_a_limit_of_one(sessions: Sessions) -> None:
    user, together = add_user(sessions), threading.Barrier(10)

    def one(_: int) -> bool:
        together.wait()
        return _take(sessions, user, 1, window_s=DAY)

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(one, range(50))) == 1
    assert _used(sessions, user) == 1


def _end(state: State) -> Callable[[Sessions, int, int], bool]:
    def act(sessions: Sessions, row: int, attempt: int) -> bool:
        values = {"verdict": Verdict.INTERNAL_ERROR} if state is State.FAILED else {}
        if state is State.DONE:
            values = {"verdict": Verdict.WRONG_ANSWER}
        with writing(sessions) as session:
            return move(session, row, attempt, state, finished_at=utcnow(), **values)

    return act


@pytest.mark.parametrize(
    ("state", "end", "attempts"),
    [
        (State.QUEUED, State.CANCELLED, 0),
        (State.COMPILING, State.CANCELLED, 0),
        (State.WAITING, State.CANCELLED, 0),
        (State.TESTING, State.CANCELLED, 1),
        (State.TIMING, State.CANCELLED, 1),
        (State.TESTING, State.DONE, 1),
        (State.COMPILING, State.DONE, 1),
        (State.TESTING, State.FAILED, 0),
        (State.TIMING, State.FAILED, 0),
    ],
)
def test_the_end_of_a_submission_frees_its_quota(
    sessions: Sessions, state: State, end: State, attempts: int
) -> None:
    user = add_user(sessions)
    _count(sessions, user)
    _count(sessions, user, quotas.WAITING)
    row = add_submission(sessions, user, state=state, attempt=1)
    assert _end(end)(sessions, row, 1)
    assert not _end(end)(sessions, row, 1), "it ends once"
    assert (_used(sessions, user), _used(sessions, user, quotas.WAITING)) == (attempts, 0)


def test_a_rejudge_uses_no_quota(sessions: Sessions) -> None:
    user = add_user(sessions)
    _count(sessions, user)
    _count(sessions, user, quotas.WAITING)
    first = add_submission(sessions, user, state=State.DONE, verdict=Verdict.ACCEPTED)
    for end in (State.FAILED, State.CANCELLED, State.DONE):
        row = add_submission(sessions, user, state=State.TESTING, attempt=1, rejudge_of=first)
        assert _end(end)(sessions, row, 1)
    assert (_used(sessions, user), _used(sessions, user, quotas.WAITING)) == (1, 1)


def test_a_retried_failure_frees_nothing_yet(sessions: Sessions) -> None:
    user = add_user(sessions)
    _count(sessions, user)
    _count(sessions, user, quotas.WAITING)
    add_submission(sessions, user)
    for cap in (2, 2):
        held = take(sessions)
        assert held is not None
        assert (_used(sessions, user), _used(sessions, user, quotas.WAITING)) == (1, 1)
        with writing(sessions) as session:
            leases.give_back(session, held.id, held.attempt, utcnow(), error="oh", cap=cap)
    assert (_used(sessions, user), _used(sessions, user, quotas.WAITING)) == (0, 0)


def test_a_simultaneous_verdict_and_cancellation_free_quota_once(sessions: Sessions) -> None:
    """Whichever comes first: one state, one change of the counters."""
    user = add_user(sessions)
    for round_ in range(10):
        _count(sessions, user, quotas.WAITING)
        _count(sessions, user)
        add_submission(sessions, user, filename=f"{round_}.py")
        held = take(sessions)
        assert held is not None
        together = threading.Barrier(2)

        def judge(held: Any = held, together: threading.Barrier = together) -> bool:
            together.wait()
            with writing(sessions) as session:
                return leases.finish(session, held, accepted(), utcnow())

        def cancel(held: Any = held, together: threading.Barrier = together) -> bool:
            together.wait()
            with writing(sessions) as session:
                return leases.end_cancelled(session, held.id, held.attempt, utcnow())

        with ThreadPoolExecutor(2) as pool:
            done, cancelled = pool.submit(judge), pool.submit(cancel)
            assert done.result() != cancelled.result()
        seen = read(sessions, held.id)
        assert (seen.state is State.DONE) == done.result()
        assert (seen.verdict is not None) == done.result()
        assert _used(sessions, user, quotas.WAITING) == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_waiting_counter_equals_the_waiting_submissions(sessions: Sessions, seed: int) -> None:
    draw = random.Random(seed)
    user = add_user(sessions)
    rows: list[int] = []
    for _ in range(60):
        if not rows or draw.random() < 0.2:
            _count(sessions, user, quotas.WAITING)
            rows.append(add_submission(sessions, user))
            continue
        row = read(sessions, draw.choice(rows))
        to = draw.choice([*FOLLOWS[row.state]] or [State.DONE])
        values = {
            State.DONE: {"verdict": Verdict.ACCEPTED, "finished_at": utcnow()},
            State.FAILED: {"verdict": Verdict.INTERNAL_ERROR, "finished_at": utcnow()},
            State.CANCELLED: {"finished_at": utcnow()},
        }.get(to, {})
        with writing(sessions) as session:
            move(session, row.id, row.attempt - draw.randrange(2), to, **values)
        with sessions() as session:
            waiting = session.query(SubmissionRow).where(SubmissionRow.state.in_(UNFINISHED)).count()
        assert _used(sessions, user, quotas.WAITING) == waiting


def test_a_wrong_counter_is_corrected_from_the_record(sessions: Sessions) -> None:
    user = add_user(sessions)
    _count(sessions, user, quotas.WAITING, times=7)
    add_submission(sessions, user)
    add_submission(sessions, user, state=State.DONE, verdict=Verdict.ACCEPTED, finished_at=utcnow())
    with writing(sessions) as session:
        quotas.recount_waiting(session, user)
    assert _used(sessions, user, quotas.WAITING) == 1
