"""An author's private note: staff cannot read it, not even in exports."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed
from grader.records import notes
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason, NoteBody, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import find, get_submission


def keep_note(platform: Platform, user: User, submission: str, body: NoteBody) -> SubmissionView:
    """Also by a judgement's id; empty removes it. Raises NotFound, NotAllowed, Conflict (a run), BadRequest."""
    text = body.text.replace("\r\n", "\n").strip()
    # Forms count a line end as one character.
    if len(text) > limits.NOTE_CHARS:
        raise BadRequest(
            f"The note has {len(text):,} characters; the limit is {limits.NOTE_CHARS:,}.", "Shorten it."
        )
    if "\0" in text:
        raise BadRequest("The note contains NUL characters.", "Paste plain text.")
    with writing(platform.sessions) as session:
        found = _own(session, user, submission)
        if found.kind is JudgingReason.RUN:
            raise Conflict(
                f"{found.public_id} is a run, which is removed after {limits.RUN_DAYS} days.",
                "Write the note on a submission.",
            )
        first = found.rejudge_of or found.id
        session.execute(select(SubmissionRow.id).where(SubmissionRow.id == first).with_for_update())
        notes.keep(session, first, text)
    return get_submission(platform, user, submission)


def check_author(platform: Platform, user: User, submission: str) -> None:
    """Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        _own(session, user, submission)


def _own(session: Session, user: User, submission: str) -> SubmissionRow:
    found = find(session, user, submission)
    if found.user_id != user.id:
        raise NotAllowed("Only its author can write a note on a submission.", "Staff can comment on it.")
    return found
