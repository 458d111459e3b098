from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import Conflict, NotAllowed, NotFound
from grader.records import activity, attempts, ranks
from grader.schemas.account import Role
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, CourseRole, CourseView, RosterBody
from grader.schemas.submission import State, VoidBody
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.boards import leaderboard
from grader.service.courses import assignments, courses, gradebook, rosters
from grader.service.messages import notices
from grader.service.operation import retention
from grader.service.platform import Platform
from grader.service.review import voids
from grader.service.review.voids import Power
from grader.service.submissions import submissions
from tests.service.courses.scenes import (
    LONG_AGO,
    asked_since,
    assign,
    enrol,
    grading,
    judged,
    take_part,
)

HOUR = timedelta(hours=1)
TIMED = {"time_us": 10.0, "ci_lo_us": 9.0, "ci_hi_us": 11.0, "speedup": 3.0}
COPIED = VoidBody(reason="A copy of another  submission.")


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    enrol(platform, staff, student, other)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")
    assign(platform, staff)


def board(platform: Platform) -> list[str]:
    return [entry.submission for entry in leaderboard.leaderboard(platform, "scale", device="cpu").entries]


def test_a_void_result_counts_nowhere_until_restored(platform: Platform, staff: User, student: User) -> None:
    slow = judged(platform, student, -2 * HOUR, **TIMED | {"time_us": 20.0, "ci_hi_us": 21.0, "speedup": 1.0})
    fast = judged(platform, student, -1 * HOUR, **TIMED)

    def points() -> tuple[float, str | None, int, int]:
        (part,) = gradebook.get_gradebook(platform, staff, "gpu").students[0].assignments[0].parts
        return part.points, part.submission, part.attempts, part.voided

    assert (points(), board(platform)) == ((100, fast, 2, 0), [fast])
    view = voids.void(platform, staff, fast, COPIED)
    assert view.voided is not None
    assert view.voided.reason == "A copy of another submission."
    assert (points(), board(platform)) == ((60, slow, 2, 1), [slow])
    own = gradebook.get_grades(platform, student, "gpu").assignments[0].parts[0]
    assert f"Submission {fast} was voided by staff: A copy of another submission." in [
        line.text for line in own.lines
    ]
    assert submissions.get_submission(platform, student, fast).voided == view.voided
    with platform.sessions() as session:
        (progress,) = attempts.of_user(session, student.id)
        assert (progress.count, progress.accepted, progress.speedup) == (2, 1, 1.0)
        assert [event.accepted for event in activity.submission_events(session, student.id)] == [False, True]
    voids.restore(platform, staff, fast)
    assert (points(), board(platform)) == ((100, fast, 2, 0), [fast])
    with pytest.raises(NotFound, match="not void"):
        voids.restore(platform, staff, fast)
    log = courses.get_audit(platform, staff, "gpu").entries[:2]
    assert [(entry.action, entry.after) for entry in log] == [
        ("submissions.void", {"reason": None}),
        ("submissions.void", {"reason": "A copy of another submission."}),
    ]


def test_a_void_result_solves_nothing(platform: Platform, staff: User, student: User) -> None:
    voids.void(platform, staff, judged(platform, student, -1 * HOUR, **TIMED), COPIED)
    (part,) = gradebook.get_grades(platform, staff, "gpu", "ada").assignments[0].parts
    assert (part.points, part.progress, part.submission) == (0, "stuck", None)
    with platform.sessions() as session:
        assert activity.first_solved(session, student.id) == set()


def test_voiding_covers_all_judgements_of_a_submission(
    platform: Platform, staff: User, student: User
) -> None:
    first = judged(platform, student, -1 * HOUR, **TIMED)
    with platform.sessions() as session:
        number = submissions.find(session, staff, first).id
    again = judged(platform, student, -1 * HOUR, version=2, rejudge_of=number, kind="rejudge", **TIMED)
    voids.void(platform, staff, again, COPIED)  # either names the result
    assert submissions.get_submission(platform, staff, first).voided
    with platform.sessions() as session:
        assert [ranks.boards(session, "scale", version) for version in (1, 2)] == [set(), set()]


