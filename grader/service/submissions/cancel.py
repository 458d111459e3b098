from __future__ import annotations

from sqlalchemy import update
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotAllowed
from grader.records.engine import changed, clock, writing
from grader.records.leases import end_cancelled
from grader.records.models import SubmissionRow
from grader.records.states import ACTIVE, FREE
from grader.schemas.submission import State, SubmissionView
from grader.service import audit
from grader.service.accounts.accounts import User, lacking
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.service.submissions.submissions import find, get_submission


def cancel(platform: Platform, user: User, submission: str) -> SubmissionView:
    """At once if it waits or its lease is overdue; else its worker ends it within about a second. Idempotent. Raises
    NotFound, NotAllowed, Conflict (done or failed)."""
    with writing(platform.sessions) as session:
        # A worker may take or return it meanwhile.
        for _ in range(3):
            row = find(session, user, submission)
            others = row.user_id != user.id
            if others and not permissions.may(permissions.standings(session, user), Action.SUBMISSION_CANCEL):
                raise NotAllowed("Only its author can cancel a submission.", lacking(user))
            if row.state.final:
                break
            if _cancel(session, row):
                if others:
                    path = f"/submissions/{row.public_id}/cancel"
                    audit.note(session, user, Action.SUBMISSION_CANCEL, path)
                break
            session.expire_all()
    view = get_submission(platform, user, submission)
    if view.state in (State.DONE, State.FAILED):
        raise Conflict(f"Submission {view.id} is already {view.state}.", "There is nothing to cancel.")
    return view


def _cancel(session: Session, row: SubmissionRow) -> bool:
    """False if it changed meanwhile: try again."""
    now = clock(session)
    # Overdue: the worker is gone, or its verdict too late.
    if row.state in FREE or (row.lease_until is not None and row.lease_until < now):
        return end_cancelled(session, row.id, row.attempt, now)
    statement = (
        update(SubmissionRow)
        .where(SubmissionRow.id == row.id, SubmissionRow.state.in_(ACTIVE))
        .values(cancel_requested=True)
        .execution_options(synchronize_session=False)
    )
    return changed(session, statement) == 1
