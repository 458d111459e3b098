"""Finals: every finalist is judged again on hidden seeds and sizes, several times, on one named machine, through the
normal queue."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from grader.deadlines import zoned
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import competition_draws, workers
from grader.records import competitions as record
from grader.records import sources as deleted_sources
from grader.records.leases import end_cancelled
from grader.records.models import (
    FinalistRow,
    FinalRow,
    FinalRunRow,
    GpuRow,
    SubmissionRow,
    TeamRow,
)
from grader.records.order import PRIORITIES
from grader.records.states import FREE, UNFINISHED
from grader.schemas.competition import (
    CompetitionView,
    FinalBody,
    FinalEntry,
    FinalistsBody,
    FinalState,
    FinalTime,
    FinalView,
    Machine,
    Mode,
)
from grader.schemas.submission import JudgingReason, SourceView, State
from grader.service.accounts.accounts import User
from grader.service.competitions import competition_boards
from grader.service.competitions.competitions import OpenCompetition, changing, reading, view
from grader.service.competitions.final_results import Runs, by_entry, rank_changes, untimed, why_failed
from grader.service.competitions.teams import team_named
from grader.service.courses.permissions import Action
from grader.service.operation.requeue import requeue
from grader.service.platform import Platform


def choose_finalists(platform: Platform, user: User, slug: str, body: FinalistsBody) -> FinalView:
    """Replaces an earlier choice. Raises NotAllowed, NotFound (a team), BadRequest (none is chosen, or a team has
    nothing accepted), and Conflict before the end, while a final runs or after the results."""
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        _check_over(found)
        if record.final(found.session, found.row.id) is not None:
            raise Conflict("The competition's final has begun.", "Cancel it first to choose other finalists.")
        ranked = competition_boards.live(platform, found, body.device or found.row.devices[0]).standings
        standing = {standing.team: standing for standing in ranked if standing.rank is not None}
        if body.teams:
            chosen = [team_named(found.session, found.row, name).id for name in dict.fromkeys(body.teams)]
            if without := [team for team in chosen if team not in standing]:
                name = found.session.get_one(TeamRow, without[0]).name
                raise BadRequest(f"{name} has no entry on the board to judge again.")
        elif body.top is not None:
            # Teams that share the last rank are equally good.
            chosen = [
                team for team, entry in standing.items() if entry.rank is not None and entry.rank <= body.top
            ]
        else:
            raise BadRequest("Choose a number of best teams, or teams by name.")
        if not chosen:
            raise Conflict("No team has solved anything, so there can be no final.")
        table = FinalistRow
        found.session.execute(delete(table).where(table.competition_id == found.row.id))
        found.session.add_all(table(competition_id=found.row.id, team_id=team) for team in chosen)
        found.session.flush()
        names = _names(found.session, found.row.id)
        found.note(Action.COMPETITION_FINAL, "/finalists", after={"teams": [names[team] for team in chosen]})
        return _view(platform, found)


def start_final(platform: Platform, user: User, slug: str, body: FinalBody) -> FinalView:
    """Queue every judgement of the final, in an order that the competition's hidden seed gives. Repeated with the same
    arguments, it queues again only judgements that the platform failed to make.

    Raises NotAllowed, NotFound, and Conflict: before the end, while a submission that counts is not judged yet or in an
    open regrade, without finalists, if the machine does not serve a device of the competition, a challenge has another
    version than was judged, another final runs, or the results are published.
    """
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        _check_over(found)
        known = record.final(found.session, found.row.id)
        if known is not None:
            if (known.machine, known.repeats) != (body.machine, body.repeats):
                raise Conflict(
                    f"A final with {known.repeats} repeats on {known.machine} has already begun.",
                    "Start it with the same arguments to continue it, or cancel it first.",
                )
            again = _replace_cancelled(found, known)
            failed = [
                judgement.public_id
                for _, judgement in record.final_runs(found.session, known.id)
                if judgement.state is State.FAILED and judgement.source
            ]
            queued = again
        else:
            queued, failed = _order(platform, found, body), []
        answer = _view(platform, found)
    for (device, language), count in Counter((row.device, row.language) for row in queued).items():
        platform.wakeups.announce(device, language, count)
    if failed:
        requeue(platform, failed)
        return get_final(platform, user, slug)
    return answer


def cancel_final(platform: Platform, user: User, slug: str) -> FinalView:
    """Its judgements stop counting. Repeating it is not an error. Raises NotAllowed, NotFound, and Conflict after the
    results."""
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        if found.row.results_at is not None:
            raise Conflict("The results are already published.")
        known = record.final(found.session, found.row.id)
        if known is not None:
            known.state = FinalState.CANCELLED
            found.session.flush()
            for _, row in record.final_runs(found.session, known.id):
                _take_back(found, row)
            found.note(Action.COMPETITION_FINAL, "/final/cancel", after={"final": known.id})
        return _view(platform, found)


def publish_results(platform: Platform, user: User, slug: str) -> CompetitionView:
    """Publish the results: the final's, or without one the live board. Repeating it is not an error. Raises NotAllowed,
    NotFound, and Conflict before the end, while something is not judged, or while an open regrade has part of it."""
    with changing(platform, user, slug, Action.COMPETITION_RESULTS) as found:
        if found.row.results_at is None:
            _check_over(found)
            _check_judged(found)
            known = record.final(found.session, found.row.id)
            if known is not None and (left := _left(record.final_runs(found.session, known.id))):
                raise Conflict(
                    f"{left} judgements of the final are missing.",
                    "Wait for them; `grader competition final start` queues those again that the "
                    "platform failed to make.",
                )
            found.row.results_at = found.now
            found.note(Action.COMPETITION_RESULTS, "/results")
            found.session.flush()
            # They counted for a team until now.
            deleted_sources.drop(found.session, found.now, SubmissionRow.competition_id == found.row.id)
        return view(platform, found)


def get_final(platform: Platform, user: User | None, slug: str) -> FinalView:
    """For staff, and for everyone after the results. Raises NotAllowed, and as ``competitions.reading``."""
    with reading(platform, user, slug) as found:
        if not found.staff and found.row.results_at is None:
            raise NotAllowed("The results are not published yet.")
        return _view(platform, found)


def get_code(platform: Platform, viewer: User | None, slug: str, team: str, challenge: str) -> SourceView:
    """A team's source that counts, if the rules show it and the results are published; staff and the team can always
    see it. Raises NotAllowed, NotFound (also if it was deleted with an account), and as ``competitions.reading``."""
    with reading(platform, viewer, slug) as found:
        session, row = found.session, found.row
        known = team_named(session, row, team)
        own = viewer is not None and known.id in {
            team.id for team in record.teams_of(session, row.id, viewer.id)
        }
        if not (found.staff or own or (row.code_shown and row.results_at is not None)):
            why = (
                "The results are not published yet."
                if row.code_shown
                else "The rules of this competition do not show code."
            )
            raise NotAllowed(why)
        kind = competition_boards.kind_for(found, None)
        for device in row.devices:
            ranked = competition_boards.of_kind(platform, found, device, kind)
            best = next(
                (standing.best.get(challenge) for standing in ranked.standings if standing.team == known.id),
                None,
            )
            if best is not None:
                source = session.get_one(SubmissionRow, best.key)
                if not source.source:
                    raise NotFound(f"The source of {team} for {challenge} was deleted with an account.")
                return SourceView(
                    id=source.public_id,
                    language=source.language,
                    filename=source.filename,
                    source=source.source,
                )
    raise NotFound(f"{team} has no submission for {challenge[:64]} that counts.")


def _check_over(found: OpenCompetition) -> None:
    if found.row.results_at is not None:
        raise Conflict("The results are already published.")
    if found.now < found.row.ends_at:
        ends = zoned(found.row.ends_at, found.row.time_zone)
        raise Conflict(f"{found.row.title} has not ended yet: it ends at {ends}.")


def _check_judged(found: OpenCompetition) -> None:
    """Submissions received before the end count, however late they are judged. Raises Conflict."""
    if numbers := record.open_regrades(found.session, found.row.id):
        raise Conflict(
            f"Regrade {numbers[0]} is open and includes submissions of this competition.",
            f"Publish or discard it first: `grader regrade show {numbers[0]}`.",
        )
    waiting = found.session.scalar(
        select(func.count())
        .select_from(SubmissionRow)
        .join(TeamRow, TeamRow.id == SubmissionRow.team_id)
        .where(SubmissionRow.competition_id == found.row.id, SubmissionRow.competition_id.is_not(None))
        .where(
            SubmissionRow.kind != JudgingReason.FINAL,
            SubmissionRow.state.in_(UNFINISHED),
            TeamRow.mode == Mode.OFFICIAL,
        )
    )
    if waiting:
        raise Conflict(
            f"{waiting} submissions received before the end are not judged yet.",
            "Wait until they are judged.",
        )


def _machines(platform: Platform, found: OpenCompetition) -> list[Machine]:
    alive = workers.alive(found.session, found.now, platform.settings.lease_s)
    models = dict(found.session.execute(select(GpuRow.uuid, GpuRow.model)).all())
    by_name: dict[str, Machine] = {}
    for worker in alive:
        if worker.device in found.row.devices:
            name = worker.gpu or worker.host
            by_name.setdefault(
                name, Machine(name=name, device=worker.device, model=models.get(name, ""), worker=worker.name)
            )
    return sorted(by_name.values(), key=lambda item: (found.row.devices.index(item.device), item.name))


@dataclass(frozen=True)
class _Source:
    """A finalist's source for one challenge: the row whose judgement counted, and the row of the submission itself."""

    team: int
    challenge: str
    counted: int
    first: int


