from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import NotFound
from grader.records import groups
from grader.records.models import AssignmentPartRow, AssignmentRow, CourseRow, MemberRow, UserRow, utcnow
from grader.schemas.course import CourseRole
from grader.schemas.gradebook import (
    AtRisk,
    ExportRow,
    Gradebook,
    PartGrade,
    PartProgress,
    PartStatistics,
    StudentGrades,
)
from grader.service.accounts.accounts import User, find_row
from grader.service.courses import courses, permissions, released
from grader.service.courses.grade_book import has_grades, read_book
from grader.service.courses.grading import Assignment
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

# A student below this share of closed assignments' points may need help.
_LOW_SHARE = 0.5
_SOON = timedelta(days=3)


def get_gradebook(platform: Platform, user: User, slug: str) -> Gradebook:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.GRADES_READ) as course:
        book = read_book(platform, course.session, course.row)
        found = book.grades(platform.grades.of(course.row.id, book.rules))
        return Gradebook.model_construct(
            course=course.row.slug,
            name=course.row.name,
            students=found,
            statistics=_statistics(book.assignments, found),
            at_risk=_at_risk([student for student in found if student.id not in book.deleted], utcnow()),
            broken=sorted(
                {
                    part.challenge
                    for assignment in book.assignments
                    for part in assignment.parts
                    if part.broken
                }
            ),
        )


def of_everyone(
    platform: Platform, session: Session, course: CourseRow
) -> tuple[list[StudentGrades], set[str]]:
    """And assignments that must not be sent now: a broken folder, or unreleased feedback."""
    book = read_book(platform, session, course)
    held = released.unreleased(session, [assignment.row.id for assignment in book.assignments])
    unknown = {
        assignment.row.slug
        for assignment in book.assignments
        if assignment.row.id in held or any(part.broken for part in assignment.parts)
    }
    return book.grades(platform.grades.of(course.id, book.rules)), unknown


def get_grades(platform: Platform, user: User, slug: str, name: str | None = None) -> StudentGrades:
    """Explained; by default the user's own. Raises NotFound, NotAllowed."""
    own = name is None or name.lower() == user.name.lower()
    action = Action.GRADES_READ_OWN if own else Action.GRADES_READ
    with courses.reading(platform, user, slug, action) as course:
        whose = user.id if own else find_row(course.session, name or "").id
        book = read_book(platform, course.session, course.row, [whose], own)
        if not book.students:
            raise NotFound(
                f"{name or user.name} is not a student in course {slug}.",
                "`grader roster show` lists its students.",
            )
        return book.grades(explained=True)[0]


@dataclass(frozen=True)
class Difference:
    """A student's points before and after a regrade."""

    course: str
    assignment: str
    challenge: str
    student: str
    before: float
    after: float


def differences(
    platform: Platform,
    session: Session,
    user: User,
    challenges: Collection[str],
    students: Collection[int],
    judgements: frozenset[int],
) -> list[Difference]:
    """Grades that would change if ``judgements`` (rows) counted, in courses whose grades ``user`` may read, including
    partners'."""
    students = {*students, *groups.partners_of_judgements(session, judgements)}
    part, assignment, member = AssignmentPartRow, AssignmentRow, MemberRow
    taking = session.scalars(
        select(CourseRow)
        .join(assignment, assignment.course_id == CourseRow.id)
        .join(part, part.assignment_id == assignment.id)
        .join(member, member.course_id == CourseRow.id)
        .join(UserRow, UserRow.id == member.user_id)
        .where(part.challenge.in_(challenges), assignment.published_at.is_not(None), has_grades())
        .where(member.user_id.in_(students), member.role == CourseRole.STUDENT.value)
        .distinct()
        .order_by(CourseRow.id)
    ).all()
    found = []
    for course in taking:
        if not permissions.may(permissions.standings(session, user, course.id), Action.GRADES_READ):
            continue
        book = read_book(platform, session, course, students)
        pairs = zip(book.grades(), replace(book, regraded=judgements).grades(), strict=True)
        found += [
            Difference(course.slug, given.assignment, old.challenge, before.name, old.points, new.points)
            for before, after in pairs
            for given, now in zip(before.assignments, after.assignments, strict=True)
            for old, new in zip(given.parts, now.parts, strict=True)
            if old.points != new.points
        ]
    return found


def export(platform: Platform, user: User, slug: str) -> list[ExportRow]:
    """One row per student and part. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, slug, Action.GRADES_READ) as course:
        return rows_of(platform, course.session, course.row)


def rows_of(platform: Platform, session: Session, course: CourseRow) -> list[ExportRow]:
    """The caller checks permission."""
    book = read_book(platform, session, course)
    return [
        ExportRow.model_construct(
            course=course.slug,
            assignment=given.assignment,
            challenge=part.challenge,
            student_id=student.id,
            student=student.name,
            full_name=student.full_name,
            student_number=student.student_number,
            section=student.section,
            group=student.group,
            **{name: getattr(part, name) for name in _EXPORTED},
            category=given.category,
            assignment_counted=given.counted,
            assignment_most=given.counted_most,
            left_out=given.left_out,
            total=student.total,
            total_most=student.total_most,
        )
        for student in book.grades(platform.grades.of(course.id, book.rules))
        for given in student.assignments
        for part in given.parts
    ]


_EXPORTED = [
    name for name in ExportRow.model_fields if name in PartGrade.model_fields and name != "challenge"
]


def _statistics(given: Sequence[Assignment], found: Sequence[StudentGrades]) -> list[PartStatistics]:
    statistics = []
    for place, assignment in enumerate(given):
        for number, part in enumerate(assignment.parts):
            of_all = [student.assignments[place].parts[number] for student in found]
            states = Counter(grade.progress for grade in of_all)
            statistics.append(
                PartStatistics(
                    assignment=assignment.row.slug,
                    challenge=part.challenge,
                    title=part.title,
                    not_started=states[PartProgress.NOT_STARTED],
                    stuck=states[PartProgress.STUCK],
                    done=states[PartProgress.DONE],
                    mean_points=sum(grade.points for grade in of_all) / len(of_all) if of_all else None,
                    most=part.most,
                    speedups=sorted(grade.speedup for grade in of_all if grade.speedup is not None),
                )
            )
    return statistics


def _at_risk(found: Sequence[StudentGrades], now: datetime) -> list[AtRisk]:
    """Few points in closed assignments, or nothing begun for one due soon."""
    at_risk = []
    for student in found:
        closed = [grade for grade in student.assignments if grade.closes_at < now]
        points, most = sum(grade.points for grade in closed), sum(grade.most for grade in closed)
        most -= sum(part.ungraded for grade in closed for part in grade.parts)
        reasons = (
            [f"has {100 * points / most:.0f} % of the points of closed assignments"]
            if points < _LOW_SHARE * most
            else []
        )
        reasons += [
            f"has not begun {grade.assignment}, which is due soon"
            for grade in student.assignments
            if now < grade.due_at <= now + _SOON
            and not any(part.attempts or part.overridden for part in grade.parts)
        ]
        if reasons:
            at_risk.append(
                AtRisk(
                    id=student.id,
                    name=student.name,
                    full_name=student.full_name,
                    section=student.section,
                    reasons=reasons,
                )
            )
    return at_risk
