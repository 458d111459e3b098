from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from grader.deadlines import Window, WindowPhase, day_begins
from grader.errors import NotAllowed, TooMany
from grader.records import groups, taught
from grader.records.models import AssignmentPartRow, AssignmentRow, CourseRow, MemberRow, SubmissionRow
from grader.schemas.assignment import AttemptsLeft
from grader.schemas.course import CourseRole
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.courses.windows import Windows


@dataclass(frozen=True)
class Running:
    """An assignment that counts submissions at ``at``."""

    row: AssignmentRow
    course: CourseRow
    window: Window
    at: datetime

    @property
    def name(self) -> str:
        return f"{self.course.slug}/{self.row.slug}"


def running(session: Session, user: int, challenge: str, at: datetime) -> list[Running]:
    """Published and open for the student."""
    member, part = MemberRow, AssignmentPartRow
    found = session.execute(
        select(AssignmentRow, CourseRow, member.section)
        .join(part, part.assignment_id == AssignmentRow.id)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .join(member, member.course_id == AssignmentRow.course_id)
        .where(member.user_id == user, member.role == CourseRole.STUDENT.value, member.left_at.is_(None))
        .where(part.challenge == challenge, AssignmentRow.published_at.is_not(None), taught.accepted())
        .where(CourseRow.archived_at.is_(None))
        .order_by(AssignmentRow.due_at)
    ).all()
    all_of_them = [
        Running(
            assignment,
            course,
            Windows.read(session, course, [assignment]).of(assignment, user, section)[0],
            at,
        )
        for assignment, course, section in found
    ]
    return [
        assigned
        for assigned in all_of_them
        if assigned.window.phase(at) in (WindowPhase.OPEN, WindowPhase.LATE)
    ]


def admit(session: Session, user: User, row: SubmissionRow) -> int | None:
    """Returns how many more are accepted (None: no limit) and notes partners. Call it in the transaction that stores
    the submission; a user's and a group's take turns. Raises TooMany, NotAllowed."""
    remaining: list[int] = []
    together: dict[int, list[int]] = {}
    for assigned in running(session, user.id, row.challenge, row.created_at):
        _check_means(assigned, row)
        if assigned.row.group_size > 1:
            together[assigned.row.id] = _partners(session, assigned, user.id)
        left = left_of(session, assigned.row, assigned.course, row.challenge, user.id, row.created_at)
        for kind, most in (("pending", left.pending), ("day", left.day), ("total", left.total)):
            if most is not None and most < 1:
                raise TooMany(*_refusal(assigned, kind, bool(together.get(assigned.row.id))))
        remaining += [most - 1 for most in (left.day, left.total) if most is not None]
    if any(together.values()):
        session.add(row)
        session.flush()
        for assignment, partners in together.items():
            groups.hand_in(session, row.id, assignment, partners)
    return min(remaining, default=None)


def _partners(session: Session, assigned: Running, user: int) -> list[int]:
    """Raises NotAllowed (too large)."""
    name = groups.lock(session, assigned.course.id, user)
    found = groups.members_with(session, assigned.course.id, user)
    if len(found) > assigned.row.group_size:
        raise NotAllowed(
            f"Your group {name} has {len(found)} members; {assigned.name} takes groups of at most "
            f"{assigned.row.group_size}.",
            "Ask your teacher to change the group on the course's roster.",
        )
    return [member for member in found if member != user]


def _check_means(assigned: Running, row: SubmissionRow) -> None:
    if assigned.row.languages and row.language.value not in assigned.row.languages:
        raise NotAllowed(
            f"The assignment {assigned.name} does not take {row.language.display_name}.",
            f"It takes: {', '.join(assigned.row.languages)}.",
        )
    if assigned.row.devices and row.device not in assigned.row.devices:
        raise NotAllowed(
            f"The assignment {assigned.name} does not take submissions for the device '{row.device}'.",
            f"It takes: {', '.join(assigned.row.devices)}.",
        )


def _refusal(assigned: Running, kind: str, grouped: bool) -> tuple[str, str]:
    yours, have = ("your group's", "Your group has") if grouped else ("your", "You have")
    if kind == "pending":
        return (
            f"{assigned.row.attempts_pending} of {yours} submissions for {assigned.name} are waiting "
            "or running, which is the limit.",
            "Wait until one ends, or cancel one.",
        )
    if kind == "day":
        midnight = assigned.course.time_zone
        return (
            f"{have} used all {assigned.row.attempts_day} attempts of today for this challenge of {assigned.name}.",
            f"The next day begins at midnight ({midnight}). Runs do not count.",
        )
    return (
        f"{have} used all {assigned.row.attempts_total} attempts for this challenge of {assigned.name}.",
        "Runs do not count. Your teacher can change the limit.",
    )


def attempts_left(
    session: Session, user: int, challenge: str, at: datetime
) -> list[tuple[Running, AttemptsLeft]]:
    return [
        (assigned, left_of(session, assigned.row, assigned.course, challenge, user, at))
        for assigned in running(session, user, challenge, at)
    ]


def left_of(
    session: Session, row: AssignmentRow, course: CourseRow, challenge: str, user: int, at: datetime
) -> AttemptsLeft:
    """Without platform failures, early cancellations and other languages. A group's attempts include its present
    members', alone or with others."""
    done = SubmissionRow
    members = groups.members_with(session, course.id, user) if row.group_size > 1 else [user]
    own = [groups.made_by(row.id, members), done.challenge == challenge, done.created_at >= row.open_at]
    own += [done.rejudge_of.is_(None), done.state != State.FAILED, taught.belongs(AssignmentRow.id == row.id)]
    own += [done.language.in_(row.languages)] if row.languages else []
    counted = or_(done.state != State.CANCELLED, done.claimed_at.is_not(None))

    def count(*more: Any) -> int:
        return session.scalar(select(func.count()).select_from(done).where(*own, counted, *more)) or 0

    def left(most: int | None, used: Callable[[], int]) -> int | None:
        return None if most is None else max(0, most - used())

    midnight = day_begins(at, ZoneInfo(course.time_zone))
    return AttemptsLeft(
        challenge=challenge,
        day=left(row.attempts_day, lambda: count(done.created_at >= midnight)),
        total=left(row.attempts_total, count),
        pending=left(row.attempts_pending, lambda: count(done.finished_at.is_(None))),
    )
