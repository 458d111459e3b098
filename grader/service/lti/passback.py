"""Compares grades that platforms should have with those they have: this finds every change. Staff release a link
once; then ``delivery`` sends."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.logs import get_logger
from grader.records.engine import writing
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    IdentityRow,
    LtiContextRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
    utcnow,
)
from grader.schemas.gradebook import AssignmentGrade
from grader.schemas.lti import LtiScoreState
from grader.service.courses import gradebook
from grader.service.lti import platforms as lti_platforms
from grader.service.operation import chores
from grader.service.platform import Platform

log = get_logger(__name__)

_CHORE = "lti_scores"
_DIGITS = 6


def compare_if_due(platform: Platform) -> int:
    """Returns the number of changed grades."""
    every = timedelta(seconds=limits.SCORES_COMPARED_SECONDS)
    return compare(platform) if chores.may_begin(platform, _CHORE, every, utcnow()) else 0


def compare(platform: Platform) -> int:
    """For released links. Returns the number of changes."""
    with platform.sessions() as session:
        found = session.scalars(
            select(LtiContextRow.course_id)
            .join(LtiLinkRow, LtiLinkRow.context_id == LtiContextRow.id)
            .where(LtiLinkRow.released_at.is_not(None), LtiLinkRow.line_item != "")
            .distinct()
        ).all()
    return sum(compare_course(platform, course) for course in found)


def compare_course(platform: Platform, course: int) -> int:
    now = utcnow()
    with platform.sessions() as session:
        row = session.get(CourseRow, course)
        if row is None:
            return 0
        grades, unknown = gradebook.of_everyone(platform, session, row)
        links = session.execute(
            select(LtiLinkRow, AssignmentRow.slug, LtiPlatformRow)
            .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
            .join(LtiPlatformRow, LtiPlatformRow.id == LtiContextRow.platform_id)
            .join(AssignmentRow, AssignmentRow.id == LtiLinkRow.assignment_id)
            .where(
                LtiContextRow.course_id == course,
                LtiLinkRow.released_at.is_not(None),
                LtiLinkRow.line_item != "",
            )
        ).all()
        known = {
            registered.id: {
                user: subject_digest(registered, own)
                for user, own in subjects_of(session, registered).items()
            }
            for registered in {known.id: known for _, _, known in links}.values()
        }
    counted = 0
    for link, slug, learning in links:
        if slug in unknown:  # a broken folder must not lower grades there
            continue
        wanted = {
            student.id: given
            for student in grades
            if student.id in known[learning.id]
            for given in student.assignments
            if given.assignment == slug
        }
        counted += _note(platform, link.id, wanted, known[learning.id], now)
    return counted


def subjects_of(session: Session, known: LtiPlatformRow) -> dict[int, str]:
    """Account id -> the platform's id."""
    authority = lti_platforms.authority(known)
    rows = select(IdentityRow.user_id, IdentityRow.subject).where(IdentityRow.authority == authority)
    return dict(session.execute(rows.order_by(IdentityRow.id.desc())).all())


def subject_digest(known: LtiPlatformRow, subject: str) -> str:
    return hashlib.sha256(f"{lti_platforms.authority(known)}\n{subject}".encode()).hexdigest()


def _note(
    platform: Platform,
    link: int,
    wanted: dict[int, AssignmentGrade],
    digests: dict[int, str],
    now: datetime,
) -> int:
    """No zero before the deadline without earlier points, nor later over a grade of another account of theirs."""
    counted = 0
    with platform.sessions() as session:
        rows = session.scalars(select(LtiScoreRow).where(LtiScoreRow.link_id == link)).all()
    known = {row.user_id: row for row in rows}
    sent = {row.subject_sha256 for row in rows if row.sent_at is not None}
    changes = []
    for user, given in wanted.items():
        points, most = round(given.counted or 0.0, _DIGITS), round(given.counted_most or 0.0, _DIGITS)
        row = known.get(user)
        begun = any(part.attempts or part.overridden for part in given.parts)
        known_to_differ = row is not None and (row.points, row.most) != (points, most)
        due = given.closes_at < now and digests[user] not in sent
        if known_to_differ or (row is None and (begun or due)):
            changes.append((user, points, most))
    if not changes:
        return 0
    with writing(platform.sessions) as session:
        # Locked against other comparisons and senders.
        fresh = {
            row.user_id: row
            for row in session.scalars(
                select(LtiScoreRow).where(LtiScoreRow.link_id == link).with_for_update()
            )
        }
        for user, points, most in changes:
            row = fresh.get(user)
            if row is None:
                row = LtiScoreRow(link_id=link, user_id=user, points=points, most=most)
                row.state = LtiScoreState.PENDING.value
                session.add(row)
            elif (row.points, row.most) == (points, most):
                continue
            row.points, row.most, row.changed_at = points, most, now
            queue_again(row, now)
            counted += 1
    return counted


def queue_again(row: LtiScoreRow, now: datetime) -> None:
    row.state, row.tries, row.next_at, row.error = LtiScoreState.PENDING.value, 0, now, ""
