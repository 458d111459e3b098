"""What is kept for how long, and what goes when a person is forgotten. Verdicts, times, sources and what boards stand
on are kept for ever; runs are not."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, and_, delete, func, not_, or_, select, text, update
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import Conflict, NotFound
from grader.logs import get_logger
from grader.records import leases, personal
from grader.records.engine import writing
from grader.records.models import (
    ArtefactRow,
    AuditRow,
    CommentEditRow,
    CommentRow,
    CourseInvitationRow,
    CourseVoidRow,
    DeviceCodeRow,
    LinkRow,
    NoticeRow,
    PauseRow,
    RegistrationRow,
    ReportRow,
    ReviewRow,
    SimilarPairRow,
    SubmissionRow,
    TeamRow,
    TokenRow,
    UserRow,
    VoidRow,
    WorkerRow,
    utcnow,
)
from grader.records.models.indexes import RUN
from grader.records.states import ACTIVE, FREE
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.schemas.submission_search import Forgotten, Pruned
from grader.service.operation import chores
from grader.service.platform import Platform

log = get_logger(__name__)

# What no password hashes to.
_NO_PASSWORD = "!"  # noqa: S105
# What the name of an account that was deleted begins with.
DELETED = "deleted-user-"

# Reports go in pieces: who prunes a year of them must not hold up everyone else for minutes.
_BATCH = 500
# Tokens, links and codes are kept this long after their end, for the operator; nobody can use them any more.
_EXPIRED_DAYS = 30
# A worker without a GPU has a new name each time it starts.
_WORKER_DAYS = 30
# Of submissions, runs alone are ever removed.
_NAMES: dict[type, str] = {SubmissionRow: "runs"}
# How often one of the sweepers prunes.
CHORE = "prune"
CHORE_HOURS = 24


def prune(platform: Platform, days: int | None, dry_run: bool = True) -> Pruned:
    """Remove what has expired and, with ``days``, reports and artefacts that were not used for that long. Never the
    report of what stands on a board. With ``dry_run`` nothing is changed and counted all the same.
    """
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
    log.info("pruned", **found.model_dump(exclude={"dry_run"}))
    return found.model_copy(update={"dry_run": False})


def prune_now_and_then(platform: Platform) -> int:
    """What sweepers do: once a day one of them prunes by ``settings.retention_days``. How many rows went."""
    if not chores.may_begin(platform, CHORE, timedelta(hours=CHORE_HOURS), utcnow()):
        return 0
    done = prune(platform, platform.settings.retention_days or None, dry_run=False)
    return sum(value for name, value in done.model_dump().items() if name not in ("dry_run", "report_bytes"))


def _old_reports(before: datetime) -> Select[int, int]:
    """Key and attempt of each report that may go: its submission ended long ago and is on no board."""
    row = SubmissionRow
    stands = _standing()
    ended = and_(row.finished_at < before, row.state.in_((State.DONE, State.FAILED, State.CANCELLED)))
    # Certificates are made of what finals found.
    ended = and_(ended, row.kind != JudgingReason.FINAL)
    return (
        select(ReportRow.submission_id, ReportRow.attempt)
        .join(row, row.id == ReportRow.submission_id)
        .where(ended, not_(row.id.in_(stands)))
        .order_by(ReportRow.submission_id, ReportRow.attempt)
    )


def _standing() -> Select[int]:
    """Each user's best of each board and language, by the order that ranking goes by: a board of one language shows
    another entry than that of both, and one of an earlier version can be looked at."""
    row = SubmissionRow
    board = (row.challenge, row.version, row.device, row.language, row.user_id)
    order = (row.time_us, row.created_at, row.id)
    places = (
        select(row.id, func.row_number().over(partition_by=board, order_by=order).label("place"))
        .where(row.verdict == Verdict.ACCEPTED, row.time_us.is_not(None))
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


_Table = type[ArtefactRow | TokenRow | LinkRow | DeviceCodeRow | SubmissionRow | WorkerRow | NoticeRow]


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
        # With their reports. Nothing refers to a run, and no board or count knows it.
        (SubmissionRow, and_(text(RUN), SubmissionRow.finished_at < now - timedelta(days=limits.RUN_DAYS))),
        (WorkerRow, gone),
        (NoticeRow, NoticeRow.created_at < now - timedelta(days=limits.NOTICE_DAYS)),
    ]


def _drop(platform: Platform, table: _Table, condition: ColumnElement[bool]) -> None:
    with writing(platform.sessions) as session:
        session.execute(delete(table).where(condition).execution_options(synchronize_session=False))


def forget(platform: Platform, name: str) -> Forgotten:
    """Remove name, address, password, tokens, drafts, sources and reports of a user: what ``grader.records.personal``
    says. Verdicts and times stay, under a name that was made up: without them others' ranks would change.

    Raises NotFound, and Conflict while something of theirs is being judged. Backups from before still know them.
    """
    with writing(platform.sessions) as session:
        user = session.scalar(select(UserRow).where(UserRow.name_key == name.lower()).with_for_update())
        if user is None:
            raise NotFound(f"There is no user '{name[:64]}'.")
        cancelled = _cancel(session, user.id)
        submissions = _count_own(session, user.id)
        made_up = f"{DELETED}{secrets.token_hex(4)}"
        _remove_what_is_found_by_name(session, user, made_up)
        personal.forget(session, user.id)
        user.name = user.name_key = made_up
        user.email = user.email_key = None
        user.email_by = ""
        user.teaches, user.came_by = False, ""
        user.password_hash, user.role = _NO_PASSWORD, "student"
        user.preferences = {}
    log.info("user_forgotten", user=user.id, submissions=submissions)
    return Forgotten(name=made_up, submissions=submissions, cancelled=cancelled)


def _count_own(session: Session, user: int) -> int:
    return (
        session.scalar(select(func.count()).select_from(SubmissionRow).where(SubmissionRow.user_id == user))
        or 0
    )


def _remove_what_is_found_by_name(session: Session, user: UserRow, made_up: str) -> None:
    """What no column of an account or a submission leads to."""
    row = SubmissionRow
    keys = select(row.artefact).where(row.user_id == user.id, row.artefact.is_not(None))
    # Compiled of their sources; another's of the very same source is made again.
    session.execute(delete(ArtefactRow).where(ArtefactRow.key.in_(keys)))
    session.execute(update(PauseRow).where(PauseRow.by == user.name).values(by=""))
    teams = update(TeamRow).where(TeamRow.name_key == user.name.casefold(), TeamRow.id.in_(_teams(user.id)))
    # Teams of that name; one that its members chose otherwise keeps its name.
    session.execute(teams.values(name=made_up, name_key=made_up).execution_options(synchronize_session=False))
    if user.email_key is not None:
        session.execute(delete(CourseInvitationRow).where(CourseInvitationRow.person == user.email_key))
        session.execute(delete(LinkRow).where(LinkRow.email.in_({user.email, user.email_key})))
    own = select(row.id).where(row.user_id == user.id)
    decided = select(row.public_id).where(
        or_(
            row.id.in_(select(VoidRow.submission_id).where(VoidRow.submission_id.in_(own))),
            row.id.in_(select(CourseVoidRow.submission_id).where(CourseVoidRow.submission_id.in_(own))),
            row.id.in_(select(ReviewRow.submission_id).where(ReviewRow.submission_id.in_(own))),
        )
    )
    for public_id in session.scalars(decided).all():
        about = AuditRow.subject.startswith(f"/submissions/{public_id}/", autoescape=True)
        session.execute(update(AuditRow).where(about).values(reason="", before=None, after=None))
    # Pairs name submissions by their public ids.
    public = select(row.public_id).where(row.user_id == user.id)
    pair = SimilarPairRow
    session.execute(
        update(pair).where(or_(pair.submission.in_(public), pair.other.in_(public))).values(reason="")
    )
    said = select(CommentRow.id).where(CommentRow.author_id == user.id)
    session.execute(delete(CommentEditRow).where(CommentEditRow.comment_id.in_(said)))
    session.execute(update(AuditRow).where(AuditRow.actor_id == user.id).values(actor=made_up))
    # A log names whom something was done to by the last part of a path.
    for name in {user.name.lower(), user.email_key or user.name.lower()}:
        found = func.lower(AuditRow.subject).endswith(f"/{name}", autoescape=True)
        for entry in session.scalars(select(AuditRow).where(found)):
            entry.subject, entry.reason = f"{entry.subject[: -len(name)]}{made_up}", ""


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


def _teams(user: int) -> Select[int]:
    return select(RegistrationRow.team_id).where(RegistrationRow.user_id == user)
