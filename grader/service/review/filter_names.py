from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import NotFound
from grader.records.models import MemberRow, UserRow, VersionRow
from grader.schemas.account import STAFF_ROLES
from grader.schemas.course import CourseRole
from grader.service.accounts.accounts import User, name_key
from grader.service.challenges import publication
from grader.service.courses import permissions
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.platform import Platform

# More would make too large a page; unlisted names can be typed.
LISTED = 1_000


@dataclass(frozen=True)
class FilterNames:
    """``students``: name -> full name, if any; ``more``: not all."""

    students: dict[str, str]
    more: bool
    challenges: list[str]
    reviewers: list[str]


def read(platform: Platform, user: User, action: Action) -> FilterNames:
    """Platform staff: everyone; others: their courses' people."""
    with platform.sessions() as session:
        courses = permissions.courses_where(session, user, action)
        students = _students(session, user, courses)
        # Submissions outlive folders.
        served = {*platform.catalogue.slugs(), *session.scalars(select(VersionRow.challenge).distinct())}
        seen = publication.visible_to(session, user)
        challenges = sorted(slug for slug in served if slug in seen)
        reviewers = _reviewers(session, user, courses)
    return FilterNames(dict(students[:LISTED]), len(students) > LISTED, challenges, reviewers)


def _students(session: Session, user: User, courses: Collection[int]) -> list[tuple[str, str]]:
    """Includes former members: their submissions stay."""
    member = MemberRow
    student = (member.user_id == UserRow.id, member.role == CourseRole.STUDENT.value)
    query = select(UserRow.name, func.max(member.full_name)).group_by(UserRow.name, UserRow.name_key)
    if user.staff:
        query = query.outerjoin(member, student[0] & student[1]).where(UserRow.deleted_at.is_(None))
    else:
        query = query.join(member, student[0] & student[1]).where(member.course_id.in_(courses))
    found = session.execute(query.order_by(UserRow.name_key).limit(LISTED + 1)).all()
    return [(name, full_name or "") for name, full_name in found]


def _reviewers(session: Session, user: User, courses: Collection[int]) -> list[str]:
    roles = [role.value for role in CourseRole if Standing(role.value) in TABLE[Action.REVIEW]]
    member = MemberRow
    of_courses = select(member.user_id).where(member.role.in_(roles), member.left_at.is_(None))
    if user.staff:
        whom = or_(UserRow.id.in_(of_courses), UserRow.role.in_([role.value for role in STAFF_ROLES]))
    else:
        whom = UserRow.id.in_(of_courses.where(member.course_id.in_(courses)))
    return list(session.scalars(select(UserRow.name).where(whom).order_by(UserRow.name_key).limit(LISTED)))


def check(
    platform: Platform,
    user: User,
    names: FilterNames,
    student: str | None = None,
    challenge: str | None = None,
    reviewer: str | None = None,
) -> None:
    """Raises NotFound with similar names."""
    where = "" if user.staff else " in your courses"
    if challenge is not None and challenge not in names.challenges:
        raise _unknown("challenge", challenge, "", names.challenges)
    for what, name, listed in (
        ("student", student, names.students),
        ("reviewer", reviewer, names.reviewers),
    ):
        if name is None or name_key(name) in {name_key(name) for name in listed}:
            continue
        # The name may be unlisted, a deleted account, or former staff.
        if not (user.staff or names.more) or not _has_account(platform, name):
            raise _unknown(what, name, where, listed)


def _has_account(platform: Platform, name: str) -> bool:
    with platform.sessions() as session:
        return session.scalar(select(UserRow.id).where(UserRow.name_key == name_key(name))) is not None


def _unknown(what: str, name: str, where: str, listed: Collection[str]) -> NotFound:
    keys = {name_key(name): name for name in listed}
    near = [keys[key] for key in difflib.get_close_matches(name_key(name), keys, n=3)]
    hint = f"Did you mean {' or '.join(near)}?" if near else "Choose one from the list."
    return NotFound(f"There is no {what} '{name[: limits.NAME_CHARS]}'{where}.", hint)
