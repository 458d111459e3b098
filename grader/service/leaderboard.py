"""The board of one challenge version on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from sqlalchemy.orm import Session

from grader.records import ranks
from grader.records.ranks import Place
from grader.schemas.leaderboard import Leaderboard, LeaderboardEntry, Reference, ReferenceKind
from grader.service.accounts import User
from grader.service.choice import Choice, Wanted, choose
from grader.service.devices import representative, served_devices
from grader.service.platform import Platform
from grader.service.pseudonyms import names_for
from grader.service.rankings import Ranking
from grader.service.readers import check_reader


def leaderboard(
    platform: Platform,
    slug: str,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> Leaderboard:
    """All entries of a board; with ``limit`` so many of these, from the one after ``offset`` on. ``viewer`` decides
    whose names are shown, and which entry is the caller's. Raises as ``check_reader`` and ``choose`` do.
    """
    check_reader(platform, viewer)
    served = served_devices(platform)
    with platform.sessions() as session:
        choice = choose(platform, session, served, slug, **wanted)
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