def _order(platform: Platform, found: OpenCompetition, body: FinalBody) -> list[SubmissionRow]:
    _check_judged(found)
    session, competition = found.session, found.row
    chosen = set(
        session.scalars(select(FinalistRow.team_id).where(FinalistRow.competition_id == competition.id))
    )
    if not chosen:
        raise Conflict(
            "The competition has no finalists.", "Choose them with `grader competition finalists`."
        )
    machines = {machine.name: machine for machine in _machines(platform, found)}
    if body.machine not in machines:
        raise Conflict(
            f"No live worker of {body.machine[:64]} serves a device of this competition.",
            f"Machines that do: {', '.join(machines) or 'none'}.",
        )
    device = machines[body.machine].device
    ranked = competition_boards.live(platform, found, device)
    sources = [
        _Source(standing.team, challenge, best.key, ranked.received[best.key].first)
        for standing in ranked.standings
        if standing.team in chosen
        for challenge, best in standing.best.items()
    ]
    counted = select(SubmissionRow).where(SubmissionRow.id.in_([source.counted for source in sources]))
    rows = {row.id: row for row in session.scalars(counted)}
    left_out = sum(not row.source for row in rows.values())
    sources = [source for source in sources if rows[source.counted].source]
    if not sources:
        raise Conflict(
            f"The finalists have no entries on the board of {device}.",
            f"{left_out} left out: their sources were deleted with an account." if left_out else "",
        )
    _check_versions(platform, [rows[source.counted] for source in sources])
    final = FinalRow(
        competition_id=competition.id,
        device=device,
        machine=body.machine,
        repeats=body.repeats,
        state=FinalState.RUNNING,
        left_out=left_out,
        started_by=found.user.id if found.user else None,
        started_at=found.now,
    )
    session.add(final)
    session.flush()
    by_entry = {(str(source.team), source.challenge): source for source in sources}
    queued = []
    order = competition_draws.final_order(competition.hidden_seed, list(by_entry), body.repeats)
    for place, (repeat, entry) in enumerate(order):
        source = by_entry[entry]
        row = _run(rows[source.counted], source.first, body.machine, _moment(final, place))
        session.add(row)
        session.flush()
        session.add(
            FinalRunRow(
                final_id=final.id,
                team_id=source.team,
                challenge=source.challenge,
                repeat=repeat,
                place=place,
                submission_id=row.id,
            )
        )
        queued.append(row)
    session.flush()
    found.note(
        Action.COMPETITION_FINAL,
        "/final",
        after={
            "machine": body.machine,
            "repeats": body.repeats,
            "judgements": len(queued),
            "left_out": left_out,
        },
    )
    return queued


