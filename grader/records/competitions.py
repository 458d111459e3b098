"""Competitions in the record: found, their teams, what was handed in within them, and the data it is judged by."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session, defer

from grader.challenge.model import Workload
from grader.device_kinds import kind_of
from grader.languages import Language
from grader.records import rejudges
from grader.records.claims import Claim
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
from grader.schemas.competition import FinalState, HiddenWorkload, Mode
from grader.schemas.report import Sizes, Verdict
from grader.schemas.submission import JudgingReason, SetAside, State


def derived(seed: str, what: str) -> bytes:
    """32 bytes: the HMAC-SHA-256 of ``what`` under a competition's ``seed`` (hex). Anyone who knows the seed can work
    out all that was drawn from it."""
    return hmac.digest(bytes.fromhex(seed), what.encode(), hashlib.sha256)


def provisional_key(seed: str, challenge: str) -> str:
    """Hex: what the data of every submission for ``challenge`` is drawn from while the competition runs."""
    return derived(seed, f"provisional:{challenge}").hex()


def final_key(seed: str, challenge: str, repeat: int) -> str:
    """Hex: the same of one repeat of the final, so that in a repeat all finalists meet the same data."""
    return derived(seed, f"final:{challenge}:{repeat}").hex()


def final_order(
    seed: str, entries: Sequence[tuple[str, str]], repeats: int
) -> list[tuple[int, tuple[str, str]]]:
    """(repeat, entry) in the order of a final. ``entries`` are (team, challenge) by their names; repeats count from 1.

    A randomised complete block design: every repeat is a block that holds each entry once, in an order of its own, so
    that a machine that drifts slows all alike.
    """
    return [
        (repeat, entry)
        for repeat in range(1, repeats + 1)
        for entry in sorted(entries, key=lambda it: (derived(seed, f"order:{repeat}:{it[0]}:{it[1]}"), it))
    ]


@dataclass(frozen=True)
class JudgedBy:
    """What a judgement within a competition draws its data from, and times in place of the challenge's workloads."""

    seed_key: str
    workloads: list[Workload]


def judged_by(session: Session, held: Claim) -> JudgedBy | None:
    """None for what belongs to no competition."""
    if held.competition is None:
        return None
    row = session.get_one(CompetitionRow, held.competition)
    if not held.final:
        return JudgedBy(provisional_key(row.public_seed, held.challenge), [])
    repeat = session.scalar(select(FinalRunRow.repeat).where(FinalRunRow.submission_id == held.id))
    chosen = session.get(CompetitionChallengeRow, (row.id, held.challenge))
    key = final_key(row.hidden_seed, held.challenge, repeat or 0)
    return JudgedBy(key, workloads(chosen, held.device) if chosen else [])


def workloads(row: CompetitionChallengeRow, device: str) -> list[Workload]:
    """Its hidden workloads, as the judge takes them."""
    found = [HiddenWorkload.model_validate(it) for it in row.hidden_workloads]
    return [
        Workload(name=workload_name(it.sizes), sizes=it.sizes, on=kind_of(device).workloads) for it in found
    ]


# As long as a workload's name may be.
_NAME_CHARS = 40


def workload_name(sizes: Sizes) -> str:
    """By its sizes alone, so that a baseline that is frozen under it is that of these sizes."""
    name = HiddenWorkload(sizes=sizes).name
    return name if len(name) <= _NAME_CHARS else f"sizes {hashlib.sha256(name.encode()).hexdigest()[:16]}"


def find(session: Session, slug: str, lock: bool = False) -> CompetitionRow | None:
    """With ``lock``, other transactions that lock it wait until this one ends."""
    wanted = select(CompetitionRow).where(CompetitionRow.slug == slug)
    if lock:
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    return session.scalar(wanted)


def challenges(session: Session, competition: int) -> Sequence[CompetitionChallengeRow]:
    """In their order."""
    table = CompetitionChallengeRow
    return session.scalars(
        select(table).where(table.competition_id == competition).order_by(table.place)
    ).all()


def team_of(session: Session, competition: int, user: int, mode: Mode) -> TeamRow | None:
    """The team that ``user`` is in; None for who left, too."""
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
    """Competitions in which a submission of ``user`` for ``challenge`` counts at this moment: official ones, and
    virtual participations."""
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
    """Whether a competition that is published has the challenge and is not over."""
    table, chosen = CompetitionRow, CompetitionChallengeRow
    query = (
        select(table.id)
        .join(chosen, chosen.competition_id == table.id)
        .where(chosen.challenge == challenge, table.published_at.is_not(None), table.ends_at > now)
    )
    return session.scalar(query.limit(1)) is not None


