from __future__ import annotations

from sqlalchemy import select

from grader import roster_file
from grader.errors import BadRequest, NotFound
from grader.records import groups, taught
from grader.records.models import CourseGroupRow, CourseInvitationRow, MemberRow, UserRow, utcnow
from grader.schemas.course import (
    CourseRole,
    InvitedView,
    MemberChange,
    MemberView,
    RemovedView,
    Roster,
    RosterBody,
    RosterResult,
)
from grader.service.accounts.accounts import User, check_not_deleted, find_row
from grader.service.accounts.keys import new_code
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.courses.roster_plan import ATTRIBUTES, RosterPlan
from grader.service.platform import Platform


def get_roster(platform: Platform, user: User, slug: str) -> Roster:
    """Members by name, invited, then removed people. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.ROSTER_READ) as course:
        return _roster(course)


def _roster(course: OpenCourse) -> Roster:
    session, at = course.session, course.row.id
    members = session.execute(
        select(MemberRow, UserRow.name, UserRow.email, taught.accepted())
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(MemberRow.course_id == at, MemberRow.left_at.is_(None))
        .order_by(UserRow.name_key)
    ).all()
    invited = session.scalars(
        select(CourseInvitationRow)
        .where(CourseInvitationRow.course_id == at, CourseInvitationRow.accepted_at.is_(None))
        .order_by(CourseInvitationRow.person)
    ).all()
    removed = session.execute(
        select(MemberRow, UserRow.name)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(
            MemberRow.course_id == at,
            MemberRow.left_at.is_not(None),
            UserRow.deleted_at.is_(None),
        )
        .order_by(UserRow.name_key)
    ).all()
    everyone: list[MemberRow | CourseInvitationRow] = [*(row for row, *_ in members), *invited]
    return Roster(
        course=course.row.slug,
        members=[_member(*member) for member in members],
        invited=[
            InvitedView(
                id=row.id,
                full_name=row.full_name,
                student_number=row.student_number,
                email=row.email,
                section=row.section,
                group=row.group_name,
                issued_at=row.issued_at,
                expires_at=row.expires_at,
            )
            for row in invited
        ],
        removed=[
            RemovedView(
                name=name,
                full_name=row.full_name,
                student_number=row.student_number,
                section=row.section,
                removed_at=row.left_at,
            )
            for row, name in removed
            if row.left_at is not None
        ],
        sections=sorted({row.section for row in everyone} - {""}),
        groups=(named := sorted({row.group_name for row in everyone} - {""})),
        group_codes=_codes(course, named) if course.may(Action.ROSTER_EDIT) else {},
    )


def _codes(course: OpenCourse, named: list[str]) -> dict[str, str]:
    row = CourseGroupRow
    query = select(row.name, row.join_code).where(row.course_id == course.row.id, row.name.in_(named))
    return dict(course.session.execute(query.order_by(row.name)).all())


def _member(row: MemberRow, name: str, email: str | None, accepted: bool) -> MemberView:
    return MemberView(
        name=name,
        full_name=row.full_name,
        student_number=row.student_number,
        email=email if accepted else None,
        role=CourseRole(row.role),
        section=row.section,
        group=row.group_name,
        came_by=row.came_by,
        joined_at=row.joined_at,
        accepted=accepted,
    )


def change_member(platform: Platform, user: User, slug: str, name: str, body: MemberChange) -> Roster:
    """Also removes or lets back in. Raises NotFound, NotAllowed, BadRequest (staff), Conflict (deleted)."""
    with courses.changing(platform, user, slug, Action.ROSTER_EDIT) as course:
        person = find_row(course.session, name)
        row = course.session.scalar(
            select(MemberRow).where(MemberRow.course_id == course.row.id, MemberRow.user_id == person.id)
        )
        if row is None or (row.left_at is not None and not body.on_roster):
            raise NotFound(
                f"{person.name} is not on the roster of course {slug}.",
                "`grader roster show` lists its members.",
            )
        check_not_deleted(person)
        if row.role != CourseRole.STUDENT and body.on_roster is False:
            raise BadRequest(
                f"{person.name} teaches course {slug}.", "First remove their role in the course's staff."
            )
        before = _facts(row)
        if body.on_roster and row.left_at is not None:
            # Editing a roster does not include making staff.
            row.role = CourseRole.STUDENT.value
            taught.let_back_in(course.session, row)
            courses.notify_added(course, [person.id])
        for name_of, value in body.model_dump(exclude_none=True, exclude={"on_roster"}).items():
            setattr(row, "group_name" if name_of == "group" else name_of, " ".join(value.split()))
        if body.on_roster is not None:
            row.left_at = None if body.on_roster else utcnow()
        course.session.flush()
        groups.make_rows(course.session, course.row.id, new_code)
        course.note(Action.ROSTER_EDIT, f"/roster/{person.name}", before=before, after=_facts(row))
        return _roster(course)


def _facts(row: MemberRow) -> dict[str, object]:
    return {attribute: getattr(row, attribute) for attribute in ATTRIBUTES.values()} | {
        "on_roster": row.left_at is None
    }


def withdraw_invitation(platform: Platform, user: User, slug: str, number: int) -> Roster:
    """Their link stops working. Raises NotFound, NotAllowed."""
    with courses.changing(platform, user, slug, Action.ROSTER_EDIT) as course:
        row = course.session.get(CourseInvitationRow, number) if number < 2**31 else None
        if row is None or row.course_id != course.row.id or row.accepted_at is not None:
            raise NotFound(
                f"Course {slug} has no invitation {number}.", "`grader roster show` lists its invitations."
            )
        course.session.delete(row)
        course.note(
            Action.ROSTER_EDIT, f"/roster/{row.person}", before={"invited": True}, after={"invited": False}
        )
        course.session.flush()
        return _roster(course)


def import_roster(platform: Platform, user: User, slug: str, body: RosterBody) -> RosterResult:
    """Makes students match a table: known accounts join, others are noted for an invitation. With bad rows nothing
    changes unless ``body.skip_bad``; removed people stay out unless ``body.let_back_in``. Idempotent. Raises
    NotFound, NotAllowed, BadRequest."""
    file = roster_file.parse(body.text)
    at = courses.reading if body.dry_run else courses.changing
    with at(platform, user, slug, Action.ROSTER_EDIT) as course:
        plan = RosterPlan(course, file, body.drop_missing, body.let_back_in)
        plan.make()
        apply = not body.dry_run and (body.skip_bad or not plan.problems)
        if apply:
            plan.apply()
            groups.make_rows(course.session, course.row.id, new_code)
            counts = {kind: count for kind, count in plan.counts().items() if kind != "removed"}
            if counts:
                course.note(Action.ROSTER_EDIT, "/roster", after=counts)
            for name, back in plan.moved.items():
                words = {"on_roster": not back}, {"on_roster": back}
                course.note(Action.ROSTER_EDIT, f"/roster/{name}", before=words[0], after=words[1])
        return plan.result(body.dry_run, apply)
