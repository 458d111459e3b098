"""A student on a roster joins by their own first visit; until then nobody there reads their data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from grader.errors import NotAllowed, NotFound
from grader.schemas.course import CourseRole, CourseView, JoinCodeBody, MemberChange, RosterBody
from grader.schemas.preferences import ProfileAudience
from grader.schemas.submission import SubmissionFilter
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.boards.readers import ProfileReader
from grader.service.courses import assignments, courses, gradebook, joining, rosters
from grader.service.platform import Platform
from grader.service.submissions import submissions
from tests.service.courses.scenes import assign, judged

NOTHING_READ: tuple[bool, list[str], float, str | None] = (False, [], 0.0, None)


@pytest.fixture
def tom(platform: Platform, course: CourseView, staff: User, student: User) -> User:
    """An instructor without other roles; the assignment is open, and ada is on the roster."""
    made = accounts.create_user(platform, "tom", "correct horse")
    courses.set_staff(platform, staff, "gpu", "tom", CourseRole.INSTRUCTOR)
    found = accounts.user_by_id(platform, made.id)
    assert found
    assign(platform, staff)
    enrol(platform, found)
    return found


def enrol(platform: Platform, tom: User, let_back_in: bool = False) -> None:
    text = "account\nada\n"
    rosters.import_roster(platform, tom, "gpu", RosterBody(text=text, dry_run=False, let_back_in=let_back_in))


def handed_in(platform: Platform, student: User) -> str:
    return judged(platform, student, datetime.now(UTC), speedup=1.0)


def read_by(platform: Platform, tom: User, submission: str) -> tuple[bool, list[str], float, str | None]:
    """A teacher's view of ada: the submission, their list, her attempts, her address."""
    try:
        submissions.get_source(platform, tom, submission)
        opened = True
    except NotFound:
        opened = False
    wanted = SubmissionFilter(assignment="gpu/week1")
    listed = submissions.list_submissions(platform, tom, everyone=True, wanted=wanted).submissions
    (ada,) = [
        student for student in gradebook.get_gradebook(platform, tom, "gpu").students if student.name == "ada"
    ]
    (member,) = [
        member for member in rosters.get_roster(platform, tom, "gpu").members if member.name == "ada"
    ]
    return opened, [view.id for view in listed], ada.assignments[0].parts[0].attempts, member.email


def of_address(platform: Platform, student: User) -> None:
    with platform.sessions() as session:
        row = accounts.find_row(session, student.name)
        row.email = row.email_key = "ada@uni.edu"
        session.commit()


@pytest.mark.both_databases
def test_a_first_visit_accepts_and_shows_later_submissions_to_staff(
    platform: Platform, tom: User, student: User
) -> None:
    of_address(platform, student)
    early = handed_in(platform, student)
    assert read_by(platform, tom, early) == NOTHING_READ
    assert not rosters.get_roster(platform, tom, "gpu").members[0].accepted
    with platform.sessions() as session:
        assert not ProfileReader(platform, session, tom, student.id).reads(ProfileAudience.PRIVATE)
    assert courses.get_course(platform, student, "gpu").role is CourseRole.STUDENT
    assert read_by(platform, tom, early) == (False, [], 0, "ada@uni.edu")
    late = handed_in(platform, student)
    assert read_by(platform, tom, late) == (True, [late], 1, "ada@uni.edu")


def _joins(platform: Platform, staff: User, student: User) -> None:
    joining.join(platform, student, joining.make_code(platform, staff, "gpu", JoinCodeBody()).code)


def _reads_grades(platform: Platform, _: User, student: User) -> None:
    gradebook.get_grades(platform, student, "gpu")


def _reads_the_assignment(platform: Platform, _: User, student: User) -> None:
    assignments.list_assignments(platform, student, "gpu")


@pytest.mark.parametrize("act", [_joins, _reads_grades, _reads_the_assignment])
def test_a_students_action_accepts_the_course(
    platform: Platform, tom: User, student: User, act: Callable[[Platform, User, User], None]
) -> None:
    act(platform, tom, student)
    assert read_by(platform, tom, handed_in(platform, student))[0]


def test_lists_and_mentions_accept_nothing(platform: Platform, tom: User, student: User) -> None:
    courses.list_courses(platform, student)
    gradebook.get_grades(platform, tom, "gpu", "ada")
    assert not read_by(platform, tom, handed_in(platform, student))[0]


@pytest.mark.both_databases
def test_a_readmitted_student_accepts_again(platform: Platform, tom: User, student: User) -> None:
    """Submissions from before the removal still count."""
    courses.get_course(platform, student, "gpu")
    first = handed_in(platform, student)
    for back in (
        lambda: rosters.change_member(platform, tom, "gpu", "ada", MemberChange(on_roster=True)),
        lambda: enrol(platform, tom, let_back_in=True),
    ):
        rosters.change_member(platform, tom, "gpu", "ada", MemberChange(on_roster=False))
        gone = handed_in(platform, student)
        back()
        waiting = handed_in(platform, student)
        assert [read_by(platform, tom, public_id)[0] for public_id in (first, gone, waiting)] == [
            True,
            False,
            False,
        ]
        courses.get_course(platform, student, "gpu")
        again = handed_in(platform, student)
        assert [read_by(platform, tom, public_id)[0] for public_id in (first, gone, waiting, again)] == [
            *(True, False, False),
            True,
        ]
    assert read_by(platform, tom, first)[2] == 3


def test_an_unaccepted_course_tells_the_student_to_join(
    platform: Platform, tom: User, staff: User, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.service.challenges import publication

    with platform.sessions() as session:
        monkeypatch.setattr(publication.publications, "published", lambda *_: frozenset())
        moment = datetime.now(UTC) + timedelta(seconds=1)
        with pytest.raises(NotAllowed, match="of course gpu, which you have not joined yet"):
            publication.check_takes(session, student, "scale", moment, within=False)
    courses.get_course(platform, student, "gpu")
    with platform.sessions() as session:
        publication.check_takes(session, student, "scale", moment, within=False)
