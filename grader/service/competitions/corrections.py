from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import competitions as record
from grader.records.engine import clock
from grader.records.models import CompetitionRow, SubmissionRow, TeamRow
from grader.schemas.competition import BoardKind, Mode
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.competitions import competition_boards
from grader.service.competitions.open_competition import OpenCompetition
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


@contextmanager
def noted(
    platform: Platform, session: Session, user: User, row: SubmissionRow, action: Action, reason: str
) -> Iterator[None]:
    """Wrap a change of whether a submission counts: logs changed published ranks and the reason."""
    if row.competition_id is None or row.team_id is None:
        yield
        return
    # Publication waits for this.
    competition = session.scalars(
        select(CompetitionRow).where(CompetitionRow.id == row.competition_id).with_for_update()
    ).one()
    if competition.results_at is None or session.get_one(TeamRow, row.team_id).mode is not Mode.OFFICIAL:
        yield
        return
    before = _ranks(platform, session, user, competition)
    yield
    session.flush()
    session.expire_all()  # the change bypassed the session's rows
    audit.note(
        session,
        user,
        action,
        f"/competitions/{competition.slug}/results",
        before=before,
        after={**_ranks(platform, session, user, competition), "submission": row.public_id},
        reason=reason,
    )


def _ranks(
    platform: Platform, session: Session, user: User, competition: CompetitionRow
) -> dict[str, int | None]:
    """By team; with several devices, on each board."""
    names = record.team_names(session, competition.id)
    found = OpenCompetition(session, competition, user, clock(session))
    ranks: dict[str, int | None] = {}
    for device in competition.devices:
        on = f" on {device}" if len(competition.devices) > 1 else ""
        for standing in competition_boards.of_kind(platform, found, device, BoardKind.FINAL).standings:
            ranks[names[standing.team] + on] = standing.rank
    return ranks


def team_mates(session: Session, row: SubmissionRow) -> list[int]:
    if row.team_id is None:
        return []
    found = record.members(session, [row.team_id])[row.team_id]
    return [member.user for member in found if member.left_at is None and member.user != row.user_id]
