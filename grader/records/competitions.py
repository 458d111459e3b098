from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session, defer

from grader.languages import Language
from grader.records import rejudges
from grader.records.models import (
    CompetitionChallengeRow,
    CompetitionRow,
    FinalRow,
    FinalRunRow,
    RegistrationRow,
    RegradeItemRow,
    SubmissionRow,
    TeamRow,
    UserRow,
)
from grader.schemas.competition import FinalState, Mode
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, SetAside, State


def find(session: Session, slug: str, lock: bool = False) -> CompetitionRow | None:
    """``lock``: until this transaction ends."""
    wanted = select(CompetitionRow).where(CompetitionRow.slug == slug)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.scalar(wanted)


def challenges(session: Session, competition: int) -> Sequence[CompetitionChallengeRow]:
    table = CompetitionChallengeRow
    return session.scalars(
        select(table).where(table.competition_id == competition).order_by(table.place)
    ).all()


def team_of(session: Session, competition: int, user: int, mode: Mode) -> TeamRow | None:
    """None if they left it."""
    return session.scalar(_teams(user).where(TeamRow.competition_id == competition, TeamRow.mode == mode))


def teams_of(session: Session, competition: int, user: int) -> Sequence[TeamRow]:
    return session.scalars(
        _teams(user).where(TeamRow.competition_id == competition).order_by(TeamRow.id)
    ).all()


def _teams(user: int) -> Select[TeamRow]:
    table = RegistrationRow
    mine = (table.user_id == user, table.left_at.is_(None))
    return select(TeamRow).join(table, table.team_id == TeamRow.id).where(*mine)


def open_windows(session: Session, user: int, challenge: str, now: datetime) -> list[CompetitionRow]:
    """Those in which a submission of ``user`` for ``challenge`` counts now, official or virtual."""
    table, team = CompetitionRow, TeamRow
    official = (team.mode == Mode.OFFICIAL) & (table.starts_at <= now) & (table.ends_at > now)
    virtual = (team.mode == Mode.VIRTUAL) & (team.starts_at <= now) & (team.ends_at > now)
    open_ones = (
        select(table.id)
        .join(team, team.competition_id == table.id)
        .join(RegistrationRow, RegistrationRow.team_id == team.id)
        .join(CompetitionChallengeRow, CompetitionChallengeRow.competition_id == table.id)
        .where(RegistrationRow.user_id == user, RegistrationRow.left_at.is_(None))
        .where(CompetitionChallengeRow.challenge == challenge, table.published_at.is_not(None))
        .where(official | virtual)
    )
    return list(session.scalars(select(table).where(table.id.in_(open_ones)).order_by(table.id)))


def to_end(session: Session, challenge: str, now: datetime) -> bool:
    table, chosen = CompetitionRow, CompetitionChallengeRow
    query = (
        select(table.id)
        .join(chosen, chosen.competition_id == table.id)
        .where(chosen.challenge == challenge, table.published_at.is_not(None), table.ends_at > now)
    )
    return session.scalar(query.limit(1)) is not None


def to_be_asked(session: Session, now: datetime) -> frozenset[str]:
    """Of competitions that have not begun, including drafts."""
    table, chosen = CompetitionRow, CompetitionChallengeRow
    query = (
        select(chosen.challenge).join(table, table.id == chosen.competition_id).where(table.starts_at > now)
    )
    return frozenset(session.scalars(query))


def with_frozen_boards(session: Session) -> list[int]:
    """With a freeze and no results yet: nothing else may reveal their submissions."""
    table = CompetitionRow
    return list(session.scalars(select(table.id).where(table.freeze_minutes > 0, table.results_at.is_(None))))


def outside(of: Sequence[int], table: Any = SubmissionRow) -> list[ColumnElement[bool]]:
    return [table.competition_id.is_(None) | table.competition_id.not_in(of)] if of else []


@dataclass(frozen=True)
class Member:
    team: int
    user: int
    name: str
    left_at: datetime | None


def members(session: Session, teams: Sequence[int]) -> dict[int, list[Member]]:
    """Everyone who is or was in a team, in the order of joining."""
    table = RegistrationRow
    found: dict[int, list[Member]] = {team: [] for team in teams}
    chosen = table.team_id.in_(teams) if len(teams) < _IDS else table.team_id.is_not(None)
    for row in session.execute(
        select(table.team_id, table.user_id, UserRow.name, table.left_at)
        .join(UserRow, UserRow.id == table.user_id)
        .where(chosen)
        .order_by(table.id)
    ):
        if row.team_id in found:
            found[row.team_id].append(Member(*row))
    return found


_IDS = 1_000


class Received(NamedTuple):
    """Times in microseconds."""

    row: int
    public_id: str
    team: int
    challenge: str
    version: int
    language: Language
    at: datetime
    state: State
    verdict: Verdict | None
    time_us: float | None
    low_us: float | None
    high_us: float | None
    speedup: float | None
    first: int
    judged_at: datetime | None

    @property
    def again(self) -> bool:
        return self.first != self.row


