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
    row = CompetitionChallengeRow
    return session.scalars(select(row).where(row.competition_id == competition).order_by(row.place)).all()


def team_of(session: Session, competition: int, user: int, mode: Mode) -> TeamRow | None:
    """The team that ``user`` is in; None for who left, too."""
    return session.scalar(_teams(user).where(TeamRow.competition_id == competition, TeamRow.mode == mode))


def teams_of(session: Session, competition: int, user: int) -> Sequence[TeamRow]:
    return session.scalars(
        _teams(user).where(TeamRow.competition_id == competition).order_by(TeamRow.id)
    ).all()


def _teams(user: int) -> Select[TeamRow]:
    row = RegistrationRow
    mine = (row.user_id == user, row.left_at.is_(None))
    return select(TeamRow).join(row, row.team_id == TeamRow.id).where(*mine)


def open_windows(session: Session, user: int, challenge: str, now: datetime) -> list[CompetitionRow]:
    """Competitions in which a submission of ``user`` for ``challenge`` counts at this moment: official ones, and
    virtual participations."""
    row, team = CompetitionRow, TeamRow
    official = (team.mode == Mode.OFFICIAL) & (row.starts_at <= now) & (row.ends_at > now)
    virtual = (team.mode == Mode.VIRTUAL) & (team.starts_at <= now) & (team.ends_at > now)
    open_ones = (
        select(row.id)
        .join(team, team.competition_id == row.id)
        .join(RegistrationRow, RegistrationRow.team_id == team.id)
        .join(CompetitionChallengeRow, CompetitionChallengeRow.competition_id == row.id)
        .where(RegistrationRow.user_id == user, RegistrationRow.left_at.is_(None))
        .where(CompetitionChallengeRow.challenge == challenge, row.published_at.is_not(None))
        .where(official | virtual)
    )
    return list(session.scalars(select(row).where(row.id.in_(open_ones)).order_by(row.id)))


def to_end(session: Session, challenge: str, now: datetime) -> bool:
    """Whether a competition that is published has the challenge and is not over."""
    row, chosen = CompetitionRow, CompetitionChallengeRow
    query = (
        select(row.id)
        .join(chosen, chosen.competition_id == row.id)
        .where(chosen.challenge == challenge, row.published_at.is_not(None), row.ends_at > now)
    )
    return session.scalar(query.limit(1)) is not None


def to_be_asked(session: Session, now: datetime) -> frozenset[str]:
    """The challenges of competitions that have not begun, drafts included."""
    row, chosen = CompetitionRow, CompetitionChallengeRow
    query = select(chosen.challenge).join(row, row.id == chosen.competition_id).where(row.starts_at > now)
    return frozenset(session.scalars(query))


def with_frozen_boards(session: Session) -> list[int]:
    """Ids of those whose boards stop before their results, which are not out: nothing else may tell what is handed in
    within them either."""
    row = CompetitionRow
    return list(session.scalars(select(row.id).where(row.freeze_minutes > 0, row.results_at.is_(None))))


def outside(of: Sequence[int], row: Any = SubmissionRow) -> list[ColumnElement[bool]]:
    """The condition that a submission was handed in within none of these; nothing where there are none."""
    return [row.competition_id.is_(None) | row.competition_id.not_in(of)] if of else []


@dataclass(frozen=True)
class Member:
    team: int
    user: int
    name: str
    left_at: datetime | None


