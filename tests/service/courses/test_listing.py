"""Everyone's submissions, by person, challenge, verdict, mark and time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.errors import BadRequest, NotAllowed
from grader.records import leases
from grader.records.engine import writing
from grader.records.models import SimilarPairRow, SubmissionRow
from grader.schemas.course import CourseRole, CourseView
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import SubmissionFilter
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User, create_user
from grader.service.courses import courses
from grader.service.platform import Platform
from grader.service.submissions.submissions import list_submissions
from tests.service.courses.scenes import NOW, assign, enrol, judged

pytestmark = pytest.mark.both_databases


def found(platform: Platform, reader: User, challenge: str | None = None, **wanted: object) -> list[str]:
    asked = SubmissionFilter.model_validate(wanted)
    return [
        submission.id
        for submission in list_submissions(
            platform, reader, challenge, everyone=True, wanted=asked
        ).submissions
    ]


def test_each_filter_and_their_combination_work(
    platform: Platform, course: CourseView, staff: User, student: User, other: User
) -> None:
    enrol(platform, staff, student)
    assign(platform, staff)
    early = judged(platform, student, timedelta(days=-30))
    right = judged(platform, student, timedelta(hours=-3), verdict=Verdict.ACCEPTED)
    wrong = judged(platform, student, timedelta(hours=-2), verdict=Verdict.WRONG_ANSWER)
    foreign = judged(platform, other, timedelta(hours=-1), challenge="only_cuda")
    with writing(platform.sessions) as session:
        row = session.query(SubmissionRow).filter_by(public_id=foreign).one()
        leases.put_flags(session, row.id, [Flag.LIBRARY_KERNEL, Flag.LIBRARY_KERNEL])
        assignment = {
            "assignment_id": 1,
            "challenge": "scale",
            "share": 0.9,
            "other_share": 0.9,
            "bits": 99.0,
        }
        session.add(SimilarPairRow(submission=right, other=early, **assignment))

    assert found(platform, staff) == [foreign, wrong, right, early]
    assert found(platform, staff, "only_cuda") == [foreign]
    assert found(platform, staff, user=other.name) == [foreign]
    assert found(platform, staff, verdict="wrong_answer") == [wrong]
    assert found(platform, staff, flag="library_kernel") == [foreign]
    assert found(platform, staff, flag="similar") == [right, early]
    # Submissions of the course's students for it, while it was open.
    assert found(platform, staff, assignment="gpu/week1") == [wrong, right]
    assert found(platform, staff, assignment="gpu") == [wrong, right]
    since, until = ((NOW + timedelta(hours=hours)).isoformat() for hours in (-3.5, -1.5))
    assert found(platform, staff, since=since, until=until) == [wrong, right]
    assert found(platform, staff, assignment="gpu/week1", user=student.name, verdict="accepted") == [right]
    with pytest.raises(BadRequest, match="is not a time"):
        found(platform, staff, since="soon")


def test_teachers_list_their_students_and_students_themselves(
    platform: Platform, course: CourseView, staff: User, student: User, other: User
) -> None:
    enrol(platform, staff, student)
    assign(platform, staff)
    mine = judged(platform, student, timedelta(hours=-1))
    judged(platform, other, timedelta(hours=-1))
    made = create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.ASSISTANT)
    tom = accounts.user_by_id(platform, made.id)
    assert tom is not None
    assert found(platform, tom, assignment="gpu/week1") == [mine]
    assert found(platform, tom) == []  # without a course: their own
    for wanted in ({"assignment": "gpu/week1"}, {"user": other.name}, {"flag": "similar"}):
        with pytest.raises(NotAllowed):
            found(platform, student, **wanted)


def test_pages_continue_at_the_last_item(platform: Platform, staff: User, student: User) -> None:
    ids = [judged(platform, student, timedelta(hours=-hours)) for hours in range(5)]
    with writing(platform.sessions) as session:
        for row in session.query(SubmissionRow):
            leases.put_flags(session, row.id, [Flag.ABOVE_ROOFLINE])
    wanted = SubmissionFilter(flag=Flag.ABOVE_ROOFLINE)
    paged: list[str] = []
    while page := list_submissions(
        platform, staff, everyone=True, limit=2, older_than=paged[-1] if paged else None, wanted=wanted
    ).submissions:
        paged += [view.id for view in page]
    assert paged == ids
