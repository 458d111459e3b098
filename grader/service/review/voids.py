"""Voiding a result: it stays where it is, with a reason that its author reads, and counts for nothing until staff take
that back."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotAllowed, NotFound
from grader.records import voids
from grader.records.engine import writing
from grader.records.models import CompetitionRow, SubmissionRow, VoidRow, utcnow
from grader.schemas.notice import NoticeKind
from grader.schemas.submission import JudgingReason, State, SubmissionView, VoidBody
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.competitions import corrections
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import authority
from grader.service.submissions.submissions import find, get_submission


def void(platform: Platform, user: User, submission: str, body: VoidBody) -> SubmissionView:
    """Take a result off boards, grades and standings; or give another reason. The attempt stays used.

    Raises NotFound, NotAllowed, BadRequest, and Conflict where there is no result.
    """
    with writing(platform.sessions) as session:
        void_in(platform, session, user, submission, body.reason)
    return get_submission(platform, user, submission)


def void_in(platform: Platform, session: Session, user: User, submission: str, reason: str) -> None:
    """The same within a transaction of the caller's."""
    row = _locked(session, user, submission)
    course = authority.check(session, user, row, Action.VOID, Action.VOID_ANY)
    if row.kind is JudgingReason.RUN or row.state is not State.DONE:
        raise Conflict(
            f"There is no result of {row.public_id} to void.", "Only a submission that is done has one."
        )
    reason = audit.tidy_reason(reason, needed=True)
    known = session.get(VoidRow, row.id)
    before = {"reason": known.reason if known is not None else None}
    if known is None:
        known = VoidRow(submission_id=row.id, reason=reason)
        session.add(known)
        with corrections.noted(platform, session, user, row, Action.VOID, reason):
            voids.set_aside(session, row.id)
    known.reason, known.made_by, known.created_at = reason, user.id, utcnow()
    audit.note(
        session,
        user,
        Action.VOID,
        f"/submissions/{row.public_id}/void",
        course=course.id if course is not None else None,
        before=before,
        after={"reason": reason},
        reason=reason,
    )
    _tell(session, row, f"result for {row.challenge} is void: {reason}")


def restore(platform: Platform, user: User, submission: str) -> SubmissionView:
    """The result counts again. Raises NotFound (also where it is not void), NotAllowed."""
    with writing(platform.sessions) as session:
        row = _locked(session, user, submission)
        course = authority.check(session, user, row, Action.VOID, Action.VOID_ANY)
        known = session.get(VoidRow, row.id)
        if known is None:
            raise NotFound(f"The result of {row.public_id} is not void.")
        audit.note(
            session,
            user,
            Action.VOID,
            f"/submissions/{row.public_id}/void",
            course=course.id if course is not None else None,
            before={"reason": known.reason},
            after={"reason": None},
        )
        session.delete(known)
        with corrections.noted(platform, session, user, row, Action.VOID, ""):
            voids.restore(session, row.id)
        _tell(session, row, f"result for {row.challenge} counts again")
    return get_submission(platform, user, submission)


def _tell(session: Session, row: SubmissionRow, text: str) -> None:
    """Its author, and in a competition the team: it is the team's result."""
    notices.tell(session, [row.user_id], NoticeKind.RESULT, f"Your {text}", f"/submissions/{row.public_id}")
    if row.competition_id is not None and (mates := corrections.team_mates(session, row)):
        slug = session.get_one(CompetitionRow, row.competition_id).slug
        notices.tell(session, mates, NoticeKind.RESULT, f"Your team's {text}", f"/competitions/{slug}")


def may(platform: Platform, user: User, submission: str) -> bool:
    """Whether ``user`` may void it. Raises NotFound."""
    with platform.sessions() as session:
        try:
            authority.check(session, user, _first(session, user, submission), Action.VOID, Action.VOID_ANY)
        except NotAllowed:
            return False
        return True


def _first(session: Session, user: User, submission: str) -> SubmissionRow:
    """What was handed in, also where one of its judgements is named. Raises NotFound."""
    row = find(session, user, submission)
    return row if row.rejudge_of is None else session.get_one(SubmissionRow, row.rejudge_of)


def _locked(session: Session, user: User, submission: str) -> SubmissionRow:
    first = _first(session, user, submission)
    return session.scalars(
        select(SubmissionRow)
        .where(SubmissionRow.id == first.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
