from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import resolution_of
from grader.errors import Conflict, NotAllowed, UnknownDevice
from grader.records import competitions as record
from grader.records import voids
from grader.records.competitions import Member, Received
from grader.records.models import CompetitionRow, SubmissionRow, TeamRow
from grader.schemas.competition import (
    BoardKind,
    BoardRow,
    ChallengeScore,
    CompetitionBoard,
    Mode,
    Phase,
    Scoring,
)
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.accounts.accounts import User
from grader.service.boards.pseudonyms import Names, names_for
from grader.service.competitions import final_results, standings
from grader.service.competitions.final_results import FinalResults
from grader.service.competitions.open_competition import OpenCompetition, freeze_at, reading
from grader.service.competitions.standings import Result, Standing
from grader.service.platform import Platform


@dataclass(frozen=True)
class Count:
    tries: int = 0
    pending: int = 0


@dataclass(frozen=True)
class Ranked:
    """``received`` and ``before``: by row ids."""

    standings: list[Standing]
    counts: Mapping[tuple[int, str], Count]
    received: Mapping[int, Received]
    failed: Mapping[tuple[int, str], str] = field(default_factory=dict)
    before: Mapping[int, int | None] = field(default_factory=dict)


def board(
    platform: Platform,
    viewer: User | None,
    slug: str,
    device: str | None = None,
    kind: BoardKind | None = None,
    mode: Mode = Mode.OFFICIAL,
    public: bool = False,
) -> CompetitionBoard:
    """``kind``: only staff see a frozen board's live one. ``mode``: ``virtual`` shows others as far into their time
    as the viewer; ``practice`` those who practise. ``public``: as the public sees it. Raises NotFound, NotAllowed,
    Conflict (no such board yet), UnknownDevice, and as ``open_competition.reading``."""
    with reading(platform, viewer, slug) as found:
        found = replace(found, user=None) if public else found
        row = found.row
        chosen = _device(row, device)
        shown = kind_for(found, kind) if mode is Mode.OFFICIAL else BoardKind.LIVE
        elapsed, own = _virtual(found) if mode is Mode.VIRTUAL else (None, None)
        if mode is Mode.OFFICIAL:
            ranked = of_kind(platform, found, chosen, shown)
        else:
            teams = _teams(found.session, row, mode)
            if own is not None:
                teams = [*_teams(found.session, row, Mode.OFFICIAL), own]
            # It moves again with the results, also for virtual participants.
            closed = freeze_at(row) if found.phase is Phase.ENDED and not found.staff else None
            ranked = _rank(platform, found, chosen, teams, closed, elapsed)
        return _board(platform, found, chosen, shown, ranked, elapsed)


