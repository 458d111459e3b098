from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, func, literal, not_, select, union_all
from sqlalchemy.orm import Session

from grader.records import order
from grader.records.durations import Work
from grader.records.models import AssignmentPartRow, AssignmentRow, CompetitionRow, SubmissionRow
from grader.records.states import ACTIVE
from grader.schemas.submission import JudgingReason

ARRIVALS = timedelta(seconds=60)


@dataclass(frozen=True)
class Arrival:
    """A first submission predicts that more people come; a later one, that its author sends another."""

    at: datetime
    priority: int
    # Seconds by which another one like it is put back.
    back: float
    work: Work
    competition: int | None


def arrivals(session: Session, device: str, now: datetime) -> list[Arrival]:
    table = SubmissionRow
    wanted = (
        table.id,
        table.user_id,
        table.device,
        table.priority,
        table.challenge,
        table.language,
        table.competition_id,
        table.created_at,
        table.kind,
    )
    theirs = table.priority > order.PRIORITIES[JudgingReason.REJUDGE]
    not_final = table.kind != JudgingReason.FINAL
    known = union_all(
        select(*wanted).where(
            table.claimed_at > now - order.LATELY, not_(order.pending()), theirs, not_final
        ),
        select(*wanted).where(order.pending(), theirs, not_final),
    ).cte("known")
    turns = case((known.c.kind == JudgingReason.RUN, order.RUN_TURN), else_=order.TURN)
    ahead = case((known.c.kind == JudgingReason.RUN, order.RUN_AHEAD), else_=0)
    sent = func.sum(turns).over(partition_by=known.c.user_id)
    place = func.row_number().over(partition_by=known.c.user_id, order_by=(known.c.created_at, known.c.id))
    # WHERE cannot use a window function.
    counted = select(known, sent.label("sent"), place.label("number"), ahead.label("ahead")).cte("counted")
    had = case((counted.c.number == 1, 0), else_=counted.c.sent)
    back = (had - counted.c.ahead) * literal(order.TURN_BACK_S / order.TURN) + order.far_back(had)
    each = select(counted, back.label("back")).cte("each")
    query = select(
        each.c.created_at,
        each.c.priority,
        each.c.back,
        each.c.challenge,
        each.c.language,
        each.c.kind,
        each.c.competition_id,
    ).where(each.c.created_at > now - ARRIVALS, each.c.device == device)
    return [
        Arrival(at, priority, back, Work.of(challenge, language, kind), competition)
        for at, priority, back, challenge, language, kind, competition in session.execute(query)
    ]


@dataclass(frozen=True)
class Running:
    user: int
    work: Work
    elapsed: float
    # False if staff ordered it, or for a final.
    of_author: bool = True


def running(session: Session, device: str, now: datetime) -> dict[str, Running]:
    table = SubmissionRow
    columns = (
        table.worker,
        table.user_id,
        table.challenge,
        table.language,
        table.kind,
        table.claimed_at,
        order.of_author(),
    )
    held = session.execute(
        select(*columns).where(
            table.device == device,
            table.state.in_(ACTIVE),
            not_(order.pending()),
            table.claimed_at.is_not(None),
        )
    )
    return {
        worker: Running(
            user, Work.of(challenge, language, kind), max(0.0, (now - since).total_seconds()), bool(own)
        )
        for worker, user, challenge, language, kind, since, own in held
        if worker and since
    }


@dataclass(frozen=True)
class Closing:
    challenges: Mapping[str, datetime]
    competitions: Mapping[int, datetime]

    def of(self, challenge: str, competition: int | None) -> datetime | None:
        """None if it has no end."""
        if competition is not None:
            return self.competitions.get(competition)
        return self.challenges.get(challenge)


def closing(session: Session, now: datetime, lately: timedelta = timedelta()) -> Closing:
    """Of everything that is open, or was within ``lately``."""
    table, part, contest = AssignmentRow, AssignmentPartRow, CompetitionRow
    assigned = session.execute(
        select(part.challenge, func.max(table.due_at).label("closes"))
        .join(table, table.id == part.assignment_id)
        .where(table.published_at.is_not(None), table.open_at <= now, table.due_at > now - lately)
        .group_by(part.challenge)
    )
    contests = session.execute(
        select(contest.id, contest.ends_at).where(contest.starts_at <= now, contest.ends_at > now - lately)
    )
    return Closing({row.challenge: row.closes for row in assigned}, {row.id: row.ends_at for row in contests})