def to_be_asked(session: Session, now: datetime) -> frozenset[str]:
    """The challenges of competitions that have not begun, drafts included."""
    table, chosen = CompetitionRow, CompetitionChallengeRow
    query = (
        select(chosen.challenge).join(table, table.id == chosen.competition_id).where(table.starts_at > now)
    )
    return frozenset(session.scalars(query))


def with_frozen_boards(session: Session) -> list[int]:
    """Ids of those whose boards stop before their results, which are not out: nothing else may tell what is handed in
    within them either."""
    table = CompetitionRow
    return list(session.scalars(select(table.id).where(table.freeze_minutes > 0, table.results_at.is_(None))))


def outside(of: Sequence[int], table: Any = SubmissionRow) -> list[ColumnElement[bool]]:
    """The condition that a submission belongs to none of these competitions; empty if ``of`` is."""
    return [table.competition_id.is_(None) | table.competition_id.not_in(of)] if of else []


@dataclass(frozen=True)
class Member:
    team: int
    user: int
    name: str
    left_at: datetime | None


def members(session: Session, teams: Sequence[int]) -> dict[int, list[Member]]:
    """Team (its id) -> everyone who is or was in it, in the order in which they came."""
    table = RegistrationRow
    found: dict[int, list[Member]] = {team: [] for team in teams}
    chosen = table.team_id.in_(teams) if len(teams) < _IDS else table.team_id.is_not(None)
    for it in session.execute(
        select(table.team_id, table.user_id, UserRow.name, table.left_at)
        .join(UserRow, UserRow.id == table.user_id)
        .where(chosen)
        .order_by(table.id)
    ):
        if it.team_id in found:
            found[it.team_id].append(Member(*it))
    return found


_IDS = 1_000


class Received(NamedTuple):
    """A submission of a competition, by the latest judgement of it. ``row``, ``team`` are ids; ``at`` is when it was
    received; times in microseconds."""

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
        """Whether staff had it judged again."""
        return self.first != self.row


def received(
    session: Session, competition: int, *conditions: ColumnElement[bool], regrade: int | None = None
) -> list[Received]:
    """All that was handed in and that staff had judged again since, without what a final judged; in the order in which
    it was received. What staff voided has no verdict. With ``regrade`` also what that regrade has judged and is not
    published."""
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
    return [Received._make(it) for it in found]


def stamp(session: Session, competition: int) -> tuple[float, ...]:
    """It changes with all that a board of the competition is made of."""
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
    """How many submissions of a team count against a cap. What we failed to judge does not, nor does what was cancelled
    before it ran."""
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
    """The one that is not cancelled."""
    table = FinalRow
    return session.scalar(
        select(table)
        .where(table.competition_id == competition, table.state != FinalState.CANCELLED)
        .order_by(table.id.desc())
        .limit(1)
    )


def settled(session: Session, competitions: Collection[int]) -> set[int]:
    """Those of which a final has begun or the results are out: what was handed in officially stays as it is judged.
    Nothing begins or comes out before this transaction ends."""
    table = CompetitionRow
    locked = (
        select(table.id, table.results_at)
        .where(table.id.in_(competitions))
        .order_by(table.id)
        .with_for_update()
    )
    found = {it.id for it in session.execute(locked) if it.results_at is not None}
    begun = select(FinalRow.competition_id).where(
        FinalRow.competition_id.in_(competitions), FinalRow.state != FinalState.CANCELLED
    )
    return found | set(session.scalars(begun))


def unofficial_teams(session: Session, competitions: Collection[int]) -> set[int]:
    """Ids of the teams that practise or take part virtually."""
    table = TeamRow
    query = select(table.id).where(table.competition_id.in_(competitions), table.mode != Mode.OFFICIAL)
    return set(session.scalars(query))


def open_regrades(session: Session, competition: int) -> list[int]:
    """Regrades that hold what was handed in officially and are to be published or discarded."""
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
    """In the order of the final; sources stay where they are."""
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
    """By their row ids."""
    table = TeamRow
    found = session.execute(select(table.id, table.name).where(table.competition_id == competition))
    return {it.id: it.name for it in found}


def slugs(session: Session, competitions: Sequence[int]) -> dict[int, str]:
    """Row id -> slug."""
    if not competitions:
        return {}
    table = CompetitionRow
    return {
        it.id: it.slug
        for it in session.execute(select(table.id, table.slug).where(table.id.in_(competitions)))
    }
