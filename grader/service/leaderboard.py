"""The board of one challenge version on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from grader.errors import NotFound, UnknownDevice, UnknownLanguage
from grader.records import ranks, versions
from grader.records.ranks import Board, Place
from grader.schemas.leaderboard import Leaderboard, LeaderboardEntry, Reference, ReferenceKind
from grader.schemas.report import Language
from grader.service.accounts import User
from grader.service.devices import representative, served_devices
from grader.service.platform import Platform
from grader.service.pseudonyms import names_for
from grader.service.rankings import Ranking


@dataclass(frozen=True)
class Choice:
    """A board that was asked for, with what else could have been."""

    board: Board
    devices: list[str]
    versions: list[int]


def leaderboard(
    platform: Platform,
    slug: str,
    device: str | None = None,
    language: str | None = None,
    version: int | None = None,
    drafts: bool = False,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
) -> Leaderboard:
    """By default the version that is shown on the platform's first device, all languages, all entries; with ``limit``
    so many of these, from the one after ``offset`` on.

    ``drafts``: the caller may see versions that are not published yet, as staff may. ``viewer`` decides whose names are
    shown, and which entry is the caller's. Raises UnknownChallenge, UnknownDevice, UnknownLanguage, NotFound.
    """
    served = served_devices(platform)
    with platform.sessions() as session:
        choice = choose(platform, session, served, slug, device, language, version, drafts)
        ranking = platform.rankings.of(session, choice.board)
        return of_ranking(platform, session, choice, ranking, limit, offset, viewer)


def of_ranking(
    platform: Platform,
    session: Session,
    choice: Choice,
    ranking: Ranking,
    limit: int | None,
    offset: int,
    viewer: User | None,
) -> Leaderboard:
    """The part of a ranking that ``leaderboard`` shows."""
    last = None if limit is None else offset + limit
    own = ranking.of_user.get(viewer.id) if viewer else None
    wanted = ranking.places[offset:last] + ([ranking.places[own]] if own is not None else [])
    known = ranking.references(session)
    shown = _shown(platform, session, ranking, wanted, known, viewer)
    board = choice.board
    # Of models that are checked already: ten thousand once more would take as long as making them.
    return Leaderboard.model_construct(
        challenge=board.challenge,
        version=board.version,
        device=board.device,
        language=board.language,
        representative=representative(board.device),
        entries=shown if own is None else shown[:-1],
        total=len(ranking.places),
        own=None if own is None else shown[-1],
        own_place=own,
        references=known,
        devices=choice.devices,
        versions=choice.versions,
    )


def choose(
    platform: Platform,
    session: Session,
    served: list[str],
    slug: str,
    device: str | None,
    language: str | None,
    version: int | None,
    drafts: bool,
) -> Choice:
    """Which board the words of a caller mean; ``served`` are the platform's devices. Raises as ``leaderboard`` does."""
    challenge = platform.course.load(slug)
    chosen = _language(language)
    known = versions.history(session, slug)
    published = [row.version for row in known if row.published_at is not None]
    if version is None:
        version = versions.shown(session, slug) or challenge.manifest.version
    elif not drafts and version in {row.version for row in known} - set(published):
        raise NotFound(
            f"Version {version} of {slug} is not published yet.",
            f"Published: {', '.join(map(str, published)) or 'none'}.",
        )
    devices = with_old(served, ranks.boards(session, slug, version))
    if device is not None and device not in devices:
        raise UnknownDevice(f"There is no board for '{device}'.", f"Boards: {', '.join(devices)}.")
    board = Board(slug, version, device or devices[0], chosen)
    return Choice(board, devices, [row.version for row in known] if drafts else published)


def _shown(
    platform: Platform,
    session: Session,
    ranking: Ranking,
    wanted: Sequence[Place],
    known: Sequence[Reference],
    viewer: User | None,
) -> list[LeaderboardEntry]:
    details = ranking.details(session, wanted)
    names = names_for(platform, session, viewer, ranking.board.challenge, [place.user for place in wanted])
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


def _speedup_ends(place: Place, speedup: float | None) -> tuple[float, float] | None:
    """The baseline is frozen: the speedup is as uncertain as the time."""
    if speedup is None:
        return None
    return speedup * place.time_us / place.high_us, speedup * place.time_us / place.low_us


def _sol(known: Sequence[Reference]) -> Callable[[float], float | None]:
    light = next((it.time_us for it in known if it.kind is ReferenceKind.ROOFLINE), None)
    return lambda time_us: None if light is None else light / time_us


def with_old(served: list[str], with_entries: set[str]) -> list[str]:
    """The platform's own in their order, then those that only old entries know."""
    return served + sorted(with_entries - set(served))


def _language(name: str | None) -> Language | None:
    if name is None:
        return None
    try:
        return Language(name)
    except ValueError as error:
        raise UnknownLanguage(f"There is no language '{name[:32]}'.", "Languages: cuda, triton.") from error
