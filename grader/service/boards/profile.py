from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import representative
from grader.errors import NotFound
from grader.languages import Language
from grader.records import activity, attempts, competitions, versions
from grader.records.activity import BoardBest, SubmissionEvent
from grader.records.models import UserRow, utcnow
from grader.schemas.preferences import of_stored
from grader.schemas.profile import BestRank, LanguageShare, Profile
from grader.schemas.progress import Mark, Progress
from grader.service.accounts.accounts import User, name_key
from grader.service.boards import badges, board_access, calendar
from grader.service.boards.rankings import unranked
from grader.service.boards.readers import ProfileReader, check_profile_reader
from grader.service.platform import Platform
from grader.service.submissions.progress import sum_up


def profile(platform: Platform, name: str, viewer: User | None) -> Profile:
    """Raises as ``check_profile_reader`` does, and NotFound for unknown and hidden people alike."""
    if viewer is None or name_key(name) != name_key(viewer.name):
        check_profile_reader(platform, viewer)
    with platform.sessions() as session:
        row = session.scalar(select(UserRow).where(UserRow.name_key == name_key(name)))
        reader = ProfileReader(platform, session, viewer, row.id) if row is not None else None
        if row is None or reader is None or not reader.reads_profile(of_stored(row.preferences)):
            raise NotFound("There is no such profile.", "Check the spelling of the name.")
        accesses, own = board_access.accesses(session, viewer), viewer is not None and viewer.id == row.id
        student = viewer is not None and row.id in board_access.students_of(session, viewer, [row.id])
        open_to = own or (viewer is not None and viewer.staff)
        frozen = competitions.with_frozen_boards(session)
        hidden = [] if open_to else frozen
        tried = attempts.of_user(session, row.id, hidden)
        # Boards show the speedup.
        tried = [
            event
            if own or accesses.of(event.challenge).tells_rank_of(own, student)
            else replace(event, speedup=None)
            for event in tried
        ]
        done = sum_up(platform, row.name, tried, viewer)
        events = activity.submission_events(session, row.id, hidden)
        staff = unranked(session)
        mine = activity.entries(session, row.id) if row.id not in staff else []
        mine = [event for event in mine if accesses.of(event.challenge).tells_rank_of(own, student)]
        ranks = _ranks(session, mine, _titles(done), staff)
        firsts = {
            slug
            for slug in activity.first_solved(session, row.id, frozen)
            if accesses.of(slug).tells_rank_of(own, student)
        }
        given = badges.BadgeCase(session, firsts, done, events, mine, ranks)
        return Profile(
            name=row.name,
            role=row.role,
            since=row.created_at,
            hidden=of_stored(row.preferences).anonymous,
            solved=done.solved,
            total=done.total,
            activity=calendar.activity(events, utcnow().date())
            if reader.reads(of_stored(row.preferences).calendar)
            else None,
            languages=_languages(events),
            tracks=done.tracks,
            ranks=ranks,
            badges=badges.award(given),
        )


def _titles(done: Progress) -> dict[str, str]:
    lines = (line for track in done.tracks for line in track.challenges)
    return {line.slug: line.title for line in lines if line.mark is Mark.SOLVED}


def _ranks(
    session: Session, mine: Sequence[BoardBest], titles: Mapping[str, str], staff: Sequence[int]
) -> list[BestRank]:
    """Best first, GPUs first. ``staff`` (ids) have no rank."""
    shown = versions.shown_versions(session)
    boards = [
        event
        for event in mine
        if event.challenge in titles and shown.get(event.challenge, event.version) == event.version
    ]
    boards.sort(key=lambda item: (not representative(item.device), -(item.speedup or 0.0)))
    boards = boards[: limits.PROFILE_RANKS]
    ranks = activity.ranks(session, boards, staff)
    found = [
        BestRank(
            challenge=board.challenge,
            title=titles[board.challenge],
            device=board.device,
            representative=representative(board.device),
            language=board.language,
            rank=ranks[board.id],
            time_us=board.time_us,
            speedup=board.speedup,
        )
        for board in boards
    ]
    return sorted(found, key=lambda item: (not item.representative, item.rank, -(item.speedup or 0.0)))


def _languages(events: Sequence[SubmissionEvent]) -> list[LanguageShare]:
    """By challenges solved."""
    found = []
    for language in Language:
        used = [event for event in events if event.language is language]
        solved = {event.challenge for event in used if event.accepted}
        if used:
            found.append(LanguageShare(language=language, submitted=len(used), solved=len(solved)))
    return sorted(found, key=lambda item: (-item.solved, item.language))
