"""Medians of a final's repeats, and how much the ranking depends on the repeat."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.challenge.model import Grading
from grader.device_kinds import resolution_of
from grader.errors import GraderError
from grader.records import competitions as record
from grader.records.models import CompetitionRow, FinalRow, FinalRunRow, SubmissionRow, TeamRow
from grader.schemas.competition import RankChange, RankChanges
from grader.schemas.report import Verdict
from grader.schemas.submission import SetAside, State
from grader.service.competitions import standings
from grader.service.competitions.standings import Result, Standing
from grader.service.platform import Platform

Runs = Sequence[tuple[FinalRunRow, SubmissionRow]]


def gradings(platform: Platform, session: Session, row: CompetitionRow) -> dict[str, tuple[Grading, float]]:
    """Challenge -> ``[grading]`` and worth."""
    found = {}
    for challenge in record.challenges(session, row.id):
        try:
            grading = platform.catalogue.load(challenge.challenge).manifest.grading
        except GraderError:
            grading = Grading()  # broken folder: the judgements stay
        found[challenge.challenge] = (grading, challenge.points)
    return found


@dataclass(frozen=True)
class FinalResults:
    """And why a team has no time for a challenge."""

    standings: list[Standing]
    failed: Mapping[tuple[int, str], str]


def results(platform: Platform, session: Session, row: CompetitionRow, device: str) -> FinalResults | None:
    """None without a final on ``device``."""
    final = record.final(session, row.id)
    if final is None or final.device != device:
        return None
    return of_runs(platform, session, row, final, record.final_runs(session, final.id))


def by_entry(runs: Runs) -> dict[tuple[int, str], list[tuple[FinalRunRow, SubmissionRow]]]:
    found: dict[tuple[int, str], list[tuple[FinalRunRow, SubmissionRow]]] = {}
    for run, row in sorted(runs, key=lambda pair: pair[0].repeat):
        found.setdefault((run.team_id, run.challenge), []).append((run, row))
    return found


def why_failed(runs: Runs) -> str:
    """Empty if it has a time. Every repeat must be accepted and more than half timed: another user of the GPU can
    spoil a time."""
    for run, row in runs:
        if row.set_aside is SetAside.VOID:
            return "voided by the staff"
        if row.state is State.DONE and row.verdict is not Verdict.ACCEPTED:
            return f"{row.verdict.value if row.verdict else 'no verdict'} in repeat {run.repeat}"
    if left := sum(row.state is not State.DONE for _, row in runs):
        return f"{left} of {len(runs)} repeats are not judged yet"
    unknown = untimed(runs)
    if 2 * len(unknown) < len(runs):
        return ""
    return f"no time in {'repeat' if len(unknown) == 1 else 'repeats'} {', '.join(map(str, unknown))}"


def untimed(runs: Runs) -> list[int]:
    """Accepted without a time."""
    return [
        run.repeat
        for run, row in runs
        if row.state is State.DONE and row.verdict is Verdict.ACCEPTED and row.time_us is None
    ]


def of_runs(
    platform: Platform,
    session: Session,
    row: CompetitionRow,
    final: FinalRow,
    runs: Runs,
    repeat: int | None = None,
) -> FinalResults:
    """By the medians, or by ``repeat``. A finalist without a time in it is ranked by the others' median, or everyone
    below would move up."""
    entries, baselines = by_entry(runs), _baselines(runs)
    worth, resolution = gradings(platform, session, row), resolution_of(final.device)
    firsts = _firsts(session, [each[0][1].rejudge_of or 0 for each in entries.values()])
    out = set(
        session.scalars(
            select(TeamRow.id).where(TeamRow.competition_id == row.id, TeamRow.disqualified != "")
        )
    )
    entries = {key: judgements for key, judgements in entries.items() if key[0] not in out}
    teams: dict[int, dict[str, list[Result]]] = {team: {} for team, _ in entries}
    failed = {}
    for (team, challenge), all_of_it in entries.items():
        chosen = [pair for pair in all_of_it if repeat is None or pair[0].repeat == repeat]
        if repeat is not None and untimed(chosen) and not why_failed(all_of_it):
            chosen = all_of_it
        if why := why_failed(chosen):
            failed[team, challenge] = why
            continue
        times = [result.time_us for _, result in chosen if result.time_us is not None]
        speedup = None
        if (baseline := baselines.get(challenge)) is not None:
            timed = [(result.speedup, result.time_us) for _, result in chosen if result.time_us is not None]
            speedup = statistics.median(own or baseline / time_us for own, time_us in timed)
        first = all_of_it[0][1].rejudge_of or 0
        grading, points = worth[challenge]
        teams[team][challenge] = [
            Result(
                firsts[first],
                statistics.median(times),
                speedup,
                standings.points_of(grading, points, speedup, resolution),
                first,
            )
        ]
    ranked = standings.rank(teams, row.scoring, resolution)
    return FinalResults(ranked, failed)


def _baselines(runs: Runs) -> dict[str, float]:
    """Challenge -> mean baseline in microseconds, from any repeat with a speedup: baselines are fixed."""
    return {
        row.challenge: row.speedup * row.time_us
        for _, row in runs
        if row.speedup is not None and row.time_us is not None
    }


def _firsts(session: Session, ids: Sequence[int]) -> dict[int, datetime]:
    return {
        row.id: row.created_at
        for row in session.execute(
            select(SubmissionRow.id, SubmissionRow.created_at).where(SubmissionRow.id.in_(ids))
        )
    }


def rank_changes(
    platform: Platform,
    session: Session,
    competition: CompetitionRow,
    final: FinalRow,
    runs: Runs,
    names: Mapping[int, str],
) -> RankChanges:
    whole = of_runs(platform, session, competition, final, runs).standings
    single = [
        {
            standing.team: standing.rank
            for standing in of_runs(platform, session, competition, final, runs, repeat).standings
        }
        for repeat in range(1, final.repeats + 1)
    ]
    teams = [
        RankChange(
            team=names[standing.team],
            final=standing.rank,
            ranks=[ranks.get(standing.team) for ranks in single],
        )
        for standing in whole
    ]
    swaps, pairs = standings.swaps(single)
    return RankChanges(teams=teams, changed=sum(team.changed for team in teams), swaps=swaps, pairs=pairs)
