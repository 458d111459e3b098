"""Removes expired data and accounts' data. Verdicts, times, sources and everything behind boards stay; runs expire."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, and_, delete, func, not_, or_, select, text
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import Conflict, NotFound
from grader.logs import get_logger
from grader.records import personal, sources
from grader.records.engine import writing
from grader.records.models import (
    ArtefactRow,
    BatchRow,
    DeviceCodeRow,
    LinkRow,
    LtiScoreRow,
    NoticeRow,
    ReportRow,
    SubmissionRow,
    TokenRow,
    UserRow,
    WorkerRow,
    utcnow,
)
from grader.records.models.indexes import RUN
from grader.records.states import ACTIVE
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.schemas.submission_search import Forgotten, Pruned
from grader.service.accounts import needed
from grader.service.accounts.accounts import DELETED
from grader.service.operation import chores, traces
from grader.service.platform import Platform

log = get_logger(__name__)

# No password hashes to this.
_NO_PASSWORD = "!"  # noqa: S105

# A year's reports at once would block everyone for minutes.
_BATCH = 500
# Kept for operators.
_EXPIRED_DAYS = 30
# Workers without a GPU get new names.
_WORKER_DAYS = 30
_NAMES: dict[type, str] = {SubmissionRow: "runs"}
CHORE = "prune"
CHORE_HOURS = 24


def prune(platform: Platform, days: int | None, dry_run: bool = True) -> Pruned:
    """``days``: also reports and artefacts unused for that long, except of entries on boards. ``dry_run`` only
    counts."""
    now = utcnow()
    before = now - timedelta(days=days) if days is not None else None
    with platform.sessions() as session:
        found = _count(session, before, now)
    if dry_run:
        return found
    if before is not None:
        while _drop_some_reports(platform, before):
            pass
        _drop(platform, ArtefactRow, ArtefactRow.used_at < before)
    for table, condition in _expired(now):
        _drop(platform, table, condition)
    with writing(platform.sessions) as session:
        sources.drop(session, now)
    log.info("pruned", **found.model_dump(exclude={"dry_run"}))
    return found.model_copy(update={"dry_run": False})


def prune_if_due(platform: Platform) -> int:
    """Daily, in one sweeper. Returns the number of removed rows."""
    if not chores.may_begin(platform, CHORE, timedelta(hours=CHORE_HOURS), utcnow()):
        return 0
    done = prune(platform, platform.settings.retention_days or None, dry_run=False)
    return sum(value for name, value in done.model_dump().items() if name not in ("dry_run", "report_bytes"))


def _old_reports(before: datetime) -> Select[int, int]:
    """Key and attempt of reports that ended long ago and are on no board."""
    stands = _standing()
    ended = and_(
        SubmissionRow.finished_at < before,
        SubmissionRow.state.in_((State.DONE, State.FAILED, State.CANCELLED)),
    )
    # Certificates need finals' reports.
    ended = and_(ended, SubmissionRow.kind != JudgingReason.FINAL)
    return (
        select(ReportRow.submission_id, ReportRow.attempt)
        .join(SubmissionRow, SubmissionRow.id == ReportRow.submission_id)
        .where(ended, not_(SubmissionRow.id.in_(stands)))
        .order_by(ReportRow.submission_id, ReportRow.attempt)
    )


def _standing() -> Select[int]:
    """Each user's best per board and language: boards of one language and of earlier versions show other entries."""
    board = (
        SubmissionRow.challenge,
        SubmissionRow.version,
        SubmissionRow.device,
        SubmissionRow.language,
        SubmissionRow.user_id,
        # The best ranked and the best withdrawn one.
        SubmissionRow.withdrawn_at.is_(None),
    )
    order = (SubmissionRow.time_us, SubmissionRow.created_at, SubmissionRow.id)
    places = (
        select(SubmissionRow.id, func.row_number().over(partition_by=board, order_by=order).label("place"))
        .where(SubmissionRow.verdict == Verdict.ACCEPTED, SubmissionRow.time_us.is_not(None))
        .subquery()
    )
    return select(places.c.id).where(places.c.place == 1)


def _count(session: Session, before: datetime | None, now: datetime) -> Pruned:
    counts: dict[str, int] = {
        _NAMES.get(table, table.__tablename__): session.scalar(
            select(func.count()).select_from(table).where(condition)
        )
        or 0
        for table, condition in _expired(now)
    }
    if before is not None:
        old = _old_reports(before).subquery()
        same = and_(old.c.submission_id == ReportRow.submission_id, old.c.attempt == ReportRow.attempt)
        sizes = select(func.count().label("reports"), func.sum(func.length(ReportRow.body)).label("size"))
        reports = session.execute(sizes.select_from(ReportRow).join(old, same)).one()
        unused = select(func.count()).select_from(ArtefactRow).where(ArtefactRow.used_at < before)
        counts |= {
            "reports": reports.reports,
            "report_bytes": reports.size or 0,
            "artefacts": session.scalar(unused) or 0,
        }
    return Pruned(dry_run=True, **counts)


