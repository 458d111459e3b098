"""The one ranking for web, API and CLI."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, TextClause, func, or_, select, text, type_coerce
from sqlalchemy.orm import Session, load_only
from sqlalchemy.types import NullType as _Raw

from grader import scoring
from grader.device_kinds import resolution_of
from grader.languages import Language
from grader.records.models import SubmissionRow, UserRow
from grader.records.models.indexes import RANKED
from grader.schemas.leaderboard import LeaderboardEntry

# SQLite limits parameters to 32,766.
_IDS = 1_000


@dataclass(frozen=True)
class Board:
    """``until``: only submissions received by then."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    until: datetime | None = None


class BoardEntry(NamedTuple):
    """``submission`` and ``user`` are row ids. ``at`` is in the database's form."""

    submission: int
    user: int
    time_us: float
    low_us: float
    high_us: float
    at: Any

    @property
    def order(self) -> tuple[float, Any, int]:
        """A user's first in this order is the user's entry."""
        return self.time_us, self.at, self.submission


class Place(NamedTuple):
    rank: int
    submission: int
    user: int
    time_us: float
    low_us: float
    high_us: float


class Detail(NamedTuple):
    public_id: str
    language: Language
    speedup: float | None
    submitted_at: datetime


def conditions(board: Board) -> list[ColumnElement[bool] | TextClause]:
    """Worded for the boards' index."""
    table = SubmissionRow
    which = [table.challenge == board.challenge, table.version == board.version, table.device == board.device]
    in_language = [table.language == board.language] if board.language else []
    in_time = [table.created_at <= board.until] if board.until is not None else []
    return [*which, text(RANKED), *in_language, *in_time]


def entry_query(board: Board, without: Collection[int] = ()) -> Select[Any]:
    """One per user, without users ``without`` a rank: the fastest; of equal times, the first."""
    table = SubmissionRow
    # From the index alone: sources make the rows wide.
    order = (table.time_us, table.created_at, table.id)
    accepted = (
        select(
            *_columns(), func.row_number().over(partition_by=table.user_id, order_by=order).label("of_user")
        )
        .where(*conditions(board), *([table.user_id.not_in(without)] if without else []))
        .cte("accepted")
    )
    best = accepted.c
    return select(best.id, best.user_id, best.time_us, best.ci_lo_us, best.ci_hi_us, best.at).where(
        best.of_user == 1
    )


def _columns() -> list[ColumnElement[Any]]:
    table = SubmissionRow
    # Parsing ten thousand times takes long.
    at = type_coerce(table.created_at, _Raw()).label("at")
    return [
        *(
            column.expression
            for column in (table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us)
        ),
        at,
    ]


def entries(session: Session, board: Board, without: Collection[int] = ()) -> list[BoardEntry]:
    return [BoardEntry(*row) for row in session.execute(entry_query(board, without))]


def accepted_after(session: Session, board: Board, submission: int) -> list[BoardEntry]:
    return [
        BoardEntry(*row)
        for row in session.execute(
            select(*_columns()).where(*conditions(board), SubmissionRow.id > submission)
        )
    ]


def last_id(session: Session) -> int:
    return session.scalar(select(SubmissionRow.id).order_by(SubmissionRow.id.desc()).limit(1)) or 0


def places(session: Session, board: Board, without: Collection[int] = ()) -> list[Place]:
    return in_order(entries(session, board, without), resolution_of(board.device))


def in_order(found: Collection[BoardEntry], resolution: float) -> list[Place]:
    ranked = scoring.ranks([entry.time_us for entry in found], resolution)
    ordered = sorted(
        zip(ranked, found, strict=True), key=lambda pair: (pair[0], pair[1].at, pair[1].submission)
    )
    return [
        Place(rank, entry.submission, entry.user, entry.time_us, entry.low_us, entry.high_us)
        for rank, entry in ordered
    ]


def details(session: Session, submissions: Sequence[int]) -> dict[int, Detail]:
    table = SubmissionRow
    found: dict[int, Detail] = {}
    for start in range(0, len(submissions), _IDS):
        wanted = select(table.id, table.public_id, table.language, table.speedup, table.created_at).where(
            table.id.in_(submissions[start : start + _IDS])
        )
        found.update(
            {
                submission: Detail(public_id, language, speedup, at)
                for submission, public_id, language, speedup, at in session.execute(wanted)
            }
        )
    return found


