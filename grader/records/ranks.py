"""The one ranking, which web, API and CLI all show: the entries of a board in order, its records over time, and how a
board that is known already takes in what came since.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
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

# Ids in one statement: both databases limit its parameters, SQLite to 32,766.
_IDS = 1_000


@dataclass(frozen=True)
class Board:
    """One board: entries of one challenge version on one device, in one language or in all. ``until``: of what was
    received until then."""

    challenge: str
    version: int
    device: str
    language: Language | None = None
    until: datetime | None = None


class BoardEntry(NamedTuple):
    """An accepted submission as boards read it; ``submission`` and ``user`` are ids of rows. ``at`` is only compared,
    so it is as the database says it."""

    submission: int
    user: int
    time_us: float
    low_us: float
    high_us: float
    at: Any

    @property
    def order(self) -> tuple[float, Any, int]:
        """The first of a user's submissions by this is the user's entry: see ``entry_query``."""
        return self.time_us, self.at, self.submission


class Place(NamedTuple):
    """Where one entry stands; ``submission`` and ``user`` are ids of rows."""

    rank: int
    submission: int
    user: int
    time_us: float
    low_us: float
    high_us: float


class Detail(NamedTuple):
    """What else is shown of a submission on a board."""

    public_id: str
    language: Language
    speedup: float | None
    submitted_at: datetime


# What a board is made of, in few numbers: where they are the same, so is the ranking.
Stamp = tuple[float, ...]
EMPTY: Stamp = (0, 0, 0)
# Of a sum of times: its last digits depend on the order in which the database comes upon them.
_DIGITS = 12


def conditions(board: Board) -> list[ColumnElement[bool] | TextClause]:
    """What stands on ``board``, in words that its index is found by."""
    table = SubmissionRow
    which = [table.challenge == board.challenge, table.version == board.version, table.device == board.device]
    in_language = [table.language == board.language] if board.language else []
    in_time = [table.created_at <= board.until] if board.until is not None else []
    return [*which, text(RANKED), *in_language, *in_time]


def entry_query(board: Board, without: Collection[int] = ()) -> Select[Any]:
    """One entry per user; those of users ``without`` a rank are left out.

    A user's entry is the fastest accepted submission, and of those that took the same time the first.
    """
    table = SubmissionRow
    # By an index that holds all of this (``ix_submissions_board``): sources make the rows wide.
    order = (table.time_us, table.created_at, table.id)
    accepted = (
        select(
            *_columns(), func.row_number().over(partition_by=table.user_id, order_by=order).label("of_user")
        )
        .where(*conditions(board), *([table.user_id.not_in(without)] if without else []))
        .cte("accepted")
    )
    it = accepted.c
    return select(it.id, it.user_id, it.time_us, it.ci_lo_us, it.ci_hi_us, it.at).where(it.of_user == 1)


def _columns() -> list[ColumnElement[Any]]:
    """Those of ``BoardEntry``."""
    table = SubmissionRow
    # Ten thousand moments take a while to understand.
    at = type_coerce(table.created_at, _Raw()).label("at")
    return [
        *(it.expression for it in (table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us)),
        at,
    ]


def entries(session: Session, board: Board, without: Collection[int] = ()) -> list[BoardEntry]:
    """Everyone's, in no order. Out of the index alone: no row is read."""
    return [BoardEntry(*it) for it in session.execute(entry_query(board, without))]


def accepted_after(session: Session, board: Board, submission: int) -> list[BoardEntry]:
    """Every accepted submission with a larger id than ``submission``, entry or not."""
    return [
        BoardEntry(*it)
        for it in session.execute(
            select(*_columns()).where(*conditions(board), SubmissionRow.id > submission)
        )
    ]


def last_id(session: Session) -> int:
    """Of all submissions; 0 without any."""
    return session.scalar(select(SubmissionRow.id).order_by(SubmissionRow.id.desc()).limit(1)) or 0


def places(session: Session, board: Board, without: Collection[int] = ()) -> list[Place]:
    """See ``in_order``."""
    return in_order(entries(session, board, without), resolution_of(board.device))


def in_order(found: Collection[BoardEntry], resolution: float) -> list[Place]:
    """Ranked by ``scoring.ranks``, then by who was first."""
    ranked = scoring.ranks([it.time_us for it in found], resolution)
    ordered = sorted(
        (rank, at, own, user, time_us, low, high)
        for rank, (own, user, time_us, low, high, at) in zip(ranked, found, strict=True)
    )
    return [Place(rank, own, user, time_us, low, high) for rank, _, own, user, time_us, low, high in ordered]


def details(session: Session, submissions: Sequence[int]) -> dict[int, Detail]:
    """What is shown of each of these rows."""
    table = SubmissionRow
    found: dict[int, Detail] = {}
    for start in range(0, len(submissions), _IDS):
        wanted = select(table.id, table.public_id, table.language, table.speedup, table.created_at).where(
            table.id.in_(submissions[start : start + _IDS])
        )
        found.update({it.id: Detail(*it[1:]) for it in session.execute(wanted)})
    return found


def stamp(session: Session, board: Board) -> Stamp:
    """It changes with every submission that comes to the board, leaves it, or is measured otherwise."""
    return _rounded(*session.execute(select(*_stamp()).where(*conditions(board))).one())


def stamps(session: Session, device: str) -> dict[Board, Stamp]:
    """Of every board of ``device`` that has entries, for all languages together, in one pass."""
    table = SubmissionRow
    found = session.execute(
        select(table.challenge, table.version, *_stamp())
        # An expression, which SQLite looks up in no index: it would take that of all that ended, and read the rows.
        .where(table.device.concat("") == device, text(RANKED))
        .group_by(table.challenge, table.version)
    )
    return {Board(challenge, version, device): _rounded(*it) for challenge, version, *it in found}


