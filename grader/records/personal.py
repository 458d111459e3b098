"""Every column that refers to an account or a submission, its part in the export, and its fate when the
person is deleted.

Tests find columns that ``COLUMNS`` lacks, and text that stays without being in ``words``.
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
    """The row stays without its words, names and numbers."""
    KEPT = "kept"
    """The row refers to an account without a name."""


# The time of the deletion, unless the column has a value.
NOW = object()


@dataclass(frozen=True)
class PersonalColumn:
    column: str
    fate: Fate
    exported: bool
    # New values of other columns of a row that stays.
    blank: Mapping[str, object] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    # ``grader.records.sources`` removes the row with the source.
    with_source: bool = False

    @property
    def table(self) -> Table:
        return _TABLES[self.column.partition(".")[0]]

    def rows_of(self, user: int) -> ColumnElement[bool]:
        own = self.table.c[self.column.partition(".")[2]]
        if any(key.column.table.name == "submissions" for key in own.foreign_keys):
            return own.in_(select(SubmissionRow.id).where(SubmissionRow.user_id == user))
        return own == user


def _removed(*columns: str) -> Iterator[PersonalColumn]:
    return (PersonalColumn(column, Fate.REMOVED, exported=True) for column in columns)


def _kept(*columns: str, exported: bool = False) -> Iterator[PersonalColumn]:
    return (PersonalColumn(column, Fate.KEPT, exported) for column in columns)


def _blanked(column: str, words: str = "", exported: bool = True, **blank: object) -> PersonalColumn:
    return PersonalColumn(column, Fate.BLANKED, exported, blank, frozenset(words.split()))


COLUMNS = (
    *_removed(
        "account_deletions.user_id",
        "batch_entries.user_id",
        "batches.user_id",
        "comment_edits.by_id",
        "comments.submission_id",
        "course_invitations.user_id",
        "device_codes.user_id",
        "drafts.user_id",
        "exercise_answers.user_id",
        "identities.user_id",
        "links.user_id",
        "notes.submission_id",
        "notice_choices.user_id",
        "notices.user_id",
        "questions.user_id",
        "quotas.user_id",
        "regrade_requests.user_id",
        "tokens.user_id",
    ),
    PersonalColumn("reports.submission_id", Fate.REMOVED, exported=True, with_source=True),
    # The export has their sources.
    PersonalColumn("artefacts.user_id", Fate.REMOVED, exported=False),
    # Exported as the sender's.
    PersonalColumn("batch_entries.submission_id", Fate.REMOVED, exported=False),
    # Evidence that courses must be able to show.
    _blanked("comments.author_id", text="", deleted_at=NOW),
    # Others replied.
    _blanked("posts.author_id", words="slug", text="", hidden_reason="", answer="", deleted_at=NOW),
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
    # A new account of the same person must not send zero over the platform's grade.
    _blanked(
        "lti_scores.user_id",
        words="subject_sha256",
        state=LtiScoreState.SENT.value,
        error="",
        held_until=None,
    ),
    # The rest is removed with the source.
    _blanked(
        "submissions.user_id",
        words="public_id challenge language device worker machine request_id",
        error="",
        progress={},
        idempotency_key=None,
        request_sha256=None,
        share_key=None,
        token_key=None,
    ),
    # Answers must not leave the server.
    _blanked("quiz_questions.submission_id", exported=False, body="", given=[]),
    # The author only sees the decision.
    _blanked("reviews.submission_id", exported=False, reason=""),
    # Internal until staff publish it.
    _blanked("regrades.submission_id", words="challenge", exported=False, reason=""),
    _blanked("regrades.user_id", words="challenge", exported=False, reason=""),
    # Other people's boards, finals, certificates and grades depend on these.
    *_kept("competition_registrations.user_id", "submission_partners.user_id", exported=True),
    # In the submission's report, or only for staff.
    *_kept(
        "competition_final_runs.submission_id",
        "regrade_items.after_id",
        "regrade_items.before_id",
        "regrade_items.first_id",
        "submission_flags.submission_id",
        "submission_partners.submission_id",
        "submissions.rejudge_of",
    ),
    # Actions as staff concern other people, too.
    *_kept("audit_log.actor_id", exported=True),
    # Courses' and competitions' sums.
    *_kept("gpu_time.user_id", exported=True),
    *_kept(
        "account_deletions.requested_by",
        "announcements.made_by",
        "challenge_states.changed_by",
        "challenge_uploads.uploaded_by",
        "catalogue_sources.asked_by",
        "comments.resolved_by",
        "competition_finals.started_by",
        "course_invitations.made_by",
        "course_voids.made_by",
        "course_join_codes.made_by",
        "extensions.made_by",
        "grade_curves.made_by",
        "grade_overrides.made_by",
        "invitations.made_by",
        "lti_contexts.linked_by",
        "posts.hidden_by",
        "posts.resolved_by",
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
# Credentials, hashes, data exported as separate files, and other people's data in the audit log.
_LEFT_OUT = frozenset(
    {
        "password_hash",
        "sha256",
        "device_sha256",
        "user_sha256",
        "token_sha256",
        "token_key",
        "subject_sha256",
        "share_key",
        "join_code",
        "idempotency_key",
    }
    | {"request_sha256", "source_sha256", "artefact", "source", "body", "lease_until", "worker", "machine"}
)
_OF_TABLE = {"audit_log": ("id", "at", "action")}


def referring() -> set[str]:
    return {
        f"{table.name}.{column.name}"
        for table in _TABLES.values()
        for column in table.columns
        for key in column.foreign_keys
        if key.column.table.name in ("users", "submissions")
    }


def rows(session: Session, entry: PersonalColumn, user: int) -> list[dict[str, Any]]:
    shown = [
        column
        for column in entry.table.columns
        if column.name not in _LEFT_OUT and column.name in _OF_TABLE.get(entry.table.name, (column.name,))
    ]
    query = select(*shown).where(entry.rows_of(user)).order_by(*entry.table.primary_key.columns)
    if entry.column == "comments.submission_id":
        # Without unsent comments of staff.
        query = query.where(entry.table.c.draft.is_(False), entry.table.c.deleted_at.is_(None))
    if entry.column == "submissions.user_id":
        # Without rejudges and finals.
        query = query.where(entry.table.c.rejudge_of.is_(None))
    return [dict(row._mapping) for row in session.execute(query)]


def forget(session: Session, user: int, now: datetime) -> None:
    """Except the account's row and sources."""
    for entry in COLUMNS:
        if entry.with_source:
            continue
        if entry.fate is Fate.REMOVED:
            session.execute(delete(entry.table).where(entry.rows_of(user)))
        elif entry.fate is Fate.BLANKED:
            values = {
                name: func.coalesce(entry.table.c[name], now) if value is NOW else value
                for name, value in entry.blank.items()
            }
            session.execute(update(entry.table).where(entry.rows_of(user)).values(values))