def _moment(final: FinalRow, place: int) -> datetime:
    """The queue orders by the time of the rows, so each is later than the one before."""
    return final.started_at + timedelta(microseconds=place)


def _run(like: SubmissionRow, first: int, machine: str, at: datetime) -> SubmissionRow:
    kind = JudgingReason.FINAL
    return SubmissionRow(
        user_id=like.user_id,
        challenge=like.challenge,
        version=like.version,
        language=like.language,
        device=like.device,
        source=like.source,
        filename=like.filename,
        source_sha256=like.source_sha256,
        kind=kind,
        priority=PRIORITIES[kind],
        rejudge_of=first,
        competition_id=like.competition_id,
        team_id=like.team_id,
        machine=machine,
        created_at=at,
    )


def _check_versions(platform: Platform, rows: Iterable[SubmissionRow]) -> None:
    for row in rows:
        present = platform.catalogue.load(row.challenge).manifest.version
        if row.version != present:
            raise Conflict(
                f"{row.challenge} now has version {present}, but was judged under version {row.version}.",
                f"Judge the submissions again with `grader admin rejudge {row.challenge}`, then start the final.",
            )


def _replace_cancelled(found: OpenCompetition, final: FinalRow) -> list[SubmissionRow]:
    """Judge one that somebody cancelled by its id after all, in its place, unless its source was deleted since."""
    queued = []
    judged, gone = set(), set()
    for run, row in record.final_runs(found.session, final.id):
        entry = (run.team_id, run.challenge)
        if row.state in (State.CANCELLED, State.FAILED) and not row.source:
            found.session.delete(run)
            gone.add(entry)
            continue
        judged.add(entry)
        if row.state is State.CANCELLED and row.rejudge_of is not None:
            new = _run(row, row.rejudge_of, final.machine, _moment(final, run.place))
            new.set_aside = row.set_aside
            found.session.add(new)
            found.session.flush()
            run.submission_id = new.id
            queued.append(new)
    final.left_out += len(gone - judged)
    found.session.flush()
    return queued