def _stamp() -> list[ColumnElement[Any]]:
    # Times, too: what is judged again keeps its id, and one may come while another goes.
    return [
        func.count(),
        func.sum(SubmissionRow.id),
        func.sum(SubmissionRow.time_us + SubmissionRow.ci_hi_us),
    ]


def _rounded(*found: float | None) -> Stamp:
    return tuple(
        float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else int(value or 0) for value in found
    )


def best_of(session: Session, board: Board, users: Collection[int]) -> Place | None:
    """The best entry among those of ``users``; its rank is 0."""
    table = SubmissionRow
    found = session.execute(
        select(table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us)
        .where(*conditions(board), table.user_id.in_(users))
        .order_by(table.time_us, table.created_at, table.id)
        .limit(1)
    ).first()
    # What is RANKED has all of these, though the columns may be empty.
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
    """Entries of all but the users ``without`` a rank, by their real names: for staff. Others get
    ``service.leaderboard``."""
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
    """As it is shown; ``more`` are further fields."""
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
    """Devices that hold an entry of this challenge version."""
    table = SubmissionRow
    of_version = (table.challenge == challenge, table.version == version, text(RANKED))
    found: list[str] = []
    # From one to the next: there are few, and each holds thousands of entries.
    wanted = select(func.min(table.device)).where(*of_version)
    while (device := session.scalar(wanted.where(table.device > (found[-1] if found else "")))) is not None:
        found.append(device)
    return set(found)


def record_steps(session: Session, board: Board, without: Collection[int] = ()) -> list[Place]:
    """Submissions that were faster than the record before them by more than the board's resolution, the oldest first;
    their rank is 0. Out of the board's index alone, in one pass.
    """
    table = SubmissionRow
    before = func.min(table.time_us).over(order_by=(table.created_at, table.id), rows=(None, -1))
    columns = (table.id, table.user_id, table.time_us, table.ci_lo_us, table.ci_hi_us, table.created_at)
    ended = (
        select(*columns, before.label("before"))
        .where(*conditions(board), *([table.user_id.not_in(without)] if without else []))
        .subquery()
    )
    it = ended.c
    lower = session.execute(
        select(it.id, it.user_id, it.time_us, it.ci_lo_us, it.ci_hi_us)
        .where(or_(it.before.is_(None), it.time_us < it.before))
        .order_by(it.created_at, it.id)
    )
    steps: list[Place] = []
    resolution = resolution_of(board.device)
    for found in lower:
        place = Place(0, *found)
        if not steps or scoring.is_faster(place.time_us, steps[-1].time_us, resolution):
            steps.append(place)
    return steps


# A submission with this many newer ones is most likely judged. Where it is not, the board is read again.
_WINDOW = 2_000
# With more new ones than this the board is read again, too.
_MOST = 5_000
# A sum of times that the database made and one that we made may differ so much, relatively.
_SUMS_DIFFER = 1e-11


@dataclass(frozen=True)
class BoardSnapshot:
    """A board at one moment. ``entries`` are by their users; ``late`` are ids of all its accepted submissions (entries
    or not, ranked or not) above ``floor``.
    """

    stamp: Stamp
    entries: dict[int, BoardEntry]
    floor: int
    late: frozenset[int]


def read_snapshot(session: Session, board: Board, stamp: Stamp, without: Collection[int]) -> BoardSnapshot:
    """All of it. ``stamp`` was read before; what changes in between is found by the next call."""
    floor = max(0, last_id(session) - _WINDOW)
    late = frozenset(it.submission for it in accepted_after(session, board, floor))
    by_user = {it.user: it for it in entries(session, board, without)}
    return BoardSnapshot(stamp, by_user, floor, late)


def snapshot_after(
    session: Session, board: Board, before: BoardSnapshot, stamp: Stamp, without: Collection[int]
) -> tuple[BoardSnapshot, list[BoardEntry]] | None:
    """The board now, as ``stamp`` says that it is, and what came to it, also from users ``without`` a rank. None where
    something else happened than that some came: then it has to be read.
    """
    late = accepted_after(session, board, before.floor)
    came = [it for it in late if it.submission not in before.late]
    stayed = len(late) - len(came) == len(before.late)
    if not stayed or len(late) > _MOST or not _accounts_for(came, before.stamp, stamp):
        return None
    by_user = dict(before.entries)
    for it in (it for it in came if it.user not in without):
        own = by_user.get(it.user)
        if own is None or it.order < own.order:
            by_user[it.user] = it
    floor = max(before.floor, last_id(session) - _WINDOW)
    kept = frozenset(it.submission for it in late if it.submission > floor)
    return replace(before, stamp=stamp, entries=by_user, floor=floor, late=kept), came


def _accounts_for(came: Collection[BoardEntry], before: Stamp, stamp: Stamp) -> bool:
    """Whether nothing but these came."""
    count, ids, times = (now - then for now, then in zip(stamp, before, strict=True))
    return (
        count == len(came)
        and ids == sum(it.submission for it in came)
        and math.isclose(
            times,
            math.fsum(it.time_us + it.high_us for it in came),
            rel_tol=0.0,
            abs_tol=_SUMS_DIFFER * stamp[-1],
        )
    )


def latest_times(session: Session, like: SubmissionRow, limit: int) -> Sequence[SubmissionRow]:
    """What the owner of ``like`` has accepted with a time for the same challenge, version and device: the ``limit``
    newest, the oldest of them first."""
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
