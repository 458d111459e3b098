from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.challenge.catalogue import near
from grader.deadlines import parse_moment
from grader.errors import BadRequest, NotFound
from grader.records import groups, names
from grader.records.models import AssignmentRow, ExtensionRow, UserRow, utcnow
from grader.schemas.assignment import ExtensionBody, ExtensionList, ExtensionView
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, members
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.courses.windows import late_until_of
from grader.service.platform import Platform


def extend(platform: Platform, user: User, course_slug: str, slug: str, body: ExtensionBody) -> ExtensionList:
    """Replaces earlier ones, also after the deadline, for a student, a section, or a group's present members. Default
    ``late_until``: as long as the assignment's. Raises NotFound, NotAllowed, BadRequest."""
    if [body.student, body.section, body.group].count(None) != 2:
        raise BadRequest(
            "An extension is for one student, one section or one group.",
            "Give either a student, a section or a group.",
        )
    reason = audit.tidy_reason(body.reason)
    with courses.changing(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        session, row = course.session, assignments.find(course, slug)
        zone = ZoneInfo(course.row.time_zone)
        due_at = parse_moment(body.due_at, zone, end=True)
        if due_at <= row.open_at:
            raise BadRequest("The new deadline is before the assignment opens.", "Give a later deadline.")
        late_until = late_until_of(body.late_until, due_at, zone)
        if body.late_until is None and row.late_until is not None:
            late_until = due_at + (row.late_until - row.due_at)
        if due_at <= row.due_at and (late_until or due_at) <= (row.late_until or row.due_at):
            raise BadRequest(
                "The new deadline is not later than everyone's.",
                "Give a later deadline, or change the assignment's.",
            )
        whom = _whom(course, body)
        if body.section is not None and body.section not in (known := members.sections_of(course)):
            raise BadRequest(f"Nobody is in a section '{body.section[:64]}'.", near(body.section, known))
        for student, user_id in whom:
            given = _extension(session, row, user_id, body.section)
            before = _extension_facts(given) if given is not None else None
            if given is None:
                given = ExtensionRow(assignment_id=row.id, user_id=user_id, section=body.section)
                session.add(given)
            given.due_at, given.late_until, given.reason = due_at, late_until, reason
            given.made_by, given.created_at = user.id, utcnow()
            session.flush()
            subject = f"/assignments/{slug}/extensions/{student or f'section {body.section}'}"
            after = _extension_facts(given) | ({"group": body.group} if body.group is not None else {})
            course.note(Action.EXTENSION_GRANT, subject, before=before or {}, after=after, reason=reason)
        return _extensions(course, row)


def _whom(course: OpenCourse, body: ExtensionBody) -> list[tuple[str | None, int | None]]:
    """Names and ids; None for a section. Raises NotFound, BadRequest."""
    if body.student is not None:
        return [(body.student, members.student_of(course, body.student))]
    if body.group is None:
        return [(None, None)]
    found = groups.members(course.session, course.row.id, body.group)
    if not found:
        known = members.groups_of(course)
        raise BadRequest(f"Nobody is in a group '{body.group[:64]}'.", near(body.group, known))
    people = names.people(course.session, found)
    return [(people[member].name, member) for member in found]


def _extension(
    session: Session, row: AssignmentRow, user: int | None, section: str | None
) -> ExtensionRow | None:
    given = ExtensionRow
    whose = given.user_id == user if user is not None else given.section == section
    return session.scalar(select(given).where(given.assignment_id == row.id, whose))


def _extension_facts(row: ExtensionRow) -> dict[str, Any]:
    late = row.late_until.isoformat() if row.late_until else None
    return {"due_at": row.due_at.isoformat(), "late_until": late}


def list_extensions(platform: Platform, user: User, course_slug: str, slug: str) -> ExtensionList:
    """Newest first. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        return _extensions(course, assignments.find(course, slug))


def take_back_extension(
    platform: Platform, user: User, course_slug: str, slug: str, number: int
) -> ExtensionList:
    """Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, course_slug, Action.EXTENSION_GRANT) as course:
        row = assignments.find(course, slug)
        given = course.session.get(ExtensionRow, number) if number < 2**31 else None
        if given is None or given.assignment_id != row.id:
            raise NotFound(
                f"{slug} has no extension {number}.", "`grader assignment extend` lists its extensions."
            )
        subject = f"/assignments/{slug}/extensions/{number}"
        course.note(Action.EXTENSION_GRANT, subject, before=_extension_facts(given), after={})
        course.session.delete(given)
        course.session.flush()
        return _extensions(course, row)


def _extensions(course: OpenCourse, row: AssignmentRow) -> ExtensionList:
    given = ExtensionRow
    rows = course.session.scalars(
        select(given).where(given.assignment_id == row.id).order_by(given.id.desc())
    ).all()
    people = {user_id for found in rows for user_id in (found.user_id, found.made_by) if user_id is not None}
    names = {
        row.id: row.name
        for row in course.session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(people)))
    }
    return ExtensionList(
        assignment=row.slug,
        extensions=[
            ExtensionView(
                id=row.id,
                student=names.get(row.user_id) if row.user_id is not None else None,
                section=row.section,
                due_at=row.due_at,
                late_until=row.late_until,
                reason=row.reason,
                made_by=names.get(row.made_by) if row.made_by is not None else None,
                created_at=row.created_at,
            )
            for row in rows
        ],
    )
