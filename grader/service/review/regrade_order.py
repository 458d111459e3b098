from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import Conflict, NotFound
from grader.records import competitions, groups, regrades, rejudges, taught
from grader.records.models import (
    AssignmentRow,
    MemberRow,
    RegradeItemRow,
    RegradeRow,
    SubmissionRow,
    utcnow,
)
from grader.schemas.course import CourseRole
from grader.schemas.regrade import (
    RegradeBody,
    RegradeScope,
)
from grader.schemas.submission import SetAside, State
from grader.service.accounts.accounts import User, find_row
from grader.service.courses import assignments, courses, permissions
from grader.service.courses.permissions import Action
from grader.service.review import authority, regrade_results
from grader.service.submissions import submissions as reading


@dataclass(frozen=True)
class Chosen:
    """``name``: typed to confirm. Submissions without source are not judged."""

    row: RegradeRow
    name: str
    firsts: Sequence[SubmissionRow]


def unsettled(
    session: Session, firsts: Sequence[SubmissionRow], scope: RegradeScope
) -> Sequence[SubmissionRow]:
    """Without competitions' whose final has begun or whose results are out. Raises Conflict if one was named."""
    within = {first.competition_id for first in firsts if first.competition_id is not None}
    if not within:
        return firsts
    settled = competitions.settled(session, within)
    practised = competitions.unofficial_teams(session, settled)
    kept = [first for first in firsts if first.competition_id not in settled or first.team_id in practised]
    if scope is RegradeScope.SUBMISSION and len(kept) < len(firsts):
        raise Conflict(
            "It belongs to a competition whose final has begun or whose results are published.",
            "Before the results, cancel the final first. Afterwards you can void a result but not judge it again.",
        )
    return kept


def choose(session: Session, user: User, body: RegradeBody) -> Chosen:
    """Raises NotFound, NotAllowed."""
    row = RegradeRow(scope=body.scope)
    if body.submission is not None:
        first = reading.find(session, user, body.submission)
        if first.rejudge_of is not None:
            first = session.get_one(SubmissionRow, first.rejudge_of)
        course = authority.check(session, user, first, Action.REGRADE, Action.REGRADE_ANY)
        row.submission_id, row.course_id = first.id, course.id if course is not None else None
        return Chosen(row, first.public_id, regrades.handed_in(session, SubmissionRow.id == first.id))
    if body.challenge is not None:
        permissions.check(user, permissions.standings(session, user), Action.REGRADE_ANY)
        row.challenge = body.challenge
        return Chosen(
            row, body.challenge, regrades.handed_in(session, SubmissionRow.challenge == body.challenge)
        )
    opened = courses.open_in(session, user, body.course or "", Action.REGRADE)
    row.course_id = opened.row.id
    query = select(AssignmentRow).where(
        AssignmentRow.course_id == opened.row.id, AssignmentRow.published_at.is_not(None)
    )
    name = body.student or ""
    if body.assignment is not None:
        found = assignments.find(opened, body.assignment)
        row.assignment_id = found.id
        query = query.where(AssignmentRow.id == found.id)
        name = body.student or found.slug
    if body.student is not None:
        row.user_id = find_row(session, body.student).id
        mine = (MemberRow.course_id == opened.row.id, MemberRow.user_id == row.user_id)
        student = MemberRow.role == CourseRole.STUDENT.value
        if session.scalar(select(MemberRow.id).where(*mine, student)) is None:
            raise NotFound(
                f"{body.student} is not a student in course {body.course}.",
                "`grader roster show` lists its students.",
            )
    return Chosen(row, name, _handed_in(session, session.scalars(query).all(), row.user_id))


