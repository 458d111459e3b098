"""Decides who may read staff's solution and others' kernels: only after solving, never while they are of use.
Everything that shows a source to others than author and staff asks here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from grader.challenge.loader import Challenge
from grader.records import competitions
from grader.records.engine import clock
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    CompetitionChallengeRow,
    CompetitionRow,
    CourseRow,
    FlagRow,
    MemberRow,
    SubmissionRow,
    UserRow,
)
from grader.records.ranks import Place
from grader.schemas.preferences import ProfileAudience, of_stored
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import JudgingReason
from grader.service.accounts.accounts import User
from grader.service.boards.readers import ProfileReader
from grader.service.challenges import publication
from grader.service.courses.windows import Windows
from grader.service.platform import Platform

# A reason would reveal secret assignments and competitions.
CLOSED = (
    "Other people's kernels are closed while an assignment or a competition uses this challenge, while it is hidden, "
    "or if your course keeps them closed."
)
UNSOLVED = (
    "Other people's kernels open with a submission of yours that can have a rank: accepted, timed, and without a "
    "library's kernels."
)


def solves(session: Session, row: SubmissionRow) -> bool:
    """Their own, ranked, not void, without a library's kernels."""
    if row.verdict is not Verdict.ACCEPTED or row.set_aside is not None or row.time_us is None:
        return False
    if row.kind in (JudgingReason.RUN, JudgingReason.FINAL):
        return False
    flagged = select(FlagRow.flag).where(FlagRow.submission_id == row.id, FlagRow.flag == Flag.LIBRARY_KERNEL)
    return session.scalar(flagged) is None


def solution_opens(session: Session, user: User, challenge: Challenge) -> bool:
    """By the user's courses, else if the challenge has a commentary."""
    if _may_be_used(session, user, challenge.slug):
        return False
    allowed = _allowed_by_courses(session, [user.id], challenge.slug)
    return allowed if allowed is not None else challenge.commentary is not None


def is_closed(session: Session, user: User, challenge: str) -> bool:
    """Only the user's own kernels can be open."""
    if _may_be_used(session, user, challenge):
        return True
    return _allowed_by_courses(session, [user.id], challenge) is False


def _may_be_used(session: Session, user: User, challenge: str) -> bool:
    """A hidden challenge may be kept for later."""
    hidden = challenge not in publication.visible_to(session, user)
    return hidden or in_use(session, user.id, challenge, clock(session))


def in_use(session: Session, user: int, challenge: str, at: datetime) -> bool:
    """Not ended for everyone, draft or not, or ``user`` still has time."""
    part = AssignmentPartRow
    assigned = session.execute(
        select(AssignmentRow, CourseRow)
        .join(part, part.assignment_id == AssignmentRow.id)
        .join(CourseRow, CourseRow.id == AssignmentRow.course_id)
        .where(part.challenge == challenge)
    ).all()
    if any(Windows.read(session, course, [row]).last_end(row) >= at for row, course in assigned):
        return True
    chosen, table = CompetitionChallengeRow, CompetitionRow
    running = (
        select(table.id)
        .join(chosen, chosen.competition_id == table.id)
        .where(chosen.challenge == challenge, table.ends_at > at)
    )
    if session.scalar(running.limit(1)) is not None:
        return True
    return bool(competitions.open_windows(session, user, challenge, at))


def _allowed_by_courses(session: Session, users: Collection[int], challenge: str) -> bool | None:
    """None without assignments. Courses that they left count, or leaving would open solutions."""
    part, assignment = AssignmentPartRow, AssignmentRow
    member = exists().where(MemberRow.course_id == assignment.course_id, MemberRow.user_id.in_(users))
    found = session.scalars(
        select(assignment.open_solutions)
        .join(part, part.assignment_id == assignment.id)
        .where(part.challenge == challenge, assignment.published_at.is_not(None), member)
    ).all()
    return all(found) if found else None


def open_kernels(
    platform: Platform, session: Session, viewer: User, challenge: str, rows: Iterable[SubmissionRow]
) -> Iterator[SubmissionRow]:
    """Solutions that their authors share with ``viewer``, who solved it, if both persons' courses allow it."""
    if is_closed(session, viewer, challenge):
        return
    for row in rows:
        if row.challenge == challenge and _opens(platform, session, viewer, row):
            yield row


def _opens(platform: Platform, session: Session, viewer: User, row: SubmissionRow) -> bool:
    if row.competition_id is not None or not solves(session, row):
        return False
    if _allowed_by_courses(session, [row.user_id], row.challenge) is False:
        return False
    chosen = of_stored(session.get_one(UserRow, row.user_id).preferences).kernels
    return ProfileReader(platform, session, viewer, row.user_id).reads_kernels(chosen)


def sharing(session: Session, places: Collection[Place]) -> list[Place]:
    """Shared with anybody. ``open_kernels`` checks the viewer."""
    chosen = func.coalesce(UserRow.preferences["kernels"].as_string(), ProfileAudience.PRIVATE.value)
    authors = set(session.scalars(select(UserRow.id).where(chosen != ProfileAudience.PRIVATE.value)))
    return [place for place in places if place.user in authors]
