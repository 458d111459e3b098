"""Authors take entries off boards, or put them back. Result, grade and attempt stay, and the next best entry ranks.
Competitions' and frozen boards keep entries; there staff void results (``grader.service.review.voids``)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotAllowed
from grader.records import publications, withdrawals
from grader.records.engine import clock, writing
from grader.records.models import SubmissionRow, VoidRow
from grader.schemas.submission import JudgingReason, SubmissionView
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.service.review import authority
from grader.service.submissions.submissions import find, get_submission


class EntryAct(StrEnum):
    WITHDRAW = "withdraw"
    PUT_BACK = "put_back"


def withdraw(platform: Platform, user: User, submission: str) -> SubmissionView:
    """Idempotent. Raises NotFound, NotAllowed, Conflict (on no board, or one that keeps entries)."""
    return _set(platform, user, submission, EntryAct.WITHDRAW)


def put_back(platform: Platform, user: User, submission: str) -> SubmissionView:
    """Idempotent. Raises as ``withdraw``."""
    return _set(platform, user, submission, EntryAct.PUT_BACK)


def possible(platform: Platform, user: User, submission: str) -> EntryAct | None:
    """Raises NotFound."""
    with platform.sessions() as session:
        row = _first(session, user, submission)
        act = EntryAct.WITHDRAW if row.withdrawn_at is None else EntryAct.PUT_BACK
        try:
            _check(session, user, row, act)
        except (Conflict, NotAllowed):
            return None
        return act


def _set(platform: Platform, user: User, submission: str, act: EntryAct) -> SubmissionView:
    with writing(platform.sessions) as session:
        first = _first(session, user, submission)
        row = session.scalars(
            select(SubmissionRow)
            .where(SubmissionRow.id == first.id)
            .with_for_update()
            .execution_options(populate_existing=True)
        ).one()
        done = (row.withdrawn_at is None) == (act is EntryAct.PUT_BACK)
        if not done or row.user_id != user.id:
            _check(session, user, row, act)
            now = clock(session) if act is EntryAct.WITHDRAW else None
            _note(session, user, row, now)
            withdrawals.mark(session, row.id, now)
    return get_submission(platform, user, submission)


def _first(session: Session, user: User, submission: str) -> SubmissionRow:
    """The submission, also by a judgement's id. Raises NotFound."""
    row = find(session, user, submission)
    return row if row.rejudge_of is None else session.get_one(SubmissionRow, row.rejudge_of)


def _check(session: Session, user: User, row: SubmissionRow, act: EntryAct) -> None:
    """Raises NotAllowed, Conflict."""
    words = "taken off the board" if act is EntryAct.WITHDRAW else "put back"
    if row.user_id != user.id:
        raise NotAllowed(
            "Only its author can take an entry off the board, or put it back.", "Staff can void a result."
        )
    if row.competition_id is not None:
        raise Conflict(
            f"{row.public_id} was submitted to a competition, whose entries stay, also after its end.",
            "Ask the competition's staff: they can void a result.",
        )
    if act is EntryAct.WITHDRAW and not withdrawals.is_on_a_board(session, row.id):
        raise Conflict(f"{row.public_id} is on no board, so it cannot be {words}.", _why_not(session, row))
    state = publications.states(session).get(row.challenge)
    frozen = state.frozen_at if state is not None else None
    # Later entries rank when the freeze ends.
    if frozen is not None and frozen <= clock(session) and row.created_at <= frozen:
        raise Conflict(
            f"The board of {row.challenge} is frozen, so no entry on it can be {words}.",
            "Wait until staff end the freeze, or ask them.",
        )


def _why_not(session: Session, row: SubmissionRow) -> str:
    if session.get(VoidRow, row.id) is not None:
        return "Staff voided its result."
    if row.kind is JudgingReason.RUN:
        return "A run is never on a board."
    return "Only accepted submissions with a time are."


def _note(session: Session, user: User, row: SubmissionRow, at: datetime | None) -> None:
    """In the log of every course of the submission, else in the platform's."""
    numbers: list[int | None] = [course.id for course in authority.courses_of(session, row)]
    for number in numbers or [None]:
        audit.note(
            session,
            user,
            Action.ENTRY_WITHDRAW,
            f"/submissions/{row.public_id}/withdrawal",
            course=number,
            before={"withdrawn_at": row.withdrawn_at.isoformat() if row.withdrawn_at else None},
            after={"withdrawn_at": at.isoformat() if at is not None else None},
        )
