"""The last admin and a course's last owner cannot leave. Pending deletions count as gone, so two cannot both leave."""

from __future__ import annotations

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from grader.errors import Conflict
from grader.records.models import CourseRow, DeletionRow, MemberRow, UserRow
from grader.schemas.account import Role
from grader.schemas.course import CourseRole

_STAYING = UserRow.id.not_in(select(DeletionRow.user_id))


def check(session: Session, row: UserRow, *, staying: bool = False) -> None:
    """``staying``: without people with a pending deletion. Raises Conflict."""
    if row.role == Role.ADMIN and not other_admins(session, row.id, staying=staying):
        others = other_admins(session, row.id, staying=False)
        raise Conflict(
            f"'{row.name}' is the only admin{_WHO_STAYS if others else ''}.",
            "Make somebody else an admin first.",
        )
    member = MemberRow
    owned = session.scalars(
        select(CourseRow)
        .join(member, member.course_id == CourseRow.id)
        .where(member.user_id == row.id, CourseRow.archived_at.is_(None), *_OWNS)
        .order_by(CourseRow.id)
    ).all()
    for course in owned:
        if not other_owners(session, course.id, row.id, staying=staying):
            others = other_owners(session, course.id, row.id, staying=False)
            raise Conflict(
                f"'{row.name}' is the only owner of the course {course.slug}{_WHO_STAYS if others else ''}.",
                "Make somebody else an owner first, or archive the course.",
            )


_WHO_STAYS = " who is not about to be deleted"
_OWNS = (MemberRow.role == CourseRole.OWNER.value, MemberRow.left_at.is_(None))


def other_admins(session: Session, user: int, *, staying: bool = True) -> bool:
    admins = select(UserRow.id).where(UserRow.role == Role.ADMIN.value)
    return _any(session, admins, user, staying)


def other_owners(session: Session, course: int, user: int, *, staying: bool = True) -> bool:
    owners = select(UserRow.id).join(MemberRow, MemberRow.user_id == UserRow.id)
    return _any(session, owners.where(MemberRow.course_id == course, *_OWNS), user, staying)


def _any(session: Session, people: Select[int], user: int, staying: bool) -> bool:
    # Locked, so two who leave at once take turns.
    found = session.scalars(people.order_by(UserRow.id).with_for_update(of=UserRow)).all()
    others = [user_id for user_id in found if user_id != user]
    if staying and others:
        return session.scalar(select(UserRow.id).where(UserRow.id.in_(others), _STAYING).limit(1)) is not None
    return bool(others)
