from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sqlalchemy.orm import Session

from grader.device_kinds import representative
from grader.errors import NotFound, UnknownDevice
from grader.records import ranks, versions
from grader.records.ranks import Board
from grader.schemas.leaderboard import (
    BoardSummary,
    Leader,
    LeaderboardList,
    TrackBoard,
    TrackEntry,
    TrackSummary,
)
from grader.service.accounts.accounts import User
from grader.service.boards import board_access
from grader.service.boards.board_access import BoardAccess, BoardAccesses
from grader.service.boards.leaderboard import with_old
from grader.service.boards.pseudonyms import Names, names_for
from grader.service.boards.rankings import Ranking
from grader.service.boards.readers import check_reader
from grader.service.challenges import publication
from grader.service.devices import served_devices
from grader.service.platform import Platform

# Closer relative times are ties: geometric means are not exact.
_DIGITS = 9


@dataclass(frozen=True)
class TrackStanding:
    user: int
    solved: int
    relative: float


@dataclass(frozen=True)
class _Member:
    """``version``: the folder's, shown if no other was published."""

    slug: str
    title: str
    track: str
    version: int


def track_board(
    platform: Platform,
    track: str,
    device: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
) -> TrackBoard:
    """On the first device by default. Raises as ``check_reader`` does, NotFound, UnknownDevice."""
    check_reader(platform, viewer)
    served = served_devices(platform)
    with platform.sessions() as session:
        members = [member for member in _members(platform, session, viewer) if member.track == track]
        if not members:
            raise NotFound(f"There is no track '{track[:64]}'.", "The page Leaderboards lists the tracks.")
        chosen, devices = _device(session, served, members, device)
        accesses = board_access.accesses(session, viewer)
        # One name across both would reveal people with pseudonyms.
        disguised = [accesses.of(member.slug) for member in members if accesses.of(member.slug).made_up]
        members = [member for member in members if accesses.of(member.slug).full]
        rankings = _rankings(platform, session, members, chosen, accesses)
        standings = platform.rankings.derived(rankings, standings_of)
        places = _ranked(standings)
        own = next((n for n, standing in enumerate(standings) if viewer and standing.user == viewer.id), None)
        last = len(standings) if limit is None else offset + limit
        wanted = [*range(len(standings))[offset:last], *([own] if own is not None else [])]
        users = [standings[n].user for n in wanted]
        students: frozenset[int] = frozenset()
        if viewer is not None and all(access.taught for access in disguised):
            students = board_access.students_of(session, viewer, users)
        names = names_for(platform, session, viewer, f"track {track}", users, bool(disguised), students)
    shown = [_entry(standings[n], places[n], names) for n in wanted]
    return TrackBoard(
        track=track,
        description=_descriptions(platform).get(track, ""),
        device=chosen,
        representative=representative(chosen),
        challenges=[member.slug for member in members],
        entries=shown if own is None else shown[:-1],
        total=len(standings),
        own=None if own is None else shown[-1],
        own_place=own,
        devices=devices,
    )


def standings_of(rankings: Sequence[Ranking]) -> list[TrackStanding]:
    """By the number solved, then by the geometric mean of best / own time."""
    logs: dict[int, list[float]] = defaultdict(list)
    for ranking in rankings:
        best = min((place.time_us for place in ranking.places), default=0.0)
        for place in ranking.places:
            logs[place.user].append(math.log(best / place.time_us))
    found = [
        TrackStanding(user, len(each), round(math.exp(math.fsum(each) / len(each)), _DIGITS))
        for user, each in logs.items()
    ]
    return sorted(found, key=lambda item: (-item.solved, -item.relative, item.user))


def _ranked(standings: Sequence[TrackStanding]) -> list[int]:
    """Ties share a rank."""
    places: list[int] = []
    for number, standing in enumerate(standings):
        before = standings[number - 1] if number else None
        same = before is not None and (before.solved, before.relative) == (standing.solved, standing.relative)
        places.append(places[-1] if same else number + 1)
    return places


def _entry(standing: TrackStanding, rank: int, names: Names) -> TrackEntry:
    user, anonymous = names.of(standing.user)
    return TrackEntry(
        rank=rank,
        user=user,
        solved=standing.solved,
        relative=standing.relative,
        anonymous=anonymous,
        own=standing.user == names.viewer,
    )


