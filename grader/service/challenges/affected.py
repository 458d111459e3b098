from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from grader.challenge.loader import Challenge
from grader.records import owners, publications, ranks, taught, versions
from grader.records.engine import clock
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    ChallengeStateRow,
    CourseRow,
    MemberRow,
    SubmissionRow,
    UserRow,
)
from grader.schemas.account import STAFF_ROLES
from grader.schemas.affected import Affected, AffectedAssignment, AffectedBoard
from grader.schemas.course import CourseRole
from grader.schemas.publication import PublicationState
from grader.schemas.submission import JudgingReason


def by_publication(session: Session, slug: str, state: PublicationState) -> Affected:
    assignments = _assignments(session, slug)
    points = []
    if state in (PublicationState.HIDDEN, PublicationState.DRAFT) and assignments:
        points = ["Points stay. Within an open assignment its students go on seeing it and may hand in."]
    return Affected(
        audience=_audience(session, slug, state),
        assignments=assignments,
        students=_students(session, slug),
        boards=[],
        points=points,
    )


def by_use(session: Session, old: Challenge | None, new: Challenge) -> Affected:
    slug = new.slug
    shown = versions.shown(session, slug)
    at_once = owners.of(session, slug) is not None or (shown is not None and new.manifest.version < shown)
    replaced = at_once and shown is not None and shown != new.manifest.version
    row = session.get(ChallengeStateRow, slug)
    assignments = _assignments(session, slug)
    return Affected(
        audience=_audience(session, slug, publications.state_at(row, clock(session))),
        assignments=assignments,
        students=_students(session, slug),
        boards=_boards(session, slug, shown) if replaced and shown is not None else [],
        points=_points(old, new, sum(each.students for each in assignments)),
    )


def _audience(session: Session, slug: str, state: PublicationState) -> str:
    course = owners.of(session, slug)
    if state in (PublicationState.PUBLISHED, PublicationState.SCHEDULED):
        when = " from its time on" if state is PublicationState.SCHEDULED else ""
        if course is None:
            return f"Everyone sees it{when}."
        names, students = owners.course_names(session, [course]), _members(session, course)
        who = "student" if students == 1 else "students"
        return f"Members of course {names[course]} alone see it{when}: {students} {who}, and its staff."
    return "Only staff see it, and students of an assignment that has opened."


def _members(session: Session, course: int) -> int:
    member = MemberRow
    here = (member.course_id == course, member.left_at.is_(None), member.role == CourseRole.STUDENT.value)
    return session.scalar(select(func.count()).select_from(member).where(*here)) or 0


def _assignments(session: Session, slug: str) -> list[AffectedAssignment]:
    part, now = AssignmentPartRow, clock(session)
    found = session.execute(
        select(AssignmentRow, CourseRow.slug)
        .join(part, part.assignment_id == AssignmentRow.id)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .where(part.challenge == slug)
        .order_by(CourseRow.slug, AssignmentRow.open_at)
    ).all()
    return [
        AffectedAssignment(
            course=course,
            assignment=row.slug,
            title=row.title,
            phase=_phase(row, now),
            students=_count(session, slug, taught.belongs(AssignmentRow.id == row.id)),
        )
        for row, course in found
    ]


def _phase(row: AssignmentRow, now: datetime) -> str:
    if row.published_at is None:
        return "draft"
    if now < row.open_at:
        return "upcoming"
    return "open" if now <= (row.late_until or row.due_at) else "over"


def _students(session: Session, slug: str) -> int:
    staff = select(UserRow.id).where(UserRow.role.in_([role.value for role in STAFF_ROLES]))
    return _count(session, slug, SubmissionRow.user_id.not_in(staff))


def _count(session: Session, slug: str, which: ColumnElement[bool]) -> int:
    done = SubmissionRow
    query = select(func.count(func.distinct(done.user_id))).where(done.challenge == slug)
    return session.scalar(query.where(done.kind != JudgingReason.RUN, which)) or 0


def _boards(session: Session, slug: str, version: int) -> list[AffectedBoard]:
    found = ranks.entries_by_device(session, slug, version)
    return [
        AffectedBoard(device=device, version=version, entries=entries) for device, entries in found.items()
    ]


def _points(old: Challenge | None, new: Challenge, students: int) -> list[str]:
    if old is None or not students:
        return []
    found = []
    if old.manifest.grading != new.manifest.grading:
        found.append(f"Points are counted by other rules: those of {students} students may change at once.")
    if old.manifest.version != new.manifest.version:
        found.append(
            f"Points of what was judged under version {old.manifest.version} stay until it is judged again "
            f"(regrade); what is handed in from now on is judged under version {new.manifest.version}."
        )
    return found
