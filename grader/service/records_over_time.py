"""How the best time of a board fell, and by whom."""

from __future__ import annotations

from typing import Unpack

from sqlalchemy.orm import Session

from grader.records.ranks import Detail, Place
from grader.schemas.leaderboard import Leaderboard, Record, RecordHistory
from grader.service.accounts import User
from grader.service.choice import Wanted, choose
from grader.service.devices import representative, served_devices
from grader.service.leaderboard import of_ranking
from grader.service.platform import Platform
from grader.service.pseudonyms import Names, names_for
from grader.service.rankings import Ranking
from grader.service.readers import check_reader


def records_over_time(
    platform: Platform,
    slug: str,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> RecordHistory:
    """Of the board that ``leaderboard`` shows for the same words. Raises as it does."""
    check_reader(platform, viewer)
    served = served_devices(platform)
    with platform.sessions() as session:
        board = choose(platform, session, served, slug, **wanted).board
        return _history(platform, session, platform.rankings.of(session, board), viewer)


def board_and_records(
    platform: Platform,
    slug: str,
    limit: int | None = None,
    offset: int = 0,
    viewer: User | None = None,
    **wanted: Unpack[Wanted],
) -> tuple[Leaderboard, RecordHistory]:
    """Both of one moment, in one look. Raises as ``leaderboard`` does."""
    check_reader(platform, viewer)
    served = served_devices(platform)
    with platform.sessions() as session:
        choice = choose(platform, session, served, slug, **wanted)
        ranking = platform.rankings.of(session, choice.board)
        board = of_ranking(platform, session, choice, ranking, limit, offset, viewer)
        return board, _history(platform, session, ranking, viewer)


def _history(platform: Platform, session: Session, ranking: Ranking, viewer: User | None) -> RecordHistory:
    board, steps = ranking.board, ranking.steps(session)
    details = ranking.details(session, steps)
    names = names_for(platform, session, viewer, board.challenge, [step.user for step in steps])
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
