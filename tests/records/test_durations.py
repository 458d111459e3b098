from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from grader.languages import Language
from grader.records.durations import Durations, Judged, Work, durations, durations_of, mean_seconds
from grader.records.engine import Sessions
from grader.records.models import utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from tests.records.rows import DEVICE, add_submission, add_user

ADDING, SORTING = Work("vector_add", Language.TRITON), Work("sorting", Language.TRITON)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def _of(*rows: tuple[int, float, float, float], work: Work = ADDING) -> list[Judged]:
    """Per judgement: author, time of submission, begin and end."""

    def at(seconds: float) -> datetime:
        return BEGAN + timedelta(seconds=seconds)

    return [Judged(user, work, at(sent), at(began), at(ended)) for user, sent, began, ended in rows]


def _found(*judged: Judged) -> Durations:
    found = durations_of(judged)
    assert found is not None
    return found


def test_the_mean_counts_judged_submissions_only(sessions: Sessions) -> None:
    now = utcnow()

    def mean() -> float | None:
        with sessions() as session:
            return mean_seconds(session, DEVICE)

    user = add_user(sessions)
    assert mean() is None
    cancelled: Any = {"state": State.CANCELLED, "claimed_at": now - timedelta(seconds=2)}
    add_submission(sessions, user, finished_at=now, **cancelled)
    assert mean() is None
    for seconds in (4.0, 6.0):
        done: Any = {
            "state": State.DONE,
            "verdict": Verdict.ACCEPTED,
            "claimed_at": now - timedelta(seconds=seconds),
        }
        add_submission(sessions, user, finished_at=now, **done)
    assert mean() == 5.0


def test_endless_loops_of_one_author_do_not_change_others_estimates(sessions: Sessions) -> None:
    """A hundred judgements later, an endless loop is still expected of its author."""
    now = utcnow()

    def judged(user: int, seconds: float, ago: float, challenge: str = ADDING.challenge) -> None:
        ended = now - timedelta(seconds=ago)
        times: Any = {"claimed_at": ended - timedelta(seconds=seconds), "finished_at": ended}
        done: Any = {"state": State.DONE, "verdict": Verdict.ACCEPTED, "challenge": challenge}
        add_submission(sessions, user, **times, **done)

    users = [add_user(sessions, name) for name in "abcd"]
    looping, mended, past = (add_user(sessions, name) for name in ("looping", "mended", "past"))
    judged(past, 84.0, ago=3700)
    for user in (looping, mended):
        judged(user, 84.0, ago=1000)
    judged(mended, 2.0, ago=900)
    for number in range(100):
        judged(users[number % 4], 2.0, ago=500 - number)
    for user in (users[0], looping, mended, past):
        add_submission(sessions, user)
    with sessions() as session:
        found = durations(session, DEVICE, now)
    assert found is not None
    assert found.usual == pytest.approx(2.0)
    assert {user: round(found.of(ADDING, user)) for user in (users[0], looping, mended, past)} == {
        users[0]: 2,
        looping: 84,
        mended: 2,
        past: 2,
    }
    assert found.of(SORTING, looping) == pytest.approx(2.0), "of another challenge nothing is known"


def test_the_remaining_time_of_a_running_judgement_is_estimated() -> None:
    found = _found(*_of((1, 0, 0, 2), (2, 0, 0, 2), (3, 0, 0, 2), (4, 0, 0, 3)))
    usual = found.of(ADDING)

    def left(elapsed: float) -> float:
        return round(found.left(elapsed, ADDING, 9, endless=80.0, limit=900.0), 2)

    assert left(1.0) == round(usual - 1.0, 2)
    assert left(2.5) == 0.5, "as the one that took longer"
    assert left(4.0) == 4.0, "as long again"
    assert left(10.0) == 70.0, "an endless loop, until a call's limit ends it"
    assert left(100.0) == 100.0, "whatever it is"
    assert left(880.0) == 20.0, "its box's limit ends it"


def test_durations_depend_on_the_work_and_its_count() -> None:
    quick = [each for user in range(20) for each in _of((user, 0, 0, 2))]
    slow = [each for user in range(20) for each in _of((user, 0, 0, 40), work=SORTING)]
    found = _found(*quick, *slow)
    assert found.usual == 21.0
    assert 2.0 < found.of(ADDING) < 4.0
    assert 38.0 < found.of(SORTING) < 40.0
    once = _found(*quick, slow[0])
    assert once.usual < once.of(SORTING) < 40.0
    assert once.of(Work("another", Language.CUDA)) == once.usual


def test_the_pause_between_judgements_counts() -> None:
    """With two workers, one of which is away for a while."""
    rows = _of(
        (1, 0, 0, 10),
        (2, 0, 1, 12),
        (3, 5, 10.5, 20),  # waited since before the first ended
        (4, 5, 13.5, 22),  # and this one before the second
        (5, 24, 25, 35),  # came when both were free
        (6, 26, 72, 82),  # no worker takes that long between two
    )
    assert _found(*rows[:2]).pause == 0.0
    assert _found(*rows).pause == pytest.approx((0.5 + 1.5) / 2)


def test_runs_and_submissions_are_estimated_separately(sessions: Sessions) -> None:
    now, user = utcnow(), add_user(sessions)
    for kind, seconds in ((JudgingReason.RUN, 1.0), (JudgingReason.COURSE, 2.0)):
        times: Any = {"claimed_at": now - timedelta(seconds=seconds), "finished_at": now}
        add_submission(sessions, user, kind=kind, state=State.DONE, verdict=Verdict.ACCEPTED, **times)
    with sessions() as session:
        found = durations(session, DEVICE, now)
    assert found is not None
    assert found.of(ADDING._replace(run=True)) < found.usual < found.of(ADDING)
