from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from sqlalchemy import select

from grader import limits
from grader.deadlines import WindowPhase, zoned
from grader.errors import BadRequest, Conflict, NotFound
from grader.records import groups, names
from grader.records.engine import clock
from grader.records.models import AssignmentRow, CourseGroupRow, CourseInvitationRow, MemberRow
from grader.schemas.course import CourseGroup, GroupBody, OwnGroup
from grader.service.accounts.accounts import User, check_not_of_deleted
from grader.service.accounts.keys import new_code, tidy_code
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.courses.windows import Windows, section_of
from grader.service.platform import Platform


def get_own(platform: Platform, user: User, course_slug: str) -> OwnGroup:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.GROUP_CHOOSE) as course:
        return _view(course)


def change_own(platform: Platform, user: User, course_slug: str, body: GroupBody) -> OwnGroup:
    """Raises NotFound (also for a code), NotAllowed, BadRequest (the name), Conflict (fixed, full, name taken, in a
    group, or handed in with one)."""
    if [body.make is not None, body.join is not None, body.leave].count(True) != 1:
        raise BadRequest("Make a group, join one, or leave yours.", "Choose exactly one of the three.")
    # Locked: two students never take a group's last place.
    with courses.changing(platform, user, course_slug, Action.GROUP_CHOOSE) as course:
        member = _member(course)
        view, before = _view(course), member.group_name
        if view.closed:
            raise Conflict(view.closed, "Your teacher can still change groups, on the course's roster.")
        if body.leave:
            _check_leaves(view)
            member.group_name = ""
        elif before:
            if body.join is not None and view.group is not None and tidy_code(body.join) == view.group.code:
                return view
            raise Conflict(f"You are already in the group {before}.", "Leave it first.")
        else:
            member.group_name = (
                _make(course, body.make) if body.make is not None else _join(course, body.join or "", view)
            )
        course.session.flush()
        groups.make_rows(course.session, course.row.id, new_code)
        course.note(
            Action.GROUP_CHOOSE,
            f"/groups/{member.group_name or before}",
            before={"group": before},
            after={"group": member.group_name},
        )
        return _view(course)


def _member(course: OpenCourse) -> MemberRow:
    mine = (MemberRow.course_id == course.row.id, MemberRow.user_id == course.user.id)
    return course.session.scalars(select(MemberRow).where(*mine)).one()


def _check_leaves(view: OwnGroup) -> None:
    if view.group is None:
        raise Conflict("You are in no group.", "To join one, type its code.")
    if view.stays:
        raise Conflict(view.stays, "Your teacher can still change groups, on the course's roster.")


def _make(course: OpenCourse, name: str) -> str:
    clean = " ".join(unicodedata.normalize("NFC", name).split())
    if not clean or any(unicodedata.category(char)[0] == "C" for char in clean):
        raise BadRequest("A group cannot have this name.", "Use letters, digits and spaces.")
    if len(clean) > limits.NAME_CHARS:
        raise BadRequest(f"The group's name is longer than {limits.NAME_CHARS} characters.", "Shorten it.")
    check_not_of_deleted(clean)
    taken = set[str]()
    for row in (MemberRow, CourseInvitationRow):
        query = select(row.group_name).where(row.course_id == course.row.id)
        taken |= {known.casefold() for known in course.session.scalars(query)}
    if clean.casefold() in taken:
        raise Conflict(
            f"The course has a group '{clean}' already.",
            "Choose another name, or ask its members for the code.",
        )
    # An abandoned group: its old code must not work.
    old = select(CourseGroupRow).where(
        CourseGroupRow.course_id == course.row.id, CourseGroupRow.name == clean
    )
    if (empty := course.session.scalar(old)) is not None:
        empty.join_code = new_code()
    return clean


def _join(course: OpenCourse, code: str, view: OwnGroup) -> str:
    row = course.session.scalar(
        select(CourseGroupRow).where(
            CourseGroupRow.course_id == course.row.id, CourseGroupRow.join_code == tidy_code(code)
        )
    )
    if row is None:
        raise NotFound("No group of this course has this code.", "Ask the group for its code again.")
    count = len(groups.members(course.session, course.row.id, row.name))
    if view.most is not None and count >= view.most:
        raise Conflict(
            f"The group {row.name} is full: it has {count} of {view.most} members.", "Join another group."
        )
    return row.name


def _view(course: OpenCourse) -> OwnGroup:
    session, now = course.session, clock(course.session)
    rows = _open(course)
    name = groups.name_of(session, course.row.id, course.user.id)
    code = session.scalar(
        select(CourseGroupRow.join_code).where(
            CourseGroupRow.course_id == course.row.id, CourseGroupRow.name == name
        )
    )
    closed, stays = "", ""
    if course.row.archived_at is not None:
        closed = "The course is archived."
    elif not rows:
        closed = "No open assignment of this course takes groups."
    for row in rows:
        if row.groups_until is not None and now > row.groups_until:
            at = zoned(row.groups_until, course.row.time_zone)
            closed = f"The groups of {row.title} are fixed since {at}."
        if name and groups.handed_in_together(session, row.id, course.user.id):
            stays = f"Your group has handed in for {row.title}, so you stay in it until the assignment ends."
    members = groups.members(session, course.row.id, name) if name else []
    people = names.people(session, members)
    return OwnGroup(
        course=course.row.slug,
        group=CourseGroup(name=name, members=[people[member].name for member in members], code=code or "")
        if name
        else None,
        most=min((row.group_size for row in rows), default=None),
        closed=closed,
        stays=stays,
    )


def _open(course: OpenCourse) -> Sequence[AssignmentRow]:
    session, now = course.session, clock(course.session)
    rows = session.scalars(
        select(AssignmentRow).where(
            AssignmentRow.course_id == course.row.id,
            AssignmentRow.published_at.is_not(None),
            AssignmentRow.group_size > 1,
        )
    ).all()
    windows = Windows.read(session, course.row, rows)
    section = section_of(session, course.row.id, course.user.id)
    ends = WindowPhase.CLOSED
    return [row for row in rows if windows.of(row, course.user.id, section)[0].phase(now) is not ends]