def facts(
    platform: Platform,
    viewer: User | None,
    slug: str,
    device: str | None = None,
    kind: BoardKind | None = None,
    mode: Mode = Mode.OFFICIAL,
    public: bool = False,
) -> str:
    """The board changes only with these values. At most ``limits.BOARD_SECONDS`` old: a whole audience polls. Raises
    as ``board``."""
    with reading(platform, viewer, slug) as found:
        found = replace(found, user=None) if public else found
        row = found.row
        chosen = _device(row, device)
        shown = kind_for(found, kind) if mode is Mode.OFFICIAL else BoardKind.LIVE
        stamp = platform.boards.recent(
            ("stamp", row.id), limits.BOARD_SECONDS, lambda: record.stamp(found.session, row.id)
        )
        # A virtual participant's board changes by the minute.
        minute = int(_virtual(found)[0].total_seconds() // 60) if mode is Mode.VIRTUAL else 0
        who = (found.user.id, found.staff) if found.user is not None else None
        return str(
            (row.id, row.revision, row.results_at, found.phase, chosen, shown, mode, minute, stamp, who)
        )


def kind_for(found: OpenCompetition, wanted: BoardKind | None) -> BoardKind:
    """Raises NotAllowed, Conflict."""
    phase, freezes = found.phase, freeze_at(found.row) is not None
    closed = freezes and phase in (Phase.FROZEN, Phase.ENDED)
    if wanted is None:
        if phase is Phase.RESULTS:
            return BoardKind.FINAL
        return BoardKind.FROZEN if closed and not found.staff else BoardKind.LIVE
    if wanted is BoardKind.LIVE and closed and not found.staff:
        raise NotAllowed("The board is frozen.", "It continues once the results are published.")
    if wanted is BoardKind.FINAL and phase is not Phase.RESULTS:
        if not found.staff:
            raise NotAllowed("The results are not published yet.")
        if phase is not Phase.ENDED:
            raise Conflict("There are no results before the competition ends.")
    return wanted


def of_kind(platform: Platform, found: OpenCompetition, device: str, kind: BoardKind) -> Ranked:
    """Official; cached until something changes."""
    row = found.row

    def make() -> Ranked:
        teams = _teams(found.session, row, Mode.OFFICIAL)
        cutoff = freeze_at(row) if kind is BoardKind.FROZEN else None
        ranked = _rank(platform, found, device, teams, cutoff)
        if kind is BoardKind.FINAL:
            results = final_results.results(platform, found.session, row, device)
            return ranked if results is None else _final(ranked, results, row.scoring, resolution_of(device))
        return ranked

    stamp = (record.stamp(found.session, row.id), row.revision, row.results_at)
    return platform.boards.get((row.id, device, kind), stamp, make)


def live(platform: Platform, found: OpenCompetition, device: str) -> Ranked:
    return of_kind(platform, found, device, BoardKind.LIVE)


def regraded(
    platform: Platform, found: OpenCompetition, device: str, regrade: int, again: Mapping[int, int]
) -> tuple[list[Standing], list[Standing]]:
    """The live board without and with an open regrade. ``again``: submission id -> new judgement."""
    row, session = found.row, found.session
    rows = record.received(session, row.id, SubmissionRow.device == device, regrade=regrade)
    voided = set(voids.of(session, [row.first for row in rows if row.first in again]))
    judged = {row.row: row for row in rows if again.get(row.first) == row.row and row.state is State.DONE}

    def replaced(received: Received) -> bool:
        by = judged.get(again.get(received.first, 0))
        return by is not None and by.row != received.row and by.version == received.version

    before = [row for row in rows if again.get(row.first) != row.row]
    after = [row._replace(verdict=None) if row.first in voided else row for row in rows if not replaced(row)]
    teams = _teams(session, row, Mode.OFFICIAL)
    sides = [
        _rank(platform, found, device, teams, None, received=received).standings
        for received in (before, after)
    ]
    return sides[0], sides[1]


def _device(row: CompetitionRow, device: str | None) -> str:
    if device is not None and device not in row.devices:
        raise UnknownDevice(
            f"{row.title} has no board for the device '{device[:32]}'.",
            f"It has boards for: {', '.join(row.devices)}.",
        )
    return device or row.devices[0]


def _virtual(found: OpenCompetition) -> tuple[timedelta, TeamRow]:
    """How far it is. Raises Conflict."""
    own = (
        record.team_of(found.session, found.row.id, found.user.id, Mode.VIRTUAL)
        if found.user is not None
        else None
    )
    if own is None or own.starts_at is None:
        raise Conflict(
            "You do not take part virtually in this competition.",
            "To begin: `grader competition register --mode virtual`.",
        )
    return min(found.now - own.starts_at, found.row.ends_at - found.row.starts_at), own


def _teams(session: Session, row: CompetitionRow, mode: Mode) -> list[TeamRow]:
    wanted = select(TeamRow).where(TeamRow.competition_id == row.id, TeamRow.mode == mode)
    return list(session.scalars(wanted.where(TeamRow.disqualified == "").order_by(TeamRow.id)))


def _rank(
    platform: Platform,
    found: OpenCompetition,
    device: str,
    teams: Sequence[TeamRow],
    cutoff: datetime | None,
    elapsed: timedelta | None = None,
    received: Sequence[Received] | None = None,
) -> Ranked:
    """``cutoff``: official teams' later submissions are pending. ``elapsed``: later ones in a team's time are left
    out. ``received``: instead of those that count now."""
    row, session = found.row, found.session
    worth, resolution = final_results.gradings(platform, session, row), resolution_of(device)
    by_id = {team.id: team for team in teams}
    everything = received
    if everything is None:
        everything = record.received(session, row.id, SubmissionRow.device == device)
    relevant = (received for received in everything if received.team in by_id and received.challenge in worth)
    latest = _latest(
        received
        for received in relevant
        if by_id[received.team].mode is not Mode.OFFICIAL or _stands(received, row)
    )
    results: dict[int, dict[str, list[Result]]] = {team: {} for team in by_id}
    counts: dict[tuple[int, str], Count] = {}
    for newest in latest:
        team = by_id[newest.team]
        begins = team.starts_at or row.starts_at
        if elapsed is not None and newest.at - begins > elapsed:
            continue
        late = cutoff is not None and team.mode is Mode.OFFICIAL and newest.at >= cutoff
        key = (newest.team, newest.challenge)
        count = counts.get(key, Count())
        # A cancelled submission has no result to hide.
        cancelled = newest.state is State.CANCELLED
        hidden = not cancelled and (late or not newest.state.final)
        counts[key] = Count(count.tries + (not cancelled), count.pending + hidden)
        if late or newest.verdict is not Verdict.ACCEPTED:
            continue
        grading, points = worth[newest.challenge]
        earned = standings.points_of(grading, points, newest.speedup, resolution)
        at = newest.at if elapsed is None else row.starts_at + (newest.at - begins)
        found_result = Result(at, newest.time_us, newest.speedup, earned, newest.row)
        results[newest.team].setdefault(newest.challenge, []).append(found_result)
    ranked = standings.rank(results, row.scoring, resolution)
    return Ranked(ranked, counts, {judged.row: judged for judged in latest})


def _latest(received: Iterable[Received]) -> list[Received]:
    """Each submission once, judged under its challenge's present version; others are not comparable. A new version
    counts once everything ordered under it is judged."""
    rows = list(received)
    judging = {(row.challenge, row.version) for row in rows if row.again and not row.state.final}
    versions: dict[str, int] = {}
    for judgement in sorted(rows, key=lambda judged: judged.version):
        if judgement.challenge not in versions or (judgement.challenge, judgement.version) not in judging:
            versions[judgement.challenge] = judgement.version
    by_first: dict[int, Received] = {}
    for rejudged in rows:
        known = by_first.get(rejudged.first)
        if rejudged.version != versions[rejudged.challenge]:
            continue
        if known is None or (rejudged.state is State.DONE, rejudged.row) > (
            known.state is State.DONE,
            known.row,
        ):
            by_first[rejudged.first] = rejudged
    return sorted(by_first.values(), key=lambda judged: (judged.at, judged.row))


def _stands(received: Received, row: CompetitionRow) -> bool:
    """Regrades after the results do not change them."""
    return (
        not received.again
        or row.results_at is None
        or (received.judged_at is not None and received.judged_at <= row.results_at)
    )


def _final(before: Ranked, results: FinalResults, scoring: Scoring, resolution: float) -> Ranked:
    """Finalists, then others, then teams without a rank."""
    finalists = {standing.team for standing in results.standings}
    placed = sum(standing.rank is not None for standing in results.standings)
    others = standings.among(
        [standing for standing in before.standings if standing.team not in finalists], scoring, resolution
    )
    below = [
        replace(standing, rank=None if standing.rank is None else placed + standing.rank)
        for standing in others
    ]
    known = {standing.team: standing.rank for standing in before.standings}
    # A final records submissions, not judgements.
    received = {**before.received, **{received.first: received for received in before.received.values()}}
    ordered = sorted([*results.standings, *below], key=lambda judged: judged.rank is None)
    return Ranked(ordered, before.counts, received, results.failed, known)


def _board(
    platform: Platform,
    found: OpenCompetition,
    device: str,
    kind: BoardKind,
    ranked: Ranked,
    elapsed: timedelta | None,
) -> CompetitionBoard:
    row, session = found.row, found.session
    ids = [standing.team for standing in ranked.standings]
    teams = {
        team.id: team for team in session.scalars(select(TeamRow).where(TeamRow.competition_id == row.id))
    }
    members = record.members(session, ids)
    names = names_for(
        platform,
        session,
        found.user,
        f"competition:{row.slug}",
        [member.user for each in members.values() for member in each],
    )
    own = {team.id for team in record.teams_of(session, row.id, found.user.id)} if found.user else set()
    # Challenges are secret until the start.
    begun = found.staff or found.phase is not Phase.UPCOMING
    challenges = [challenge.challenge for challenge in record.challenges(session, row.id)] if begun else []
    open_code = row.results_at is not None and row.code_shown
    rows = []
    for entry in ranked.standings:
        mine = entry.team in own
        rows.append(
            BoardRow(
                rank=entry.rank,
                team=teams[entry.team].name,
                members=_named(members[entry.team], names),
                own=mine,
                mode=teams[entry.team].mode,
                solved=entry.solved,
                score=entry.score,
                at=entry.at,
                challenges=[
                    _score(ranked, entry, challenge, mine or found.staff or open_code)
                    for challenge in challenges
                ],
                provisional_rank=ranked.before.get(entry.team),
                sort=entry.sort,
            )
        )
    return CompetitionBoard(
        competition=row.slug,
        title=row.title,
        kind=kind,
        phase=found.phase,
        ends_at=row.ends_at,
        freeze_at=freeze_at(row),
        device=device,
        devices=row.devices,
        scoring=row.scoring,
        resolution=resolution_of(device),
        challenges=challenges,
        rows=rows,
        elapsed_s=elapsed.total_seconds() if elapsed is not None else None,
    )


def _named(members: Sequence[Member], names: Names) -> list[str]:
    return [names.of(member.user)[0] for member in members if member.left_at is None]


def _score(ranked: Ranked, standing: Standing, challenge: str, known: bool) -> ChallengeScore:
    best = standing.best.get(challenge)
    count = ranked.counts.get((standing.team, challenge), Count())
    source = ranked.received.get(best.key) if best is not None else None
    return ChallengeScore(
        challenge=challenge,
        solved=best is not None,
        time_us=best.time_us if best else None,
        speedup=best.speedup if best else None,
        points=best.points if best else None,
        at=best.at if best else None,
        tries=count.tries,
        pending=count.pending,
        submission=source.public_id if source is not None and known else None,
        failed=ranked.failed.get((standing.team, challenge), ""),
    )