def members(session: Session, teams: Sequence[int]) -> dict[int, list[Member]]:
    """Team (its id) -> everyone who is or was in it, in the order in which they came."""
    row = RegistrationRow
    found: dict[int, list[Member]] = {team: [] for team in teams}
    chosen = row.team_id.in_(teams) if len(teams) < _IDS else row.team_id.is_not(None)
    for it in session.execute(
        select(row.team_id, row.user_id, UserRow.name, row.left_at)
        .join(UserRow, UserRow.id == row.user_id)
        .where(chosen)
        .order_by(row.id)
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
    row, item = SubmissionRow, RegradeItemRow
    counting = rejudges.counting()
    if regrade is not None:
        mine = row.id.in_(select(item.after_id).where(item.regrade_id == regrade))
        counting = counting | (mine & (row.set_aside == SetAside.REGRADE) & (row.state == State.DONE))
    found = session.execute(
        select(
            row.id,
            row.public_id,
            row.team_id,
            row.challenge,
            row.version,
            row.language,
            row.created_at,
            row.state,
            case((row.set_aside == SetAside.VOID, None), else_=row.verdict).label("verdict"),
            row.time_us,
            row.ci_lo_us,
            row.ci_hi_us,
            row.speedup,
            func.coalesce(row.rejudge_of, row.id),
            row.finished_at,
        )
        .where(row.competition_id == competition, row.competition_id.is_not(None))
        .where(row.kind != JudgingReason.FINAL, row.team_id.is_not(None), counting, *conditions)
        .order_by(row.created_at, row.id)
    )
    return [Received._make(it) for it in found]


def stamp(session: Session, competition: int) -> tuple[float, ...]:
    """It changes with all that a board of the competition is made of."""
    row, team, entry = SubmissionRow, TeamRow, RegistrationRow
    judged = session.execute(
        select(
            *(func.count(), func.count(row.verdict), func.max(row.id), func.count(row.finished_at)),
            func.sum(case((row.set_aside.is_(None), row.id), else_=0)),
        ).where(row.competition_id == competition, row.competition_id.is_not(None))
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
    row = SubmissionRow
    spared = (row.state == State.FAILED) | ((row.state == State.CANCELLED) & row.claimed_at.is_(None))
    wanted = select(func.count()).where(
        row.competition_id.is_not(None), row.team_id == team, row.challenge == challenge
    )
    if since is not None:
        wanted = wanted.where(row.created_at >= since)
    if until is not None:
        wanted = wanted.where(row.created_at < until)
    return session.scalar(wanted.where(row.rejudge_of.is_(None), ~spared)) or 0


def final(session: Session, competition: int) -> FinalRow | None:
    """The one that is not cancelled."""
    row = FinalRow
    return session.scalar(
        select(row)
        .where(row.competition_id == competition, row.state != FinalState.CANCELLED)
        .order_by(row.id.desc())
        .limit(1)
    )


def settled(session: Session, competitions: Collection[int]) -> set[int]:
    """Those of which a final has begun or the results are out: what was handed in officially stays as it is judged.
    Nothing begins or comes out before this transaction ends."""
    row = CompetitionRow
    locked = select(row.id, row.results_at).where(row.id.in_(competitions)).order_by(row.id).with_for_update()
    found = {it.id for it in session.execute(locked) if it.results_at is not None}
    begun = select(FinalRow.competition_id).where(
        FinalRow.competition_id.in_(competitions), FinalRow.state != FinalState.CANCELLED
    )
    return found | set(session.scalars(begun))


def unofficial_teams(session: Session, competitions: Collection[int]) -> set[int]:
    """Ids of the teams that practise or take part virtually."""
    row = TeamRow
    query = select(row.id).where(row.competition_id.in_(competitions), row.mode != Mode.OFFICIAL)
    return set(session.scalars(query))


def open_regrades(session: Session, competition: int) -> list[int]:
    """Regrades that hold what was handed in officially and are to be published or discarded."""
    row, item, team = SubmissionRow, RegradeItemRow, TeamRow
    found = session.scalars(
        select(item.regrade_id)
        .join(row, row.id == item.after_id)
        .join(team, team.id == row.team_id)
        .where(row.competition_id == competition, row.competition_id.is_not(None))
        .where(item.held_id.is_not(None), row.set_aside == SetAside.REGRADE, team.mode == Mode.OFFICIAL)
        .distinct()
    )
    return sorted(found)


def final_runs(session: Session, final_id: int) -> list[tuple[FinalRunRow, SubmissionRow]]:
    """In the order of the final; sources stay where they are."""
    row = FinalRunRow
    found = session.execute(
        select(row, SubmissionRow)
        .join(SubmissionRow, SubmissionRow.id == row.submission_id)
        .where(row.final_id == final_id)
        .options(defer(SubmissionRow.source))
        .order_by(row.place)
    )
    return [(run, submission) for run, submission in found]


def team_names(session: Session, competition: int) -> dict[int, str]:
    """By their row ids."""
    row = TeamRow
    found = session.execute(select(row.id, row.name).where(row.competition_id == competition))
    return {it.id: it.name for it in found}


def slugs(session: Session, competitions: Sequence[int]) -> dict[int, str]:
    """Row id -> slug."""
    if not competitions:
        return {}
    row = CompetitionRow
    return {
        it.id: it.slug for it in session.execute(select(row.id, row.slug).where(row.id.in_(competitions)))
    }
