from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from grader.deadlines import WindowPhase
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import MemberRow, ReportRow, SubmissionRow
from grader.schemas.assignment import AssignmentBody, AttemptLimits, ExtensionBody, PartBody
from grader.schemas.course import CourseRole, CourseView, MemberChange
from grader.schemas.feedback import CriterionBody, FeedbackBody, RequestBody
from grader.schemas.submission import State, SubmissionFilter
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.courses import assignments, courses, extensions, feedback, gradebook, released, rosters
from grader.service.platform import Platform
from grader.service.review import regrade_requests
from grader.service.submissions import quotas, submissions
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submit import submit
from tests.service.competitions.builders import make as make_competition
from tests.service.courses.scenes import NOW, assign, enrol, judged, move
from tests.service.courses.test_courses import signed_in
from tests.service.world import body
from tests.web import builders

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.fixture(autouse=True)
def _enrolled(platform: Platform, course: CourseView, staff: User, student: User) -> None:
    enrol(platform, staff, student)


def test_a_draft_assignment_is_visible_to_staff_only(platform: Platform, staff: User, student: User) -> None:
    assign(platform, staff, published=False)
    assert assignments.list_assignments(platform, student, "gpu").assignments == []
    with pytest.raises(NotFound):
        assignments.get_assignment(platform, student, "gpu", "week1")
    assignments.publish_assignment(platform, staff, "gpu", "week1")
    seen = assignments.get_assignment(platform, student, "gpu", "week1")
    assert (seen.phase, seen.time_zone, seen.parts[0].points) == (WindowPhase.OPEN, "Europe/Berlin", 100)


