"""What counts as a student's attempts, on every database."""

from __future__ import annotations

from grader.records import attempts, versions
from grader.records.engine import Sessions, writing
from grader.records.models import utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import add_submission, add_user
from tests.records.test_versions import SLUG, add_done, add_version, again, end


def counted(sessions: Sessions, user: int) -> list[tuple[int, Verdict | None]]:
    with sessions() as session:
        return sorted((it.version, it.verdict) for it in attempts.of_user(session, user))


def test_each_submission_is_one_attempt_whatever_its_state(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0, speedup=2.0)
    add_submission(sessions, user, state=State.TESTING, challenge="other")
    add_submission(sessions, user, state=State.CANCELLED)
    add_submission(sessions, user, state=State.FAILED, verdict=Verdict.INTERNAL_ERROR)
    add_done(sessions, add_user(sessions, "bob"), 5.0)
    with sessions() as session:
        found = {it.challenge: it for it in attempts.of_user(session, user)}
    assert set(found) == {SLUG, "other"}
    assert (found[SLUG].accepted, found[SLUG].speedup) == (True, 2.0)
    assert not found["other"].accepted


def test_judging_again_counts_once_published_and_only_with_a_verdict(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0)
    add_version(sessions, 1, published_s=5)
    add_version(sessions, 2)
    (second,) = again(sessions)
    assert counted(sessions, user) == [(1, Verdict.ACCEPTED)]
    with writing(sessions) as session:
        versions.publish(session, SLUG, 2, utcnow())
    assert counted(sessions, user) == [(1, Verdict.ACCEPTED)]
    end(sessions, second, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    assert counted(sessions, user) == [(2, Verdict.WRONG_ANSWER)]


def test_a_draft_does_not_count(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0)
    add_version(sessions, 1, published_s=5)
    add_version(sessions, 2)
    (second,) = again(sessions)
    end(sessions, second, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    assert counted(sessions, user) == [(1, Verdict.ACCEPTED)]
