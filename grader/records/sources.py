"""Sources of deleted accounts. Those that count for a team stay until its results are out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, case, delete, not_, or_, select, update
from sqlalchemy.orm import Session, aliased

from grader import limits
from grader.records import leases
from grader.records.models import (
    ArtefactRow,
    CompetitionRow,
    FinalRow,
    FinalRunRow,
    RegistrationRow,
    RegradeItemRow,
    RegradeRow,
    ReportRow,
    SubmissionRow,
    TeamRow,
    UserRow,
)
from grader.records.states import ACTIVE, FREE
from grader.schemas.competition import FinalState, Mode
from grader.schemas.submission import State

BLANK = {"source": "", "own_case": None, "filename": "forgotten", "artefact": None}
_WORDS_OF_REPORT = {"compiler_log": "", "detail": "", "hint": "", "remarks": []}
_IDS = 1_000


def present() -> ColumnElement[bool]:
    """It can be judged again."""
    return SubmissionRow.source != ""


def held(now: datetime) -> ColumnElement[bool]:
    """Counts for a team whose results are not out."""
    teams = (
        select(TeamRow.id)
        .join(CompetitionRow, CompetitionRow.id == TeamRow.competition_id)
        .where(TeamRow.mode == Mode.OFFICIAL, CompetitionRow.results_at.is_(None))
        .where(CompetitionRow.ends_at > now - timedelta(days=limits.TEAM_SOURCE_DAYS))
    )
    return and_(SubmissionRow.team_id.is_not(None), SubmissionRow.team_id.in_(teams))


def drop(session: Session, now: datetime, *conditions: ColumnElement[bool]) -> int:
    """Remove sources and reports of deleted accounts, except those that are held. Cancels waiting judgements
    and returns their number; running ones stay until the next call.

    Verdicts and times stay; for teams with other members also digests and measurements of finals, for
    certificates.
    """
    table = SubmissionRow
    deleted = table.user_id.in_(select(UserRow.id).where(UserRow.deleted_at.is_not(None)))
    left = or_(present(), and_(table.source_sha256.is_not(None), not_(_certified())))
    found = session.scalars(
        select(table.id).where(deleted, left, not_(held(now)), table.state.not_in(ACTIVE), *conditions)
    ).all()
    pieces = [found[start : start + _IDS] for start in range(0, len(found), _IDS)]
    # A regrade's judgement may be in another piece than its first judgement.
    cancelled = sum(_cancel(session, now, ids) for ids in pieces)
    for ids in pieces:
        _drop(session, ids)
    return cancelled


def _cancel(session: Session, now: datetime, ids: Sequence[int]) -> int:
    table = SubmissionRow
    waiting = session.execute(
        select(table.id, table.attempt).where(table.id.in_(ids), table.state.in_(FREE))
    ).all()
    for submission, attempt in waiting:
        leases.end_cancelled(session, submission, attempt, now)
    return len(waiting)


def _drop(session: Session, ids: Sequence[int]) -> None:
    table = SubmissionRow
    _leave_out(session, ids)
    # Others with the same source have it compiled again.
    keys = select(table.artefact).where(table.id.in_(ids), table.artefact.is_not(None))
    _run(session, delete(ArtefactRow).where(ArtefactRow.key.in_(keys)))
    certified = set(session.scalars(select(table.id).where(table.id.in_(ids), _certified())))
    _run(session, delete(ReportRow).where(ReportRow.submission_id.in_(set(ids) - certified)))
    for report in session.scalars(select(ReportRow).where(ReportRow.submission_id.in_(certified))):
        report.body = json.dumps({**json.loads(report.body), **_WORDS_OF_REPORT})
    digest = case((table.id.in_(certified), table.source_sha256), else_=None)
    _run(session, update(table).where(table.id.in_(ids)).values(**BLANK, source_sha256=digest))


def _leave_out(session: Session, ids: Sequence[int]) -> None:
    """Remove submissions without a verdict from open regrades."""
    item, after = RegradeItemRow, aliased(SubmissionRow)
    found = session.execute(
        select(item.id, item.regrade_id)
        .join(after, after.id == item.after_id)
        .where(item.held_id.in_(ids), after.state.in_((State.CANCELLED, State.FAILED)))
    ).all()
    _run(session, delete(item).where(item.id.in_([row.id for row in found])))
    for regrade, count in Counter(row.regrade_id for row in found).items():
        session.get_one(RegradeRow, regrade).left_out += count


def _certified() -> ColumnElement[bool]:
    """Final judgements, and what they judge, of teams with at least one remaining account."""
    table, judged = SubmissionRow, aliased(SubmissionRow)
    others = (
        select(RegistrationRow.team_id)
        .join(UserRow, UserRow.id == RegistrationRow.user_id)
        .where(UserRow.deleted_at.is_(None))
    )
    runs = (
        select(FinalRunRow.submission_id)
        .join(FinalRow, FinalRow.id == FinalRunRow.final_id)
        .where(FinalRow.state != FinalState.CANCELLED, FinalRunRow.team_id.in_(others))
    )
    return or_(table.id.in_(runs), table.id.in_(select(judged.rejudge_of).where(judged.id.in_(runs))))


def _run(session: Session, statement: object) -> None:
    session.execute(statement.execution_options(synchronize_session=False))  # type: ignore[attr-defined]
