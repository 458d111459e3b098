"""Regrades, on every database: their submissions, who sees what when, and what counts afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from grader.errors import Conflict, NotAllowed, NotFound
from grader.languages import Language
from grader.records import attempts, leases
from grader.records.claims import ClaimRequest, claim
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseRole, CourseView, RosterBody
from grader.schemas.regrade import Change, RegradeBody, RegradeDecision, RegradeState, RegradeView
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict
from grader.schemas.submission import State, VoidBody
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.boards import leaderboard
from grader.service.courses import assignments, courses, gradebook, rosters
from grader.service.platform import Platform
from grader.service.review import regrade, voids
from grader.service.submissions import submissions
from grader.service.submissions.quotas import get_quotas
from grader.service.submissions.submit import submit
from tests.service.courses.scenes import (
    LONG_AGO,
    asked_since,
    assign,
    enrol,
    grading,
    judged,
    take_part,
)
from tests.service.world import body

pytestmark = pytest.mark.both_databases
HOUR = timedelta(hours=1)
WHY = {"reason": "A card was broken."}
WEEK1: dict[str, Any] = {"course": "gpu", "assignment": "week1", **WHY}


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    enrol(platform, staff, student, other)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")
    assign(platform, staff)


def timed(speedup: float) -> dict[str, float]:
    time_us = 30.0 / speedup
    return {"time_us": time_us, "ci_lo_us": time_us, "ci_hi_us": time_us, "speedup": speedup}


def start(platform: Platform, user: User, **what: Any) -> RegradeView:
    return regrade.start(platform, user, RegradeBody(**what))


def publish(platform: Platform, user: User, found: RegradeView, partial: bool = False) -> RegradeView:
    return regrade.publish(platform, user, found.number, RegradeDecision(partial=partial))


def judge(platform: Platform, speedup: float | None) -> str:
    """Judge the next one; None: it is wrong."""
    with writing(platform.sessions) as session:
        held = claim(session, ClaimRequest("cpu", [Language.TRITON], "test", utcnow(), 60.0)).held
        assert held is not None
        right = speedup is not None
        case = CaseReport(
            name="seven",
            category="prime",
            verdict=CaseVerdict.ACCEPTED if right else CaseVerdict.WRONG_ANSWER,
            detail="" if right else "0 is not 1",
        )
        time_us = 30.0 / speedup if speedup else None
        score = Score(
            time_us=time_us, speedup=speedup, ci=(time_us, time_us) if time_us else None, passed=1, total=1
        )
        report = Report(
            verdict=Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER,
            challenge="scale",
            version=1,
            language=Language.TRITON,
            device="cpu",
            cases=[case],
            score=score,
        )
        assert leases.finish(session, held, report, utcnow())
    return held.public_id


def points(platform: Platform, staff: User) -> list[tuple[float, int]]:
    found = gradebook.get_gradebook(platform, staff, "gpu").students
    return [
        (changed.assignments[0].parts[0].points, changed.assignments[0].parts[0].attempts)
        for changed in found
    ]


def board(platform: Platform) -> list[tuple[str, float]]:
    found = leaderboard.leaderboard(platform, "scale", device="cpu").entries
    return [(changed.user, round(changed.time_us, 6)) for changed in found]


def test_a_regrade_is_invisible_until_published_and_then_counts_once(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    first = judged(platform, student, -3 * HOUR, **timed(1.0))
    judged(platform, other, -2 * HOUR, **timed(3.0))
    stood = [("bob", 10), ("ada", 30)]
    assert (points(platform, staff), board(platform)) == ([(60, 1), (100, 1)], stood)
    found = start(platform, staff, **WEEK1)
    assert (found.what, found.summary.waiting, found.versions) == ("gpu/week1", 2, {"scale": 1})
    # A student's goes first, even if it comes late.
    fresh = submit(platform, student, body())
    assert judge(platform, None) == fresh.id
    again = {judge(platform, 3.0), judge(platform, None)}  # the earlier one first
    found = regrade.get(platform, staff, found.number)
    assert found.summary.model_dump() == {"unchanged": 0, "up": 1, "down": 1, "waiting": 0, "failed": 0}
    assert [(grade.student, grade.before, grade.after) for grade in found.grades] == [
        ("ada", 60, 100),
        ("bob", 100, 0),
    ]
    assert [
        (submission.change, submission.points_before, submission.points_after)
        for submission in found.submissions
    ] == [
        (Change.DOWN, 100, 0),
        (Change.UP, 60, 100),
    ]
    assert (points(platform, staff), board(platform)) == ([(60, 2), (100, 1)], stood)
    assert submissions.get_submission(platform, student, first).judged_again == []
    assert submissions.list_submissions(platform, student).total == 2
    for id_ in again:
        for who in (student, other):
            with pytest.raises(NotFound):
                submissions.get_submission(platform, who, id_)
    assert publish(platform, staff, found).state is RegradeState.PUBLISHED
    assert (points(platform, staff), board(platform)) == ([(100, 2), (0, 1)], [("ada", 10)])
    (told,) = submissions.get_submission(platform, student, first).judged_again
    assert (told.verdict, told.speedup, told.reason) == (Verdict.ACCEPTED, 3.0, "A card was broken.")
    assert told.at is not None
    assert submissions.get_submission(platform, student, told.id).rejudge_of == first
    rows = [
        (exported.student, exported.submission, exported.judged_again)
        for exported in gradebook.export(platform, staff, "gpu")
    ]
    assert rows[0] == ("ada", first, told.id)
    assert len(rows) == 2
    with platform.sessions() as session:
        (progress,) = attempts.of_user(session, student.id)
        assert (progress.count, progress.accepted, progress.speedup) == (2, 1, 3.0)
    # A regraded one is compared with its judgement that counts now.
    second = start(platform, staff, submission=first, **WHY)
    judge(platform, 3.0)
    second = regrade.get(platform, staff, second.number)
    assert (second.summary.unchanged, second.grades) == (1, [])
    publish(platform, staff, second)
    assert (points(platform, staff), board(platform)) == ([(100, 2), (0, 1)], [("ada", 10)])


def test_ordering_twice_adds_only_new_submissions(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    judged(platform, student, -3 * HOUR, **timed(1.0))
    with ThreadPoolExecutor(4) as pool:
        found = [
            future.result() for future in [pool.submit(start, platform, staff, **WEEK1) for _ in range(4)]
        ]
    assert {(changed.number, changed.summary.waiting) for changed in found} == {(found[0].number, 1)}
    judged(platform, other, -2 * HOUR, **timed(1.0))
    assert start(platform, staff, **WEEK1).summary.waiting == 2
    with pytest.raises(Conflict, match=f"Regrade {found[0].number} is open"):
        start(platform, staff, course="gpu", student="ada", **WHY)


def test_a_students_regrade_covers_counting_submissions(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    inside = judged(platform, student, -3 * HOUR, **timed(1.0))
    judged(platform, student, timedelta(days=-30), **timed(1.0))
    judged(platform, other, -3 * HOUR, **timed(1.0))
    gone = judged(platform, student, -2 * HOUR, **timed(9.0))
    voids.void(platform, staff, gone, VoidBody(reason="a copy"))
    found = start(platform, staff, course="gpu", student="ada", **WHY)
    assert [submission.submission for submission in found.submissions] == [inside]
    assert found.what == "ada in gpu"
    assert {listed.number for listed in regrade.list_regrades(platform, staff, "gpu").regrades} == {
        found.number
    }


def test_our_failures_are_ordered_again_or_left_out(platform: Platform, staff: User, student: User) -> None:
    judged(platform, student, -3 * HOUR, **timed(1.0))
    found = start(platform, staff, **WEEK1)

    def fail() -> None:
        with writing(platform.sessions) as session:
            held = claim(session, ClaimRequest("cpu", [Language.TRITON], "test", utcnow(), 60.0)).held
            assert held is not None
            assert leases.give_back(session, held.id, held.attempt, utcnow(), cap=1) is State.FAILED

    fail()
    assert regrade.get(platform, staff, found.number).summary.failed == 1
    assert start(platform, staff, **WEEK1).summary.waiting == 1
    fail()
    with pytest.raises(Conflict, match="failed to judge 1 submissions of regrade 1"):
        publish(platform, staff, found)
    publish(platform, staff, found, partial=True)
    assert points(platform, staff)[0] == (60, 1)


def test_a_lost_worker_loses_nothing(platform: Platform, staff: User, student: User) -> None:
    judged(platform, student, -3 * HOUR, **timed(1.0))
    found = start(platform, staff, **WEEK1)
    with writing(platform.sessions) as session:
        held = claim(session, ClaimRequest("cpu", [Language.TRITON], "lost", utcnow(), 60.0)).held
        assert held is not None
        leases.reclaim(session, held.id, held.attempt, utcnow() + 2 * HOUR, cap=3)
    judge(platform, 3.0)
    publish(platform, staff, found)
    assert points(platform, staff)[0] == (100, 1)


def test_a_discarded_regrade_changes_nothing_and_can_be_repeated(
    platform: Platform, staff: User, student: User
) -> None:
    judged(platform, student, -3 * HOUR, **timed(1.0))
    judged(platform, student, -2 * HOUR, **timed(1.1))
    found = start(platform, staff, **WEEK1)
    judge(platform, None)
    regrade.discard(platform, staff, found.number)
    with platform.sessions() as session:
        again = session.query(SubmissionRow).where(SubmissionRow.rejudge_of.is_not(None)).all()
        assert sorted(judged.state for judged in again) == [State.CANCELLED, State.DONE]
    assert points(platform, staff)[0] == (60, 2)
    with pytest.raises(Conflict, match="already discarded"):
        publish(platform, staff, found)
    with pytest.raises(Conflict, match="already discarded"):
        regrade.discard(platform, staff, found.number)
    assert start(platform, staff, **WEEK1).number != found.number


def test_publishing_waits_for_the_last_and_a_void_result_stays_void(
    platform: Platform, staff: User, student: User
) -> None:
    first = judged(platform, student, -3 * HOUR, **timed(1.0))
    found = start(platform, staff, submission=first, **WHY)
    with pytest.raises(Conflict, match="not judged yet"):
        publish(platform, staff, found)
    judge(platform, 3.0)
    voids.void(platform, staff, first, VoidBody(reason="a copy"))
    publish(platform, staff, found)
    assert points(platform, staff)[0] == (0, 1)
    voids.restore(platform, staff, first)
    assert (points(platform, staff)[0], board(platform)) == ((100, 1), [("ada", 10)])


def test_a_large_regrade_needs_confirmation(
    platform: Platform, staff: User, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.limits.REGRADE_UNCONFIRMED", 1)
    for hours in (3, 2):
        judged(platform, student, -hours * HOUR, **timed(1.0))
    with pytest.raises(Conflict, match="would judge 2 submissions again") as refused:
        start(platform, staff, **WEEK1)
    assert "--confirm week1" in refused.value.hint
    assert start(platform, staff, **WEEK1, confirm="week1").summary.waiting == 2


def test_a_regrade_is_no_attempt(platform: Platform, staff: User, student: User) -> None:
    judged(platform, student, -3 * HOUR, **timed(1.0))
    before = get_quotas(platform, student, "scale")
    start(platform, staff, challenge="scale", **WHY)
    assert get_quotas(platform, student, "scale") == before
    assert points(platform, staff)[0] == (60, 1)


def test_only_permitted_staff_regrade(platform: Platform, staff: User, student: User, other: User) -> None:
    first = judged(platform, student, -3 * HOUR, **timed(1.0))
    tom = accounts.create_user(platform, "tom", "correct horse")
    stranger = accounts.create_user(platform, "eve", "correct horse", Role.STAFF)
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.ASSISTANT)
    assistant = accounts.user_by_id(platform, tom.id)
    assert assistant
    found = start(platform, staff, **WEEK1)
    for who in (student, assistant, stranger):
        for what in (WEEK1, {"submission": first, **WHY}):
            with pytest.raises(NotAllowed):
                start(platform, who, **what)
        with pytest.raises(NotAllowed):
            regrade.discard(platform, who, found.number)
    with pytest.raises(NotAllowed):
        start(platform, assistant, challenge="scale", **WHY)
    with pytest.raises(NotFound):
        start(platform, other, submission=first, **WHY)
    regrade.discard(platform, staff, found.number)
    assert start(platform, stranger, challenge="scale", **WHY).course is None
    assert [entry.action for entry in courses.get_audit(platform, staff, "gpu").entries[:2]] == [
        "submissions.regrade"
    ] * 2


def test_a_regrade_hides_grades_of_other_courses(platform: Platform, staff: User, student: User) -> None:
    courses.create_course(platform, staff, CourseBody(slug="other", name="Another"))
    roster = RosterBody(text=f"account\n{student.name}\n", dry_run=False)
    rosters.import_roster(platform, staff, "other", roster)
    week = AssignmentBody(
        title="Week", parts=[PartBody(challenge="scale")], open_at="2020-01-01", due_at="2999-01-01"
    )
    assignments.put_assignment(platform, staff, "other", "week", week)
    assignments.publish_assignment(platform, staff, "other", "week")
    take_part(platform, student)
    asked_since(platform, LONG_AGO)
    made = accounts.create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.INSTRUCTOR)
    tom = accounts.user_by_id(platform, made.id)
    assert tom
    judged(platform, student, -3 * HOUR, **timed(1.0))
    found = start(platform, tom, **WEEK1)
    judge(platform, 3.0)

    def of_courses(user: User) -> list[str]:
        return [grade.course for grade in regrade.get(platform, user, found.number).grades]

    assert of_courses(tom) == ["gpu"]
    assert of_courses(staff) == ["gpu", "other"]


def test_the_number_of_queries_does_not_grow_with_regrades(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    asked: list[str] = []
    event.listen(
        platform.engine, "before_cursor_execute", lambda _c, _u, statement, *_: asked.append(statement)
    )

    def look() -> tuple[list[tuple[int, int]], list[str]]:
        """The list, and its statements. The catalogue looks for uploads from time to time, on any request."""
        asked.clear()
        found = regrade.list_regrades(platform, staff, "gpu").regrades
        lists = [
            statement.partition("\nWHERE")[0]
            for statement in asked
            if statement != "BEGIN" and "challenge_uploads" not in statement
        ]
        return [(changed.summary.up, changed.summary.waiting) for changed in found], lists

    for user in (student, other):
        judged(platform, user, -1 * HOUR, **timed(1.0))
    start(platform, staff, submission=judged(platform, student, -2 * HOUR, **timed(1.0)), **WHY)
    judge(platform, 3.0)
    start(platform, staff, submission=judged(platform, student, -3 * HOUR, **timed(1.0)), **WHY)
    assert look()[0] == [(0, 1), (1, 0)]
    few = look()[1]
    for _ in range(3):
        start(platform, staff, submission=judged(platform, other, -2 * HOUR, **timed(1.0)), **WHY)
    assert look() == ([(0, 1)] * 4 + [(1, 0)], few)
