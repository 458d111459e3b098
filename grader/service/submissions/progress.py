from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from sqlalchemy import select

from grader.challenge.loader import Challenge
from grader.device_kinds import representative
from grader.errors import NotAllowed, NotFound
from grader.records import attempts
from grader.records.attempts import Attempts
from grader.records.models import UserRow
from grader.schemas.progress import Best, ChallengeProgress, Mark, Progress, TrackProgress
from grader.service.accounts.accounts import User
from grader.service.challenges.catalogue import seen_challenges
from grader.service.platform import Platform


def progress(
    platform: Platform, user: User, of: str | None = None, challenges: Sequence[Challenge] | None = None
) -> Progress:
    """In the curriculum's order. ``challenges``: the result of ``seen_challenges``. Raises NotAllowed, NotFound."""
    if of is not None and of.lower() != user.name.lower() and not user.staff:
        raise NotAllowed("Only staff can see other people's progress.", "Leave out the name to see yours.")
    with platform.sessions() as session:
        asked = session.scalar(select(UserRow).where(UserRow.name_key == (of or user.name).lower()))
        if asked is None:
            raise NotFound(f"There is no user '{(of or user.name)[:64]}'.", "Check the spelling of the name.")
        tried = attempts.of_user(session, asked.id)
    return sum_up(platform, asked.name, tried, user, challenges)


def sum_up(
    platform: Platform,
    name: str,
    tried: Iterable[Attempts],
    viewer: User | None,
    challenges: Sequence[Challenge] | None = None,
) -> Progress:
    of_challenge: dict[str, list[Attempts]] = defaultdict(list)
    for attempts_at in tried:
        of_challenge[attempts_at.challenge].append(attempts_at)
    challenges = seen_challenges(platform, viewer) if challenges is None else challenges
    lines = {challenge.slug: _line(challenge, of_challenge) for challenge in challenges}
    about = (
        {track.title: track.description for track in platform.catalogue.known_curriculum.tracks}
        if challenges
        else {}
    )
    tracks = [
        _track(title, about.get(title, ""), [lines[member.slug] for member in members])
        for title, members in groupby(challenges, key=lambda item: item.manifest.track)
    ]
    return Progress(
        user=name,
        solved=sum(track.solved for track in tracks),
        attempted=sum(track.attempted for track in tracks),
        total=sum(track.total for track in tracks),
        next=_next(list(lines.values())),
        tracks=tracks,
    )


def _track(title: str, description: str, lines: list[ChallengeProgress]) -> TrackProgress:
    return TrackProgress(
        title=title,
        description=description,
        solved=sum(line.mark is Mark.SOLVED for line in lines),
        attempted=sum(line.mark is not Mark.OPEN for line in lines),
        total=len(lines),
        best=_best(line.best for line in lines if line.best is not None),
        next=_next(lines),
        challenges=lines,
    )


def _line(challenge: Challenge, tried: Mapping[str, Sequence[Attempts]]) -> ChallengeProgress:
    mine = tried.get(challenge.slug, ())
    wanted = challenge.manifest.prerequisites
    return ChallengeProgress(
        slug=challenge.slug,
        title=challenge.manifest.title,
        difficulty=challenge.manifest.difficulty,
        mark=_mark(mine),
        prerequisites=wanted,
        missing=[slug for slug in wanted if _mark(tried.get(slug, ())) is not Mark.SOLVED],
        best=_best(
            Best(
                challenge=challenge.slug,
                device=result.device,
                speedup=result.speedup,
                representative=representative(result.device),
            )
            for result in mine
            if result.speedup is not None
        ),
    )


def _mark(tried: Sequence[Attempts]) -> Mark:
    if any(deed.accepted for deed in tried):
        return Mark.SOLVED
    return Mark.ATTEMPTED if tried else Mark.OPEN


def _best(found: Iterable[Best]) -> Best | None:
    """Prefers GPUs."""
    return max(found, key=lambda item: (item.representative, item.speedup), default=None)


def _next(lines: Sequence[ChallengeProgress]) -> str | None:
    """The first unsolved one, if possible without unsolved prerequisites."""
    left = [line for line in lines if line.mark is not Mark.SOLVED]
    ready = [line for line in left if not line.missing]
    return next((line.slug for line in [*ready, *left]), None)
