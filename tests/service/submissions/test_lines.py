"""A long queue is read once for all requests within a moment; a short one for each."""

from __future__ import annotations

import pytest

from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.platform import Platform
from grader.service.submissions import waiting
from grader.service.submissions.waiting import QueueSnapshots
from tests.records.rows import add_submission, add_user

pytestmark = pytest.mark.both_databases


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def queue(platform: Platform, count: int) -> list[int]:
    user = add_user(platform.sessions)
    return [add_submission(platform.sessions, user, age_s=count - n) for n in range(count)]


def end(sessions: Sessions, row: int) -> None:
    with writing(sessions) as session:
        found = session.get_one(SubmissionRow, row)
        found.state, found.verdict, found.finished_at = State.DONE, Verdict.ACCEPTED, utcnow()


def place(platform: Platform, kept: QueueSnapshots, row: int) -> int | None:
    with platform.sessions() as session:
        found = session.get_one(SubmissionRow, row)
        return kept.of(session, found, platform.settings.lease_s).place(found)


def test_a_short_queue_is_read_each_time(platform: Platform) -> None:
    first, second = queue(platform, 2)
    kept = QueueSnapshots(Clock())
    assert place(platform, kept, second) == 2
    end(platform.sessions, first)
    assert place(platform, kept, second) == 1


def test_a_long_queue_is_at_most_a_second_old(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_SHORT", 1)
    first, second, third = queue(platform, 3)
    clock = Clock()
    kept = QueueSnapshots(clock)
    assert place(platform, kept, third) == 3
    end(platform.sessions, first)
    clock.now = 0.9
    assert place(platform, kept, third) == 3
    clock.now = 1.1
    assert (place(platform, kept, second), place(platform, kept, third)) == (1, 2)


def test_a_new_submission_in_a_long_queue_soon_has_a_place(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_SHORT", 1)
    *_, last = queue(platform, 3)
    clock = Clock()
    kept = QueueSnapshots(clock)
    place(platform, kept, last)
    new = add_submission(platform.sessions, add_user(platform.sessions, "bob"), age_s=-60)
    assert place(platform, kept, new) is None
    clock.now = 0.3
    assert place(platform, kept, new) is not None
