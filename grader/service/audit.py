"""The log of staff actions and of withdrawn entries: written in the same transaction, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import BadRequest
from grader.records.models import AuditRow, CourseRow
from grader.schemas.course import AuditEntry, AuditLog
from grader.service.accounts.accounts import User
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

_MOST = 500
_REASON_CHARS = 500
# The actor of commands on the server. No account can have this name.
SHELL = "(shell)"


def note(
    session: Session,
    actor: User | None,
    action: Action,
    subject: str,
    *,
    course: int | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
    by: str = SHELL,
) -> None:
    """Log an action of ``actor`` (None: of ``by``). ``subject`` is an API path such as ``/courses/gpu``. Only
    differences between ``before`` and ``after`` are stored."""
    old, new = dict(before or {}), dict(after or {})
    if before is not None and after is not None:
        same = {key for key in old if key in new and old[key] == new[key]}
        old, new = ({key: value for key, value in state.items() if key not in same} for state in (old, new))
    session.add(
        AuditRow(
            actor_id=actor.id if actor is not None else None,
            actor=actor.name if actor is not None else by,
            action=action.value,
            course_id=course,
            subject=subject[:200],
            before=old if before is not None else None,
            after=new if after is not None else None,
            reason=reason,
        )
    )


def tidy_reason(reason: str, needed: bool = False) -> str:
    """Raises BadRequest if it is too long, or missing although ``needed``."""
    text = " ".join(reason.split())
    if needed and not text:
        raise BadRequest("Give a reason.", "One sentence is enough; it is stored and shown.")
    if len(text) > _REASON_CHARS:
        raise BadRequest(f"The reason is longer than {_REASON_CHARS} characters.", "Shorten it.")
    return text


def of_course(
    session: Session, course: CourseRow, limit: int = 100, older_than: int | None = None
) -> AuditLog:
    """Newest first. The caller checks permission."""
    return _log(session, limit, older_than, course.id)


@dataclass(frozen=True)
class AuditFilter:
    """``action`` and ``subject`` are prefixes; empty fields match everything."""

    actor: str = ""
    action: str = ""
    subject: str = ""


def of_platform(
    platform: Platform,
    user: User,
    wanted: AuditFilter,
    limit: int = 100,
    older_than: int | None = None,
) -> AuditLog:
    """All staff actions, newest first. Raises NotAllowed."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings(session, user), Action.PLATFORM_AUDIT)
        return _log(session, limit, older_than, None, wanted)


def _log(
    session: Session,
    limit: int,
    older_than: int | None,
    course: int | None,
    wanted: AuditFilter = AuditFilter(),
) -> AuditLog:
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(max(0, min(limit, _MOST)))
    if course is not None:
        query = query.where(AuditRow.course_id == course)
    if wanted.actor:
        query = query.where(AuditRow.actor == wanted.actor)
    for column, start in ((AuditRow.action, wanted.action), (AuditRow.subject, wanted.subject)):
        if start:
            query = query.where(column.startswith(start, autoescape=True))
    if older_than is not None:
        query = query.where(AuditRow.id < older_than)
    return AuditLog(
        entries=[
            AuditEntry(
                id=row.id,
                at=row.at,
                actor=row.actor,
                action=row.action,
                subject=row.subject,
                before=row.before,
                after=row.after,
                reason=row.reason,
            )
            for row in session.scalars(query)
        ]
    )