def test_teachers_void_in_their_course_and_staff_everywhere(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    tom = accounts.create_user(platform, "tom", "correct horse")
    stranger = accounts.create_user(platform, "eve", "correct horse", Role.STAFF)
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.ASSISTANT)
    assistant = accounts.user_by_id(platform, tom.id)
    assert assistant
    taught = judged(platform, student, -1 * HOUR, **TIMED)
    elsewhere = judged(platform, student, -1 * HOUR, challenge="only_cuda", **TIMED)
    for who, which, error in (
        (student, taught, NotAllowed),
        (other, taught, NotFound),
        (assistant, taught, NotAllowed),
        (assistant, elsewhere, NotFound),
    ):
        with pytest.raises(error):
            voids.void(platform, who, which, COPIED)
    assert voids.power(platform, assistant, taught) is None
    assert voids.power(platform, staff, taught) == Power(everywhere=True, courses=["gpu"], void=False)
    assert voids.power(platform, stranger, taught) == Power(everywhere=True, courses=[], void=False)
    for which in (taught, elsewhere):
        assert voids.void(platform, stranger, which, COPIED).voided
    assert voids.power(platform, staff, taught) == Power(everywhere=True, courses=["gpu"], void=True)


@pytest.mark.both_databases
def test_a_course_void_applies_only_in_that_course(platform: Platform, staff: User, student: User) -> None:
    """The boards and another course's points stay; both logs and the student learn of it."""
    courses.create_course(platform, staff, CourseBody(slug="other", name="Another"))
    text = f"account\n{student.name}\n"
    rosters.import_roster(platform, staff, "other", RosterBody(text=text, dry_run=False))
    take_part(platform, student)
    week = AssignmentBody(
        title="Week", parts=[PartBody(challenge="scale")], open_at="2020-01-01", due_at="2999-01-01"
    )
    assignments.put_assignment(platform, staff, "other", "week", week)
    assignments.publish_assignment(platform, staff, "other", "week")
    asked_since(platform, LONG_AGO)
    made = accounts.create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "other", "tom", CourseRole.INSTRUCTOR)
    tom = accounts.user_by_id(platform, made.id)
    assert tom
    mine = judged(platform, student, -1 * HOUR, **TIMED)

    def points(course: str) -> tuple[float, int]:
        book = gradebook.get_gradebook(platform, staff, course)
        (part,) = next(listed for listed in book.students if listed.name == student.name).assignments[0].parts
        return part.points, part.voided

    assert (points("gpu"), points("other")) == ((100, 0), (100, 0))
    view = voids.void(platform, tom, mine, COPIED)
    assert (view.voided, [void.course for void in view.course_voids]) == (None, ["other"])
    assert (points("gpu"), points("other"), board(platform)) == ((100, 0), (0, 1), [mine])
    for slug in ("gpu", "other"):
        entry = courses.get_audit(platform, staff, slug).entries[0]
        assert (entry.actor, entry.action) == ("tom", "submissions.void")
        assert entry.after == {"reason": "A copy of another submission.", "course": "other"}
    told = notices.list_notices(platform, student).notices[0].text
    assert told == "Your result for scale is void in Another: A copy of another submission."
    own = gradebook.get_grades(platform, student, "other").assignments[0].parts[0]
    assert f"Submission {mine} was voided by staff: A copy of another submission." in [
        line.text for line in own.lines
    ]
    courses.create_course(platform, staff, CourseBody(slug="empty", name="Empty"))
    with pytest.raises(NotFound, match="not handed in for"):
        voids.void(platform, staff, mine, COPIED.model_copy(update={"course": "empty"}))
    with pytest.raises(NotFound, match="not void in course gpu"):
        voids.restore(platform, staff, mine, "gpu")
    voids.restore(platform, tom, mine)
    assert (points("other"), board(platform)) == ((100, 0), [mine])
    voids.void(platform, staff, mine, COPIED)
    assert (points("gpu"), points("other"), board(platform)) == ((0, 1), (0, 1), [])
    with pytest.raises(NotFound, match="not void in course other"):
        voids.restore(platform, tom, mine)


def test_only_a_result_can_be_voided(platform: Platform, staff: User, student: User) -> None:
    waits = judged(platform, student, -1 * HOUR, state=State.QUEUED, verdict=None, finished_at=None)
    with pytest.raises(Conflict, match="no result"):
        voids.void(platform, staff, waits, COPIED)


def test_forgetting_a_person_removes_reasons_that_name_them(
    platform: Platform, staff: User, student: User
) -> None:
    gone = judged(platform, student, -1 * HOUR, **TIMED)
    voids.void(platform, staff, gone, VoidBody(reason="Ada copied it."))
    retention.forget(platform, "ada")
    view = submissions.get_submission(platform, staff, gone)
    assert view.voided is not None
    assert view.voided.reason == ""
    assert "Ada" not in courses.get_audit(platform, staff, "gpu").model_dump_json()
    assert board(platform) == []
