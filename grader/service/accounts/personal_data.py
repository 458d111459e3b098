from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.languages import LANGUAGES
from grader.records import personal
from grader.records.engine import reading_on, writing
from grader.records.models import CriterionRow, DraftRow, ReportRow, SubmissionRow, UserRow, utcnow
from grader.records.personal import PersonalColumn
from grader.schemas.account import STAFF_ROLES, Role
from grader.schemas.report import Report
from grader.service import audit
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.courses import permissions, released
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.service.submissions import quiz

# Hidden from staff, so their exports leave these out.
_OWN = ("drafts", "notes", "tokens")
# Larger exports go to a file.
_IN_MEMORY = 8 << 20
_READ_ME = """\
This is the data that the platform holds about the account {name}, as of {at}.

account.json       the account: name, e-mail address, role, preferences
tables/            everything else, one JSON list for each table: memberships with roster entries, submissions with
                   verdicts and times, comments on them and by you, posts, requests, your notes, notices,
                   registrations, tokens, the log of your actions as staff
submissions/ID/    the source of each submission, and its report and questions as you may read them on the site
drafts/            the drafts in your editor

Exports made by staff contain no drafts, no notes and no tokens. Passwords and tokens are
stored only as hashes, which are left out. Reports show hidden cases only as far as you may see them.
"""


def check_may(user: User, row: UserRow, action: Action, session: Session) -> None:
    """Raises NotAllowed unless it is one's own, a student's (for staff) or staff's (for admins)."""
    if user.id == row.id:
        return
    permissions.check(user, permissions.standings(session, user), action)
    if Role(row.role) in STAFF_ROLES:
        accounts.check_admin(user)


def export(platform: Platform, user: User, name: str) -> IO[bytes]:
    """A ZIP that the caller closes. Exports of others are logged. Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        row = accounts.find_row(session, name)
        check_may(user, row, Action.ACCOUNT_EXPORT, session)
        if row.id != user.id:
            audit.note(session, user, Action.ACCOUNT_EXPORT, f"/people/{row.name}")
        person, own = row.id, row.id == user.id
    return export_of(platform, person, own=own)


def export_of(platform: Platform, person: int, *, own: bool = True) -> IO[bytes]:
    """``person``: an account's id. ``own``: include ``_OWN``."""
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the caller's to close
    with (
        reading_on(platform.sessions) as session,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for path, text in _files(session, session.get_one(UserRow, person), own):
            archive.writestr(path, text)
    file.seek(0)
    return file


def _files(session: Session, row: UserRow, own: bool) -> Iterator[tuple[str, str]]:
    yield "README.txt", _READ_ME.format(name=row.name, at=utcnow().isoformat(timespec="seconds"))
    yield (
        "account.json",
        _json(
            {
                "name": row.name,
                "email": row.email,
                "role": row.role,
                "created_at": row.created_at,
                "came_by": row.came_by,
                "preferences": row.preferences,
            }
        ),
    )
    tables: dict[str, list[dict[str, Any]]] = {}
    for column in personal.COLUMNS:
        if column.exported and (own or column.table.name not in _OWN):
            found = [
                each for each in personal.rows(session, column, row.id) if _is_told(session, column, each)
            ]
            tables.setdefault(column.table.name, []).extend(found)
    # One's comment on one's own submission is found twice.
    for name, found in sorted(tables.items()):
        unique = list({json.dumps(record, default=str, sort_keys=True): record for record in found}.values())
        yield f"tables/{name}.json", _json(unique)
    yield from _submissions(session, row)
    kept = select(DraftRow).where(DraftRow.user_id == row.id)
    for draft in session.scalars(kept) if own else ():
        yield f"drafts/{draft.challenge}{LANGUAGES[draft.language].suffix}", draft.source


def _is_told(session: Session, column: PersonalColumn, found: dict[str, Any]) -> bool:
    """An assignment may hold its feedback."""
    if column.column == "comments.submission_id" and found["staff"]:
        return not released.feedback_held(session, session.get_one(SubmissionRow, found["submission_id"]))
    if column.column == "rubric_scores.user_id":
        criterion = session.get_one(CriterionRow, found["criterion_id"])
        return not released.unreleased(session, [criterion.assignment_id])
    return True


def _submissions(session: Session, person: UserRow) -> Iterator[tuple[str, str]]:
    """Without regrades and finals: staff decide when to publish them."""
    ids = session.scalars(
        select(SubmissionRow.id)
        .where(SubmissionRow.user_id == person.id, SubmissionRow.rejudge_of.is_(None))
        .order_by(SubmissionRow.id)
    ).all()
    now, revealed = utcnow(), dict[str, bool]()
    for own in ids:
        row = session.get_one(SubmissionRow, own)
        folder = f"submissions/{row.public_id}"
        yield f"{folder}/source{row.language.suffix}", row.source
        body = session.scalar(
            select(ReportRow.body).where(ReportRow.submission_id == own, ReportRow.attempt == row.attempt)
        )
        if body is not None:
            if row.challenge not in revealed:
                revealed[row.challenge] = released.hidden_revealed(session, person.id, row.challenge, now)
            report = Report.model_validate_json(body)
            shown = report if revealed[row.challenge] else report.redacted()
            yield f"{folder}/report.json", shown.model_dump_json(indent=2)
        asked = quiz.view_of(session, row, may_answer=False)
        if asked.questions:
            yield f"{folder}/questions.json", asked.model_dump_json(indent=2)
        session.expunge(row)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
