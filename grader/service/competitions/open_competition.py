from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from grader.errors import NotFound
from grader.records import competitions as record
from grader.records.engine import clock, writing
from grader.records.models import (
    CompetitionRow,
)
from grader.schemas.competition import (
    Phase,
)
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.boards import readers
from grader.service.courses import permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


@dataclass(frozen=True)
class OpenCompetition:
    """One transaction, at ``now`` by the database's clock."""

    session: Session
    row: CompetitionRow
    user: User | None
    now: datetime

    @property
    def staff(self) -> bool:
        return self.user is not None and self.may(Action.COMPETITION_READ_DRAFT)

    def may(self, action: Action) -> bool:
        return self.user is not None and permissions.may(
            permissions.standings(self.session, self.user), action
        )

    @property
    def phase(self) -> Phase:
        return phase_of(self.row, self.now)

    def note(self, action: Action, subject: str = "", **values: Any) -> None:
        """As ``audit.note``."""
        assert self.user is not None
        audit.note(self.session, self.user, action, f"/competitions/{self.row.slug}{subject}", **values)


@contextmanager
def reading(platform: Platform, viewer: User | None, slug: str) -> Iterator[OpenCompetition]:
    """Raises NotSignedIn, NotAllowed, NotFound (also for others' drafts)."""
    readers.check_reader(platform, viewer)
    with platform.sessions() as session:
        yield open_in(session, viewer, slug)


@contextmanager
def changing(platform: Platform, user: User, slug: str, action: Action) -> Iterator[OpenCompetition]:
    """Locks it. Raises NotFound, NotAllowed."""
    with writing(platform.sessions) as session:
        found = open_in(session, user, slug, lock=True)
        permissions.check(user, permissions.standings(session, user), action)
        yield found


def check(platform: Platform, user: User, slug: str, action: Action) -> None:
    """Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        open_in(session, user, slug)
        permissions.check(user, permissions.standings(session, user), action)


def open_in(session: Session, user: User | None, slug: str, lock: bool = False) -> OpenCompetition:
    row = record.find(session, slug, lock)
    if row is not None:
        found = OpenCompetition(session, row, user, clock(session))
        if row.published_at is not None or found.staff:
            return found
    raise NotFound(
        f"There is no competition '{slug[:64]}'.", "`grader competition list` lists the competitions."
    )


def phase_of(row: CompetitionRow, now: datetime) -> Phase:
    if row.published_at is None:
        return Phase.DRAFT
    if now < row.starts_at:
        return Phase.UPCOMING
    if row.results_at is not None:
        return Phase.RESULTS
    if now >= row.ends_at:
        return Phase.ENDED
    return Phase.FROZEN if (at := freeze_at(row)) is not None and now >= at else Phase.RUNNING


def freeze_at(row: CompetitionRow) -> datetime | None:
    return row.ends_at - timedelta(minutes=row.freeze_minutes) if row.freeze_minutes else None