def _handed_in(session: Session, rows: Sequence[AssignmentRow], user: int | None) -> list[SubmissionRow]:
    """Only ``user``'s (an id), also as a partner, if given."""
    parts = assignments.parts_of(session, [row.id for row in rows])
    found: dict[int, SubmissionRow] = {}
    for assignment in rows:
        # The rule implies this; an index needs it.
        within: list[ColumnElement[bool]] = [
            SubmissionRow.challenge.in_([part.challenge for part in parts.get(assignment.id, [])]),
            SubmissionRow.created_at >= assignment.open_at,
        ]
        if user is not None:
            within.append(groups.made_by(assignment.id, [user]))
        of_it = taught.belongs(AssignmentRow.id == assignment.id)
        found |= {first.id: first for first in regrades.handed_in(session, *within, of_it)}
    return sorted(found.values(), key=lambda first: (first.created_at, first.id))


def order(
    session: Session,
    user: User,
    chosen: Chosen,
    firsts: Sequence[SubmissionRow],
    under: dict[str, int],
    confirm: str | None,
) -> tuple[RegradeRow, list[SubmissionRow]]:
    """Returns the regrade and the queued judgements. ``confirm`` None: not needed. Raises Conflict."""
    left_out = sum(not first.source for first in firsts)
    firsts = [first for first in firsts if first.source]
    if not firsts:
        raise Conflict(
            "There is nothing to judge again.",
            f"{left_out} were left out: their sources were deleted with an account. They keep their verdicts."
            if left_out
            else "Only submissions with a verdict that are not void can be judged again.",
        )
    version = under[chosen.row.challenge] if chosen.row.challenge is not None else None
    row = regrades.open_like(session, chosen.row, version)
    held = regrades.holding(session, [first.id for first in firsts])
    others = sorted({number for number in held.values() if row is None or number != row.id})
    if others:
        raise Conflict(
            f"Regrade {others[0]} is open and includes some of these submissions.",
            f"Publish or discard it first: `grader regrade show {others[0]}`.",
        )
    fresh = [first for first in firsts if first.id not in held]
    failed = _failed(session, row) if row is not None else []
    size = len(fresh) + len(failed)
    if confirm is not None and size > limits.REGRADE_UNCONFIRMED and confirm != chosen.name:
        raise Conflict(
            f"This would judge {size} submissions again, {_takes(session, fresh)}.",
            f"To confirm, repeat it with its name: --confirm {chosen.name}",
        )
    if row is None:
        row = chosen.row
        row.made_by, row.created_at = user.id, utcnow()
        session.add(row)
    row.left_out = max(row.left_out or 0, left_out)
    session.flush()
    return row, [*_queue(session, row, fresh, under), *_queue_failed(session, failed)]


def _queue(
    session: Session, row: RegradeRow, fresh: Sequence[SubmissionRow], under: dict[str, int]
) -> list[SubmissionRow]:
    aside = {
        slug: SetAside.REGRADE if regrades.is_published(session, slug, version) else None
        for slug, version in under.items()
    }
    counted = regrades.counted(session, fresh)
    queued = [rejudges.again(first, under[first.challenge], aside[first.challenge]) for first in fresh]
    session.add_all(queued)
    session.flush()
    session.add_all(
        RegradeItemRow(
            regrade_id=row.id,
            first_id=first.id,
            before_id=counted[first.id].id,
            after_id=again.id,
            held_id=first.id,
        )
        for first, again in zip(fresh, queued, strict=True)
    )
    return queued


def _queue_failed(
    session: Session, failed: Sequence[tuple[RegradeItemRow, SubmissionRow, SubmissionRow]]
) -> list[SubmissionRow]:
    queued = []
    for item, first, after in failed:
        again = rejudges.again(first, after.version, after.set_aside)
        session.add(again)
        session.flush()
        item.after_id = again.id
        queued.append(again)
    return queued


def _failed(session: Session, row: RegradeRow) -> list[tuple[RegradeItemRow, SubmissionRow, SubmissionRow]]:
    """Those that will get no verdict."""
    return [
        (item.item, session.get_one(SubmissionRow, item.first.id), item.after)
        for item in regrades.items(session, row.id)
        if item.after.state in (State.FAILED, State.CANCELLED)
    ]


def _takes(session: Session, rows: Sequence[SubmissionRow]) -> str:
    seconds = regrade_results.expected_s(session, Counter(row.device for row in rows))
    return f"about {seconds / 60:.0f} min of one worker" if seconds is not None else "and the time is unknown"
