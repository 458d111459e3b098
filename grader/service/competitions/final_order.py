"""A final's judgements, queued in an order given by the hidden seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, update

from grader.errors import Conflict
from grader.records import competition_draws, workers
from grader.records import competitions as record
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
    FinalBody,
    FinalState,
    Machine,
    Mode,
)
from grader.schemas.submission import JudgingReason, State
from grader.service.competitions import competition_boards
from grader.service.competitions.open_competition import OpenCompetition
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


def check_judged(found: OpenCompetition) -> None:
    """Late judgements count. Raises Conflict."""
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


def machines_of(platform: Platform, found: OpenCompetition) -> list[Machine]:
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
    """The counted judgement's row, and the submission's."""

    team: int
    challenge: str
    counted: int
    first: int


def order(platform: Platform, found: OpenCompetition, body: FinalBody) -> list[SubmissionRow]:
    check_judged(found)
    session, competition = found.session, found.row
    chosen = set(
        session.scalars(select(FinalistRow.team_id).where(FinalistRow.competition_id == competition.id))
    )
    if not chosen:
        raise Conflict(
            "The competition has no finalists.", "Choose them with `grader competition finalists`."
        )
    machines = {machine.name: machine for machine in machines_of(platform, found)}
    if body.machine not in machines:
        raise Conflict(
            f"No live worker of {body.machine[:64]} serves a device of this competition.",
            f"Machines that do: {', '.join(machines) or 'none'}.",
        )
    device = machines[body.machine].device
    sources = _sources(platform, found, device, chosen)
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
    queued = _queue(found, final, sources, rows)
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


def _sources(platform: Platform, found: OpenCompetition, device: str, finalists: set[int]) -> list[_Source]:
    ranked = competition_boards.live(platform, found, device)
    return [
        _Source(standing.team, challenge, best.key, ranked.received[best.key].first)
        for standing in ranked.standings
        if standing.team in finalists
        for challenge, best in standing.best.items()
    ]


def _queue(
    found: OpenCompetition, final: FinalRow, sources: Sequence[_Source], rows: Mapping[int, SubmissionRow]
) -> list[SubmissionRow]:
    session = found.session
    by_entry = {(str(source.team), source.challenge): source for source in sources}
    queued = []
    drawn = competition_draws.final_order(found.row.hidden_seed, list(by_entry), final.repeats)
    for place, (repeat, entry) in enumerate(drawn):
        source = by_entry[entry]
        row = _run(rows[source.counted], source.first, final.machine, _moment(final, place))
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
    return queued


def _moment(final: FinalRow, place: int) -> datetime:
    """The queue orders by row times."""
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


def replace_cancelled(found: OpenCompetition, final: FinalRow) -> list[SubmissionRow]:
    """Queues cancelled ones again, in their place, unless the source was deleted."""
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


def take_back(found: OpenCompetition, row: SubmissionRow) -> None:
    if row.state in FREE:
        end_cancelled(found.session, row.id, row.attempt, found.now)
    elif not row.state.final:
        found.session.execute(
            update(SubmissionRow)
            .where(SubmissionRow.id == row.id)
            .values(cancel_requested=True)
            .execution_options(synchronize_session=False)
        )