def _take_back(found: OpenCompetition, row: SubmissionRow) -> None:
    if row.state in FREE:
        end_cancelled(found.session, row.id, row.attempt, found.now)
    elif not row.state.final:
        found.session.execute(
            update(SubmissionRow)
            .where(SubmissionRow.id == row.id)
            .values(cancel_requested=True)
            .execution_options(synchronize_session=False)
        )


def _left(runs: Runs) -> int:
    return sum(row.state is not State.DONE for _, row in runs)


def _names(session: Session, competition: int) -> dict[int, str]:
    return {
        row.id: row.name
        for row in session.execute(
            select(TeamRow.id, TeamRow.name).where(TeamRow.competition_id == competition)
        )
    }


def _view(platform: Platform, found: OpenCompetition) -> FinalView:
    session, competition = found.session, found.row
    names = _names(session, competition.id)
    chosen = session.scalars(
        select(FinalistRow.team_id)
        .where(FinalistRow.competition_id == competition.id)
        .order_by(FinalistRow.team_id)
    )
    finalists = [names[team] for team in chosen]
    machines = _machines(platform, found) if found.staff else []
    final = record.final(session, competition.id)
    if final is None:
        return FinalView(competition=competition.slug, finalists=finalists, machines=machines)
    session.expire_all()
    runs = record.final_runs(session, final.id)
    done = not _left(runs)
    sources = _public_ids(session, [row.rejudge_of for _, row in runs if row.rejudge_of is not None])
    return FinalView(
        competition=competition.slug,
        state=final.state,
        done=done,
        device=final.device,
        machine=final.machine,
        repeats=final.repeats,
        judged=len(runs) - _left(runs),
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
