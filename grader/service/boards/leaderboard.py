from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypedDict, Unpack

from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import representative, resolution_of
from grader.errors import ChallengeInvalid, NotFound, UnknownDevice, UnknownLanguage
from grader.languages import Language, names
from grader.records import ranks, versions
from grader.records.ranks import Board, Detail, Place
from grader.schemas.leaderboard import (
    Leaderboard,
    LeaderboardEntry,
    Record,
    RecordHistory,
    Reference,
    ReferenceKind,
)
from grader.schemas.report import Interval
from grader.service.accounts.accounts import User
from grader.service.boards import board_access
from grader.service.boards.board_access import BoardAccess
from grader.service.boards.pseudonyms import Names, names_for
from grader.service.boards.rankings import Ranking
from grader.service.boards.readers import check_reader
from grader.service.challenges import publication
from grader.service.devices import served_devices
from grader.service.platform import Platform
from grader.service.submissions.submissions import find, hands_in, readable


def leaderboard(
    platform: Platform,
    slug: str,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> Leaderboard:
    """``viewer`` decides which names are shown. Raises as ``check_reader`` and ``choose`` do."""
    check_reader(platform, viewer)
    publication.check_visible(platform, viewer, slug)
    served = served_devices(platform)
    with platform.sessions() as session:
        choice = choose(platform, session, served, slug, **wanted)
        access = board_access.accesses(session, viewer).of(slug)
        return _board(platform, session, choice, access, limit, offset, viewer)


def _board(
    platform: Platform,
    session: Session,
    choice: BoardChoice,
    access: BoardAccess,
    limit: int | None,
    offset: int,
    viewer: User | None,
) -> Leaderboard:
    ranking = platform.rankings.of(session, replace(choice.board, until=access.until))
    last = None if limit is None else offset + limit
    own, own_place = _own(platform, session, choice, access, ranking, viewer)
    wanted = ranking.places[offset:last] if access.full else []
    known = ranking.references(session)
    shown = _shown(platform, session, ranking, [*wanted, *([own] if own else [])], known, viewer, access)
    if own is not None and own_place is None:
        # Not on the board that the viewer sees.
        shown[-1] = shown[-1].model_copy(update={"rank": None})
    board = choice.board
    # Validating ten thousand takes as long as making them.
    return Leaderboard.model_construct(
        challenge=board.challenge,
        version=board.version,
        device=board.device,
        language=board.language,
        representative=representative(board.device),
        resolution=resolution_of(board.device),
        entries=shown if own is None else shown[:-1],
        total=len(ranking.places) if access.full else 0,
        own=None if own is None else shown[-1],
        own_place=own_place,
        references=known,
        left_out=ranking.left_out(session),
        devices=choice.devices,
        versions=choice.versions,
        audience=access.audience,
        open=access.full,
        frozen_at=access.until,
    )


def _own(
    platform: Platform,
    session: Session,
    choice: BoardChoice,
    access: BoardAccess,
    ranking: Ranking,
    viewer: User | None,
) -> tuple[Place | None, int | None]:
    """The entry and its place; None if the board is frozen before it or closed to the viewer."""
    if viewer is None:
        return None, None
    present = ranking if access.until is None else platform.rankings.of(session, choice.board)
    place = present.of_user.get(viewer.id)
    if place is None:
        return None, None
    entry = present.places[place]
    there = ranking.of_user.get(viewer.id)
    if not access.full or there is None or ranking.places[there].submission != entry.submission:
        return entry, None
    return ranking.places[there], there


def _shown(
    platform: Platform,
    session: Session,
    ranking: Ranking,
    wanted: Sequence[Place],
    known: Sequence[Reference],
    viewer: User | None,
    access: BoardAccess,
) -> list[LeaderboardEntry]:
    details = ranking.details(session, wanted)
    names = _names(platform, session, viewer, access, ranking, wanted)
    sol = _sol(known)
    shown = []
    for place in wanted:
        detail = details[place.submission]
        name, anonymous = names.of(place.user)
        shown.append(
            ranks.entry(
                place,
                detail,
                name,
                speedup_ci=_speedup_ends(place, detail.speedup),
                sol=sol(place.time_us),
                anonymous=anonymous,
                own=place.user == names.viewer,
            )
        )
    return shown


def _names(
    platform: Platform,
    session: Session,
    viewer: User | None,
    access: BoardAccess,
    ranking: Ranking,
    shown: Sequence[Place],
) -> Names:
    users = [place.user for place in shown]
    scope = ranking.board.challenge
    students: frozenset[int] = frozenset()
    if access.taught and viewer is not None:
        students = board_access.students_of(session, viewer, users)
    return names_for(platform, session, viewer, scope, users, access.made_up, students)


def _speedup_ends(place: Place, speedup: float | None) -> tuple[float, float] | None:
    """The baseline is exact, so only the time's interval counts."""
    if speedup is None:
        return None
    return speedup * place.time_us / place.high_us, speedup * place.time_us / place.low_us


def _sol(known: Sequence[Reference]) -> Callable[[float], float | None]:
    light = next((reference.time_us for reference in known if reference.kind is ReferenceKind.ROOFLINE), None)
    return lambda time_us: None if light is None else light / time_us


class Wanted(TypedDict, total=False):
    """Absent: the first device, all languages, the shown version. ``drafts``: also unpublished versions."""

    device: str | None
    language: str | None
    version: int | None
    drafts: bool


@dataclass(frozen=True)
class BoardChoice:
    board: Board
    devices: list[str]
    versions: list[int]


def choose(
    platform: Platform,
    session: Session,
    served: list[str],
    slug: str,
    **wanted: Unpack[Wanted],
) -> BoardChoice:
    """``served``: devices. Raises UnknownChallenge, UnknownDevice, UnknownLanguage, NotFound (unpublished),
    ChallengeInvalid (broken and never judged)."""
    device, version, drafts = wanted.get("device"), wanted.get("version"), wanted.get("drafts", False)
    language = _language(wanted.get("language"))
    known = versions.history(session, slug)
    present = _present(platform, slug, [row.version for row in known])
    published = [row.version for row in known if row.published_at is not None]
    if version is None:
        version = versions.shown(session, slug) or present
    elif not drafts and version in {row.version for row in known} - set(published):
        raise NotFound(
            f"Version {version} of {slug} is not published.",
            f"Published versions: {', '.join(map(str, published)) or 'none'}.",
        )
    devices = with_old(served, ranks.boards(session, slug, version))
    if device is not None and device not in devices:
        raise UnknownDevice(
            f"{slug} has no board for the device '{device}'.", f"It has boards for: {', '.join(devices)}."
        )
    board = Board(slug, version, device or devices[0], language)
    return BoardChoice(board, devices, [row.version for row in known] if drafts else published)


def _present(platform: Platform, slug: str, known: list[int]) -> int:
    """The folder's version, else the last judged one. Raises UnknownChallenge, ChallengeInvalid."""
    try:
        return platform.catalogue.load(slug).manifest.version
    except ChallengeInvalid:
        if not known:
            raise
        return max(known)


def with_old(served: list[str], with_entries: set[str]) -> list[str]:
    """Devices that only have old entries come last."""
    return served + sorted(with_entries - set(served))


def _language(name: str | None) -> Language | None:
    if name is None:
        return None
    try:
        return Language.named(name)
    except ValueError as error:
        raise UnknownLanguage(f"There is no language '{name[:32]}'.", f"Languages: {names()}.") from error


def records_over_time(
    platform: Platform,
    slug: str,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> RecordHistory:
    """Raises as ``leaderboard`` does."""
    check_reader(platform, viewer)
    publication.check_visible(platform, viewer, slug)
    served = served_devices(platform)
    with platform.sessions() as session:
        board = choose(platform, session, served, slug, **wanted).board
        access = board_access.accesses(session, viewer).of(slug)
        return _history(platform, session, board, access, viewer)


def board_and_records(
    platform: Platform,
    slug: str,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> tuple[Leaderboard, RecordHistory]:
    """Both of the same moment. Raises as ``leaderboard`` does."""
    check_reader(platform, viewer)
    publication.check_visible(platform, viewer, slug)
    served = served_devices(platform)
    with platform.sessions() as session:
        choice = choose(platform, session, served, slug, **wanted)
        access = board_access.accesses(session, viewer).of(slug)
        board = _board(platform, session, choice, access, limit, offset, viewer)
        return board, _history(platform, session, choice.board, access, viewer)


def _history(
    platform: Platform, session: Session, board: Board, access: BoardAccess, viewer: User | None
) -> RecordHistory:
    """Empty if others' entries are hidden."""
    ranking = platform.rankings.of(session, replace(board, until=access.until))
    steps = ranking.steps(session) if access.full else []
    details = ranking.details(session, steps)
    names = _names(platform, session, viewer, access, ranking, steps)
    return RecordHistory(
        challenge=board.challenge,
        version=board.version,
        device=board.device,
        language=board.language,
        representative=representative(board.device),
        records=[_record(step, details[step.submission], names) for step in steps],
    )


def _record(step: Place, detail: Detail, names: Names) -> Record:
    user, anonymous = names.of(step.user)
    return Record(
        user=user,
        submission=detail.public_id,
        language=detail.language,
        time_us=step.time_us,
        ci_us=(step.low_us, step.high_us),
        submitted_at=detail.submitted_at,
        anonymous=anonymous,
        own=step.user == names.viewer,
    )


@dataclass(frozen=True)
class PastTime:
    """``time_us`` and its 95 % interval: microseconds per call."""

    id: str
    language: Language
    time_us: float
    ci_us: Interval
    created_at: datetime


def past_times(platform: Platform, user: User, submission: str) -> list[PastTime]:
    """On the submission's board, of its owner or for partners the group, oldest first, at most ``limits.PAST_TIMES``.
    Raises NotFound."""
    with platform.sessions() as session:
        row = find(session, user, submission)
        rows = ranks.latest_times(session, row, limits.PAST_TIMES)
        if row.user_id != user.id and hands_in(session, user, row):
            shared = readable(session, user, [each.public_id for each in rows])
            rows = [each for each in rows if each.public_id in shared]
        return [
            PastTime(
                id=row.public_id,
                language=row.language,
                time_us=row.time_us or 0.0,
                ci_us=(row.ci_lo_us or 0.0, row.ci_hi_us or 0.0),
                created_at=row.created_at,
            )
            for row in rows
        ]
