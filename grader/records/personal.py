"""What the tables know of a person: every column that refers to an account, or to a submission, with what is exported
of its rows and what becomes of them when the person is deleted.

A new column of that kind needs a line in ``COLUMNS``: a test walks the schema and names those that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Table, delete, select, update
from sqlalchemy.orm import Session

from grader.records.models import Base, SubmissionRow, utcnow

_TABLES = Base.metadata.tables


class Fate(StrEnum):
    REMOVED = "removed"
    """The row goes."""
    BLANKED = "blanked"
    """The row stays without the words, names and numbers in it."""
    KEPT = "kept"
    """The row stays as it is, and refers to an account without a name."""


@dataclass(frozen=True)
class PersonalColumn:
    """``column`` is ``table.column``. ``exported``: its rows are about the person, and in their export. ``blank``: what
    is written into other columns of a row that stays; a function is called for the value."""

    column: str
    fate: Fate
    exported: bool
    blank: Mapping[str, str | Callable[[], object] | None] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        return _TABLES[self.column.partition(".")[0]]

    def rows_of(self, user: int) -> ColumnElement[bool]:
        """Which rows are that account's (an id)."""
        own = self.table.c[self.column.partition(".")[2]]
        if any(it.column.table.name == "submissions" for it in own.foreign_keys):
            return own.in_(select(SubmissionRow.id).where(SubmissionRow.user_id == user))
        return own == user


def _removed(*columns: str) -> Iterator[PersonalColumn]:
    return (PersonalColumn(it, Fate.REMOVED, exported=True) for it in columns)


def _kept(*columns: str, exported: bool = False) -> Iterator[PersonalColumn]:
    return (PersonalColumn(it, Fate.KEPT, exported) for it in columns)


def _blanked(column: str, **blank: str | Callable[[], object] | None) -> PersonalColumn:
    return PersonalColumn(column, Fate.BLANKED, exported=True, blank=blank)


COLUMNS = (
    *_removed(
        "account_deletions.user_id",
        "comment_edits.by_id",
        "comments.submission_id",
        "course_invitations.user_id",
        "device_codes.user_id",
        "drafts.user_id",
        "identities.user_id",
        "links.user_id",
        "lti_scores.user_id",
        "notice_choices.user_id",
        "notices.user_id",
        "questions.user_id",
        "quotas.user_id",
        "regrade_requests.user_id",
        "reports.submission_id",
        "tokens.user_id",
    ),
    # Compiled of their sources, which are exported.
    PersonalColumn("artefacts.user_id", Fate.REMOVED, exported=False),
    # What points are computed from, and what courses must be able to show of them.
    _blanked("comments.author_id", text="", deleted_at=utcnow),
    _blanked("course_members.user_id", full_name="", student_number="", came_by="", left_at=utcnow),
    _blanked("extensions.user_id", reason=""),
    _blanked("grade_overrides.user_id", reason=""),
    _blanked("rubric_scores.user_id", reason=""),
    _blanked("voids.submission_id", reason=""),
    _blanked("course_voids.submission_id", reason=""),
    _blanked(
        "submissions.user_id",
        source="",
        filename="forgotten",
        error="",
        progress=dict,
        **dict.fromkeys(
            ("idempotency_key", "artefact", "request_sha256", "source_sha256", "share_key"), None
        ),
    ),
    # What staff look into is theirs: the author reads what comes of it.
    PersonalColumn("reviews.submission_id", Fate.BLANKED, exported=False, blank={"reason": ""}),
    # What staff judge again is theirs to publish.
    PersonalColumn("regrades.submission_id", Fate.BLANKED, exported=False, blank={"reason": ""}),
    PersonalColumn("regrades.user_id", Fate.BLANKED, exported=False, blank={"reason": ""}),
    # Others' boards, finals and certificates stand on these.
    *_kept("competition_registrations.user_id", exported=True),
    # What is told of a submission in its report, or shown to staff alone.
    *_kept(
        "competition_final_runs.submission_id",
        "regrade_items.after_id",
        "regrade_items.before_id",
        "regrade_items.first_id",
        "submission_flags.submission_id",
        "submissions.rejudge_of",
    ),
    # What somebody did as staff is about others, too. The log of it names nobody any more.
    *_kept("audit_log.actor_id", exported=True),
    *_kept(
        "account_deletions.requested_by",
        "announcements.made_by",
        "challenge_states.changed_by",
        "challenge_uploads.uploaded_by",
        "comments.resolved_by",
        "competition_finals.started_by",
        "course_invitations.made_by",
        "course_voids.made_by",
        "course_join_codes.made_by",
        "extensions.made_by",
        "grade_overrides.made_by",
        "invitations.made_by",
        "lti_contexts.linked_by",
        "questions.answered_by",
        "regrade_requests.answered_by",
        "regrades.decided_by",
        "regrades.made_by",
        "reviews.decided_by",
        "reviews.reviewer_id",
        "rubric_scores.made_by",
        "similar_pairs.decided_by",
        "similarity_runs.made_by",
        "voids.made_by",
    ),
)
# Never exported: what lets somebody in, hashes, and what comes as a file of its own. The rest of an audit entry is
# about whom it was done to.
_LEFT_OUT = frozenset(
    {"password_hash", "sha256", "device_sha256", "user_sha256", "share_key", "join_code", "idempotency_key"}
    | {"request_sha256", "source_sha256", "artefact", "source", "body", "lease_until", "worker", "machine"}
)
_OF_TABLE = {"audit_log": ("id", "at", "action")}


def referring() -> set[str]:
    """Every column of the schema that refers to an account or a submission."""
    return {
        f"{table.name}.{column.name}"
        for table in _TABLES.values()
        for column in table.columns
        for key in column.foreign_keys
        if key.column.table.name in ("users", "submissions")
    }


def rows(session: Session, it: PersonalColumn, user: int) -> list[dict[str, Any]]:
    """What is exported of one column's rows."""
    shown = [
        column
        for column in it.table.columns
        if column.name not in _LEFT_OUT and column.name in _OF_TABLE.get(it.table.name, (column.name,))
    ]
    query = select(*shown).where(it.rows_of(user)).order_by(*it.table.primary_key.columns)
    if it.column == "comments.submission_id":
        # What staff have not sent yet is not said.
        query = query.where(it.table.c.draft.is_(False), it.table.c.deleted_at.is_(None))
    if it.column == "submissions.user_id":
        # Nor is what was judged again, or in a final: its author reads it where it is published.
        query = query.where(it.table.c.rejudge_of.is_(None))
    return [dict(row._mapping) for row in session.execute(query)]


def forget(session: Session, user: int) -> None:
    """Do to all of it what its fate says. The account's own row is somebody else's to change."""
    for it in COLUMNS:
        if it.fate is Fate.REMOVED:
            session.execute(delete(it.table).where(it.rows_of(user)))
        elif it.fate is Fate.BLANKED:
            values = {name: value() if callable(value) else value for name, value in it.blank.items()}
            session.execute(update(it.table).where(it.rows_of(user)).values(values))
