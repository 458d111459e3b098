from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.records.engine import Sessions, writing
from grader.records.models import ChallengeStateRow, ChoreRow, utcnow
from grader.schemas.publication import PublicationState

# From then on, new folders begin as drafts.
_FIRST_START = "publish_at_first_start"


def publish_at_first_start(sessions: Sessions, slugs: Iterable[str]) -> None:
    """Of the folder, when a platform first starts with this table."""
    with sessions() as session:
        if session.get(ChoreRow, _FIRST_START) is not None:
            return
    try:
        with writing(sessions) as session:
            session.add(ChoreRow(name=_FIRST_START, begun_at=utcnow()))
            session.flush()
            known = set(session.scalars(select(ChallengeStateRow.challenge)))
            published = PublicationState.PUBLISHED
            session.add_all(
                ChallengeStateRow(challenge=slug, state=published) for slug in slugs if slug not in known
            )
    except IntegrityError:
        return  # another process was first


def states(session: Session) -> dict[str, ChallengeStateRow]:
    """One without a row is a draft."""
    return {row.challenge: row for row in session.scalars(select(ChallengeStateRow))}


def state_at(row: ChallengeStateRow | None, now: datetime) -> PublicationState:
    """A scheduled challenge is published after its time."""
    if row is None:
        return PublicationState.DRAFT
    due = row.publish_at is not None and row.publish_at <= now
    return PublicationState.PUBLISHED if row.state is PublicationState.SCHEDULED and due else row.state


def published(session: Session, now: datetime) -> frozenset[str]:
    table = ChallengeStateRow
    found = session.execute(
        select(table.challenge).where(
            (table.state == PublicationState.PUBLISHED)
            | ((table.state == PublicationState.SCHEDULED) & (table.publish_at <= now))
        )
    )
    return frozenset(found.scalars())