def received(
    session: Session, competition: int, *conditions: ColumnElement[bool], regrade: int | None = None
) -> list[Received]:
    """In the order received, without a final's. ``regrade``: include its unpublished judgements."""
    table, item = SubmissionRow, RegradeItemRow
    counting = rejudges.counting()
    if regrade is not None:
        mine = table.id.in_(select(item.after_id).where(item.regrade_id == regrade))
        counting = counting | (mine & (table.set_aside == SetAside.REGRADE) & (table.state == State.DONE))
    found = session.execute(
        select(
            table.id,
            table.public_id,
            table.team_id,
            table.challenge,
            table.version,
            table.language,
            table.created_at,
            table.state,
            case((table.set_aside == SetAside.VOID, None), else_=table.verdict).label("verdict"),
            table.time_us,
            table.ci_lo_us,
            table.ci_hi_us,
            table.speedup,
            func.coalesce(table.rejudge_of, table.id),
            table.finished_at,
        )
        .where(table.competition_id == competition, table.competition_id.is_not(None))
        .where(table.kind != JudgingReason.FINAL, table.team_id.is_not(None), counting, *conditions)
        .order_by(table.created_at, table.id)
    )
    return [Received._make(row) for row in found]


def stamp(session: Session, competition: int) -> tuple[float, ...]:
    """Changes with everything that a board shows."""
    table, team, entry = SubmissionRow, TeamRow, RegistrationRow
    judged = session.execute(
        select(
            *(func.count(), func.count(table.verdict), func.max(table.id), func.count(table.finished_at)),
            func.sum(case((table.set_aside.is_(None), table.id), else_=0)),
        ).where(table.competition_id == competition, table.competition_id.is_not(None))
    ).one()
    teams = session.execute(
        select(func.count(), func.max(team.id), func.sum(func.length(team.disqualified))).where(
            team.competition_id == competition
        )
    ).one()
    entries = session.execute(
        select(func.count(), func.count(entry.left_at)).where(entry.competition_id == competition)
    ).one()
    return tuple(value or 0 for value in (*judged, *teams, *entries))


def used(
    session: Session, team: int, challenge: str, since: datetime | None, until: datetime | None = None
) -> int:
    """Without our failures, and those cancelled before they ran."""
    table = SubmissionRow
    spared = (table.state == State.FAILED) | ((table.state == State.CANCELLED) & table.claimed_at.is_(None))
    wanted = select(func.count()).where(
        table.competition_id.is_not(None), table.team_id == team, table.challenge == challenge
    )
    if since is not None:
        wanted = wanted.where(table.created_at >= since)
    if until is not None:
        wanted = wanted.where(table.created_at < until)
    return session.scalar(wanted.where(table.rejudge_of.is_(None), ~spared)) or 0


def final(session: Session, competition: int) -> FinalRow | None:
    table = FinalRow
    return session.scalar(
        select(table)
        .where(table.competition_id == competition, table.state != FinalState.CANCELLED)
        .order_by(table.id.desc())
        .limit(1)
    )


def settled(session: Session, competitions: Collection[int]) -> set[int]:
    """Their final has begun or their results are out. Locks the rows."""
    table = CompetitionRow
    locked = (
        select(table.id, table.results_at)
        .where(table.id.in_(competitions))
        .order_by(table.id)
        .with_for_update()
    )
    found = {row.id for row in session.execute(locked) if row.results_at is not None}
    begun = select(FinalRow.competition_id).where(
        FinalRow.competition_id.in_(competitions), FinalRow.state != FinalState.CANCELLED
    )
    return found | set(session.scalars(begun))


def unofficial_teams(session: Session, competitions: Collection[int]) -> set[int]:
    table = TeamRow
    query = select(table.id).where(table.competition_id.in_(competitions), table.mode != Mode.OFFICIAL)
    return set(session.scalars(query))


def open_regrades(session: Session, competition: int) -> list[int]:
    table, item, team = SubmissionRow, RegradeItemRow, TeamRow
    found = session.scalars(
        select(item.regrade_id)
        .join(table, table.id == item.after_id)
        .join(team, team.id == table.team_id)
        .where(table.competition_id == competition, table.competition_id.is_not(None))
        .where(item.held_id.is_not(None), table.set_aside == SetAside.REGRADE, team.mode == Mode.OFFICIAL)
        .distinct()
    )
    return sorted(found)


def final_runs(session: Session, final_id: int) -> list[tuple[FinalRunRow, SubmissionRow]]:
    """In order, without sources."""
    table = FinalRunRow
    found = session.execute(
        select(table, SubmissionRow)
        .join(SubmissionRow, SubmissionRow.id == table.submission_id)
        .where(table.final_id == final_id)
        .options(defer(SubmissionRow.source))
        .order_by(table.place)
    )
    return [(run, submission) for run, submission in found]


def team_names(session: Session, competition: int) -> dict[int, str]:
    table = TeamRow
    found = session.execute(select(table.id, table.name).where(table.competition_id == competition))
    return {team.id: team.name for team in found}


def slugs(session: Session, competitions: Sequence[int]) -> dict[int, str]:
    if not competitions:
        return {}
    table = CompetitionRow
    return {
        row.id: row.slug
        for row in session.execute(select(table.id, table.slug).where(table.id.in_(competitions)))
    }