def entries_by_device(session: Session, challenge: str, version: int) -> dict[str, int]:
    """People, staff included."""
    table = SubmissionRow
    found = session.execute(
        select(table.device, func.count(func.distinct(table.user_id)).label("people"))
        .where(table.challenge == challenge, table.version == version, text(RANKED))
        .group_by(table.device)
        .order_by(table.device)
    )
    return {row.device: row.people for row in found}


def best_of(session: Session, board: Board, users: Collection[int]) -> Place | None:
    """The best entry of ``users``; its rank is 0."""
    table = SubmissionRow
    found = session.execute(
        select(table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us)
        .where(*conditions(board), table.user_id.in_(users))
        .order_by(table.time_us, table.created_at, table.id)
        .limit(1)
    ).first()
    # RANKED rows have all of these.
    return Place(0, *found) if found else None  # type: ignore[arg-type]


def ranked(
    session: Session,
    challenge: str,
    version: int,
    device: str,
    language: Language | None = None,
    limit: int | None = None,
    offset: int = 0,
    without: Collection[int] = (),
) -> list[LeaderboardEntry]:
    """With real names, for staff. Others use ``service.leaderboard``."""
    last = None if limit is None else offset + limit
    found = places(session, Board(challenge, version, device, language), without)[offset:last]
    known = details(session, [place.submission for place in found])
    names = {
        row.id: row.name
        for start in range(0, len(found), _IDS)
        for row in session.execute(
            select(UserRow.id, UserRow.name).where(
                UserRow.id.in_([place.user for place in found[start : start + _IDS]])
            )
        )
    }
    return [entry(place, known[place.submission], names[place.user]) for place in found]


def entry(place: Place, detail: Detail, user: str, **more: Any) -> LeaderboardEntry:
    return LeaderboardEntry(
        rank=place.rank,
        user=user,
        submission=detail.public_id,
        language=detail.language,
        time_us=place.time_us,
        ci_us=(place.low_us, place.high_us),
        speedup=detail.speedup,
        submitted_at=detail.submitted_at,
        **more,
    )


def boards(session: Session, challenge: str, version: int) -> set[str]:
    table = SubmissionRow
    of_version = (table.challenge == challenge, table.version == version, text(RANKED))
    found: list[str] = []
    # Devices are few, each with thousands of entries.
    wanted = select(func.min(table.device)).where(*of_version)
    while (device := session.scalar(wanted.where(table.device > (found[-1] if found else "")))) is not None:
        found.append(device)
    return set(found)


def record_steps(session: Session, board: Board, without: Collection[int] = ()) -> list[Place]:
    """Submissions that beat the record before them by more than the board's resolution, oldest first, with
    rank 0.
    """
    table = SubmissionRow
    before = func.min(table.time_us).over(order_by=(table.created_at, table.id), rows=(None, -1))
    columns = (table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us, table.created_at)
    ended = (
        select(*columns, before.label("before"))
        .where(*conditions(board), *([table.user_id.not_in(without)] if without else []))
        .subquery()
    )
    step = ended.c
    lower = session.execute(
        select(step.id, step.user_id, step.time_us, step.ci_lo_us, step.ci_hi_us)
        .where(or_(step.before.is_(None), step.time_us < step.before))
        .order_by(step.created_at, step.id)
    )
    steps: list[Place] = []
    resolution = resolution_of(board.device)
    for found in lower:
        place = Place(0, *found)
        if not steps or scoring.is_faster(place.time_us, steps[-1].time_us, resolution):
            steps.append(place)
    return steps


def latest_times(session: Session, like: SubmissionRow, limit: int) -> Sequence[SubmissionRow]:
    """The ``limit`` newest accepted times of the owner of ``like`` on its board, oldest first."""
    table = SubmissionRow
    found = session.scalars(
        select(table)
        .where(
            text(RANKED),
            table.challenge == like.challenge,
            table.version == like.version,
            table.device == like.device,
            table.user_id == like.user_id,
        )
        .options(
            load_only(
                table.public_id,
                table.language,
                table.time_us,
                table.ci_lo_us,
                table.ci_hi_us,
                table.created_at,
            )
        )
        .order_by(table.created_at.desc(), table.id.desc())
        .limit(limit)
    ).all()
    return found[::-1]
