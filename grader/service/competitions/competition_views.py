from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader.errors import ChallengeInvalid, GraderError
from grader.languages import Language
from grader.records import competitions as record
from grader.records.models import (
    CompetitionChallengeRow,
    CompetitionRow,
    TeamRow,
)
from grader.schemas.competition import (
    Cap,
    ChallengeView,
    CompetitionView,
    HiddenWorkload,
    MemberView,
    Mode,
    TeamView,
)
from grader.service.competitions.open_competition import OpenCompetition, freeze_at
from grader.service.platform import Platform


def view(platform: Platform, found: OpenCompetition) -> CompetitionView:
    row, session, staff = found.row, found.session, found.staff
    out = row.results_at is not None
    teams = session.scalar(
        select(func.count()).where(TeamRow.competition_id == row.id, TeamRow.mode == Mode.OFFICIAL)
    )
    # Challenges are secret until the start.
    shown = staff or found.now >= row.starts_at
    chosen = record.challenges(session, row.id) if shown else []
    own = record.teams_of(session, row.id, found.user.id) if found.user is not None else []
    return CompetitionView(
        slug=row.slug,
        title=row.title,
        phase=found.phase,
        now=found.now,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        time_zone=row.time_zone,
        freeze_at=freeze_at(row),
        results_at=row.results_at,
        rules=row.rules,
        challenges=[_challenge(platform, challenge, staff or out) for challenge in chosen],
        devices=row.devices,
        languages=[Language.named(language) for language in row.languages],
        scoring=row.scoring,
        registration=row.registration,
        team_size=row.team_size,
        cap_day=row.cap_day,
        cap_total=row.cap_total,
        code_shown=row.code_shown,
        open_afterwards=row.open_afterwards,
        teams=teams or 0,
        public_seed=row.public_seed,
        hidden_seed_sha256=hashlib.sha256(bytes.fromhex(row.hidden_seed)).hexdigest(),
        hidden_seed=row.hidden_seed if out else None,
        invite_code=row.invite_code if staff else None,
        revision=row.revision,
        own=[team_view(found, team, [each.challenge for each in chosen]) for team in own],
    )


def _challenge(platform: Platform, row: CompetitionChallengeRow, all_of_it: bool) -> ChallengeView:
    try:
        title = platform.catalogue.load(row.challenge).manifest.title
    except (ChallengeInvalid, GraderError):
        title = row.challenge
    hidden = [HiddenWorkload.model_validate(workload) for workload in row.hidden_workloads]
    return ChallengeView(
        challenge=row.challenge,
        title=title,
        points=row.points,
        hidden_workloads=hidden if all_of_it else None,
    )


def team_view(
    found: OpenCompetition,
    team: TeamRow,
    challenges: Sequence[str],
    members: Sequence[record.Member] | None = None,
) -> TeamView:
    """For members and staff; ``members`` if already read."""
    session, row = found.session, found.row
    if members is None:
        members = record.members(session, [team.id])[team.id]
    inside = sum(member.left_at is None for member in members)
    starts_at, ends_at = window(row, team)
    takes = inside < row.team_size and (ends_at is None or found.now < ends_at)
    return TeamView(
        name=team.name,
        mode=team.mode,
        members=[MemberView(name=member.name, left_at=member.left_at) for member in members],
        join_code=team.join_code if takes else "",
        starts_at=starts_at,
        ends_at=ends_at,
        caps=[cap(session, row, team, challenge, found.now) for challenge in challenges],
        disqualified=team.disqualified,
    )


def window(row: CompetitionRow, team: TeamRow) -> tuple[datetime, datetime | None]:
    """Half-open; None: practice does not end."""
    if team.mode is Mode.OFFICIAL:
        return row.starts_at, row.ends_at
    return team.starts_at or row.ends_at, team.ends_at


def day_of(now: datetime) -> datetime:
    """In UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def cap(session: Session, row: CompetitionRow, team: TeamRow, challenge: str, now: datetime) -> Cap:
    """Practice has no limit."""
    free = team.mode is Mode.PRACTICE
    return Cap(
        challenge=challenge,
        day_used=record.used(session, team.id, challenge, day_of(now)),
        day_most=None if free else row.cap_day,
        total_used=record.used(session, team.id, challenge, None),
        total_most=None if free else row.cap_total,
    )
