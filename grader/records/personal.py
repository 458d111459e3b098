"""What the tables know of a person: every column that refers to an account, or to a submission, with what is exported
of its rows and what becomes of them when the person is deleted.

A new column of that kind needs a line in ``COLUMNS``: a test walks the schema and names those that have none. Another
one fills each of these tables and deletes the person: words that stay are in ``words``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Table, delete, func, select, update
from sqlalchemy.orm import Session

from grader.records.models import Base, SubmissionRow
from grader.schemas.lti import LtiScoreState

_TABLES = Base.metadata.tables


class Fate(StrEnum):
    REMOVED = "removed"
    """The row goes."""
    BLANKED = "blanked"
    """The row stays without the words, names and numbers in it."""
    KEPT = "kept"
    """The row stays as it is, and refers to an account without a name."""


# As a value of ``blank``: the time of the deletion, where the column has none yet.
NOW = object()


@dataclass(frozen=True)
class PersonalColumn:
    """``column`` is ``table.column``. ``exported``: its rows are about the person, and in their export. ``blank``: what
    is written into other columns of a row that stays. ``words``: its columns of text that stay as they are.
    ``with_source``: its rows go, and the words in it, when the source does (``grader.records.sources``)."""

    column: str
    fate: Fate
    exported: bool
    blank: Mapping[str, object] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    with_source: bool = False

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


def _blanked(column: str, words: str = "", exported: bool = True, **blank: object) -> PersonalColumn:
    return PersonalColumn(column, Fate.BLANKED, exported, blank, frozenset(words.split()))


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
        "notice_choices.user_id",
        "notices.user_id",
        "questions.user_id",
        "quotas.user_id",
        "regrade_requests.user_id",
        "tokens.user_id",
    ),
    PersonalColumn("reports.submission_id", Fate.REMOVED, exported=True, with_source=True),
    # Compiled of their sources, which are exported.
    PersonalColumn("artefacts.user_id", Fate.REMOVED, exported=False),
    # What points are computed from, and what courses must be able to show of them.
    _blanked("comments.author_id", text="", deleted_at=NOW),
    _blanked(
        "course_members.user_id",
        words="role section group_name",
        full_name="",
        student_number="",
        came_by="",
        left_at=NOW,
    ),
    _blanked("extensions.user_id", words="section", reason=""),
    _blanked("grade_overrides.user_id", words="challenge", reason=""),
    _blanked("rubric_scores.user_id", reason=""),
    _blanked("voids.submission_id", reason=""),
    _blanked("course_voids.submission_id", reason=""),
    # That a learning platform has a grade: a new account of the same person sends no zero over it.
    _blanked(
        "lti_scores.user_id",
        words="subject_sha256",
        state=LtiScoreState.SENT.value,
        error="",
        held_until=None,
    ),
    # The rest of it goes with the source.
    _blanked(
        "submissions.user_id",
        words="public_id challenge language device worker machine request_id",
        error="",
        progress={},
        idempotency_key=None,
        request_sha256=None,
        share_key=None,
    ),
    # What staff look into is theirs: the author reads what comes of it.
    _blanked("reviews.submission_id", exported=False, reason=""),
    # What staff judge again is theirs to publish.
    _blanked("regrades.submission_id", words="challenge", exported=False, reason=""),
    _blanked("regrades.user_id", words="challenge", exported=False, reason=""),
    # Others' boards, finals and certificates depend on these.
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
    {
        "password_hash",
        "sha256",
        "device_sha256",
        "user_sha256",
        "subject_sha256",
        "share_key",
        "join_code",
        "idempotency_key",
    }
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


def forget(session: Session, user: int, now: datetime) -> None:
    """Do to all of it what its fate says. The account's own row is somebody else's to change, and so are sources."""
    for it in COLUMNS:
        if it.with_source:
            continue
        if it.fate is Fate.REMOVED:
            session.execute(delete(it.table).where(it.rows_of(user)))
        elif it.fate is Fate.BLANKED:
            values = {
                name: func.coalesce(it.table.c[name], now) if value is NOW else value
                for name, value in it.blank.items()
            }
            session.execute(update(it.table).where(it.rows_of(user)).values(values))