def _drop_some_reports(platform: Platform, before: datetime) -> int:
    with writing(platform.sessions) as session:
        found = session.execute(_old_reports(before).limit(_BATCH)).all()
        for submission, attempt in found:
            session.execute(
                delete(ReportRow).where(ReportRow.submission_id == submission, ReportRow.attempt == attempt)
            )
        return len(found)


_Table = type[
    ArtefactRow | TokenRow | LinkRow | DeviceCodeRow | SubmissionRow | WorkerRow | BatchRow | NoticeRow
]


def _kept_long_enough(now: datetime) -> ColumnElement[bool]:
    """A batch with its entries. No token lives as long as one that never ends."""
    return or_(
        BatchRow.finished_at < now - timedelta(days=limits.BATCH_DAYS),
        and_(
            BatchRow.finished_at.is_(None), BatchRow.created_at < now - timedelta(days=2 * limits.TOKEN_DAYS)
        ),
    )


def _expired(now: datetime) -> list[tuple[_Table, ColumnElement[bool]]]:
    ago = now - timedelta(days=_EXPIRED_DAYS)
    gone = and_(
        WorkerRow.ended_at < now - timedelta(days=_WORKER_DAYS),
        WorkerRow.gpu.is_(None),
        WorkerRow.out_of_service == "",
        WorkerRow.drained_at.is_(None),
    )
    return [
        (TokenRow, TokenRow.expires_at < ago),
        (LinkRow, LinkRow.expires_at < ago),
        (DeviceCodeRow, DeviceCodeRow.expires_at < ago),
        # With their reports. Nothing refers to a run.
        (SubmissionRow, and_(text(RUN), SubmissionRow.finished_at < now - timedelta(days=limits.RUN_DAYS))),
        (WorkerRow, gone),
        (BatchRow, _kept_long_enough(now)),
        (NoticeRow, NoticeRow.created_at < now - timedelta(days=limits.NOTICE_DAYS)),
    ]


def _drop(platform: Platform, table: _Table, condition: ColumnElement[bool]) -> None:
    with writing(platform.sessions) as session:
        session.execute(delete(table).where(condition).execution_options(synchronize_session=False))


def forget(platform: Platform, name: str) -> Forgotten:
    """Removes personal data (``grader.records.personal``). Verdicts and times stay under a generated name, so ranks
    stay; a team's sources until the results. Backups still contain everything. Raises NotFound, Conflict (being
    judged, last admin, last owner of a course)."""
    with writing(platform.sessions) as session:
        user = session.scalar(select(UserRow).where(UserRow.name_key == name.lower()).with_for_update())
        if user is None or user.deleted_at is not None:
            raise NotFound(f"There is no user '{name[:64]}'.")
        now = utcnow()
        needed.check(session, user)
        _check_not_judged(session, user.id, now)
        submissions = _count_own(session, user.id)
        made_up = f"{DELETED}{secrets.token_hex(4)}"
        traces.erase(session, user, made_up)
        user.deleted_at = now
        user.name = user.name_key = made_up
        user.email = user.email_key = None
        user.email_by = ""
        user.teaches, user.came_by = False, ""
        user.password_hash, user.role = _NO_PASSWORD, "student"
        user.preferences = {}
        session.flush()
        cancelled = sources.drop(session, now, SubmissionRow.user_id == user.id)
        _keep_grades_that_were_sent(session, user.id, now)
        session.flush()
        personal.forget(session, user.id, now)
    log.info("user_forgotten", user=user.id, submissions=submissions)
    return Forgotten(name=made_up, submissions=submissions, cancelled=cancelled)


def _count_own(session: Session, user: int) -> int:
    return (
        session.scalar(select(func.count()).select_from(SubmissionRow).where(SubmissionRow.user_id == user))
        or 0
    )


def _check_not_judged(session: Session, user: int, now: datetime) -> None:
    """A team's submissions keep their source, so they may continue. Raises Conflict."""
    active = session.scalar(
        select(SubmissionRow.public_id)
        .where(SubmissionRow.user_id == user, SubmissionRow.state.in_(ACTIVE), not_(sources.held(now)))
        .limit(1)
    )
    if active is not None:
        raise Conflict(f"Submission {active} is being judged.", "Cancel it, or wait until it ends.")


def _keep_grades_that_were_sent(session: Session, user: int, now: datetime) -> None:
    """The platform keeps its grade."""
    being_sent = and_(LtiScoreRow.held_until.is_not(None), LtiScoreRow.held_until > now)
    session.execute(
        delete(LtiScoreRow).where(
            LtiScoreRow.user_id == user, LtiScoreRow.sent_at.is_(None), not_(being_sent)
        )
    )
    for score in session.scalars(
        select(LtiScoreRow).where(LtiScoreRow.user_id == user, LtiScoreRow.sent_at.is_not(None))
    ):
        score.points, score.most = score.sent_points or 0.0, score.sent_most or 0.0
