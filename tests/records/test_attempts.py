"""What counts as a student's attempts, on every database."""

from __future__ import annotations

from grader.records import attempts, versions
from grader.records.engine import Sessions, writing
from grader.records.models import utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import add_submission, add_user
from tests.records.test_versions import SLUG, add_done, add_version, again, end


def counted(sessions: Sessions, user: int) -> list[tuple[int, int, float | None]]:
    """Per challenge: submissions, accepted ones, and the best speedup."""
    with sessions() as session:
        return [(found.count, found.accepted, found.speedup) for found in attempts.of_user(session, user)]


def test_a_submission_in_any_state_is_one_attempt(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0, speedup=2.0)
    add_submission(sessions, user, state=State.TESTING, challenge="other")
    add_submission(sessions, user, state=State.CANCELLED)
    add_submission(sessions, user, state=State.FAILED, verdict=Verdict.INTERNAL_ERROR)
    add_done(sessions, add_user(sessions, "bob"), 5.0)
    with sessions() as session:
        found = {found.challenge: found for found in attempts.of_user(session, user)}
    assert set(found) == {SLUG, "other"}
    assert (found[SLUG].count, found[SLUG].accepted, found[SLUG].speedup) == (1, 1, 2.0)
    assert (found["other"].count, found["other"].accepted, found["other"].speedup) == (1, 0, None)


def test_the_best_speedup_counts_accepted_submissions_only(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0, speedup=2.0)
    add_done(sessions, user, 10.0, speedup=3.0)
    add_submission(sessions, user, state=State.DONE, verdict=Verdict.WRONG_ANSWER, speedup=9.0)
    add_submission(sessions, user, state=State.DONE, verdict=Verdict.ACCEPTED, speedup=5.0, device="h200")
    assert sorted(counted(sessions, user)) == [(1, 1, 5.0), (3, 2, 3.0)]


def test_a_rejudge_counts_once_published_and_with_a_verdict(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0)
    add_version(sessions, 1, published_s=5)
    add_version(sessions, 2)
    (second,) = again(sessions)
    assert counted(sessions, user) == [(1, 1, None)]
    with writing(sessions) as session:
        versions.publish(session, SLUG, 2, utcnow())
    assert counted(sessions, user) == [(1, 1, None)]
    end(sessions, second, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    assert counted(sessions, user) == [(1, 0, None)]


def test_a_draft_does_not_count(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0)
    add_version(sessions, 1, published_s=5)
    add_version(sessions, 2)
    (second,) = again(sessions)
    end(sessions, second, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    assert counted(sessions, user) == [(1, 1, None)]
