from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records import competitions as record
from grader.records.models import (
    FinalistRow,
    SubmissionRow,
    TeamRow,
)
from grader.schemas.competition import (
    FinalEntry,
    FinalTime,
    FinalView,
)
from grader.schemas.submission import State
from grader.service.competitions.final_order import machines_of
from grader.service.competitions.final_results import Runs, by_entry, rank_changes, untimed, why_failed
from grader.service.competitions.open_competition import OpenCompetition
from grader.service.platform import Platform


def left_of(runs: Runs) -> int:
    return sum(row.state is not State.DONE for _, row in runs)


def team_names(session: Session, competition: int) -> dict[int, str]:
    return {
        row.id: row.name
        for row in session.execute(
            select(TeamRow.id, TeamRow.name).where(TeamRow.competition_id == competition)
        )
    }


def view_final(platform: Platform, found: OpenCompetition) -> FinalView:
    session, competition = found.session, found.row
    names = team_names(session, competition.id)
    chosen = session.scalars(
        select(FinalistRow.team_id)
        .where(FinalistRow.competition_id == competition.id)
        .order_by(FinalistRow.team_id)
    )
    finalists = [names[team] for team in chosen]
    machines = machines_of(platform, found) if found.staff else []
    final = record.final(session, competition.id)
    if final is None:
        return FinalView(competition=competition.slug, finalists=finalists, machines=machines)
    session.expire_all()
    runs = record.final_runs(session, final.id)
    done = not left_of(runs)
    sources = _public_ids(session, [row.rejudge_of for _, row in runs if row.rejudge_of is not None])
    return FinalView(
        competition=competition.slug,
        state=final.state,
        done=done,
        device=final.device,
        machine=final.machine,
        repeats=final.repeats,
        judged=len(runs) - left_of(runs),
        failed=sum(row.state is State.FAILED for _, row in runs),
        total=len(runs),
        left_out=final.left_out,
        started_at=final.started_at,
        finalists=finalists,
        entries=[
            _entry(names[team], challenge, each, sources)
            for (team, challenge), each in sorted(
                by_entry(runs).items(), key=lambda item: (names[item[0][0]], item[0][1])
            )
        ],
        rank_changes=rank_changes(platform, session, competition, final, runs, names) if done else None,
        machines=machines,
    )


def _public_ids(session: Session, ids: Sequence[int]) -> dict[int, str]:
    return {
        row.id: row.public_id
        for row in session.execute(
            select(SubmissionRow.id, SubmissionRow.public_id).where(SubmissionRow.id.in_(ids))
        )
    }


def _entry(team: str, challenge: str, runs: Runs, sources: Mapping[int, str]) -> FinalEntry:
    times = [row.time_us for _, row in runs if row.time_us is not None]
    failed = why_failed(runs)
    median = statistics.median(times) if times and not failed else None
    return FinalEntry(
        team=team,
        challenge=challenge,
        source=sources[runs[0][1].rejudge_of or 0],
        time_us=median,
        spread=(max(times) - min(times)) / median if median else None,
        failed=failed,
        untimed=untimed(runs),
        runs=[
            FinalTime(
                repeat=run.repeat,
                place=run.place,
                submission=row.public_id,
                state=row.state,
                verdict=row.verdict,
                time_us=row.time_us,
                error=row.error,
            )
            for run, row in runs
        ],
    )
