"""Forgetting a person: what is theirs goes, what boards stand on stays and names nobody."""

from __future__ import annotations

import secrets

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotFound
from grader.logs import get_logger
from grader.records import leases
from grader.records.engine import changed, writing
from grader.records.models import (
    ArtefactRow,
    DeviceCodeRow,
    DraftRow,
    LinkRow,
    PauseRow,
    QuotaRow,
    ReportRow,
    SubmissionRow,
    TokenRow,
    UserRow,
    utcnow,
)
from grader.records.states import ACTIVE, FREE
from grader.schemas.submission_search import Forgotten
from grader.service.platform import Platform

log = get_logger(__name__)

# What no password hashes to.
_NO_PASSWORD = "!"  # noqa: S105
_NO_FILE = "forgotten"


def forget(platform: Platform, name: str) -> Forgotten:
    """Remove name, address, password, tokens, drafts, sources and reports of a user. Verdicts and times stay, under a
    name that was made up: without them others' ranks would change.

    Raises NotFound, and Conflict while something of theirs is being judged. Backups from before still know them.
    """
    with writing(platform.sessions) as session:
        user = session.scalar(select(UserRow).where(UserRow.name_key == name.lower()).with_for_update())
        if user is None:
            raise NotFound(f"There is no user '{name[:64]}'.")
        cancelled = _cancel(session, user.id)
        submissions = _blank(session, user.id)
        _end_access(session, user)
        session.execute(update(PauseRow).where(PauseRow.by == user.name).values(by=""))
        user.name = user.name_key = f"gone-{secrets.token_hex(4)}"
        user.email = user.email_key = None
        user.password_hash, user.role = _NO_PASSWORD, "student"
        made_up = user.name
    log.info("user_forgotten", user=user.id, submissions=submissions)
    return Forgotten(name=made_up, submissions=submissions, cancelled=cancelled)


def _cancel(session: Session, user: int) -> int:
    """Raises Conflict."""
    row = SubmissionRow
    own = row.user_id == user
    active = session.scalar(select(row.public_id).where(own, row.state.in_(ACTIVE)).limit(1))
    if active is not None:
        raise Conflict(f"Submission {active} is being judged.", "Cancel it, or wait for its end.")
    waiting = session.execute(select(row.id, row.attempt).where(own, row.state.in_(FREE))).all()
    for submission, attempt in waiting:
        leases.end_cancelled(session, submission, attempt, utcnow())
    return len(waiting)


def _blank(session: Session, user: int) -> int:
    row = SubmissionRow
    own = select(row.id).where(row.user_id == user)
    keys = select(row.artefact).where(row.user_id == user, row.artefact.is_not(None))
    # Compiled of their sources; another's of the very same source is made again.
    session.execute(delete(ArtefactRow).where(ArtefactRow.key.in_(keys)))
    session.execute(delete(ReportRow).where(ReportRow.submission_id.in_(own)))
    blank = {"source": "", "filename": _NO_FILE, "idempotency_key": None, "artefact": None, "error": ""}
    hashes = {"request_sha256": None, "source_sha256": None}
    statement = update(row).where(row.user_id == user).values({**blank, **hashes, "progress": {}})
    return changed(session, statement.execution_options(synchronize_session=False))


def _end_access(session: Session, user: UserRow) -> None:
    for table in (TokenRow, DeviceCodeRow, QuotaRow, DraftRow):
        session.execute(delete(table).where(table.user_id == user.id))
    theirs = LinkRow.user_id == user.id
    if user.email is not None:
        theirs = or_(theirs, LinkRow.email == user.email)
    session.execute(delete(LinkRow).where(theirs))