def leaderboards(
    platform: Platform, device: str | None = None, viewer: User | None = None
) -> LeaderboardList:
    """Raises as ``check_reader`` does, UnknownDevice."""
    check_reader(platform, viewer)
    served = served_devices(platform)
    with platform.sessions() as session:
        challenges = _members(platform, session, viewer)
        chosen, devices = _device(session, served, challenges, device)
        accesses = board_access.accesses(session, viewer)
        rankings = _rankings(platform, session, challenges, chosen, accesses)
        leaders = [place.user for ranking in rankings for place in ranking.places[:1]]
        students = board_access.students_of(session, viewer, leaders) if viewer else frozenset()
        names = names_for(platform, session, viewer, "", leaders, students=students)
        summaries = [
            _summary(session, challenge, ranking, names, accesses.of(challenge.slug))
            for challenge, ranking in zip(challenges, rankings, strict=True)
        ]
    about = _descriptions(platform) if challenges else {}
    return LeaderboardList(
        device=chosen,
        representative=representative(chosen),
        devices=devices,
        tracks=[
            TrackSummary(
                title=title, description=about.get(title, ""), boards=[member for _, member in members]
            )
            for title, members in groupby(
                zip(challenges, summaries, strict=True), key=lambda pair: pair[0].track
            )
        ],
    )


def _members(platform: Platform, session: Session, viewer: User | None) -> list[_Member]:
    """Broken folders come last."""
    found, broken = platform.catalogue.valid()
    shown = versions.shown_versions(session)
    members = [
        _Member(
            challenge.slug, challenge.manifest.title, challenge.manifest.track, challenge.manifest.version
        )
        for challenge in found
    ]
    members += [
        _Member(folder.slug, folder.title, folder.track, shown[folder.slug])
        for folder in broken
        if folder.slug in shown
    ]
    seen = publication.visible_to(session, viewer)
    members = [member for member in members if member.slug in seen]
    return sorted(members, key=lambda item: platform.catalogue.known_curriculum.place(item.track))


def _summary(
    session: Session, challenge: _Member, ranking: Ranking, names: Names, access: BoardAccess
) -> BoardSummary:
    leader = None
    if access.full and (first := ranking.places[:1]):
        students = names.students if access.taught else frozenset()
        of_board = replace(names, scope=challenge.slug, made_up=access.made_up, students=students)
        user, anonymous = of_board.of(first[0].user)
        leader = Leader(
            user=user,
            time_us=first[0].time_us,
            speedup=ranking.details(session, first)[first[0].submission].speedup,
            anonymous=anonymous,
            own=first[0].user == names.viewer,
        )
    return BoardSummary(
        challenge=challenge.slug,
        title=challenge.title,
        version=ranking.board.version,
        entries=len(ranking.places) if access.full else 0,
        leader=leader,
        open=access.full,
    )


def _rankings(
    platform: Platform,
    session: Session,
    challenges: Sequence[_Member],
    device: str,
    accesses: BoardAccesses,
) -> list[Ranking]:
    shown = versions.shown_versions(session)
    boards = [
        Board(
            challenge.slug,
            shown.get(challenge.slug) or challenge.version,
            device,
            until=accesses.of(challenge.slug).until,
        )
        for challenge in challenges
    ]
    return platform.rankings.of_device(session, boards, device)


def _device(
    session: Session, served: list[str], challenges: Sequence[_Member], device: str | None
) -> tuple[str, list[str]]:
    """The chosen device and all others. Looks for old entries only on the requested one."""
    devices = list(served)
    if device is not None and device not in devices:
        shown = versions.shown_versions(session)
        old = [
            ranks.boards(session, challenge.slug, shown.get(challenge.slug) or challenge.version)
            for challenge in challenges
        ]
        devices = with_old(served, set().union(*old))
        if device not in devices:
            raise UnknownDevice(
                f"There is no board for the device '{device}'.",
                f"There are boards for: {', '.join(devices)}.",
            )
    return device or devices[0], devices


def _descriptions(platform: Platform) -> dict[str, str]:
    return {track.title: track.description for track in platform.catalogue.known_curriculum.tracks}