def test_times_are_in_the_courses_zone(platform: Platform, staff: User) -> None:
    """Summer time ends on 25 October 2026: 18:00 differs in UTC on the days before and after."""
    for slug, day, hour in (("before", 24, 16), ("after", 26, 17)):
        found = assign(platform, staff, slug, open_at="2026-10-01", due_at=f"2026-10-{day} 18:00")
        assert (found.open_at.day, found.open_at.hour) == (30, 22)
        assert (found.due_at.day, found.due_at.hour) == (day, hour)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"due_at": "2026-03-29 02:30"}, "does not exist in Europe/Berlin"),
        ({"due_at": timedelta(days=-8)}, "due before it opens"),
        ({"late_until": timedelta(hours=1)}, "The late period would end before"),
        ({"parts": [PartBody(challenge="nothing")]}, "no challenge 'nothing'"),
        ({"parts": [PartBody(challenge="scale")] * 2}, "appears twice"),
        (
            {"parts": [PartBody(challenge="only_cuda")], "languages": [Language.TRITON]},
            "only_cuda takes only cuda",
        ),
    ],
)
def test_an_impossible_assignment_is_refused(
    platform: Platform, staff: User, values: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(BadRequest, match=wrong):
        assign(platform, staff, **values)


def test_a_stale_edit_is_refused(platform: Platform, staff: User) -> None:
    first = assign(platform, staff)
    assign(platform, staff, title="Mine", revision=first.revision)
    with pytest.raises(Conflict, match="Somebody else has just changed this"):
        assign(platform, staff, title="Yours", revision=first.revision)


def test_assistants_can_read_but_not_change_assignments(platform: Platform, staff: User, other: User) -> None:
    courses.set_staff(platform, staff, "gpu", "bob", CourseRole.ASSISTANT)
    bob = signed_in(platform, other)
    assign(platform, staff, published=False)
    assert assignments.get_assignment(platform, bob, "gpu", "week1").title == "Week 1"
    with pytest.raises(NotAllowed):
        assign(platform, bob)
    with pytest.raises(NotAllowed):
        extensions.extend(platform, bob, "gpu", "week1", ExtensionBody(student="ada", due_at="2027-01-01"))


def test_a_used_assignment_cannot_be_deleted(platform: Platform, staff: User, student: User) -> None:
    assign(platform, staff)
    with pytest.raises(Conflict, match="is published"):
        assignments.delete_assignment(platform, staff, "gpu", "week1")
    judged(platform, student, -HOUR)
    with pytest.raises(Conflict, match="Students have already submitted"):
        assignments.publish_assignment(platform, staff, "gpu", "week1", published=False)


def test_sections_and_students_can_have_extensions(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    enrol(platform, staff, other, section="B")
    assign(platform, staff, due_at=-DAY, late_until=-DAY + 2 * HOUR)
    later = (NOW + DAY).isoformat()
    extensions.extend(
        platform, staff, "gpu", "week1", ExtensionBody(section="B", due_at=later, reason="a strike")
    )
    bobs = assignments.get_assignment(platform, other, "gpu", "week1")
    assert (bobs.due_at, bobs.late_until, bobs.extended) == (NOW + DAY, NOW + DAY + 2 * HOUR, True)
    assert assignments.get_assignment(platform, student, "gpu", "week1").phase is WindowPhase.CLOSED
    latest = (NOW + 2 * DAY).isoformat()
    extensions.extend(
        platform, staff, "gpu", "week1", ExtensionBody(student="bob", due_at=latest, late_until=latest)
    )
    assert assignments.get_assignment(platform, other, "gpu", "week1").due_at == NOW + 2 * DAY
    given = extensions.list_extensions(platform, staff, "gpu", "week1").extensions
    assert [(extension.student, extension.section, extension.reason) for extension in given] == [
        ("bob", None, ""),
        (None, "B", "a strike"),
    ]
    extensions.take_back_extension(platform, staff, "gpu", "week1", given[0].id)
    assert assignments.get_assignment(platform, other, "gpu", "week1").due_at == NOW + DAY
    for words, body_of in (
        ("one student, one section or one group", ExtensionBody(due_at=later)),
        ("Nobody is in a section 'C'", ExtensionBody(section="C", due_at=later)),
        ("not later than everyone's", ExtensionBody(section="B", due_at=(NOW - 2 * DAY).isoformat())),
    ):
        with pytest.raises(BadRequest, match=words):
            extensions.extend(platform, staff, "gpu", "week1", body_of)


def test_an_extension_never_shortens_a_deadline(platform: Platform, staff: User, other: User) -> None:
    enrol(platform, staff, other, section="B")
    assign(platform, staff, due_at=-DAY)

    def extend(days: int, **whom: str) -> None:
        given = ExtensionBody(due_at=(NOW + days * DAY).isoformat(), **whom)
        extensions.extend(platform, staff, "gpu", "week1", given)

    def due() -> tuple[timedelta, bool]:
        found = assignments.get_assignment(platform, other, "gpu", "week1")
        return found.due_at - NOW, found.extended

    extend(1, student="bob")
    extend(2, section="B")
    assert due() == (2 * DAY, True), "the section's is later"
    assign(platform, staff, due_at=3 * DAY, late_until=4 * DAY)
    assert due() == (3 * DAY, False), "everyone's is later by now"
    extend(5, student="bob")
    assert due() == (5 * DAY, True)


class TestAttempts:
    def test_the_total_attempts_are_limited(self, platform: Platform, staff: User, student: User) -> None:
        assign(platform, staff, attempts=AttemptLimits(total=2))
        assert submit(platform, student, body(source="a = 1\n")).remaining == 1
        assert quotas.get_quotas(platform, student, "scale").assignments[0].total == 1
        assert assignments.get_assignment(platform, student, "gpu", "week1").left[0].total == 1
        submit(platform, student, body(source="a = 2\n"))
        with pytest.raises(TooMany, match="all 2 attempts for this challenge of gpu/week1"):
            submit(platform, student, body(source="a = 3\n"))

    def test_attempts_are_limited_by_the_courses_day(
        self, platform: Platform, staff: User, student: User
    ) -> None:
        assign(platform, staff, attempts=AttemptLimits(day=1))
        judged(platform, student, -26 * HOUR)
        submit(platform, student, body())
        with pytest.raises(TooMany, match="all 1 attempts of today") as refused:
            submit(platform, student, body(source="a = 2\n"))
        assert "midnight (Europe/Berlin)" in refused.value.hint

    def test_waiting_attempts_are_limited(self, platform: Platform, staff: User, student: User) -> None:
        assign(platform, staff, attempts=AttemptLimits(pending=1))
        first = submit(platform, student, body())
        with pytest.raises(TooMany, match="are waiting or running"):
            submit(platform, student, body(source="a = 2\n"))
        cancel(platform, student, first.id)
        submit(platform, student, body(source="a = 2\n"))

    def test_early_failed_and_cancelled_submissions_are_no_attempts(
        self, platform: Platform, staff: User, student: User
    ) -> None:
        assign(platform, staff, attempts=AttemptLimits(total=1))
        judged(platform, student, -8 * DAY)
        move(platform, judged(platform, student, -HOUR), state=State.FAILED, verdict="internal_error")
        cancel(platform, student, submit(platform, student, body()).id)
        submit(platform, student, body(source="a = 2\n"))

    def test_attempts_are_unlimited_after_the_deadline(
        self, platform: Platform, staff: User, student: User, other: User
    ) -> None:
        assign(platform, staff, due_at=-HOUR, attempts=AttemptLimits(total=1))
        for user in (student, other):
            for number in range(2):
                assert submit(platform, user, body(source=f"a = {number}\n")).remaining is not None

    def test_an_assignment_limits_languages_and_devices(
        self, platform: Platform, staff: User, student: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assign(platform, staff, languages=[Language.CUDA])
        with pytest.raises(NotAllowed, match="does not take Triton"):
            submit(platform, student, body())
        with pytest.raises(BadRequest, match="no device 'h200'"):
            assign(platform, staff, devices=["h200"])
        with monkeypatch.context() as patched:
            patched.setattr(assignments, "served_devices", lambda _: ["cpu", "h200"])
            assign(platform, staff, devices=["h200"])
        assign(platform, staff, devices=["h200"])  # it stays, though no worker serves it now
        with pytest.raises(NotAllowed, match="does not take submissions for the device 'cpu'"):
            submit(platform, student, body())


def test_course_staff_read_their_students_submissions(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    shown = judged(platform, student, -HOUR)
    courses.set_staff(platform, staff, "gpu", "bob", CourseRole.ASSISTANT)
    bob = signed_in(platform, other)
    with pytest.raises(NotFound):
        submissions.get_source(platform, bob, shown)
    assign(platform, staff)
    assert submissions.get_source(platform, bob, shown).source == "x = 1\n"
    with pytest.raises(NotFound):
        submissions.get_source(platform, bob, judged(platform, student, -HOUR, challenge="only_cuda"))


def test_an_unopened_assignment_does_not_name_its_draft(
    platform: Platform, staff: User, student: User
) -> None:
    publication.hide(platform, staff, "scale")
    assign(platform, staff, open_at=DAY, due_at=2 * DAY)
    rubric = {"scale": [CriterionBody(title="Clarity", points=5)]}
    feedback.put_feedback(platform, staff, "gpu", "week1", FeedbackBody(rubric=rubric))

    def told() -> list[str]:
        answers = (
            assignments.get_assignment(platform, student, "gpu", "week1"),
            gradebook.get_grades(platform, student, "gpu"),
            feedback.get_feedback(platform, student, "gpu", "week1"),
        )
        return ["scale" in answer.model_dump_json().lower() for answer in answers]

    def refusal(challenge: str) -> str:
        body = RequestBody(assignment="week1", challenge=challenge, text="Why?")
        with pytest.raises(BadRequest) as refused:
            regrade_requests.ask(platform, student, "gpu", body)
        return refused.value.message.replace(challenge, "")

    assert told() == [False, False, False]
    assert refusal("scale") == refusal("only_cuda")
    assign(platform, staff, open_at=-HOUR)
    assert told() == [True, True, True]


def test_staff_read_nothing_of_drafts_or_after_a_student_left(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    mine = judged(platform, student, -HOUR)
    courses.set_staff(platform, staff, "gpu", "bob", CourseRole.INSTRUCTOR)
    bob = signed_in(platform, other)
    assign(platform, staff, published=False)
    for name in ("gpu", "gpu/week1"):
        wanted = SubmissionFilter(assignment=name)
        found = submissions.list_submissions(platform, bob, everyone=True, wanted=wanted)
        assert found.submissions == []
    with pytest.raises(NotFound):
        submissions.get_source(platform, bob, mine)
    assignments.publish_assignment(platform, staff, "gpu", "week1")
    with pytest.raises(NotFound):
        submissions.get_source(platform, bob, mine)
    mine = judged(platform, student, datetime.now(UTC))
    assert submissions.get_source(platform, bob, mine).id == mine
    rosters.change_member(platform, staff, "gpu", student.name, MemberChange(on_roster=False))
    assert submissions.get_source(platform, bob, mine).id == mine
    with pytest.raises(NotFound):
        submissions.get_source(platform, bob, judged(platform, student, DAY))


def test_hidden_cases_stay_hidden_while_a_competition_has_the_challenge(
    platform: Platform, staff: User, student: User
) -> None:
    assign(platform, staff, due_at=-HOUR, reveal_hidden=True)
    with platform.sessions() as session:
        assert released.hidden_revealed(session, student.id, "scale", NOW)
    make_competition(platform, staff)
    with platform.sessions() as session:
        assert not released.hidden_revealed(session, student.id, "scale", NOW)
        assert released.hidden_revealed(session, student.id, "scale", NOW + DAY)


def test_hidden_cases_are_revealed_after_the_last_deadline(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    enrol(platform, staff, other)
    mine = judged(platform, student, -2 * DAY)
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).filter_by(public_id=mine).one()
        report = builders.accepted(challenge="scale").model_dump_json()
        session.add(ReportRow(submission_id=row.id, attempt=row.attempt, body=report))

    def named() -> bool:
        return "secret" in {case.name for case in submissions.get_report(platform, student, mine).cases}

    assign(platform, staff, due_at=-HOUR)
    assert not named()
    assign(platform, staff, due_at=-HOUR, reveal_hidden=True)
    assert named()
    later = (NOW + DAY).isoformat()
    extensions.extend(platform, staff, "gpu", "week1", ExtensionBody(student="bob", due_at=later))
    assert not named()
    given = extensions.list_extensions(platform, staff, "gpu", "week1").extensions
    extensions.take_back_extension(platform, staff, "gpu", "week1", given[0].id)
    assign(platform, staff, "week2")
    assert not named()


def test_a_former_student_sees_no_hidden_cases(platform: Platform, staff: User, student: User) -> None:
    assign(platform, staff, due_at=-HOUR, reveal_hidden=True)
    with writing(platform.sessions) as session:
        assert released.hidden_revealed(session, student.id, "scale", NOW)
        session.query(MemberRow).filter_by(user_id=student.id).one().left_at = NOW
        session.flush()
        assert not released.hidden_revealed(session, student.id, "scale", NOW)


def test_numbers_are_refused_as_times() -> None:
    with pytest.raises(ValueError, match="due_at"):
        AssignmentBody(title="x", parts=[PartBody(challenge="scale")], open_at="2026-01-01", due_at=5)
