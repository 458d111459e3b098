from __future__ import annotations

import pytest

from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.schemas.account import Role
from grader.schemas.course import CourseBody, CourseChange, CourseRole, CourseView, Visibility
from grader.schemas.token import Scope
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User, create_user
from grader.service.courses import courses, permissions
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.platform import Platform


def signed_in(platform: Platform, user: User) -> User:
    """Read again, with the account's new rights."""
    token = tokens.issue(platform, user, tokens.TokenRequest(kind=tokens.TokenKind.SESSION)).token
    return tokens.user_of_token(platform, token)


def test_only_staff_create_courses_and_own_them(
    platform: Platform, staff: User, student: User, course: CourseView
) -> None:
    assert course.staff == {"teacher": CourseRole.OWNER}
    assert course.role is CourseRole.OWNER
    with pytest.raises(NotAllowed):
        courses.create_course(platform, student, CourseBody(slug="mine", name="Mine"))
    with pytest.raises(Conflict):
        courses.create_course(platform, staff, CourseBody(slug="gpu", name="Again"))
    with pytest.raises(BadRequest, match="no time zone 'Mars/Phobos'"):
        courses.create_course(platform, staff, CourseBody(slug="mars", name="Mars", time_zone="Mars/Phobos"))


@pytest.mark.usefixtures("course")
def test_a_members_course_is_not_found_by_others(platform: Platform, staff: User, student: User) -> None:
    assert courses.list_courses(platform, student).courses == []
    with pytest.raises(NotFound):
        courses.get_course(platform, student, "gpu")
    courses.change_course(platform, staff, "gpu", CourseChange(visibility=Visibility.LISTED))
    seen = courses.get_course(platform, student, "gpu")
    assert (seen.name, seen.students, seen.role) == ("GPU programming", None, None)
    with pytest.raises(NotAllowed):
        courses.change_course(platform, student, "gpu", CourseChange(name="Ours"))


def test_a_stale_edit_is_refused(platform: Platform, staff: User, course: CourseView) -> None:
    courses.change_course(platform, staff, "gpu", CourseChange(name="One", revision=course.revision))
    with pytest.raises(Conflict, match="Somebody else has just changed this"):
        courses.change_course(platform, staff, "gpu", CourseChange(name="Two", revision=course.revision))
    assert courses.get_course(platform, staff, "gpu").name == "One"


@pytest.mark.usefixtures("course")
def test_owners_set_staff_and_one_owner_remains(platform: Platform, staff: User, student: User) -> None:
    with pytest.raises(Conflict, match="the only owner"):
        courses.set_staff(platform, staff, "gpu", "teacher", CourseRole.ASSISTANT)
    courses.set_staff(platform, staff, "gpu", "ada", CourseRole.INSTRUCTOR)
    ada = signed_in(platform, student)
    assert courses.change_course(platform, ada, "gpu", CourseChange(term="Spring")).term == "Spring"
    with pytest.raises(NotAllowed):
        courses.set_staff(platform, ada, "gpu", "ada", CourseRole.OWNER)
    log = courses.get_audit(platform, ada, "gpu").entries
    assert [(entry.actor, entry.action) for entry in log] == [
        ("ada", "course.edit"),
        ("teacher", "course.staff"),
        ("teacher", "course.create"),
    ]
    assert (log[0].before, log[0].after) == ({"term": "Autumn 2026"}, {"term": "Spring"})
    courses.set_staff(platform, staff, "gpu", "ada", None)
    assert Scope.STAFF not in signed_in(platform, student).scopes
    with pytest.raises(NotFound):
        courses.get_course(platform, signed_in(platform, student), "gpu")


@pytest.mark.usefixtures("course")
def test_a_token_without_the_staff_scope_gives_student_rights(platform: Platform, staff: User) -> None:
    wish = tokens.TokenRequest(scopes=[Scope.READ, Scope.SUBMIT])
    lesser = tokens.user_of_token(platform, tokens.issue(platform, staff, wish).token)
    with pytest.raises(NotAllowed) as refused:
        courses.change_course(platform, lesser, "gpu", CourseChange(name="No"))
    assert "--scope read,submit,staff" in refused.value.hint
    assert courses.get_course(platform, lesser, "gpu").students is None


@pytest.mark.usefixtures("course")
def test_an_archived_course_is_read_only(platform: Platform, staff: User, student: User) -> None:
    assert courses.change_course(platform, staff, "gpu", CourseChange(archived=True)).archived
    with pytest.raises(Conflict, match="archived"):
        courses.set_staff(platform, staff, "gpu", student.name, CourseRole.ASSISTANT)
    assert not courses.change_course(platform, staff, "gpu", CourseChange(archived=False)).archived


def test_every_action_has_a_row_in_the_table() -> None:
    assert set(TABLE) == set(Action)
    # Only authors act on withdrawn entries.
    assert {action for action, standings in TABLE.items() if not standings} == {Action.ENTRY_WITHDRAW}


@pytest.mark.usefixtures("course")
def test_standings_follow_the_roles_of_course_and_platform(platform: Platform, staff: User) -> None:
    """Each role of a course, and the platform's, by accounts that have them."""
    expected = {
        "visitor": (create_user(platform, "visitor", "correct horse"), {Standing.VISITOR}),
        "staff": (
            create_user(platform, "colleague", "correct horse", Role.STAFF),
            {Standing.VISITOR, Standing.STAFF},
        ),
        "owner": (staff, {Standing.VISITOR, Standing.STAFF, Standing.OWNER}),
    }
    for role in (CourseRole.ASSISTANT, CourseRole.INSTRUCTOR):
        made = create_user(platform, role.value, "correct horse")
        courses.set_staff(platform, staff, "gpu", role.value, role)
        expected[role.value] = signed_in(platform, made), {Standing.VISITOR, Standing(role.value)}
    with platform.sessions() as session:
        for name, (user, standings) in expected.items():
            assert permissions.standings(session, user, 1) == standings, name
