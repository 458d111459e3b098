"""Deletion of accounts after a grace period."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.errors import BadRequest, GraderError
from grader.logs import get_logger
from grader.records import sources
from grader.records.engine import clock, writing
from grader.records.models import (
    AuditRow,
    CompetitionRow,
    CourseRow,
    DeletionRow,
    LtiScoreRow,
    MemberRow,
    RegistrationRow,
    SubmissionRow,
    UserRow,
)
from grader.schemas.course import CourseRole
from grader.schemas.personal import DeletionBody, DeletionView
from grader.service import audit
from grader.service.accounts import links, needed
from grader.service.accounts.accounts import DELETED, User, check_not_deleted, find_row
from grader.service.accounts.personal_data import check_may
from grader.service.courses.permissions import Action
from grader.service.messages import mail
from grader.service.operation import retention
from grader.service.platform import Platform

log = get_logger(__name__)

_TEXT = """\
Hello {name},

your account will be deleted on {due:%Y-%m-%d %H:%M} UTC. If you did not ask for this, sign in and keep it:

{url}/account/data
"""
_REMOVED = [
    "The name, the e-mail address, the password, sessions, tokens and connected sign-ins.",
    "Sources, reports, batches, drafts, notes, comments on them and by the person, and posts in discussions. Sources "
    "that count for a team go once the results of its competition are published.",
    "Entries in rosters and the staff log: full name, number, invitations; questions, regrade requests, notices and "
    "reasons; and why a team was disqualified if the person was its only member.",
]


def preview(platform: Platform, user: User, name: str) -> DeletionView:
    """Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        row = find_row(session, name)
        check_may(user, row, Action.ACCOUNT_DELETE, session)
        return _view(platform, session, row)


def request(platform: Platform, user: User, name: str, body: DeletionBody) -> DeletionView:
    """Repeating it keeps the first date. Mails the owner, since anyone with an open session could have asked. Raises
    NotFound, NotAllowed, BadRequest (wrong ``confirm``), Conflict (last admin, or a course's last owner)."""
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_may(user, row, Action.ACCOUNT_DELETE, session)
        if body.confirm != row.name:
            raise BadRequest(
                "The name that you typed is not the account's name.", f"To confirm, type {row.name}."
            )
        check_not_deleted(row)
        if session.get(DeletionRow, row.id) is None:
            needed.check(session, row, staying=True)
            now = clock(session)
            due = now + timedelta(days=platform.settings.deletion_days)
            session.add(DeletionRow(user_id=row.id, requested_by=user.id, requested_at=now, due_at=due))
            # Also for one's own account, to explain its absence.
            audit.note(
                session,
                user,
                Action.ACCOUNT_DELETE,
                f"/people/{row.name}",
                after={"due_at": due.isoformat()},
            )
            session.flush()
            _tell(platform, row, due)
        return _view(platform, session, row)


def _tell(platform: Platform, row: UserRow, due: datetime) -> None:
    settings, to = platform.settings, row.email
    if to is None or not mail.configured(settings):
        return
    text = _TEXT.format(name=row.name, due=due, url=links.base_url(settings))
    mail.later(lambda: mail.send(settings, to, "Your account will be deleted", text))


def take_back(platform: Platform, user: User, name: str) -> DeletionView:
    """Idempotent. Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        row = find_row(session, name)
        check_may(user, row, Action.ACCOUNT_DELETE, session)
        if (asked := session.get(DeletionRow, row.id)) is not None:
            session.delete(asked)
            path = f"/people/{row.name}"
            audit.note(
                session,
                user,
                Action.ACCOUNT_DELETE,
                path,
                before={"due_at": asked.due_at.isoformat()},
                after={},
            )
            session.flush()
        return _view(platform, session, row)


def carry_out(platform: Platform) -> int:
    """Deletes due accounts and returns their number. One with a submission being judged waits."""
    with platform.sessions() as session:
        due = session.scalars(
            select(UserRow.name)
            .join(DeletionRow, DeletionRow.user_id == UserRow.id)
            .where(DeletionRow.due_at <= clock(session))
        ).all()
    done = 0
    for name in due:
        try:
            retention.forget(platform, name)
        except GraderError as error:
            log.info("deletion_postponed", reason=error.message)
        else:
            done += 1
    return done


def _view(platform: Platform, session: Session, row: UserRow) -> DeletionView:
    asked = session.get(DeletionRow, row.id)
    by = session.get(UserRow, asked.requested_by) if asked and asked.requested_by else None
    return DeletionView(
        name=row.name,
        due_at=asked.due_at if asked else None,
        requested_by=by.name if by else None,
        grace_days=platform.settings.deletion_days,
        removed=_REMOVED,
        stays=_stays(session, row),
    )


def _stays(session: Session, row: UserRow) -> list[str]:
    done = SubmissionRow
    submitted = session.scalar(select(func.count()).select_from(done).where(done.user_id == row.id)) or 0
    courses = session.scalars(
        select(CourseRow.name)
        .join(MemberRow, MemberRow.course_id == CourseRow.id)
        .where(MemberRow.user_id == row.id, MemberRow.role == CourseRole.STUDENT.value)
        .order_by(CourseRow.id)
    ).all()
    competitions = session.scalars(
        select(CompetitionRow.title)
        .join(RegistrationRow, RegistrationRow.competition_id == CompetitionRow.id)
        .where(RegistrationRow.user_id == row.id)
        .distinct()
    ).all()
    sent = session.scalar(select(func.count()).select_from(LtiScoreRow).where(LtiScoreRow.user_id == row.id))
    acts = session.scalar(select(func.count()).select_from(AuditRow).where(AuditRow.actor_id == row.id)) or 0
    shown = f"under a generated name that begins with {DELETED}"
    found = [f"Verdicts and times of {submitted} submissions and their ranks on boards, {shown}."]
    if courses:
        found.append(
            f"The points in {', '.join(courses)}: courses must be able to prove them, so they stay in the gradebook "
            f"with times, overrides and extensions, {shown}."
        )
    if competitions:
        found.append(
            f"The ranks in {', '.join(competitions)}, {shown}, and issued certificates: anyone who has "
            "one can still verify it."
        )
    if waiting := _awaiting_results(session, row):
        found.append(
            f"Until the results of {', '.join(waiting)} are published: the sources that count for a team."
        )
    if sent:
        found.append(
            "The fact that a learning platform has a grade, with a hash of its id for the person: a "
            "new account of theirs "
            "then does not overwrite the grade with a zero."
        )
    if acts:
        found.append(f"{acts} entries of the staff log, by number and without the name.")
    found.append("Backups, until they expire.")
    return found


def _awaiting_results(session: Session, row: UserRow) -> list[str]:
    """Competitions without results in which the account counts for a team."""
    done = SubmissionRow
    own = select(done.competition_id).where(done.user_id == row.id, sources.held(clock(session)))
    query = select(CompetitionRow.title).where(CompetitionRow.id.in_(own)).order_by(CompetitionRow.id)
    return list(session.scalars(query))
